import TenderPayments

/// What an operation's row keeps of an answer.
struct OperationNote {
  let state: OperationState
  var acquirerReference: String?
  var networkTransactionID: String?
  var networkLinkID: String?
  var storedReference: String?
  var code: String?
  var detail: String?
  var declineReason: DeclineReason?

  init(_ answer: AcquirerAnswer) {
    switch answer {
    case .approved(let approval):
      acquirerReference = approval.acquirerReference.isEmpty ? nil : approval.acquirerReference
      (networkTransactionID, networkLinkID) = (approval.networkTransactionID, approval.networkLinkID)
      storedReference = approval.storedReference
      guard let approved = approval.approvedAmount else {
        state = .approved
        return
      }
      state = .declined
      (code, declineReason) = (Decline.approvedForLess.code, Decline.approvedForLess.reason)
      detail = "approved for \(approved)"
    case .declined(let decline):
      state = .declined
      code = decline.code
      declineReason = decline.reason
    case .pending(let pending):
      state = .pending
      acquirerReference = pending.acquirerReference
    case .unknown(let interruption):
      state = .unknown
      code = interruption.kind.rawValue
      detail = interruption.detail
    case .notSent(let reason):
      state = .failed
      detail = reason
    }
  }
}

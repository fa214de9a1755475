import Acquiring
import StrictJSON
import TenderPayments

/// A payment as Checkout.com describes it in its lists.
struct CheckoutComPayment: Sendable {
  let id: String
  let reference: String?
  let status: String
  let amount: Amount
  let channel: String?
  let networkTransactionID: String?
  /// Checkout.com's name of the instrument that it stores.
  let storedReference: String?
  let requestedAt: Timestamp?
  private let availableToCapture: Int64?
  private let availableToRefund: Int64?
  private let availableToVoid: Int64?

  init(_ field: JSONField) throws(JSONError) {
    id = try CheckoutComAnswers.name(field.member("id"))
    reference = try field.memberIfPresent("reference")?.string
    status = try field.member("status").string
    amount = try CheckoutComAmount.read(field.member("amount"), field.member("currency"))
    channel = try field.memberIfPresent("processing_channel_id")?.string
    networkTransactionID = try field.memberIfPresent("scheme_id")?.string
    storedReference = try field.memberIfPresent("source")?.memberIfPresent("id")?.string
    requestedAt = try field.memberIfPresent("requested_on")?.string.checkoutComTime
    let balances = try field.memberIfPresent("balances")
    availableToCapture = try balances?.memberIfPresent("available_to_capture")?.integer
    availableToRefund = try balances?.memberIfPresent("available_to_refund")?.integer
    availableToVoid = try balances?.memberIfPresent("available_to_void")?.integer
  }

  /// The hold is gone, and nothing was taken of it.
  var isEnded: Bool { ["Voided", "Expired", "Canceled"].contains(status) }

  /// Whether the payment's balances would allow it.
  func allows(_ kind: CheckoutComAction, _ amount: Amount) -> Bool {
    switch kind {
    case .capture: (availableToCapture ?? 0) > 0
    case .void: (availableToVoid ?? 0) > 0
    case .refund: (availableToRefund ?? 0) > 0
    }
  }
}

/// One entry of a payment's list of actions.
struct CheckoutComActionEntry: Sendable {
  let id: String
  let type: String
  /// Our name of it; nil for an authorization, and for what no operation of ours asked for.
  let operation: AttemptReference?
  let amount: Amount
  /// Nil while it is not decided.
  let isApproved: Bool?
  let responseCode: String?
  let authorizationCode: String?
  let processedAt: Timestamp?

  /// - Parameter currency: the payment's; actions have none of their own.
  init(_ field: JSONField, _ currency: Currency) throws(JSONError) {
    id = try CheckoutComAnswers.name(field.member("id"))
    let type = try field.member("type").string
    self.type = type
    operation = try CheckoutComAction.allCases.first { $0.type == type }?.operation(field)
    amount = try CheckoutComAmount.read(field.member("amount"), currency)
    isApproved = try field.memberIfPresent("approved")?.bool
    responseCode = try field.memberIfPresent("response_code")?.string
    authorizationCode = try field.memberIfPresent("auth_code")?.string
    processedAt = try field.memberIfPresent("processed_on")?.string.checkoutComTime
  }

  /// - Parameters:
  ///   - name: what later operations call it: the payment's name for an authorization.
  ///   - payment: that the action authorizes; nil for other actions.
  func answer(called name: String, of payment: CheckoutComPayment? = nil) -> AcquirerAnswer {
    switch isApproved {
    case true?:
      .approved(
        Approval(
          acquirerReference: name, authorizationCode: authorizationCode,
          networkTransactionID: payment?.networkTransactionID, storedReference: payment?.storedReference))
    case false?: .declined(CheckoutComDeclines.decline(responseCode))
    case nil: .pending(Pending(acquirerReference: name))
    }
  }
}

extension String {
  /// Some of Checkout.com's times have seven decimals and an offset of zero in place of `Z`.
  var checkoutComTime: Timestamp? {
    let plain = hasSuffix("+00:00") ? dropLast(6) : hasSuffix("Z") ? dropLast() : self[...]
    let parts = plain.split(separator: ".", maxSplits: 1)
    guard let seconds = parts.first else { return nil }
    let fraction = parts.count == 2 ? "." + parts[1].prefix(6) : ""
    return Timestamp(rfc3339: seconds + fraction + "Z")
  }
}

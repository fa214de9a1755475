import Acquiring
import StrictJSON
import TenderPayments

/// Adyen's standard webhook: one call may hold several items, each signed by itself.
///
/// Adyen signs no time, so an old event is told by its id alone, which is kept for good.
enum AdyenEvents {
  /// What Adyen expects as the answer.
  static let acknowledgement = Acknowledgement(contentType: "text/plain", body: "[accepted]")

  static func read(_ event: InboundEvent, _ settings: AdyenSettings) throws(EventRefusal) -> EventBatch {
    guard let root = try? JSONField(JSONReader.read(event.body)), let live = try? root.member("live").string,
      let fields = try? root.member("notificationItems").array, !fields.isEmpty, ["true", "false"].contains(live)
    else { throw .notAuthentic }
    // All of them are authentic before the first one is read.
    var items: [AdyenItem] = []
    for field in fields { items.append(try AdyenItem.authentic(field, settings)) }
    var batch = EventBatch(events: [], acknowledgement: acknowledgement)
    guard live == (settings.isLive ? "true" : "false") else {
      batch.passedOver = items.count
      return batch
    }
    batch.otherAccounts = items.map(\.account).filter { !settings.merchantAccounts.contains($0) }
    return try batch.reading(items.filter { settings.merchantAccounts.contains($0.account) }) {
      item throws(EventRefusal) in try item.event
    }
  }
}

/// A `NotificationRequestItem` that Adyen has signed.
private struct AdyenItem {
  let account: String
  let code: String
  let isSuccess: Bool
  let pspReference: String
  /// Adyen's name of the payment, in events about what came after it.
  let originalReference: String?
  let merchantReference: String
  /// Nil in items that are about no money.
  let value: Int64?
  let currency: String?
  let reason: String
  let additionalData: JSONField

  static func authentic(_ field: JSONField, _ settings: AdyenSettings) throws(EventRefusal) -> AdyenItem {
    guard let fields = try? field.member("NotificationRequestItem"), let item = try? AdyenItem(fields),
      let signature = try? item.additionalData.member("hmacSignature").string,
      let code = Base64.decode(signature)
    else { throw .notAuthentic }
    guard settings.hmacKeys.contains(where: { $0.signed(item.signedText, as: code) }) else { throw .notAuthentic }
    return item
  }

  private init(_ fields: JSONField) throws(JSONError) {
    account = try fields.member("merchantAccountCode").string
    code = try fields.member("eventCode").string
    let success = try fields.member("success")
    guard ["true", "false"].contains(try success.string) else {
      throw JSONError(.invalid, path: success.path, "neither true nor false")
    }
    isSuccess = try success.string == "true"
    pspReference = try fields.member("pspReference").string
    originalReference = try fields.memberIfPresent("originalReference")?.string
    merchantReference = try fields.memberIfPresent("merchantReference")?.string ?? ""
    let amount = try fields.memberIfPresent("amount")
    value = try amount?.memberIfPresent("value")?.integer
    currency = try amount?.memberIfPresent("currency")?.string
    reason = try fields.memberIfPresent("reason")?.string ?? ""
    additionalData = try fields.member("additionalData")
  }

  /// What is missing is empty.
  private var signedText: String {
    [
      pspReference, originalReference ?? "", account, merchantReference, value.map { "\($0)" } ?? "", currency ?? "",
      code, isSuccess ? "true" : "false",
    ].joined(separator: ":")
  }

  /// Whether a person has sent it from the webhook's page: `test_AUTHORISATION_1`. Adyen's names have no underscore.
  private var isTest: Bool { pspReference.hasPrefix("test_") }

  /// Nil for what says nothing about money.
  var event: AcquirerEvent? {
    get throws(EventRefusal) {
      guard !isTest, let (subject, content) = try meaning else { return nil }
      guard let value, let currency = currency.flatMap({ Currency(code: $0) }), currency.isMoney,
        let amount = Amount(received: value, currency: currency), !amount.isNegative
      else { throw .unintelligible }
      // Adyen sends an event again with the same three values.
      return AcquirerEvent(
        id: "\(code):\(pspReference):\(isSuccess)", subject: subject,
        amount: amount, content: content,
        name: AdyenMessages.isName(pspReference) ? pspReference : nil)
    }
  }

  private typealias Meaning = (AcquirerEvent.Subject, AcquirerEvent.Content)

  private var meaning: Meaning? {
    get throws(EventRefusal) {
      switch code {
      case "AUTHORISATION": (.operation(try operation), .answer(try answer))
      case "CAPTURE": try result(of: .capture, otherwise: .capture)
      case "CANCELLATION": try result(of: .void, otherwise: .void)
      case "REFUND": try result(of: .refund, otherwise: .refund)
      // What was done before has come back.
      case "CAPTURE_FAILED": captureReturned
      case "REFUND_FAILED", "REFUNDED_REVERSED":
        if let returned = returned(.refund) { returned } else { try movement(.refundReturned) }
      case "TECHNICAL_CANCEL": (.reversal(of: try operation, called: pspReference), .answer(try answer))
      case "CANCEL_OR_REFUND": try reversal
      case "EXPIRE": try movement(.holdExpired)
      case "CHARGEBACK", "SECOND_CHARGEBACK": try movement(.chargeback)
      case "CHARGEBACK_REVERSED": try movement(.chargebackReversed)
      default: nil
      }
    }
  }

  /// The payment's reference, which is our name of the authorization.
  private var operation: AttemptReference {
    get throws(EventRefusal) {
      guard !merchantReference.isEmpty else { throw .unintelligible }
      return AttemptReference(merchantReference)
    }
  }

  private var decline: Decline { AdyenDeclines.decline(reason: reason, eventCode: code) }

  private var answer: AcquirerAnswer {
    get throws(EventRefusal) {
      guard isSuccess else { return .declined(decline) }
      guard AdyenMessages.isName(pspReference) else { throw .unintelligible }
      return .approved(
        Approval(
          acquirerReference: pspReference,
          authorizationCode: try? additionalData.memberIfPresent("authCode")?.string,
          networkTransactionID: try? additionalData.memberIfPresent("networkTxReference")?.string,
          storedReference: try? additionalData.memberIfPresent("tokenization.storedPaymentMethodId")?.string))
    }
  }

  /// The answer to an operation of ours, or what a person did in the dashboard.
  private func result(
    of kind: AdyenModification, otherwise movement: MoneyMovement
  ) throws(EventRefusal) -> Meaning? {
    if let operation = kind.operation(merchantReference) { return (.operation(operation), .answer(try answer)) }
    return try self.movement(movement)
  }

  private func returned(_ kind: AdyenModification) -> Meaning? {
    guard isSuccess else { return nil }
    return kind.operation(merchantReference).map { (.operation($0), .returned(decline)) }
  }

  /// A capture that a person made is known by Adyen's name of it alone.
  private var captureReturned: Meaning? {
    guard isSuccess else { return nil }
    return returned(.capture) ?? (.acquirerOperation(pspReference), .returned(decline))
  }

  /// A person asked for all of it to be given back, captured or not.
  private var reversal: Meaning? {
    get throws(EventRefusal) {
      guard isSuccess else { return nil }
      switch try? additionalData.memberIfPresent("modification.action")?.string {
      case "cancel": return try movement(.void)
      case "refund": return try movement(.refund)
      default: throw .unintelligible
      }
    }
  }

  /// Money that moved without us; nil when it did not move.
  private func movement(_ movement: MoneyMovement) throws(EventRefusal) -> Meaning? {
    guard isSuccess else { return nil }
    if let payment = originalReference, AdyenMessages.isName(payment) {
      return (.authorization(payment), .movement(movement))
    }
    // The expiry of a payment has the payment's own name; a dispute without its payment's has only our reference.
    if movement == .holdExpired, AdyenMessages.isName(pspReference) {
      return (.authorization(pspReference), .movement(movement))
    }
    return (.operation(try operation), .movement(movement))
  }
}

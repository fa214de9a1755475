import AcquirerSandbox
import Crypto
import Storage
import StrictJSON
import TenderPayments

/// An event of the emulated Adyen: the contents of a `NotificationRequestItem`.
struct AdyenEvent: Sendable {
  let code: String
  let isSuccess: Bool
  let pspReference: String
  let originalReference: String?
  let merchantReference: String
  let amount: AdyenAmount
  let reason: String
  let brand: String
  var additionalData: JSONObject = [:]
  var operations: [String] = []
  let time: Timestamp

  static func authorisation(_ payment: AdyenPayment, at time: Timestamp) -> AdyenEvent {
    let refusal = payment.refusalCode.flatMap(AdyenRefusal.init)
    let isSuccess = payment.state == .authorised
    return AdyenEvent(
      code: "AUTHORISATION", isSuccess: isSuccess, pspReference: payment.pspReference, originalReference: nil,
      merchantReference: payment.reference, amount: isSuccess ? payment.authorisedAmount : payment.amount,
      reason: refusal?.reason ?? "\(payment.authorizationCode ?? ""):\(payment.cardSuffix)", brand: payment.brand,
      additionalData: isSuccess ? payment.additionalData : [:],
      operations: isSuccess ? ["CANCEL", "CAPTURE", "REFUND"] : [], time: time)
  }

  /// - Parameter payment: before the modification; nil when there is no such payment.
  static func modification(
    _ modification: AdyenModification, of payment: AdyenPayment?, failure: String?, at time: Timestamp
  ) -> AdyenEvent {
    var event = AdyenEvent(
      code: modification.kind.eventCode, isSuccess: failure == nil, pspReference: modification.pspReference,
      originalReference: payment?.pspReference,
      merchantReference: modification.reference ?? payment?.reference ?? "", amount: modification.amount(on: payment),
      reason: failure ?? "", brand: payment?.brand ?? "", time: time)
    if modification.kind == .reversal, let payment {
      event.additionalData["modification.action"] = payment.captured == 0 ? "cancel" : "refund"
    }
    return event
  }

  /// What becomes of a modification after it was done.
  static func late(
    _ code: String, _ modification: AdyenModification, of payment: AdyenPayment, at time: Timestamp
  ) -> AdyenEvent {
    AdyenEvent(
      code: code, isSuccess: true, pspReference: modification.pspReference, originalReference: payment.pspReference,
      merchantReference: modification.reference ?? payment.reference, amount: modification.amount(on: payment),
      reason: code == "CAPTURE_FAILED" ? "Capture Failed" : "Refund Failed", brand: payment.brand, time: time)
  }

  /// What nobody asked for: a dispute, an expiry.
  static func payment(
    _ code: String, _ pspReference: String, _ payment: AdyenPayment, _ value: Int64, reason: String = "",
    at time: Timestamp
  ) -> AdyenEvent {
    AdyenEvent(
      code: code, isSuccess: true, pspReference: pspReference,
      originalReference: pspReference == payment.pspReference ? nil : payment.pspReference,
      merchantReference: payment.reference, amount: AdyenAmount(value: value, currency: payment.amount.currency),
      reason: reason, brand: payment.brand, time: time)
  }

  /// The signed item.
  func item(of account: AdyenAccount) -> JSONValue {
    var data = additionalData
    data["hmacSignature"] = .string(signature(account))
    var item: JSONObject = [
      "additionalData": .object(data), "amount": amount.json, "eventCode": .string(code),
      "eventDate": .string(time.description), "merchantAccountCode": .string(account.merchantAccount),
      "merchantReference": .string(merchantReference), "pspReference": .string(pspReference),
      "reason": .string(reason), "success": .string(isSuccess ? "true" : "false"),
    ]
    item["originalReference"] = originalReference.map(JSONValue.string)
    if !brand.isEmpty { item["paymentMethod"] = .string(brand) }
    if !operations.isEmpty { item["operations"] = .array(operations.map(JSONValue.string)) }
    return .object(item)
  }

  /// Base64 of an HMAC-SHA256 of eight values with colons between them.
  private func signature(_ account: AdyenAccount) -> String {
    let text = [
      pspReference, originalReference ?? "", account.merchantAccount, merchantReference, "\(amount.value)",
      amount.currency.code, code, isSuccess ? "true" : "false",
    ].joined(separator: ":")
    let key = SymmetricKey(data: Hex.decode(account.hmacKey) ?? [])
    return Base64.encode(Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)))
  }
}

extension AdyenModification {
  /// Nothing when there is no such payment.
  fileprivate func amount(on payment: AdyenPayment?) -> AdyenAmount {
    guard let payment else { return AdyenAmount(value: 0, currency: .none) }
    return AdyenAmount(value: value ?? payment.amount.value, currency: payment.amount.currency)
  }
}

extension Currency {
  /// What stands in an event about no payment.
  fileprivate static var none: Currency { Currency(code: "EUR") ?? all[0] }
}

extension AdyenStore {
  func write(_ event: AdyenEvent, of account: AdyenAccount, in transaction: Transaction) throws {
    try addEvent(event.item(of: account).serialized(), of: account.merchantAccount, in: transaction)
  }
}

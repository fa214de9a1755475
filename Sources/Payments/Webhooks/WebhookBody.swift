import Crypto
import DirectWire
package import Ledger
import StrictJSON
import TenderPayments

/// An event in the form in which Worldline Direct's webhooks come: one object, `apiVersion` `v1`.
///
/// Properties that this form lacks are under `tender`, which its SDKs skip: the order, the basket, and the event's
/// number within its payment, by which a receiver puts late and repeated events in order; for an endpoint that asks for
/// it, also whom the order is for and where it goes.
package struct WebhookBody: Sendable, Hashable {
  /// The same at every try and at every replay: a receiver that has seen it may stop reading.
  package let id: String
  /// `payment.captured`
  package let type: String
  package let bytes: [UInt8]

  /// - Parameter order: nil where the payment has no order here.
  package init(_ event: OutboxEvent, order: NotifiedOrder? = nil) {
    let wire = WireStatus(event.status)
    id = Self.id(of: event)
    type = wire.type
    bytes =
      JSONValue.object([
        "apiVersion": "v1", "created": .string(event.happenedAt.description), "id": .string(id),
        "merchantId": .string(event.merchant.rawValue), "payment": Self.payment(event, wire, order),
        "tender": Self.extras(event, order), "type": .string(type),
      ]).serialized()
  }

  /// An event about no payment, by which a merchant tries its endpoint out.
  ///
  /// - Parameter id: 32 hexadecimal digits.
  init(testOf merchant: MerchantID, id: String, at now: Timestamp) {
    self.id = Self.grouped(id)
    type = "payment.test"
    bytes =
      JSONValue.object([
        "apiVersion": "v1", "created": .string(now.description), "id": .string(self.id),
        "merchantId": .string(merchant.rawValue), "type": .string(type),
      ]).serialized()
  }

  private static func payment(_ event: OutboxEvent, _ wire: WireStatus, _ order: NotifiedOrder?) -> JSONValue {
    [
      "id": .string("\(event.payment)_\(event.operationNumber)"), "paymentOutput": output(event, order),
      "status": .string(wire.status.word),
      "statusOutput": [
        "isAuthorized": .bool(event.authorized > 0 || event.status == .verified),
        "isCancellable": .bool(event.authorized > event.captured),
        "isRefundable": .bool(event.kept > 0),
        "statusCategory": .string(wire.status.category),
        "statusCode": .integer(wire.status.rawValue),
      ],
    ]
  }

  private static func output(_ event: OutboxEvent, _ order: NotifiedOrder?) -> JSONValue {
    let money = { (units: Int64) -> JSONValue in
      ["amount": .integer(units), "currencyCode": .string(event.amount.currency.code)]
    }
    var output: JSONObject = [
      "acquiredAmount": money(event.kept),
      "amountOfMoney": money(event.amount.minorUnits),
    ]
    if let order { output["references"] = ["merchantReference": .string(order.merchantReference)] }
    return .object(output)
  }

  private static func extras(_ event: OutboxEvent, _ order: NotifiedOrder?) -> JSONValue {
    var extras: JSONObject = [
      "authorized": .integer(event.authorized), "basketId": .string(event.basket.rawValue),
      "captured": .integer(event.captured), "chargedBack": .integer(event.chargedBack),
      "orderId": .string(event.order.rawValue),
      "paymentId": .string(event.payment.rawValue), "refunded": .integer(event.refunded),
      "sequence": .integer(event.sequence), "status": .string(event.status.rawValue),
    ]
    extras["merchantReference"] = order.map { .string($0.merchantReference) }
    extras["order"] = order?.details
    return .object(extras)
  }

  /// A UUID (RFC 9562, version 8) made of the event's name, so that it need not be stored.
  private static func id(of event: OutboxEvent) -> String {
    var bytes = Array(SHA256.hash(data: Array("\(event.payment) \(event.sequence)".utf8)).prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    return grouped(Hex.encode(bytes))
  }

  /// 32 hexadecimal digits in the groups of a UUID.
  private static func grouped(_ hex: String) -> String {
    [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(hex.dropFirst($0.lowerBound).prefix($0.count)) }
      .joined(separator: "-")
  }
}

/// A status in Worldline Direct's words.
private struct WireStatus {
  let type: String
  let status: DirectStatus

  private init(_ type: String, _ status: DirectStatus) {
    self.type = "payment." + type
    self.status = status
  }

  init(_ status: PaymentStatus) {
    self =
      switch status {
      case .authorizing: .init("created", .authorizationWaiting)
      case .pending: .init("authorization_requested", .authorizationWaiting)
      case .unknown: .init("authorization_requested", .authorizationUnknown)
      case .authorized, .verified: .init("pending_capture", .pendingCapture)
      case .partiallyCaptured, .captured: .init("captured", .captured)
      case .partiallyRefunded, .refunded: .init("refunded", .refunded)
      case .voided: .init("cancelled", .cancelled)
      case .declined, .failed: .init("rejected", .rejected)
      }
  }
}

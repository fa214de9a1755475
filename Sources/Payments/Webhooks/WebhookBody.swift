import Crypto
import DirectWire
package import Ledger
package import Storage
import StrictJSON
package import TenderPayments

/// An event in the form in which Worldline Direct's webhooks come: one object, `apiVersion` `v1`, with the `refund` that
/// it is about, or the `payment`.
///
/// Properties that this form lacks are under `tender`, which its SDKs skip: the order, the basket, and the event's
/// number within its payment, by which a receiver puts late and repeated events in order; for an endpoint that asks for
/// it, also whom the order is for and where it goes.
package struct WebhookBody: Sendable, Hashable {
  /// Stays as it is at every try and at every replay: a receiver that has seen it may stop reading.
  package let id: String
  /// `payment.captured`
  package let type: String
  package let bytes: [UInt8]

  /// - Parameter order: nil where the payment has no order here.
  package init(_ event: OutboxEvent, order: NotifiedOrder? = nil) throws {
    let wire = event.wire
    try self.init(
      wire.type, id: Self.id(of: event.payment, event.sequence), of: event.merchant, at: event.happenedAt,
      Self.extras(event, order)
    ) {
      if event.operationKind == .refund {
        $0.refund = event.notifiedRefund(wire.status, order)
      } else {
        $0.payment = event.notifiedPayment(wire.status, order)
      }
    }
  }

  /// An event by which a merchant tries its endpoint out: about the payment `9999_9`, which there is not.
  ///
  /// - Parameter id: 32 hexadecimal digits.
  init(testOf merchant: MerchantID, id: String, at now: Timestamp) throws {
    try self.init("payment.test", id: Hex.uuid(id), of: merchant, at: now, nil) {
      guard let euro = Currency(code: "EUR") else { return }
      $0.payment = DirectPayment(
        id: DirectPaymentID(payment: "9999", operation: 9),
        statusOutput: DirectStatusOutput(
          .authorizationWaiting, changedAt: now, isAuthorized: false, isCancellable: false, isRefundable: false),
        paymentOutput: DirectPaymentOutput(
          amountOfMoney: Amount(minorUnits: 1_234, currency: euro),
          acquiredAmount: Amount(minorUnits: 0, currency: euro),
          references: DirectReferences(merchantReference: "test"),
          mobile: MobilePaymentOutput(authorisationCode: nil, network: nil, card: nil, eci: nil), at: now,
          ofPaymentAt: now))
    }
  }

  private init(
    _ type: String, id: String, of merchant: MerchantID, at time: Timestamp, _ extras: JSONValue?,
    _ fill: (inout DirectEvent) -> Void
  ) throws {
    (self.id, self.type) = (id, type)
    var event = DirectEvent(id: id, type, of: merchant.rawValue, at: time)
    fill(&event)
    let said = try JSONReader.read(DirectJSON.bytes(event))
    var members: JSONObject = [:]
    for name in ["apiVersion", "created", "id", "merchantId", "payment", "refund"] { members[name] = said[name] }
    members["tender"] = extras
    members["type"] = said["type"]
    bytes = JSONValue.object(members).serialized()
  }

  private static func extras(_ event: OutboxEvent, _ order: NotifiedOrder?) -> JSONValue {
    var extras: JSONObject = [
      "authorized": .integer(event.authorized), "basketId": .string(event.basket.rawValue),
      "captured": .integer(event.captured), "chargedBack": .integer(event.chargedBack),
      "orderId": .string(event.order.rawValue),
      "paymentId": .string(event.payment.rawValue), "refunded": .integer(event.refunded),
      "sequence": .integer(event.sequence), "status": .string(event.status.rawValue),
    ]
    extras["transactionIdentifier"] = event.transactionIdentifier.map(JSONValue.string)
    extras["agreementId"] = (event.agreement?.rawValue).map(JSONValue.string)
    extras["card"] = event.card.name.map(JSONValue.string)
    extras["cardNetwork"] = (event.card.network?.appleName).map(JSONValue.string)
    extras["cardType"] = (event.card.type?.rawValue).map(JSONValue.string)
    extras["merchantReference"] = order?.references.merchantReference.map(JSONValue.string)
    extras["order"] = order?.details
    return .object(extras)
  }

  /// A UUID (RFC 9562, version 8) made of the event's name, so that it need not be stored: it begins with the time in
  /// the payment's id, by which ``findEvent(_:of:in:)`` finds the event.
  private static func id(of payment: PaymentID, _ sequence: Int64) -> String {
    var hash = Array(SHA256.hash(data: Array("\(payment) \(sequence)".utf8)).prefix(10))
    hash[0] = hash[0] & 0x0F | 0x80
    hash[2] = hash[2] & 0x3F | 0x80
    return Hex.uuid(String(payment.rawValue.prefix(digitsOfTime)) + Hex.encode(hash))
  }

  private static let digitsOfTime = 12
}

extension WebhookBody {
  /// Finds the event of a merchant whose webhook has this id.
  ///
  /// - Returns: nil if there is none.
  /// - Throws: `StorageError.column` if this version cannot read it.
  package static func findEvent(
    _ id: String, of merchant: MerchantID, in store: Transaction
  ) throws -> OutboxEvent? {
    let digits = id.filter { $0 != "-" }
    guard digits.utf8.count == 32, Hex.decode(digits) != nil else { return nil }
    let place = try OutboxEvent.findPlaces(
      ofPaymentsBeginning: String(digits.prefix(digitsOfTime)), of: merchant, in: store
    ).first { Self.id(of: $0.payment, $0.sequence) == id }
    return try place.flatMap { try OutboxEvent.find($0.payment, $0.sequence, in: store) }
  }
}

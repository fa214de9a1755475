import Storage
import StrictJSON
import TenderPayments

/// A transaction in the emulated Braintree's ledger: a sale, a part of one that was settled, or a refund.
struct BraintreeTransaction: Sendable {
  enum Kind: String, Sendable { case sale, credit }

  struct Event: Sendable {
    let status: String
    let amount: Int64
    let time: Timestamp
    let source: String
  }

  let id: String
  let kind: Kind
  let merchantAccount: String
  let order: String?
  /// The authorization that this is a part of.
  let parent: String?
  /// The sale that this credit refunds.
  let refunded: String?
  let cardType: String
  let cardSuffix: String
  let expiration: String
  let code: String?
  let authorizationCode: String?
  let networkTransactionID: String?
  let rejection: String?
  let createdAt: Timestamp
  let currency: Currency
  var amount: Int64
  var status: String
  /// How much of an authorization was given to transactions of parts.
  var settledInParts: Int64 = 0
  /// How much of a sale was given back.
  var refundedAmount: Int64 = 0
  var events: [Event] = []

  /// The name that the GraphQL API has for it.
  var globalID: String { Base64.encode(Array("transaction_\(id)".utf8)) }

  func text(_ units: Int64) -> String { Amount(minorUnits: units, currency: currency).decimalString }

  /// What can still be taken of an authorization.
  var held: Int64 { ["authorized", "settlement_pending"].contains(status) ? amount - settledInParts : 0 }

  /// Changes the status, and notes it in the history.
  mutating func become(_ status: String, at time: Timestamp, source: String = "api") {
    self.status = status
    events.append(Event(status: status, amount: amount, time: time, source: source))
  }
}

extension BraintreeTransaction {
  /// The REST API's document.
  var element: BraintreeElement {
    BraintreeElement("transaction", identity + references + response + [applePay, history])
  }

  private var identity: [BraintreeElement] {
    [
      BraintreeElement("id", id), BraintreeElement("status", status), BraintreeElement("type", kind.rawValue),
      BraintreeElement("currency-iso-code", currency.code), BraintreeElement("amount", text(amount)),
      BraintreeElement("merchant-account-id", merchantAccount), BraintreeElement("order-id", order ?? ""),
      BraintreeElement("created-at", createdAt.description, type: "datetime"),
      BraintreeElement("updated-at", (events.last?.time ?? createdAt).description, type: "datetime"),
      BraintreeElement("payment-instrument-type", "apple_pay_card"), BraintreeElement("global-id", globalID),
    ]
  }

  private var references: [BraintreeElement] {
    [("authorized-transaction-id", parent), ("refunded-transaction-id", refunded)].compactMap { name, id in
      id.map { BraintreeElement(name, $0) }
    }
  }

  private var response: [BraintreeElement] {
    let texts = [
      ("processor-response-code", code), ("processor-authorization-code", authorizationCode),
      ("network-transaction-id", networkTransactionID), ("gateway-rejection-reason", rejection),
    ]
    return texts.map { BraintreeElement($0, $1 ?? "") }
  }

  private var applePay: BraintreeElement {
    BraintreeElement(
      "apple-pay",
      [
        BraintreeElement("card-type", cardType), BraintreeElement("last-4", cardSuffix),
        BraintreeElement("expiration-month", String(expiration.prefix(2))),
        BraintreeElement("expiration-year", String(expiration.dropFirst(3))),
      ])
  }

  private var history: BraintreeElement {
    BraintreeElement(
      "status-history", type: "array",
      events.map { event in
        BraintreeElement(
          "status-event",
          [
            BraintreeElement("timestamp", event.time.description, type: "datetime"),
            BraintreeElement("status", event.status), BraintreeElement("amount", text(event.amount)),
            BraintreeElement("user", "tender"), BraintreeElement("transaction-source", event.source),
          ])
      })
  }

  /// The GraphQL API's object. Every field is there; a query selects among them.
  var json: JSONValue {
    [
      "__typename": "Transaction", "id": .string(globalID), "legacyId": .string(id),
      "orderId": order.map(JSONValue.string) ?? .null,
      "createdAt": .string(createdAt.description), "merchantAccountId": .string(merchantAccount),
      "status": .string(status.uppercased()), "amount": money(amount),
      "statusHistory": .array(events.reversed().map(json)),
    ]
  }

  private func money(_ units: Int64) -> JSONValue {
    ["value": .string(text(units)), "currencyCode": .string(currency.code), "currencyIsoCode": .string(currency.code)]
  }

  private func json(_ event: Event) -> JSONValue {
    [
      "__typename": .string(Self.eventTypes[event.status] ?? "PaymentStatusEvent"),
      "status": .string(event.status.uppercased()), "timestamp": .string(event.time.description),
      "amount": money(event.amount),
      "processorResponse": [
        "legacyCode": code.map(JSONValue.string) ?? .null,
        "authorizationId": authorizationCode.map(JSONValue.string) ?? .null,
      ], "gatewayRejectionReason": rejection.map { .string($0.uppercased()) } ?? .null,
    ]
  }

  private static let eventTypes = [
    "authorized": "AuthorizedEvent", "processor_declined": "ProcessorDeclinedEvent", "failed": "FailedEvent",
    "gateway_rejected": "GatewayRejectedEvent", "submitted_for_settlement": "SubmittedForSettlementEvent",
    "voided": "VoidedEvent", "settled": "SettledEvent",
  ]
}

import Acquiring
import TenderPayments

/// A transaction as Braintree describes it: a sale, one part of a sale that was settled, or a refund.
struct BraintreeTransaction: Sendable, Hashable {
  enum Kind: String, Sendable { case sale, credit }

  /// A status that the transaction had, the newest one last.
  struct Event: Sendable, Hashable {
    let status: String
    let amount: String
    /// Who caused it: `api`, `control_panel`, `recurring`.
    let source: String?
    let time: Timestamp?
  }

  let id: String
  let kind: Kind
  let status: String
  let amount: String
  let currency: Currency
  let merchantAccount: String?
  let order: String?
  /// The authorization of which this is a part; nil for the authorization itself.
  let authorization: String?
  /// The sale that this credit gives back.
  let refunded: String?
  let processorCode: String?
  let authorizationCode: String?
  let networkTransactionID: String?
  let rejection: String?
  let createdAt: Timestamp?
  let history: [Event]

  init(_ element: BraintreeXML) throws(BraintreeXMLError) {
    id = try Self.name(try element.text("id"))
    kind = try Self.kind(try element.text("type"))
    status = try element.text("status")
    amount = try element.text("amount")
    currency = try Self.currency(try element.text("currency-iso-code"))
    merchantAccount = try element.textIfPresent("merchant-account-id")
    order = try element.textIfPresent("order-id")
    authorization = try element.textIfPresent("authorized-transaction-id")
    refunded = try element.textIfPresent("refunded-transaction-id")
    processorCode = try element.textIfPresent("processor-response-code")
    authorizationCode = try element.textIfPresent("processor-authorization-code")
    networkTransactionID = try element.textIfPresent("network-transaction-id")
    rejection = try element.textIfPresent("gateway-rejection-reason")
    createdAt = try element.textIfPresent("created-at").flatMap { Timestamp(rfc3339: $0) }
    var events: [Event] = []
    for event in try element.list("status-history") { events.append(try Event(event)) }
    history = events
  }

  /// It becomes part of an address when it is captured, so it must look like a name.
  static func name(_ text: String) throws(BraintreeXMLError) -> String {
    guard isName(text) else { throw BraintreeXMLError("id is not 1 to 64 letters, digits, hyphens and underscores") }
    return text
  }

  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x5F
      }
  }

  private static func kind(_ text: String) throws(BraintreeXMLError) -> Kind {
    guard let kind = Kind(rawValue: text) else { throw BraintreeXMLError("type is neither sale nor credit") }
    return kind
  }

  static func currency(_ code: String) throws(BraintreeXMLError) -> Currency {
    guard let currency = Currency(code: code), currency.isMoney else {
      throw BraintreeXMLError("currency-iso-code is no currency")
    }
    return currency
  }
}

extension BraintreeTransaction.Event {
  fileprivate init(_ element: BraintreeXML) throws(BraintreeXMLError) {
    status = try element.text("status")
    amount = try element.text("amount")
    source = try element.textIfPresent("transaction-source")
    time = try element.textIfPresent("timestamp").flatMap { Timestamp(rfc3339: $0) }
  }
}

extension BraintreeTransaction {
  /// Money is held, and nothing of it was taken by this transaction itself.
  var isHeld: Bool { status == "authorized" }
  /// The hold is gone: nothing was taken, and nothing can be.
  var isEnded: Bool { ["voided", "authorization_expired"].contains(status) }
  /// Braintree takes the money with its next batch, or has taken it.
  var isCaptured: Bool {
    ["submitted_for_settlement", "settling", "settled", "settlement_pending", "settlement_confirmed"].contains(status)
  }
  /// An authorization that is settled by its parts.
  var isSettledInParts: Bool { ["settlement_pending", "settlement_confirmed"].contains(status) }

  /// The amount that was authorized, also after less of it was captured.
  var authorizedAmount: String { history.first { $0.status == "authorized" }?.amount ?? amount }

  /// Whether a person caused the newest status in Braintree's control panel.
  var isFromControlPanel: Bool { history.last?.source == "control_panel" }

  /// Why Braintree or the bank refused it; nil when neither did, or when Braintree saw a duplicate.
  var decline: Decline? {
    switch status {
    case "processor_declined", "settlement_declined":
      Decline(reason: BraintreeDeclines.reason(processor: processorCode ?? ""), code: processorCode ?? status)
    case "failed": Decline(reason: failure, code: processorCode ?? status)
    case "gateway_rejected":
      rejection.flatMap(BraintreeDeclines.reason(rejection:)).map { Decline(reason: $0, code: rejection ?? status) }
    default: nil
    }
  }

  /// A transaction fails when Braintree cannot reach the processor.
  private var failure: DeclineReason { processorCode.map(BraintreeDeclines.reason(processor:)) ?? .issuerUnavailable }
}

import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

/// What follows an authorization at Worldline Acquiring.
enum WorldlineAcquiringAction: String, Sendable, CaseIterable {
  case capture = "CAPTURE"
  case void = "AUTHORIZATION_REVERSAL"
  case refund = "REFUND"
  case increment = "INCREMENT"

  /// The end of the path.
  var path: String {
    switch self {
    case .capture: "captures"
    case .void: "authorization-reversals"
    case .refund: "refunds"
    case .increment: "increments"
    }
  }

  fileprivate var amountMember: String {
    switch self {
    case .capture, .refund: "amount"
    case .void: "reversalAmount"
    case .increment: "incrementAmount"
    }
  }

  var inquired: InquiredOperation {
    switch self {
    case .capture: .capture
    case .void: .void
    case .refund: .refund
    case .increment: .increment
    }
  }

  /// Nil for an authorization.
  init?(_ kind: InquiredOperation) {
    guard let action = Self.allCases.first(where: { $0.inquired == kind }) else { return nil }
    self = action
  }
}

/// The bodies that go to Worldline Acquiring. Names are those of its server libraries.
struct WorldlineAcquiringMessages: Sendable {
  let settings: WorldlineAcquiringSettings
  let now: Timestamp

  /// An `ApiPaymentRequest`: held and not captured, with the device's cryptogram, in the wallet of the card schemes'
  /// number 103, Apple Pay.
  func payment(_ request: AuthorizationRequest, _ card: NetworkToken, _ brand: String) -> JSONValue {
    var body = head(request.reference.rawValue)
    let isFinal = request.sale.authorization ?? settings.authorizationType == .final
    body["authorizationType"] = isFinal ? "FINAL_AUTHORIZATION" : "PRE_AUTHORIZATION"
    body["amount"] = Self.amount(request.amount)
    body["references"] = references(request)
    body["cardPaymentData"] = Self.card(card, brand, ["captureImmediately": false, "allowPartialApproval": false])
    body["merchant"] = merchant(request.sale)
    return .object(body)
  }

  /// An `ApiAccountVerificationRequest`: the same card, and no amount.
  func verification(_ request: AuthorizationRequest, _ card: NetworkToken, _ brand: String) -> JSONValue {
    var body = head(request.reference.rawValue)
    body["references"] = references(request)
    body["cardPaymentData"] = Self.card(card, brand)
    body["merchant"] = merchant(request.sale)
    return .object(body)
  }

  /// - Parameter terms: how much is held, and when it is taken.
  private static func card(_ card: NetworkToken, _ brand: String, _ terms: JSONObject = [:]) -> JSONValue {
    var token: JSONObject = ["cryptogram": .string(card.cryptogram.revealed)]
    token["eci"] = card.eci.map { .string($0.utf8.count == 1 ? "0\($0)" : $0) }
    var data: JSONObject = ["brand": .string(brand), "cardEntryMode": "ECOMMERCE"]
    for member in terms.members { data[member.key] = member.value }
    data["cardholderVerificationMethod"] = "CARDHOLDER_DEVICE"
    data["walletId"] = "103"
    data["cardData"] = [
      "cardNumber": .string(card.dpan.revealed),
      "expiryDate": .string(card.expiry.mmyy.prefix(2) + "\(card.expiry.year)"),
    ]
    data["networkTokenData"] = .object(token)
    return .object(data)
  }

  /// What every request begins with.
  private func head(_ operation: String) -> JSONObject {
    var body: JSONObject = ["operationId": .string(operation), "transactionTimestamp": .string(now.description)]
    body["terminalData"] = settings.terminalID.map { ["terminalId": .string($0)] }
    return body
  }

  /// The merchant's reference is ours: it stands in the settlement reports.
  private func references(_ request: AuthorizationRequest) -> JSONValue {
    var object: JSONObject = ["merchantReference": .string(request.reference.rawValue)]
    let text = (request.sale.statementDescriptor ?? "").filter {
      $0.isASCII && ($0.isLetter || $0.isNumber || " .,'_-?+*/".contains($0))
    }
    if !text.isEmpty { object["dynamicDescriptor"] = .string(String(text.prefix(22))) }
    return .object(object)
  }

  private func merchant(_ sale: SaleDetails) -> JSONValue? {
    var object: JSONObject = [:]
    object["merchantCategoryCode"] = sale.merchantCategory.flatMap { Int64($0) }.map(JSONValue.integer)
    let place = settings.place
    for (name, value) in [
      ("name", place.name), ("address", place.address), ("postalCode", place.postalCode), ("city", place.city),
      ("countryCode", place.countryCode),
    ] { object[name] = value.map(JSONValue.string) }
    return object.isEmpty ? nil : .object(object)
  }

  /// The body of a capture, a reversal of the hold or a refund. A part of a capture has its number, and every capture
  /// says whether it is the last.
  func action(_ kind: WorldlineAcquiringAction, _ request: FollowUpRequest) -> JSONValue {
    var body = head(request.reference.rawValue)
    body[kind.amountMember] = Self.amount(request.amount)
    switch kind {
    case .void, .increment: return .object(body)
    case .capture:
      body["isFinal"] = .bool(request.isFinal || request.isWhole)
      if !request.isWhole { body["captureSequenceNumber"] = request.number.map { .integer(Int64($0)) } }
    case .refund: body["captureImmediately"] = true
    }
    body["references"] = ["merchantReference": .string(request.reference.rawValue)]
    return .object(body)
  }

  /// - Parameter operation: the name of the reversal itself; the path has the authorization's.
  func technicalReversal(_ operation: String) -> JSONValue {
    var body = head(operation)
    body["reason"] = "TIMEOUT_WAITING_RESPONSE"
    return .object(body)
  }

  private static func amount(_ amount: Amount) -> JSONValue {
    [
      "amount": .integer(amount.minorUnits), "currencyCode": .string(amount.currency.code),
      "numberOfDecimals": .integer(Int64(amount.currency.exponent)),
    ]
  }

  /// Worldline's name of a card's network; nil for a network that it does not take.
  static func brand(of card: NetworkToken) -> String? {
    CardNetwork(of: card.dpan).flatMap { brands[$0] }
  }

  static let brands: [CardNetwork: String] = [
    .visa: "VISA", .masterCard: "MASTERCARD", .maestro: "MAESTRO", .jcb: "JCB", .chinaUnionPay: "UNION_PAY",
  ]

  static func transcript(_ request: OutboundRequest, _ result: Result<InboundResponse, TransportError>) -> Transcript {
    let answer =
      switch result {
      case .success(let response): "\(response.status) \(scrubber.scrub(response.body))"
      case .failure(let error): "\(error)"
      }
    return Transcript(
      request: "\(request.method) \(request.url) \(scrubber.scrub(request.body))", response: answer)
  }

  private static let scrubber = Scrubber(showing: [
    "operationId", "transactionTimestamp", "authorizationType", "amount", "currencyCode", "numberOfDecimals",
    "merchantReference", "brand", "cardEntryMode", "captureImmediately", "allowPartialApproval",
    "cardholderVerificationMethod", "walletId", "eci", "merchantCategoryCode", "isFinal", "captureSequenceNumber",
    "reason", "paymentId", "refundId", "status", "statusTimestamp", "responder", "responseCode",
    "responseCodeCategory", "responseCodeDescription", "merchantAdviceCode", "retryAfter", "operationType",
    "operationTimestamp", "type", "title", "requestId",
  ])
}

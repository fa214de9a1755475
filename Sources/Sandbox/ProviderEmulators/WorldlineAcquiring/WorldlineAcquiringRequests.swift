import StrictJSON
import TenderPayments
import TokenIssuer

/// What every request has: a name of the caller's, and the time of the transaction.
enum WorldlineAcquiringHead {
  static let members: Set<String> = [
    "operationId", "transactionTimestamp", "terminalData", "dynamicCurrencyConversion",
  ]

  /// The operation's name.
  static func check(_ fields: WorldlineAcquiringFields) throws(WorldlineAcquiringProblem) -> String {
    let time = try fields.text("transactionTimestamp", limit: 35)
    let pattern = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+\-]\d{2}:\d{2})/
    guard time.wholeMatch(of: pattern) != nil else { throw .invalid("transactionTimestamp is no time of ISO 8601") }
    try terminal(fields)
    let name = try fields.text("operationId", limit: 64)
    guard isName(name) else { throw .invalid("operationId holds other characters than letters, digits, - and _") }
    return name
  }

  private static func terminal(_ fields: WorldlineAcquiringFields) throws(WorldlineAcquiringProblem) {
    let known: Set<String> = ["terminalId", "isAttendedTerminal", "terminalLocation", "pinEntryCapability"]
    _ = try fields.objectIfPresent("terminalData", known: known)?.textIfPresent("terminalId", limit: 8)
  }

  static func isName(_ text: String) -> Bool {
    text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D || $0 == 0x5F
    }
  }
}

/// `POST …/payments`: a payment with a network token.
struct WorldlineAcquiringPaymentRequest: Sendable {
  let operationID: String
  let amount: Amount
  let isPreAuthorization: Bool
  let merchantReference: String
  let brand: String
  let card: NetworkToken
  let capturesImmediately: Bool
  let allowsPartialApproval: Bool

  init(_ body: JSONValue) throws(WorldlineAcquiringProblem) {
    let known = WorldlineAcquiringHead.members.union([
      "amount", "authorizationType", "cardPaymentData", "merchant", "references",
    ])
    let fields = try WorldlineAcquiringFields(body, known: known)
    operationID = try WorldlineAcquiringHead.check(fields)
    amount = try fields.amount("amount")
    let types = ["PRE_AUTHORIZATION", "FINAL_AUTHORIZATION"]
    isPreAuthorization = try fields.text("authorizationType", among: types) == types[0]
    merchantReference = try Self.reference(fields)
    try Self.merchant(fields)
    let payment = try fields.object(
      "cardPaymentData", known: Self.cardMembers.union(["allowPartialApproval", "captureImmediately"]))
    capturesImmediately = try payment.flag("captureImmediately")
    allowsPartialApproval = try payment.flag("allowPartialApproval")
    (brand, card) = try Self.brandedCard(payment)
  }

  fileprivate static let cardMembers: Set<String> = [
    "brand", "brandSelector", "cardData", "cardEntryMode", "cardholderVerificationMethod", "ecommerceData",
    "networkTokenData", "walletId",
  ]

  fileprivate static func brandedCard(
    _ payment: WorldlineAcquiringFields
  ) throws(WorldlineAcquiringProblem) -> (String, NetworkToken) {
    let brand = try payment.text("brand", among: Array(networks.keys).sorted())
    _ = try payment.text("cardEntryMode", among: ["ECOMMERCE"])
    _ = try payment.text("cardholderVerificationMethod", among: ["CARDHOLDER_DEVICE", "THREE_DS", "NONE"])
    let card = try card(payment)
    if let network = SandboxCards.card(dpan: card.dpan)?.network, networks[brand] != network {
      throw .invalid("cardPaymentData.brand is not the card's")
    }
    return (brand, card)
  }

  private static let networks: [String: CardNetwork] = [
    "VISA": .visa, "MASTERCARD": .masterCard, "MAESTRO": .maestro, "JCB": .jcb, "UNION_PAY": .chinaUnionPay,
  ]

  fileprivate static func reference(_ fields: WorldlineAcquiringFields) throws(WorldlineAcquiringProblem) -> String {
    let references = try fields.object("references", known: ["merchantReference", "dynamicDescriptor"])
    _ = try references.textIfPresent("dynamicDescriptor")
    return try references.text("merchantReference")
  }

  fileprivate static func merchant(_ fields: WorldlineAcquiringFields) throws(WorldlineAcquiringProblem) {
    let texts = ["name", "address", "postalCode", "city", "stateCode", "countryCode"]
    let known = Set(texts).union([
      "merchantCategoryCode", "customerServiceData", "paymentFacilitatorId", "subMerchantId",
    ])
    guard let merchant = try fields.objectIfPresent("merchant", known: known) else { return }
    _ = try merchant.integerIfPresent("merchantCategoryCode", 0...9_999)
    for name in texts { _ = try merchant.textIfPresent(name, limit: name == "countryCode" ? 2 : 100) }
  }

  /// A device account number with its cryptogram, in the wallet whose number the card schemes gave to Apple Pay.
  private static func card(_ payment: WorldlineAcquiringFields) throws(WorldlineAcquiringProblem) -> NetworkToken {
    _ = try payment.text("walletId", among: ["103"])
    let data = try payment.object("cardData", known: ["cardNumber", "expiryDate"])
    guard let dpan = DPAN(try data.text("cardNumber", limit: 19)) else { throw .invalid("cardNumber is no number") }
    let date = try data.text("expiryDate", limit: 6)
    guard date.utf8.count == 6, let expiry = CardExpiry(yymm: String(date.suffix(2) + date.prefix(2))),
      date.hasSuffix("\(expiry.year)")
    else { throw .invalid("expiryDate is no MMYYYY") }
    let token = try payment.object("networkTokenData", known: ["cryptogram", "eci"])
    let eci = try token.textIfPresent("eci", limit: 2)
    guard eci.map({ $0.utf8.count == 2 }) ?? true else { throw .invalid("eci has two digits") }
    let cryptogram = try token.text("cryptogram")
    guard let bytes = Base64.decode(cryptogram), bytes.count >= 7 else { throw .invalid("cryptogram is no base64") }
    return NetworkToken(dpan: dpan, expiry: expiry, cryptogram: Cryptogram(base64: cryptogram), eci: eci)
  }
}

/// `POST …/account-verifications`: a network token, and no amount.
struct WorldlineAcquiringVerificationRequest: Sendable {
  let operationID: String
  let card: NetworkToken

  init(_ body: JSONValue) throws(WorldlineAcquiringProblem) {
    let known = WorldlineAcquiringHead.members.union(["cardPaymentData", "merchant", "references"])
    let fields = try WorldlineAcquiringFields(body, known: known)
    operationID = try WorldlineAcquiringHead.check(fields)
    _ = try WorldlineAcquiringPaymentRequest.reference(fields)
    try WorldlineAcquiringPaymentRequest.merchant(fields)
    let payment = try fields.object("cardPaymentData", known: WorldlineAcquiringPaymentRequest.cardMembers)
    card = try WorldlineAcquiringPaymentRequest.brandedCard(payment).1
  }
}

/// What follows a payment: a capture, a reversal, an increment, a refund.
struct WorldlineAcquiringAction: Sendable {
  enum Kind: String, Sendable {
    case capture = "CAPTURE"
    case reversal = "AUTHORIZATION_REVERSAL"
    case increment = "INCREMENT"
    case refund = "REFUND"

    fileprivate var amountMember: String {
      switch self {
      case .capture, .refund: "amount"
      case .reversal: "reversalAmount"
      case .increment: "incrementAmount"
      }
    }

    fileprivate var members: Set<String> {
      switch self {
      case .capture: ["captureSequenceNumber", "isFinal", "references"]
      case .refund: ["captureImmediately", "references"]
      case .reversal, .increment: []
      }
    }
  }

  let kind: Kind
  let operationID: String
  /// Nil where all that is left is meant.
  let amount: Amount?
  let isFinal: Bool
  let sequence: Int64?
  let capturesImmediately: Bool

  init(_ kind: Kind, _ body: JSONValue) throws(WorldlineAcquiringProblem) {
    let known = WorldlineAcquiringHead.members.union(kind.members).union([kind.amountMember])
    let fields = try WorldlineAcquiringFields(body, known: known)
    self.kind = kind
    operationID = try WorldlineAcquiringHead.check(fields)
    amount = try fields.amountIfPresent(kind.amountMember)
    if kind == .increment, amount == nil { throw .required(kind.amountMember) }
    isFinal = try fields.flag("isFinal")
    sequence = try fields.integerIfPresent("captureSequenceNumber", 1...99)
    capturesImmediately = try fields.flag("captureImmediately")
    _ = try fields.objectIfPresent("references", known: ["merchantReference", "dynamicDescriptor"])
  }
}

/// `POST …/operations/{operationId}/reverse`.
struct WorldlineAcquiringTechnicalReversal: Sendable {
  let operationID: String

  init(_ body: JSONValue) throws(WorldlineAcquiringProblem) {
    let fields = try WorldlineAcquiringFields(body, known: WorldlineAcquiringHead.members.union(["reason"]))
    operationID = try WorldlineAcquiringHead.check(fields)
    let reasons = [
      "SUSPECTED_MALFUNCTION", "INVALID_RESPONSE", "TIMEOUT_WAITING_RESPONSE", "SUSPECTED_FRAUD",
    ]
    if try fields.textIfPresent("reason") != nil { _ = try fields.text("reason", among: reasons) }
  }
}

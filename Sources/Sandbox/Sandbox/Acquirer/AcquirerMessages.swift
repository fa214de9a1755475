import StrictJSON
import TenderPayments

/// What a caller wants held.
struct HoldRequest: Sendable {
  let reference: String
  let merchantReference: String
  let amount: Amount
  let dpan: DPAN
  let expiry: CardExpiry
  let cryptogram: Cryptogram
  /// The request in one spelling, to tell a repeat from another request under the same reference.
  let canonical: [UInt8]

  init(_ body: JSONField) throws {
    reference = try body.reference
    merchantReference = try body.member("merchantReference").string
    amount = try body.amount
    guard let dpan = DPAN(try body.member("dpan").string) else { throw SandboxProblem.invalid("dpan") }
    guard let expiry = CardExpiry(yymm: try body.member("expiry").string) else {
      throw SandboxProblem.invalid("expiry")
    }
    let cryptogram = try body.member("cryptogram").string
    guard Base64.decode(cryptogram)?.isEmpty == false else { throw SandboxProblem.invalid("cryptogram") }
    self.dpan = dpan
    self.expiry = expiry
    self.cryptogram = Cryptogram(base64: cryptogram)
    canonical = body.value.serialized()
  }

  /// The card came sealed in a payment token, and was opened here.
  init(_ body: JSONField, card: NetworkToken) throws {
    reference = try body.reference
    merchantReference = try body.member("merchantReference").string
    amount = try body.amount
    (dpan, expiry, cryptogram) = (card.dpan, card.expiry, card.cryptogram)
    canonical = body.value.serialized()
  }
}

/// A capture, a void or a refund that a caller wants.
struct FollowUpWish: Sendable {
  let reference: String
  let amount: Amount
  /// The last capture: the rest of the hold is let go.
  let isFinal: Bool
  let canonical: [UInt8]

  init(_ body: JSONField) throws {
    reference = try body.reference
    amount = try body.amount
    isFinal = try body.memberIfPresent("final")?.bool ?? false
    canonical = body.value.serialized()
  }
}

enum FollowUp: String, Sendable, Hashable {
  case capture, void, refund
}

/// The acquirer's answer to one operation.
struct AcquirerReply: Sendable {
  let reference: String
  let acquirerReference: String
  let amount: Amount
  /// ISO 8583 field 39; `09` while the answer is pending, `10` when less was approved.
  let responseCode: String
  let authorizationCode: String?
  let networkTransactionID: String?
  /// What was approved, when it is less than the amount.
  var approvedAmount: Amount?

  var json: JSONValue {
    var object: JSONObject = [
      "reference": .string(reference), "acquirerReference": .string(acquirerReference),
      "result": .string(result), "responseCode": .string(responseCode), "amount": .integer(amount.minorUnits),
      "currency": .string(amount.currency.code),
    ]
    object["approvedAmount"] = approvedAmount.map { .integer($0.minorUnits) }
    object["authorizationCode"] = authorizationCode.map(JSONValue.string)
    object["networkTransactionId"] = networkTransactionID.map(JSONValue.string)
    return .object(object)
  }

  private var result: String {
    switch responseCode {
    case "00", "10": "approved"
    case "09": "pending"
    default: "declined"
    }
  }
}

extension Amount {
  /// Half of it, rounded up.
  var half: Amount { Amount(minorUnits: minorUnits - minorUnits / 2, currency: currency) }
}

extension JSONField {
  fileprivate var reference: String {
    get throws {
      let text = try member("reference").string
      guard (1...64).contains(text.utf8.count) else { throw SandboxProblem.invalid("reference") }
      return text
    }
  }

  fileprivate var amount: Amount {
    get throws {
      guard let currency = Currency(code: try member("currency").string), currency.isMoney else {
        throw SandboxProblem.invalid("currency")
      }
      let amount = Amount(minorUnits: try member("amount").integer, currency: currency)
      guard amount.isPositive else { throw SandboxProblem.invalid("amount") }
      return amount
    }
  }
}

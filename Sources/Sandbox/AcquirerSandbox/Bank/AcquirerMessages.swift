import ApplePayToken
import StrictJSON
import TenderPayments
import TokenIssuer

/// An authorization that a caller requests.
struct HoldRequest: Sendable {
  let reference: String
  let merchantReference: String
  let amount: Amount
  let dpan: DPAN
  let expiry: CardExpiry
  let cryptogram: Cryptogram
  /// The request's bytes, to distinguish a repeat from another request under the same reference.
  let canonical: [UInt8]

  init(_ body: JSONField) throws {
    reference = try body.reference
    merchantReference = try body.member("merchantReference").string
    amount = try body.heldAmount
    guard let dpan = DPAN(try body.member("dpan").string) else { throw AcquirerProblem.invalid("dpan") }
    guard let expiry = CardExpiry(yymm: try body.member("expiry").string) else {
      throw AcquirerProblem.invalid("expiry")
    }
    let cryptogram = try body.member("cryptogram").string
    guard Base64.decode(cryptogram)?.isEmpty == false else { throw AcquirerProblem.invalid("cryptogram") }
    self.dpan = dpan
    self.expiry = expiry
    self.cryptogram = Cryptogram(base64: cryptogram)
    canonical = body.value.serialized()
  }

  /// A request whose card was inside a payment token that the provider decrypted.
  init(_ body: JSONField, card: NetworkToken) throws {
    reference = try body.reference
    merchantReference = try body.member("merchantReference").string
    amount = try body.heldAmount
    (dpan, expiry, cryptogram) = (card.dpan, card.expiry, card.cryptogram)
    canonical = body.value.serialized()
  }
}

/// A capture, a void or a refund that a caller requests.
struct FollowUpRequest: Sendable {
  let reference: String
  let amount: Amount
  /// Whether it is the last capture, which releases the rest of the hold.
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
      guard (1...64).contains(text.utf8.count) else { throw AcquirerProblem.invalid("reference") }
      return text
    }
  }

  fileprivate var amount: Amount {
    get throws {
      let amount = try heldAmount
      guard amount.isPositive else { throw AcquirerProblem.invalid("amount") }
      return amount
    }
  }

  /// The amount of an authorization: zero asks the issuer about the card alone.
  fileprivate var heldAmount: Amount {
    get throws {
      guard let currency = Currency(code: try member("currency").string), currency.isMoney else {
        throw AcquirerProblem.invalid("currency")
      }
      let amount = try member("amount").amount(in: currency)
      guard !amount.isNegative else { throw AcquirerProblem.invalid("amount") }
      return amount
    }
  }
}

extension ProviderKeys {
  /// Decrypts the payment token of an authorization, with the key that it was encrypted to.
  func hold(_ body: JSONField) async throws -> (HoldRequest, refusal: String?) {
    do {
      let opened = try await open(try body.member("paymentData").value)
      let wanted = try HoldRequest(body, card: try opened.networkToken)
      return (wanted, opened.amount == wanted.amount ? nil : "13")
    } catch let error as PaymentTokenError {
      throw AcquirerProblem(status: 422, code: "payment_token_refused", message: "\(error.stage): \(error.reason)")
    }
  }
}

extension ScriptedResponse {
  /// - Parameter refusal: a response code that the request gets whatever its card and amount.
  init(_ request: HoldRequest, refusal: String? = nil) {
    if let refusal {
      self.init(outcome: .decline(responseCode: refusal), delay: .zero)
      return
    }
    self.init(dpan: request.dpan, minorUnits: request.amount.minorUnits)
  }
}

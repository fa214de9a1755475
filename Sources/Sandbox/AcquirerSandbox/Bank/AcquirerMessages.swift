import ApplePayToken
import StrictJSON
import TenderPayments
import TokenIssuer

/// An authorization that a caller requests.
struct HoldRequest: Sendable {
  /// What pays: a card that is here, or the credential that the acquirer keeps of an earlier payment.
  enum Means: Sendable {
    /// - Parameter series: of the agreement that begins, for which the credential is kept.
    case card(DPAN, Cryptogram, series: String?)
    case stored(StoredCharge)
  }

  let reference: String
  let merchantReference: String
  let amount: Amount
  let means: Means
  /// The request's bytes, to distinguish a repeat from another request under the same reference.
  let canonical: [UInt8]

  init(_ body: JSONField) throws {
    reference = try body.reference
    merchantReference = try body.member("merchantReference").string
    amount = try body.heldAmount
    means = try StoredCharge(body).map(Means.stored) ?? Self.card(body)
    canonical = body.value.serialized()
  }

  private static func card(_ body: JSONField) throws -> Means {
    guard let dpan = DPAN(try body.member("dpan").string) else { throw AcquirerProblem.invalid("dpan") }
    guard CardExpiry(yymm: try body.member("expiry").string) != nil else { throw AcquirerProblem.invalid("expiry") }
    let cryptogram = try body.member("cryptogram").string
    guard Base64.decode(cryptogram)?.isEmpty == false else { throw AcquirerProblem.invalid("cryptogram") }
    return .card(dpan, Cryptogram(base64: cryptogram), series: try StoredCharge.begunSeries(body))
  }

  /// A request whose card was inside a payment token that the provider decrypted.
  init(_ body: JSONField, card: NetworkToken) throws {
    reference = try body.reference
    merchantReference = try body.member("merchantReference").string
    amount = try body.heldAmount
    means = .card(card.dpan, card.cryptogram, series: try StoredCharge.begunSeries(body))
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
  /// The acquirer's name of the credential that it keeps.
  var storedCredential: String?

  var json: JSONValue {
    var object: JSONObject = [
      "reference": .string(reference), "acquirerReference": .string(acquirerReference),
      "result": .string(result), "responseCode": .string(responseCode), "amount": .integer(amount.minorUnits),
      "currency": .string(amount.currency.code),
    ]
    object["approvedAmount"] = approvedAmount.map { .integer($0.minorUnits) }
    object["authorizationCode"] = authorizationCode.map(JSONValue.string)
    object["networkTransactionId"] = networkTransactionID.map(JSONValue.string)
    object["storedCredential"] = storedCredential.map(JSONValue.string)
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

extension HoldRequest {
  /// The last four digits of the card that is here.
  var cardSuffix: String? { if case .card(let dpan, _, _) = means { dpan.lastFour } else { nil } }
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
    if try StoredCharge(body) != nil { return (try HoldRequest(body), nil) }
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
  /// - Parameters:
  ///   - refusal: a response code that the request gets whatever its card and amount.
  ///   - storedCard: the card of the stored credential that the request charges.
  init(_ request: HoldRequest, refusal: String? = nil, storedCard: SandboxCard? = nil) {
    if let refusal {
      self.init(outcome: .decline(responseCode: refusal), delay: .zero)
      return
    }
    switch request.means {
    case .card(let dpan, _, _): self.init(dpan: dpan, minorUnits: request.amount.minorUnits)
    case .stored: self.init(storedCard: storedCard, minorUnits: request.amount.minorUnits)
    }
  }
}

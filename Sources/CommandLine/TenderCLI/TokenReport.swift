import ApplePayToken
import StrictJSON
import TenderPayments

/// The answer of a `tender token` command: a headline for people, and members for people and programs.
struct TokenReport {
  private let headline: String
  private let members: JSONObject

  /// - Parameter token: nil when it could not be read.
  init(refusal: PaymentTokenError, of token: EncryptedPaymentToken?) {
    headline = "refused at \(refusal.stage.rawValue): \(refusal.reason)"
    var members: JSONObject = [
      "verified": false, "stage": .string(refusal.stage.rawValue), "code": .string(refusal.code.rawValue),
      "reason": .string(refusal.reason),
    ]
    members["field"] = refusal.field.map(JSONValue.string)
    members["advice"] = .string(refusal.advice)
    members["retryWith"] = Self.fittingTime(refusal, token).map { .string("--at \($0)") }
    self.members = members
  }

  /// The signing time of a token that was refused because of it alone. Its signature was verified before.
  private static func fittingTime(_ refusal: PaymentTokenError, _ token: EncryptedPaymentToken?) -> Timestamp? {
    guard refusal.code == .tooOld || refusal.code == .inTheFuture else { return nil }
    return token.flatMap { TokenInspection($0).signingTime }
  }

  init(verified: VerifiedPaymentToken, novelties: [String]) {
    headline = "verified"
    var members: JSONObject = ["verified": true]
    members["signingTime"] = .string(verified.signingTime.description)
    members["environment"] = .string(verified.environment.rawValue)
    Self.describe(verified.token, in: &members)
    members["unchecked"] = Self.stages(VerifiedPaymentToken.unchecked)
    if !novelties.isEmpty { members["novelties"] = .array(novelties.map(JSONValue.string)) }
    self.members = members
  }

  private static func stages(_ stages: [PaymentTokenError.Stage]) -> JSONValue {
    .array(stages.map { .string($0.rawValue) })
  }

  init(opened: OpenedPaymentToken, reveal: Bool, novelties: [String]) {
    let verified = TokenReport(verified: opened.verified, novelties: novelties)
    headline = "verified and decrypted: \(opened.paymentData.amount)"
    var members = verified.members
    members["unchecked"] = Self.stages(OpenedPaymentToken.unchecked)
    members["paymentData"] = reveal ? opened.paymentData.revealed : opened.paymentData.masked
    self.members = members
  }

  init(inspection: TokenInspection) {
    headline = "not verified: what the payment token says of itself"
    var members = JSONObject()
    Self.describe(inspection.token, in: &members)
    members["dataBytes"] = .integer(Int64(inspection.token.data.count))
    members["signatureBytes"] = .integer(Int64(inspection.token.signature.count))
    members["signingTime"] = inspection.signingTime.map { .string($0.description) }
    members["wireForm"] = inspection.wireForm.map { .string($0.description) }
    members["problem"] = inspection.problem.map { .string($0.reason) }
    members["certificates"] = .array(inspection.certificates.map(Self.describe))
    self.members = members
  }

  /// One line of JSON; or the headline, and one line for each member that it does not say already.
  func text(json: Bool) -> String {
    guard !json else { return String(decoding: JSONValue.object(members).serialized(), as: UTF8.self) }
    let rest = members.members.filter { !Self.saidByHeadline.contains($0.key) }
    let lines = rest.flatMap { Self.lines(key: $0.key, $0.value, indent: "  ") }
    return ([headline] + lines).joined(separator: "\n")
  }

  private static let saidByHeadline: Set = ["verified", "stage", "reason"]

  private static func describe(_ token: EncryptedPaymentToken, in members: inout JSONObject) {
    members["version"] = .string(token.version.rawValue)
    members["publicKeyHash"] = .string(Base64.encode(token.publicKeyHash))
    members["transactionId"] = .string(Hex.encode(token.transactionID))
    members["applicationData"] = token.applicationDataHash.map { .string(Hex.encode($0)) }
  }

  private static func describe(_ certificate: TokenInspection.CertificateSummary) -> JSONValue {
    var members = JSONObject()
    members["commonName"] = certificate.commonName.map(JSONValue.string)
    members["serialNumber"] = .string(certificate.serialNumber)
    members["notBefore"] = .string(certificate.notBefore.description)
    members["notAfter"] = .string(certificate.notAfter.description)
    members["signerMarker"] = .bool(certificate.hasSignerMarker)
    members["intermediateMarker"] = .bool(certificate.hasIntermediateMarker)
    return .object(members)
  }

  private static func lines(_ object: JSONObject, indent: String) -> [String] {
    object.members.flatMap { lines(key: $0.key, $0.value, indent: indent) }
  }

  private static func lines(key: String, _ value: JSONValue, indent: String) -> [String] {
    switch value {
    case .object(let inner): ["\(indent)\(key)"] + lines(inner, indent: indent + "  ")
    case .array(let elements) where elements.allSatisfy(\.isText):
      ["\(indent)\(key): \(elements.compactMap(\.text).joined(separator: ", "))"]
    case .array(let elements): elements.flatMap { lines(key: key, $0, indent: indent) }
    case .string(let text): ["\(indent)\(key): \(text)"]
    default: ["\(indent)\(key): \(String(decoding: value.serialized(), as: UTF8.self))"]
    }
  }
}

extension JSONValue {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
  fileprivate var isText: Bool { text != nil }
}

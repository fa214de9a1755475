import ApplePayToken
import StrictJSON
import TenderPayments
import TokenCalls

/// The answer of a `tender token` command: a headline for people, and members for people and programs.
struct TokenReport {
  private let headline: String
  private let members: JSONObject

  /// - Parameter token: nil when it could not be read.
  init(refusal: PaymentTokenError, of token: EncryptedPaymentToken?) {
    headline = "refused at \(refusal.stage.rawValue): \(refusal.reason)"
    var members = TokenAnswer.document(refusal)
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
    members = TokenAnswer.document(verified, novelties: novelties)
  }

  init(opened: OpenedPaymentToken, reveal: Bool, novelties: [String]) {
    headline = "verified and decrypted: \(opened.paymentData.amount)"
    members = TokenAnswer.document(opened.verified, opened.paymentData, revealed: reveal, novelties: novelties)
  }

  init(inspection: TokenInspection) {
    headline = "not verified: what the payment token says of itself"
    members = TokenAnswer.document(inspection)
  }

  /// One line of JSON; or the headline, and one line for each member that it does not say already.
  func text(json: Bool) -> String {
    guard !json else { return String(decoding: JSONValue.object(members).serialized(), as: UTF8.self) }
    let rest = members.members.filter { !Self.saidByHeadline.contains($0.key) }
    let lines = rest.flatMap { Self.lines(key: $0.key, $0.value, indent: "  ") }
    return ([headline] + lines).joined(separator: "\n")
  }

  private static let saidByHeadline: Set = ["verified", "stage", "reason", "amount", "currency"]

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

import StrictJSON
import TenderPayments

/// A payment sheet that one phone may operate after it scanned the sheet's code.
struct RemoteSheet: Sendable {
  /// How long a code pairs.
  static let codeLifetime: Duration = .seconds(300)

  /// The sheet's own name for it, known to its page alone.
  let id: String
  /// What the QR code holds.
  let code: String
  let issuedAt: Timestamp
  /// The phone's own name for it, once it has paired.
  private(set) var wallet: String?
  /// What the phone shows: as the sheet sent it last.
  private(set) var state: JSONValue
  /// What the shopper chose on the phone, in order.
  private(set) var choices: [JSONValue] = []
  private(set) var isOpen = true

  init(id: String, code: String, issuedAt: Timestamp, state: JSONValue) {
    (self.id, self.code, self.issuedAt, self.state) = (id, code, issuedAt, state)
  }

  /// Pairs the phone that sent the code.
  ///
  /// - Throws: ``SandboxProblem`` when the code was used, or is older than ``codeLifetime``, or its sheet is closed.
  mutating func pair(_ wallet: String, at now: Timestamp) throws(SandboxProblem) {
    guard self.wallet == nil else { throw .codeUsed }
    guard isOpen, now.since(issuedAt) <= Self.codeLifetime else { throw .codeExpired }
    self.wallet = wallet
  }

  mutating func show(_ state: JSONValue) { self.state = state }

  mutating func choose(_ choice: JSONValue) { choices.append(choice) }

  mutating func close(_ state: JSONValue) {
    self.state = state
    isOpen = false
  }
}

extension SandboxProblem {
  static let codeUnknown = SandboxProblem(
    status: 404, code: "code_unknown", message: "No payment sheet of this sandbox has this code.")
  fileprivate static let codeUsed = SandboxProblem(
    status: 409, code: "code_used", message: "Another phone used this code. Ask the sheet for a new one.")
  fileprivate static let codeExpired = SandboxProblem(
    status: 410, code: "code_expired", message: "This code is older than five minutes, or its sheet was closed.")
}

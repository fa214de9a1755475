import StrictJSON
import TenderPayments
import TokenIssuer

/// The sessions that the gateway opened: each is valid for one sheet, on one domain, for five minutes.
actor SessionStore {
  private let pki: SandboxPKI
  private let clock: WallClock
  private let random: RandomBytes
  private var sessions: [String: PaymentSession] = [:]
  /// By session, the sheet that used it.
  private var spent: [String: String] = [:]

  init(pki: SandboxPKI, clock: WallClock, random: RandomBytes) {
    self.pki = pki
    self.clock = clock
    self.random = random
  }

  /// How many sessions are remembered, the used and expired ones of the last hour included.
  var count: Int { sessions.count }

  func open(_ request: SessionRequest, for merchant: PortalMerchant) throws -> PaymentSession {
    removeOld()
    var signer = pki.broker
    signer.form = .withoutNull
    let session = try PaymentSession(request, for: merchant, signer: signer, at: clock.now(), random: random)
    sessions[session.identifier] = session
    return session
  }

  /// Checks whether a session may be used on this domain now.
  ///
  /// A sheet that stays open after a payment failed may use its session again, as Apple's may.
  ///
  /// - Parameters:
  ///   - domain: the host in the address bar; nil when the caller is no page.
  ///   - sheet: the open sheet, by its own name for itself; nil when the caller names none.
  func check(_ presented: JSONField, on domain: String?, in sheet: String? = nil) throws -> PaymentSession {
    let identifier = try presented.member("merchantSessionIdentifier").string
    guard let session = sessions[identifier] else { throw unknown(presented) }
    guard session.matches(presented.value) else { throw Failure.altered }
    if let user = spent[identifier], user != sheet { throw Failure.used }
    guard clock.now().since(session.openedAt) <= PaymentSession.life else { throw Failure.expired }
    if let domain, let own = session.domain, domain.lowercased() != own { throw Failure.domainMismatch(own, domain) }
    return session
  }

  /// Checks a session and uses it up. A caller without a sheet gets a random one.
  func spend(_ presented: JSONField, on domain: String?, in sheet: String?) throws -> PaymentSession {
    let session = try check(presented, on: domain, in: sheet)
    spent[session.identifier] = sheet ?? random.hex(16)
    return session
  }

  func reset() {
    sessions = [:]
    spent = [:]
  }

  /// Distinguishes a session of this sandbox that was removed from one of another environment.
  private func unknown(_ presented: JSONField) -> SandboxProblem {
    guard case .string(let signature)? = presented.value["signature"], let signer = try? pki.tokenSigner.der,
      signature.lowercased().contains(Hex.encode(signer))
    else { return Failure.foreign }
    return Failure.unknown
  }

  /// Removes sessions older than an hour, so that memory stays bounded.
  private func removeOld() {
    let now = clock.now()
    sessions = sessions.filter { now.since($0.value.openedAt) <= .seconds(3600) }
    spent = spent.filter { sessions[$0.key] != nil }
  }

  private enum Failure {
    static let foreign = SandboxProblem(
      status: 422, code: "environment_mismatch",
      message: "This merchant session was not signed by this sandbox: it belongs to another environment.")
    static let unknown = SandboxProblem(
      status: 422, code: "session_unknown", message: "The sandbox has forgotten this merchant session; ask for another."
    )
    static let altered = SandboxProblem(
      status: 422, code: "session_altered",
      message: "The merchant session differs from what the gateway answered; pass it on unchanged.")
    static let used = SandboxProblem(
      status: 422, code: "session_used", message: "A merchant session serves one sheet; this one is used up.")
    static let expired = SandboxProblem(
      status: 422, code: "session_expired", message: "A merchant session lives five minutes; this one is older.")
    static func domainMismatch(_ named: String, _ page: String) -> SandboxProblem {
      SandboxProblem(
        status: 422, code: "session_domain_mismatch",
        message: """
          The merchant session was opened for \(named), and the page in the address bar is of \(page): in a frame, too, the \
          session names the outer page's domain.
          """)
    }
  }
}

extension PaymentSession {
  /// Whether every member is there unchanged. Their order may differ, as a program that passes JSON on may change it.
  fileprivate func matches(_ presented: JSONValue) -> Bool {
    guard case .object(let theirs) = presented, case .object(let ours) = json else { return false }
    return theirs.count == ours.count && ours.members.allSatisfy { theirs[$0.key] == $0.value }
  }
}

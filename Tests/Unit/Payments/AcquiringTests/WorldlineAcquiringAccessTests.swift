import AcquirerSandbox
import Acquiring
import Connectors
import HTTPTransport
import ProviderEmulators
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// Access tokens: issued, renewed, refused.
@Suite struct `Worldline Acquiring's access tokens` {
  @Test func `one token serves many calls, and is renewed before it ends`() async throws {
    let issuer = TokenIssuer()
    let acquirer = try issuer.acquirer()
    for _ in 0..<3 { #expect(await acquirer.checkCredentials(.after(TestRun.whole)) == .accepted) }
    #expect(issuer.issued == 1)
    // 3,600 seconds: a fifth is more than two minutes, so two minutes before its end.
    issuer.clock.advance(.seconds(3_481))
    try await waitUntil("a call with the second token") {
      #expect(await acquirer.checkCredentials(.after(TestRun.whole)) == .accepted)
      return issuer.used.last == "token-2"
    }
    // The first call after that moment did not wait for the new token.
    #expect(issuer.used.prefix(4).allSatisfy { $0 == "token-1" })
    #expect(issuer.issued == 2)
  }

  @Test func `the request of a token is a form with encoded credentials`() async throws {
    let issuer = TokenIssuer()
    _ = try await issuer.acquirer(secret: "s+/ &é").checkCredentials(.after(TestRun.whole))
    let request = try #require(issuer.tokenRequests.first)
    #expect(request.method == "POST" && request.url == "https://auth-test-eu-west-1.aws.bambora.com/connect/token")
    #expect(request.headers == [HTTPField("Content-Type", "application/x-www-form-urlencoded")])
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == "grant_type=client_credentials&client_id=client&client_secret=s%2B%2F+%26%C3%A9"
        + "&scope=processing_payment+processing_refund+processing_operation_reverse+services_ping")
  }

  @Test func `however many payments wait, one renewal runs`() async throws {
    let issuer = TokenIssuer()
    issuer.isHeld = true
    let acquirer = try issuer.acquirer()
    let begun = Counter()
    try await withThrowingTaskGroup(of: CredentialCheck.self) { group in
      defer { issuer.isHeld = false }
      for _ in 0..<50 {
        group.addTask {
          begun.next()
          return await acquirer.checkCredentials(.after(TestRun.whole))
        }
      }
      try await waitUntil("the calls") { begun.value == 50 }
      issuer.isHeld = false
      for try await check in group { #expect(check == .accepted) }
    }
    #expect(issuer.issued == 1 && issuer.used.count == 50)
  }

  @Test func `who waits for a renewal waits no longer than its own deadline`() async throws {
    let issuer = TokenIssuer()
    issuer.isHeld = true
    let acquirer = try issuer.acquirer()
    async let patient = acquirer.checkCredentials(.after(TestRun.whole))
    defer { issuer.isHeld = false }
    let impatient = await issuer.authorize(acquirer, .after(.milliseconds(50)))
    guard case .notSent(let reason) = impatient else { throw Wrong() }
    #expect(reason.contains("too late") || reason.contains("no time was left"))
    #expect(issuer.issued == 0, "the renewal is still waiting")
    issuer.isHeld = false
    #expect(await patient == .accepted)
    #expect(issuer.issued == 1 && issuer.used.count == 1)
  }

  @Test func `a renewal that fails while the token is valid stops nobody`() async throws {
    let issuer = TokenIssuer()
    let acquirer = try issuer.acquirer()
    _ = await acquirer.checkCredentials(.after(TestRun.whole))
    issuer.answers(503, "<html></html>")
    issuer.clock.advance(.seconds(3_500))
    for _ in 0..<3 { #expect(await acquirer.checkCredentials(.after(TestRun.whole)) == .accepted) }
    try await waitUntil("the renewal that fails") { issuer.tokenRequests.count >= 2 }
    // After its end nothing is sent with it.
    issuer.clock.advance(.seconds(100))
    guard case .notSent = await issuer.authorize(acquirer, .after(TestRun.whole)) else { throw Wrong() }
    #expect(issuer.used == ["token-1", "token-1", "token-1", "token-1"])
  }

  @Test(arguments: [
    (400, #"{"error":"invalid_client"}"#, "invalid_client"), (401, #"{"error":"invalid_client"}"#, "invalid_client"),
    (400, #"{"error":"invalid_scope","error_description":"no"}"#, "invalid_scope"),
  ])
  func `credentials that are refused are a matter of configuration`(
    status: Int, body: String, code: String
  ) async throws {
    let issuer = TokenIssuer()
    issuer.answers(status, body)
    let acquirer = try issuer.acquirer()
    let answer = await issuer.authorize(acquirer, .after(TestRun.whole))
    #expect(answer == .declined(Decline(reason: .configuration, code: code)))
    guard case .refused(let reason) = await acquirer.checkCredentials(.after(TestRun.whole)) else { throw Wrong() }
    #expect(reason.contains(code) && issuer.used.isEmpty)
  }

  @Test(arguments: [
    (200, "<html></html>"), (200, #"{"access_token":"a b","expires_in":60}"#), (200, #"{"access_token":"t"}"#),
    (200, #"{"access_token":"t","expires_in":0}"#), (302, ""), (500, #"{"error":"server_error"}"#), (503, ""),
  ])
  func `without a token nothing is sent, and nothing is unknown`(status: Int, body: String) async throws {
    let issuer = TokenIssuer()
    issuer.answers(status, body)
    let acquirer = try issuer.acquirer()
    guard case .notSent = await issuer.authorize(acquirer, .after(TestRun.whole)) else { throw Wrong() }
    let question = InquiryRequest(
      reference: AttemptReference("C1"), amount: .eur(1), kind: .capture, authorization: "p1")
    guard case .unavailable = await acquirer.inquire(question, .after(TestRun.whole)) else { throw Wrong() }
    #expect(issuer.used.isEmpty)
  }

  @Test func `an issuer that does not answer leaves nothing unknown`() async throws {
    let issuer = TokenIssuer()
    issuer.isSilent = true
    guard case .notSent = await issuer.authorize(try issuer.acquirer(), .after(TestRun.whole)) else { throw Wrong() }
  }

  @Test func `nothing is asked when no time is left`() async throws {
    let issuer = TokenIssuer()
    guard case .notSent = await issuer.authorize(try issuer.acquirer(), .after(.zero)) else { throw Wrong() }
    #expect(issuer.tokenRequests.isEmpty)
  }

  @Test func `a token that is rejected in mid-life is renewed once, and the same request goes out again`() async throws
  {
    try await WorldlineAcquiringVisit.run { visit async throws in
      _ = try await visit.held("R1")
      try await visit.inject("tokens_revoked")
      _ = try await visit.held("R2")
      #expect(visit.sandbox.issuedTokens == 2)
      #expect(try await visit.payments().count == 2)
    }
  }

  @Test func `of many that are rejected together one renews`() async throws {
    let issuer = TokenIssuer()
    let acquirer = try issuer.acquirer()
    _ = await acquirer.checkCredentials(.after(TestRun.whole))
    issuer.reject("token-1")
    await withTaskGroup(of: CredentialCheck.self) { group in
      for _ in 0..<20 { group.addTask { await acquirer.checkCredentials(.after(TestRun.whole)) } }
      for await check in group { #expect(check == .accepted) }
    }
    #expect(issuer.issued == 2)
  }

  @Test func `a token that is rejected again is a matter of configuration`() async throws {
    let issuer = TokenIssuer()
    issuer.rejectsAll = true
    let acquirer = try issuer.acquirer()
    let answer = await issuer.authorize(acquirer, .after(TestRun.whole))
    #expect(answer == .declined(Decline(reason: .configuration, code: "HTTP 401")))
    #expect(issuer.used == ["token-1", "token-2"])
  }
}

private struct Wrong: Error {}

/// Issues access tokens and answers pings.
private final class TokenIssuer: Sendable {
  private struct State {
    var issued = 0
    var tokenRequests: [OutboundRequest] = []
    var used: [String] = []
    var rejected: Set<String> = []
    var rejectsAll = false
    var isSilent = false
    var isHeld = false
    var answer: InboundResponse?
  }

  private let state = Mutex(State())
  let clock = ManualClock()

  var issued: Int { state.withLock { $0.issued } }
  var used: [String] { state.withLock { $0.used } }
  var tokenRequests: [OutboundRequest] { state.withLock { $0.tokenRequests } }
  var rejectsAll: Bool {
    get { state.withLock { $0.rejectsAll } }
    set { state.withLock { $0.rejectsAll = newValue } }
  }
  var isSilent: Bool {
    get { state.withLock { $0.isSilent } }
    set { state.withLock { $0.isSilent = newValue } }
  }

  /// Whether it lets everybody wait.
  var isHeld: Bool {
    get { state.withLock { $0.isHeld } }
    set { state.withLock { $0.isHeld = newValue } }
  }

  func reject(_ token: String) { state.withLock { _ = $0.rejected.insert(token) } }
  func answers(_ status: Int, _ body: String) {
    state.withLock { $0.answer = InboundResponse(status: status, body: Array(body.utf8)) }
  }

  func acquirer(secret: String = "secret") throws -> Acquirer {
    .worldlineAcquiring(
      try WorldlineAcquiringSettings(
        host: .test, clientID: "client", clientSecret: WorldlineAcquiringSecret(secret), acquirerID: "1",
        merchantIDs: ["2"]),
      http: HTTPSender { request, _ throws(TransportError) in
        if request.url.hasSuffix("/connect/token") { return try await self.issue(request) }
        return self.answer(request)
      }, scheduler: clock.scheduler)
  }

  func authorize(_ acquirer: Acquirer, _ deadline: Deadline) async -> AcquirerAnswer {
    guard let dpan = DPAN("4761739000000012"), let expiry = CardExpiry(yymm: "3112") else { return .notSent("test") }
    let card = NetworkToken(dpan: dpan, expiry: expiry, cryptogram: Cryptogram(base64: "AAAA"), eci: nil)
    return await acquirer.authorize(
      AuthorizationRequest(
        reference: AttemptReference("R1"), merchantReference: "order", amount: .eur(1250), instrument: .network(card)),
      deadline)
  }

  private func issue(_ request: OutboundRequest) async throws(TransportError) -> InboundResponse {
    try? await waitUntil("the issuer's release") { !isHeld }
    let (answer, isSilent) = state.withLock { state in
      state.tokenRequests.append(request)
      if state.answer == nil { state.issued += 1 }
      let body = #"{"access_token":"token-\#(state.issued)","expires_in":3600,"token_type":"Bearer"}"#
      return (state.answer ?? InboundResponse(status: 200, body: Array(body.utf8)), state.isSilent)
    }
    if isSilent { throw .timedOut }
    return answer
  }

  private func answer(_ request: OutboundRequest) -> InboundResponse {
    let token = String(request.headers.first(named: "Authorization")?.dropFirst(7) ?? "")
    return state.withLock { state in
      state.used.append(token)
      guard state.rejectsAll || state.rejected.contains(token) else { return InboundResponse(status: 200) }
      return InboundResponse(status: 401, headers: [HTTPField("WWW-Authenticate", #"Bearer error="invalid_token""#)])
    }
  }
}

import AcquirerSandbox
import Acquiring
import Connectors
import Auditing
import Gateway
import HTTPTransport
import Hummingbird
import HummingbirdTesting
import Ledger
import PaymentTesting
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// Everything that can go wrong once between the gateway and the acquirer, with every operation, under every way in
/// which acquirers treat repeats. Afterwards recovery gets time, and the auditor compares both ledgers.
@Suite struct `A fault on the way to the acquirer` {
  @Test(arguments: IdempotencyProfile.all + [.forgetful])
  func `leaves both ledgers in step, whatever it was and whatever was asked`(
    profile: IdempotencyProfile
  ) async throws {
    let found = try await Counter.run(profile) { counter async throws in
      for fault in WireFault.allCases where profile.window > .zero || fault != .twice {
        for operation in Operation.allCases { try await counter.serve(operation, fault) }
      }
    }
    #expect(found.isEmpty, "\(profile.name): \(found)")
  }

  /// A provider that takes the payment token sealed, and decides captures and refunds when it likes.
  @Test func `leaves a provider's ledger in step too`() async throws {
    let found = try await Counter.run(.strict, sealed: true) { counter async throws in
      for fault in WireFault.allCases {
        for operation in Operation.allCases { try await counter.serve(operation, fault) }
      }
    }
    #expect(found.isEmpty, "\(found)")
  }

  /// The same, with a cent less in the acquirer's ledger than was captured.
  @Test func `that made the ledgers differ would be noticed`() async throws {
    let found = try await Counter.run(
      .strict, damage: "UPDATE holds SET captured = captured - 1 WHERE captured > 0"
    ) { counter async throws in try await counter.serve(.capture, .lostReply) }
    #expect(Set(found.map(\.invariant)) == [.noPhantom, .sums])
  }
}

/// What goes wrong, once.
private enum WireFault: String, CaseIterable {
  case lostReply, resetReply
  /// The request is lost without an error, or the answer is another request's.
  case lostRequest, lostForAnothersReply
  case garbage, truncated, twoReplies, anothersReply, wrongAmount, wrongCurrency
  case errorAfterwards, errorBefore, tooManyRequests
  /// A proxy, or an impatient stack, sends the request twice.
  case twice
  /// The connection is never made: an expired certificate, a wrong name, no server.
  case refusedConnection
  /// The reply is lost, and the status service does not know the operation for half a minute.
  case lateStatus

  /// Whether the acquirer did it.
  var isDone: Bool {
    switch self {
    case .lostRequest, .lostForAnothersReply, .errorBefore, .tooManyRequests, .refusedConnection: false
    default: true
    }
  }
}

private enum Operation: String, CaseIterable {
  case authorize, capture, void, refund

  /// How its address ends.
  var path: String {
    switch self {
    case .authorize: "/authorizations"
    case .capture: "/captures"
    case .void: "/voids"
    case .refund: "/refunds"
    }
  }
}

extension IdempotencyProfile {
  /// It does everything as often as it is asked to.
  fileprivate static let forgetful = IdempotencyProfile(
    name: "forgetful", window: .zero, otherContents: .firstAnswer, storesErrors: true)
}

/// A shop before an acquirer, and between them a wire that breaks on demand.
private struct Counter {
  let shop: Shop
  let wire: BreakingWire
  let profile: IdempotencyProfile

  /// - Parameter damage: is done to the acquirer's ledger when all is over.
  /// - Returns: what the auditor says of both ledgers in the end.
  static func run(
    _ profile: IdempotencyProfile, sealed: Bool = false, damage: String? = nil,
    _ body: @escaping @Sendable (Counter) async throws -> Void
  ) async throws -> [Violation] {
    let (bank, clock) = (try TemporaryStore(), ManualClock(WallClock.system.now()))
    let pki = try SandboxPKI(clock: clock.wall)
    let service = try await service(profile, bank.path, sealedUnder: sealed ? pki : nil, clock)
    let csr = try await service.certificateRequest(for: Shop.identifier)
    let router = Router()
    service.addRoutes(to: router)
    let http = try LiveHTTPClient()
    let wire = BreakingWire(http.sender.patient, clock)
    let evidence = Mutex(Evidence())
    do {
      try await Application(router: router).test(.live) { client in
        let origin = "http://localhost:\(client.port ?? 0)"
        let plain =
          sealed
          ? Acquirer.sandboxProvider(baseURL: origin, apiKey: "key", eventSecret: "key", http: wire.sender)
          : Acquirer.sandbox(baseURL: origin, apiKey: "key", http: wire.sender)
        let shop = try await Shop(plain.stating(profile), pki: pki, sealedTo: csr, clock: clock)
        try await body(Counter(shop: shop, wire: wire, profile: profile))
        let journal = try await shop.journal.evidence()
        evidence.withLock { $0 = journal }
      }
    } catch {
      try await http.shutdown()
      throw error
    }
    try await http.shutdown()
    await service.close()
    let ledger = try await bank.openFile()
    if let damage { try await ledger.write { try $0.run(damage) } }
    let ours = evidence.withLock { $0 }
    return Auditor(try await ledger.read { try ours.beside($0) }).violations
  }

  private static func service(
    _ profile: IdempotencyProfile, _ path: String, sealedUnder pki: SandboxPKI?, _ clock: ManualClock
  ) async throws -> SandboxAcquirerService {
    if let pki {
      return try await SandboxAcquirerService(
        providerDatabasePath: path, tokenRootPEM: pki.rootPEM, apiKeys: ["key": "shop"], clock: clock.wall,
        silence: .milliseconds(50))
    }
    return try await SandboxAcquirerService(
      databasePath: path, apiKeys: ["key": "shop"], clock: clock.wall, silence: .milliseconds(50), profile: profile)
  }

  /// One order from its authorization on, with the fault in the operation that is named.
  func serve(_ operation: Operation, _ fault: WireFault) async throws {
    let name: Comment = "\(profile.name): \(operation) with \(fault)"
    let order = Shop.order("\(profile.name)-\(operation)-\(fault)")
    wire.begin()
    if operation == .authorize { wire.breaks(operation, fault) }
    let payment = try await shop.gateway.authorize(order, with: shop.token(for: order))
    if operation != .authorize {
      #expect(payment.status == .authorized, name)
      if operation == .refund { try await capture(payment.id) }
      wire.breaks(operation, fault)
      try await ask(operation, of: payment.id)
    }
    for pause in [15, 20, 70, 70, 70] {
      shop.clock.advance(.seconds(pause))
      _ = try await shop.gateway.recover()
    }
    let after = try #require(try await shop.gateway.payment(payment.id))
    #expect(after.status == status(after: operation, fault), name)
    #expect(try await shop.journal.openOutcomes().operations == 0, name)
    #expect(wire.authorizations == 1, name)
    #expect(wire.inquiries <= 12, name)
  }

  /// At once, or when the provider has decided.
  private func capture(_ payment: PaymentID) async throws {
    guard try await shop.gateway.capture(payment).payment.status != .captured else { return }
    for pause in [2, 15, 70] {
      shop.clock.advance(.seconds(pause))
      _ = try await shop.gateway.recover()
      if try await shop.gateway.payment(payment)?.status == .captured { return }
    }
  }

  private func ask(_ operation: Operation, of payment: PaymentID) async throws {
    switch operation {
    case .authorize: break
    case .capture: _ = try await shop.gateway.capture(payment)
    case .void: _ = try await shop.gateway.void(payment)
    case .refund: _ = try await shop.gateway.refund(payment)
    }
  }

  /// What must have come of it. What never arrived is sent again only where the acquirer keeps references; an
  /// authorization never is.
  private func status(after operation: Operation, _ fault: WireFault) -> PaymentStatus {
    let isSentAgain = profile.window > .zero && fault != .refusedConnection
    let isDone = fault.isDone || isSentAgain && operation != .authorize
    return switch operation {
    case .authorize: isDone ? .authorized : .failed
    case .capture: isDone ? .captured : .authorized
    case .void: isDone ? .voided : .authorized
    case .refund: isDone ? .refunded : .captured
    }
  }
}

extension Acquirer {
  /// The same acquirer, whose connector states the profile that is played, and a status service that may be late.
  fileprivate func stating(_ profile: IdempotencyProfile) -> Acquirer {
    var stating = self
    stating.capabilities = AcquirerCapabilities(
      name: capabilities.name, instruments: capabilities.instruments,
      idempotency: profile.window == .zero ? .none : .reference(window: profile.window), inquiry: true,
      reversal: true, settleHorizon: .seconds(60), holdLifetime: .seconds(86_400 * 7))
    return stating
  }
}

extension Journal {
  func evidence() async throws -> Evidence {
    try await database.read { store in
      var evidence = Evidence()
      try evidence.readJournal(store)
      evidence.orders = evidence.payments.map { PlannedOrder(id: $0.order, amount: $0.amount, currency: $0.currency) }
      // No webhooks are delivered here.
      evidence.outbox = []
      return evidence
    }
  }
}

extension Evidence {
  func beside(_ bank: Transaction) throws -> Evidence {
    var evidence = self
    try evidence.readSandbox(bank)
    return evidence
  }
}

/// Forwards requests, and breaks the one that was chosen.
private final class BreakingWire: Sendable {
  private struct State {
    var armed: (operation: Operation, fault: WireFault)?
    var (inquiries, authorizations) = (0, 0)
    /// Until when the status service knows nothing.
    var lateUntil = Timestamp(seconds: 0)
  }

  private let inner: HTTPSender
  private let clock: ManualClock
  private let state = Mutex(State())
  /// The last good reply to each operation.
  private let replies = Mutex<[Operation: InboundResponse]>([:])

  init(_ inner: HTTPSender, _ clock: ManualClock) {
    self.inner = inner
    self.clock = clock
  }

  /// Counts from here.
  func begin() { state.withLock { $0 = State() } }
  func breaks(_ operation: Operation, _ fault: WireFault) { state.withLock { $0.armed = (operation, fault) } }
  var inquiries: Int { state.withLock { $0.inquiries } }
  var authorizations: Int { state.withLock { $0.authorizations } }

  var sender: HTTPSender {
    HTTPSender { request, timeout throws(TransportError) in
      if request.url.contains("/operations/"), self.isLate() {
        return InboundResponse(status: 404, body: Array(#"{"code":"not_found"}"#.utf8))
      }
      guard let fault = self.fault(of: request) else { return try await self.sent(request, timeout) }
      return try await self.broken(fault, request, timeout)
    }
  }

  private func sent(
    _ request: OutboundRequest, _ timeout: Duration
  ) async throws(TransportError) -> InboundResponse {
    let reply = try await inner.send(request, timeout)
    let operation = Operation.allCases.first { request.url.hasSuffix($0.path) }
    if let operation, reply.status == 200 { replies.withLock { $0[operation] = reply } }
    return reply
  }

  private func anothersReply(to request: OutboundRequest) throws(TransportError) -> InboundResponse {
    let reply = replies.withLock { replies in replies.first { request.url.hasSuffix($0.key.path) }?.value }
    guard let reply else {
      Issue.record("no other call has been answered yet")
      throw .timedOut
    }
    return reply
  }

  private func isLate() -> Bool {
    state.withLock { state in
      state.inquiries += 1
      return clock.now < state.lateUntil
    }
  }

  private func fault(of request: OutboundRequest) -> WireFault? {
    state.withLock { state in
      if request.url.hasSuffix(Operation.authorize.path) { state.authorizations += 1 }
      guard let armed = state.armed, request.url.hasSuffix(armed.operation.path) else { return nil }
      state.armed = nil
      if armed.fault == .lateStatus { state.lateUntil = clock.now.adding(.seconds(30)) }
      return armed.fault
    }
  }

  private func broken(
    _ fault: WireFault, _ request: OutboundRequest, _ timeout: Duration
  ) async throws(TransportError) -> InboundResponse {
    switch fault {
    case .lostRequest: throw .timedOut
    case .lostForAnothersReply: return try anothersReply(to: request)
    case .refusedConnection: throw .notSent("the certificate has expired")
    case .errorBefore: return InboundResponse(status: 500)
    case .tooManyRequests: return InboundResponse(status: 429, headers: [HTTPField("Retry-After", "5")])
    default: break
    }
    if fault == .twice { _ = try await sent(request, timeout) }
    let reply = try await sent(request, timeout)
    func changed(_ text: String, _ other: String) -> InboundResponse {
      let body = String(decoding: reply.body, as: UTF8.self)
      return InboundResponse(status: 200, body: Array(body.replacing(text, with: other, maxReplacements: 1).utf8))
    }
    switch fault {
    case .lostReply, .lateStatus: throw .timedOut
    case .resetReply: throw .interrupted("connection reset by peer")
    case .garbage: return InboundResponse(status: 200, body: Array("<html>busy</html>".utf8))
    case .truncated: return InboundResponse(status: 200, body: reply.body.dropLast(9))
    case .twoReplies: return InboundResponse(status: 200, body: reply.body + reply.body)
    case .anothersReply: return changed(#""reference":""#, #""reference":"0"#)
    case .wrongAmount: return changed(#""amount":"#, #""amount":9"#)
    case .wrongCurrency: return changed("EUR", "USD")
    case .errorAfterwards: return InboundResponse(status: 500, body: reply.body)
    default: return reply
    }
  }
}

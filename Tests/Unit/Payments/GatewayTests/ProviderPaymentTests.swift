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

/// Wallet, gateway, ledger, connector and a provider that opens the payment token itself, over HTTP.
@Suite struct `Paying through a provider` {
  private struct Visit: Sendable {
    let shop: Shop
    let provider: SandboxAcquirerService
    let acquirer: Acquirer

    /// The provider decides what is pending, and its events arrive.
    func events(tampering: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }) async throws -> [InboxVerdict] {
      let verdicts = Mutex<[InboxVerdict]>([])
      let gateway = shop.gateway
      try await provider.deliverEvents(
        after: .zero,
        by: EventDelivery { _, signature, body in
          let event = InboundEvent(
            headers: [HTTPField("Sandbox-Signature", signature)], body: tampering(body),
            arrivedAt: WallClock.system.now())
          guard let received = try? await gateway.receive(event, through: "sandbox-provider") else { return false }
          verdicts.withLock { $0 += received.verdicts }
          return true
        })
      return verdicts.withLock { $0 }
    }
  }

  @Test func `the capture is decided later, and an event says so`() async throws {
    try await visit { visit async throws in
      let order = Shop.order(capture: .immediate)
      let payment = try await visit.shop.gateway.pay(order, with: visit.shop.token(for: order))
      #expect(payment.status == .authorized)
      #expect(!payment.amountConfirmed)
      let capture = try await visit.shop.journal.operations(of: payment.id).first { $0.kind == .capture }
      #expect(capture?.state == .pending)
      #expect(try await visit.events().count == 1)
      #expect(try await visit.shop.gateway.payment(payment.id)?.status == .captured)
      #expect(try await visit.events().isEmpty)
    }
  }

  @Test func `an altered event is rejected, and is sent again`() async throws {
    try await visit { visit async throws in
      let order = Shop.order(capture: .immediate)
      let payment = try await visit.shop.gateway.pay(order, with: visit.shop.token(for: order))
      #expect(try await visit.events { $0.dropLast() + Array(" }".utf8) }.isEmpty)
      #expect(try await visit.shop.gateway.payment(payment.id)?.status == .authorized)
    }
  }

  @Test func `without an event, an inquiry resolves it`() async throws {
    try await visit { visit async throws in
      let order = Shop.order(capture: .immediate)
      let payment = try await visit.shop.gateway.pay(order, with: visit.shop.token(for: order))
      #expect(try await visit.shop.gateway.inquire(payment.id).status == .captured)
      // The event comes all the same, and finds it done.
      #expect(try await visit.events() == [.known])
    }
  }

  @Test func `a capture that fails late leaves the money held`() async throws {
    try await visit { visit async throws in
      let order = Shop.order("order-1", 2093, capture: .immediate)
      let payment = try await visit.shop.gateway.pay(order, with: visit.shop.token(for: order))
      _ = try await visit.events()
      let after = try #require(try await visit.shop.gateway.payment(payment.id))
      #expect((after.status, after.captured) == (.authorized, 0))
      #expect(try await visit.shop.gateway.void(payment.id).payment.status == .voided)
    }
  }

  @Test func `another amount inside the token is found out by the provider`() async throws {
    try await visit { visit async throws in
      let payment = try await visit.shop.gateway.authorize(Shop.order(), with: visit.shop.token(amount: .eur(1)))
      #expect(payment.status == .declined)
    }
  }

  @Test func `captured in parts, refunded in parts`() async throws {
    let violations = try await visit { visit async throws in
      let gateway = visit.shop.gateway
      let payment = try await gateway.authorize(Shop.order(), with: visit.shop.token()).id
      _ = try await gateway.capture(payment, .eur(500))
      _ = try await visit.events()
      _ = try await gateway.capture(payment, .eur(500), isFinal: true)
      _ = try await visit.events()
      _ = try await gateway.refund(payment, .eur(300))
      _ = try await visit.events()
      let after = try #require(try await gateway.payment(payment))
      #expect((after.status, after.authorized, after.captured, after.refunded) == (.partiallyRefunded, 1000, 1000, 300))
    }
    #expect(violations.isEmpty, "\(violations)")
  }

  @Test func `the provider's last capture releases nothing that it promised to another`() async throws {
    try await visit { visit async throws in
      let payment = try await visit.shop.gateway.authorize(Shop.order(), with: visit.shop.token()).id
      let hold = try await visit.shop.journal.operations(of: payment).first { $0.kind == .authorize }
      let name = try #require(hold?.acquirerReference)
      // The gateway would wait with the last one; another client of the provider need not.
      for (reference, amount) in [("first", Amount.eur(300)), ("last", .eur(200))] {
        let request = FollowUpRequest(
          reference: AttemptReference(reference), authorization: name, amount: amount, isFinal: reference == "last")
        _ = await visit.acquirer.capture(request, .after(TestRun.whole))
      }
      for (reference, amount) in [("last", Amount.eur(200)), ("first", .eur(300))] {
        let inquiry = await visit.acquirer.inquire(
          InquiryRequest(reference: AttemptReference(reference), amount: amount), .after(TestRun.whole))
        guard case .answer(.approved) = inquiry else {
          Issue.record("the \(reference) capture: \(inquiry)")
          return
        }
      }
    }
  }

  /// - Returns: what the auditor says of both ledgers in the end.
  @discardableResult
  private func visit(_ body: @escaping @Sendable (Visit) async throws -> Void) async throws -> [Violation] {
    let evidence = Mutex(Evidence())
    let files = try TemporaryStore()
    let pki = try SandboxPKI(clock: .system)
    let provider = try await SandboxAcquirerService(
      providerDatabasePath: files.path, tokenRootPEM: pki.rootPEM, apiKeys: ["key": "shop"],
      silence: .milliseconds(50))
    let csr = try #require(try await provider.certificateRequest(for: Shop.identifier))
    let router = Router()
    provider.addRoutes(to: router)
    let http = try LiveHTTPClient()
    let sender = http.sender.patient
    do {
      try await Application(router: router).test(.live) { client in
        let origin = "http://localhost:\(client.port ?? 0)"
        _ = try await sender.send(
          OutboundRequest(
            method: "PUT", url: origin + "/provider/v1/event-endpoint",
            headers: [HTTPField("Authorization", "Bearer key"), HTTPField("Content-Type", "application/json")],
            body: Array(#"{"url":"http://localhost/events"}"#.utf8)), TestRun.whole)
        let acquirer = Acquirer.sandboxProvider(baseURL: origin, apiKey: "key", eventSecret: "key", http: sender)
        let shop = try await Shop(acquirer, pki: pki, sealedTo: csr)
        try await body(Visit(shop: shop, provider: provider, acquirer: acquirer))
        let journal = try await shop.journal.evidence()
        evidence.withLock { $0 = journal }
      }
    } catch {
      try await http.shutdown()
      throw error
    }
    try await http.shutdown()
    await provider.close()
    let (ledger, ours) = (try await files.openFile(), evidence.withLock { $0 })
    return Auditor(try await ledger.read { try ours.beside($0) }).violations
  }
}

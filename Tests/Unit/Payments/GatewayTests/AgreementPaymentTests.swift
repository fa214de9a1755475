import AcquirerSandbox
import Acquiring
import Connectors
import Gateway
import HTTPTransport
import Hummingbird
import HummingbirdTesting
import Ledger
import PaymentTesting
import Storage
import TenderPayments
import TenderTesting
import Testing

/// Wallet, gateway, ledger, connector and the sandbox's bank together, over HTTP.
@Suite struct `Charging an agreement` {
  private static let day = Duration.seconds(86_400)
  private static let start = Timestamp(rfc3339: "2026-01-31T09:00:00Z")!

  private func begin(_ shop: Shop, card: String = "visa-credit", order id: String = "order-1") async throws
    -> AgreementID
  {
    let order = Shop.order(id, capture: .immediate)
    return try await shop.gateway.begin(
      with: try shop.token(for: order, card: card, agreement: true), for: order
    ).agreement
  }

  private func charge(
    _ shop: Shop, _ agreement: AgreementID, _ change: (inout AgreementCharge) -> Void = { _ in }
  ) async throws -> Payment { try await shop.gateway.charge(agreement, change) }

  private func agreement(_ shop: Shop, _ id: AgreementID) async throws -> Agreement {
    guard let found = try await shop.journal.agreement(id, of: "shop") else { throw Unexpected() }
    return found
  }

  @Test func `charges the card again each month without number and cryptogram, and captures`() async throws {
    try await sandbox { shop async throws in
      let id = try await begin(shop)
      #expect(try await agreement(shop, id).merchantToken?.hasPrefix("MT-") == true)
      for month in 1...13 {
        shop.clock.advance(Self.day * 31)
        let payment = try await charge(shop, id)
        #expect(payment.status == .captured && payment.captured == 1_250, "month \(month)")
      }
      let charges = try await shop.journal.database.read { try Journal.charges(of: id, in: $0) }
      #expect(charges.map(\.period) == Array(0...13))
      #expect(try await shop.journal.verifyAudit().isIntact)
    }
  }

  @Test func `is declined for good with Visa's code where the card gave no merchant token`() async throws {
    try await sandbox { shop async throws in
      let id = try await begin(shop, card: "visa-debit")
      #expect(try await agreement(shop, id).merchantToken == nil)
      shop.clock.advance(Self.day * 31)
      let payment = try await charge(shop, id)
      #expect(payment.status == .declined && payment.decline?.code == "57")
      // Mastercard knows no such rule.
      let other = try await begin(shop, card: "mastercard-debit", order: "order-2")
      shop.clock.advance(Self.day * 31)
      #expect(try await charge(shop, other).status == .captured)
    }
  }

  @Test func `is made once for a period by sixty-four calls`() async throws {
    try await sandbox { shop async throws in
      let id = try await begin(shop)
      shop.clock.advance(Self.day * 31)
      let paid = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<64 { group.addTask { (try? await charge(shop, id))?.status == .captured } }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(paid == 1)
      let again = await #expect(throws: GatewayError.self) { try await charge(shop, id) }
      #expect(again?.code == "agreement_period_charged")
    }
  }

  @Test func `that is declined is made again for the same period, for another amount if the caller names one`()
    async throws
  {
    try await sandbox { shop async throws in
      let id = try await begin(shop)
      shop.clock.advance(Self.day * 31)
      // The sandbox's amount for insufficient funds.
      let declined = try await charge(shop, id) { $0.amount = .eur(2_051) }
      #expect(declined.status == .declined && declined.decline?.code == "51")
      let paid = try await charge(shop, id) { $0.amount = .eur(900) }
      #expect(paid.status == .captured && paid.amount == .eur(900) && paid.order == declined.order)
    }
  }

  @Test func `whose answer is lost stays open, keeps the period, and is found by recovery`() async throws {
    try await sandbox { shop async throws in
      let id = try await begin(shop)
      shop.clock.advance(Self.day * 31)
      let open = try await charge(shop, id) { $0.amount = .eur(2_068) }
      #expect(open.status == .unknown)
      let other = await #expect(throws: GatewayError.self) { try await charge(shop, id) }
      #expect(other?.code == "agreement_period_charged")
      let found = try await shop.gateway.inquire(open.id)
      #expect(found.status == .authorized && found.reportedOutcome == .pending)
    }
  }

  @Test func `is refused before it begins, after the end, and for another merchant's agreement`() async throws {
    try await sandbox { shop async throws in
      let id = try await begin(shop)
      func code(_ change: @escaping @Sendable (inout AgreementCharge) -> Void = { _ in }) async -> String? {
        await #expect(throws: GatewayError.self) { try await charge(shop, id, change) }?.code
      }
      #expect(await code() == "agreement_period_charged")
      #expect(await code { $0.period = 1 } == "agreement_not_due")
      let foreign = await #expect(throws: GatewayError.self) {
        try await shop.gateway.prepare(AgreementCharge(id, of: "other"))
      }
      #expect(foreign?.code == "agreement_not_found")
      shop.clock.advance(Self.day * 31)
      let journal = shop.journal
      _ = try await journal.database.write { try journal.change(id, of: "shop", by: .ended, .shopper, in: $0) }
      #expect(await code() == "agreement_not_active")
      let asked = try await shop.journal.database.read { try Journal.charges(of: id, in: $0).count }
      #expect(asked == 1)
    }
  }

  @Test func `is refused with a name where the connector keeps nothing, before anything is written`() async throws {
    let shop = try await Shop()
    let refused = await #expect(throws: GatewayError.self) { try await begin(shop) }
    #expect(refused == .agreementNotOffered("shop"))
    #expect(try await shop.journal.payments().isEmpty && shop.fake.authorizations.isEmpty)
  }

  private func sandbox(_ body: @escaping @Sendable (Shop) async throws -> Void) async throws {
    let files = try TemporaryStore()
    let clock = ManualClock(Self.start)
    let service = try await SandboxAcquirerService(
      databasePath: files.path, apiKeys: ["key": "shop"], clock: clock.wall, silence: .milliseconds(50))
    let router = Router()
    service.addRoutes(to: router)
    let http = try LiveHTTPClient()
    let sender = http.sender.patient
    do {
      try await Application(router: router).test(.live) { client in
        let origin = "http://localhost:\(client.port ?? 0)"
        try await body(Shop(.sandbox(baseURL: origin, apiKey: "key", http: sender), clock: clock))
      }
    } catch {
      try await http.shutdown()
      throw error
    }
    try await http.shutdown()
    await service.close()
  }
}

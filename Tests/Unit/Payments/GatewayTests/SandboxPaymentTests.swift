import AcquirerSandbox
import Acquiring
import Connectors
import Gateway
import HTTPTransport
import Hummingbird
import HummingbirdTesting
import Ledger
import PaymentTesting
import TenderPayments
import TenderTesting
import Testing

/// Wallet, gateway, ledger, connector and acquirer together, over HTTP.
@Suite struct `Paying in the sandbox` {
  @Test(arguments: [
    ("visa-debit", PaymentStatus.captured), ("visa-insufficient-funds", .declined), ("visa-pending", .pending),
    ("mastercard-answer-lost", .unknown), ("visa-no-answer", .unknown),
  ])
  func `every kind of card ends where it should`(card: String, status: PaymentStatus) async throws {
    try await sandbox { shop async throws in
      let order = Shop.order(capture: .immediate)
      let payment = try await shop.gateway.pay(order, with: shop.token(for: order, card: card))
      #expect(payment.status == status)
    }
  }

  @Test func `a total that is approved for less is declined, and its hold is reversed`() async throws {
    try await sandbox { shop async throws in
      let order = Shop.order("order-1", 2010, capture: .immediate)
      let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
      #expect(payment.decline?.reason == .approvedForLess)
      #expect(try await shop.gateway.recover().resolved == 1)
      #expect(try await shop.journal.operations(of: payment.id).map(\.state) == [.declined, .approved])
    }
  }

  @Test(arguments: [
    ("visa-pending", PaymentStatus.authorized), ("mastercard-answer-lost", .authorized), ("visa-no-answer", .unknown),
  ])
  func `an inquiry finds what really happened`(card: String, status: PaymentStatus) async throws {
    try await sandbox { shop async throws in
      let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token(card: card))
      let resolved = try await shop.gateway.inquire(payment.id)
      #expect(resolved.status == status)
    }
  }

  private func sandbox(_ body: @escaping @Sendable (Shop) async throws -> Void) async throws {
    let files = try TemporaryStore()
    let service = try await SandboxAcquirerService(
      databasePath: files.path, apiKeys: ["key": "shop"], silence: .milliseconds(50))
    let router = Router()
    service.addRoutes(to: router)
    let http = try LiveHTTPClient()
    let sender = http.sender.patient
    do {
      try await Application(router: router).test(.live) { client in
        let origin = "http://localhost:\(client.port ?? 0)"
        try await body(Shop(.sandbox(baseURL: origin, apiKey: "key", http: sender)))
      }
    } catch {
      try await http.shutdown()
      throw error
    }
    try await http.shutdown()
    await service.close()
  }
}

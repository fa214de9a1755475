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

/// Gateway, connector and acquirer with a proxy between them.
@Suite struct `Paying through a proxy` {
  @Test func `ends where it should, and fails without an unknown outcome where the proxy makes no connection`()
    async throws
  {
    let files = try TemporaryStore()
    let service = try await SandboxAcquirerService(databasePath: files.path, apiKeys: ["key": "shop"])
    let router = Router()
    service.addRoutes(to: router)
    try await Application(router: router).test(.live) { server in
      let proxy = try TestProxy(login: "tender:secret", places: ["acquirer.example:8080": server.port ?? 0])
      func pay(_ number: Int, password: String = "secret", at port: Int? = nil) async throws -> PaymentStatus {
        let egress = Egress(
          proxy: .init(host: "127.0.0.1", port: port ?? proxy.port, user: "tender", password: password))
        let client = try LiveHTTPClient(egress: egress)
        let shop = try await Shop(
          .sandbox(baseURL: "http://acquirer.example:8080", apiKey: "key", http: client.sender.patient))
        let order = Shop.order("order-\(number)", capture: .immediate)
        let status = try await shop.gateway.pay(order, with: shop.token(for: order)).status
        try await client.shutdown()
        return status
      }
      #expect(try await pay(1) == .captured)
      #expect(try await pay(2, password: "wrong") == .failed)
      #expect(try await pay(3, at: 1) == .failed)
      for (number, manner) in [TestProxy.Manner.refusing(403), .refusing(502), .hangingUp].enumerated() {
        proxy.behave(manner)
        #expect(try await pay(4 + number) == .failed, "\(manner)")
      }
    }
    await service.close()
  }
}

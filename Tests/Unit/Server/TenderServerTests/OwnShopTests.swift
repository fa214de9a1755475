import Foundation
import HTTPTransport
import Settings
import StrictJSON
import TenderServer
import TenderTesting
import Testing
import Webhooks

/// The server of `docs/own-shop.md`, as the page prints it, against the server.
@Suite struct `The server of a shop of one's own` {
  private let system: TestSystem
  init() async throws { system = try await TestSystem.shared.value }

  private struct RunningShop: Sendable {
    let client: JSONClient
    let log: URL

    func get(_ path: String) async throws -> JSONClient.Answer { try await client.call("GET", path) }
    var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
  }

  /// Runs it while something is done.
  ///
  /// - Parameter secret: of the API key; the merchant's by default.
  private func running(secret: String? = nil, _ body: (RunningShop) async throws -> Void) async throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "own-shop-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    let page = try Repository.text("docs/own-shop.md")
    let sample = try #require(page.firstMatch(of: /```js\n((?s).*?)```/)).output.1
    try Data(sample.utf8).write(to: place.appending(path: "shop.mjs"))
    try FileManager.default.copyItem(
      at: Repository.url("Examples/back-end/tender-client.mjs"), to: place.appending(path: "tender-client.mjs"))
    let (port, log) = (try FreePorts.row(of: 1), place.appending(path: "log"))
    let shop = try ChildProcess(
      ["node", place.appending(path: "shop.mjs").path], environment: try environment(port, secret), output: log.path)
    let address = "http://localhost:\(port)"
    do {
      try await waitUntil("the shop listens") {
        (try? await system.sender.send(OutboundRequest(method: "GET", url: address + "/-"), TestRun.whole)) != nil
      }
      try await body(RunningShop(client: JSONClient(address, sender: system.sender), log: log))
      #expect(shop.isRunning)
      shop.signal(SIGKILL)
      _ = await shop.end()
    } catch {
      shop.signal(SIGKILL)
      _ = await shop.end()
      throw error
    }
  }

  private func environment(_ port: Int, _ secret: String?) throws -> [String: String] {
    let shop = system.harbour
    let hooks = try #require(try MerchantFolder.webhookSecret(at: system.directory + "/merchants/harbour"))
    return ProcessInfo.processInfo.environment.merging([
      "SHOP_TENDER_URL": shop.server + "/", "SHOP_MERCHANT": shop.key.merchant, "SHOP_KEY_ID": shop.key.id,
      "SHOP_SECRET": secret ?? shop.key.secret, "SHOP_WEBHOOK_SECRET": hooks, "PORT": "\(port)",
    ]) { $1 }
  }

  @Test func `answers for what is not there, and makes no basket for it`() async throws {
    try await running { shop in
      let icon = try await shop.get("/favicon.ico")
      #expect(icon.status == 404 && shop.output.isEmpty)
      let unknown = try await shop.get("/orders/00000000000000000000000000000000")
      #expect(unknown.status == 404 && shop.output.contains("BASKET_UNKNOWN"), "\(shop.output)")
    }
  }

  @Test func `goes on when Tender refuses its calls, and writes down what Tender said`() async throws {
    try await running(secret: "another secret") { shop in
      let refused = try await shop.get("/")
      #expect(refused.status == 502)
      #expect(shop.output.contains("403 ACCESS_TO_MERCHANT_NOT_ALLOWED"), "\(shop.output)")
    }
  }

  @Test func `says that an order is paid once it is`() async throws {
    let shopper = try await Shopper.enters(system, service: "collection")
    try await running { shop in
      let before = try await shop.get("/orders/\(shopper.basket)")
      #expect(before.status == 200 && before.body["paid"] == false)
      let paid = try await shopper.pays()
      let after = try await shop.get("/orders/\(shopper.basket)")
      #expect(paid.status == 200 && after.body["paid"] == true, "\(paid.errorText)")
    }
  }

  @Test func `takes the webhooks that Tender signed, and no others`() async throws {
    let key = try #require(try MerchantFolder.webhookKey(at: system.directory + "/merchants/harbour"))
    let body = Array(#"{"type":"payment.captured","tender":{"merchantReference":"TEA-1"}}"#.utf8)
    try await running { shop in
      var statuses: [Int] = []
      for headers in [[HTTPField("X-GCS-Signature", key.signature(of: body))], [HTTPField("X-GCS-Signature", "-")], []]
      {
        let request = OutboundRequest(method: "POST", url: shop.client.base + "/hooks", headers: headers, body: body)
        statuses.append(try await system.sender.send(request, TestRun.whole).status)
      }
      #expect(statuses == [204, 403, 403])
      #expect(shop.output.contains("payment.captured TEA-1"), "\(shop.output)")
    }
  }
}

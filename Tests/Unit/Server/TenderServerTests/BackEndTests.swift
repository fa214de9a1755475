import Foundation
import HTTPTransport
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing
import Webhooks

/// The clients of `Examples/back-end`, as programs against the server.
@Suite struct `A merchant's server` {
  private let system: TestSystem
  init() async throws { system = try await TestSystem.shared.value }

  private struct Run {
    let code: Int32
    let output: JSONValue?
  }

  /// Runs a client with the merchant's keys, as `docs/back-end.md` says.
  private func run(_ client: [String], _ arguments: [String], _ input: [UInt8] = []) async throws -> Run {
    let place = FileManager.default.temporaryDirectory.appending(path: "back-end-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    let (source, target) = (place.appending(path: "input"), place.appending(path: "output"))
    try Data(input).write(to: source)
    let process = try ChildProcess(
      client + arguments, environment: try environment(), input: source.path, output: target.path)
    let code = await process.end()
    let output = try Data(contentsOf: target)
    return Run(code: code, output: try? JSONReader.read(Array(output)))
  }

  private func environment() throws -> [String: String] {
    let (shop, secret) = (system.harbour, try webhookSecret())
    return ProcessInfo.processInfo.environment.merging([
      "SHOP_TENDER_URL": shop.server + "/", "SHOP_MERCHANT": shop.key.merchant, "SHOP_KEY_ID": shop.key.id,
      "SHOP_SECRET": shop.key.secret, "SHOP_WEBHOOK_SECRET": secret,
    ]) { $1 }
  }

  private func webhookSecret() throws -> String {
    try #require(try MerchantFolder.webhookSecret(at: folder))
  }

  private var folder: String { system.directory + "/merchants/harbour" }

  private static let clients = [
    ["/usr/bin/python3", Repository.url("Examples/back-end/tender_client.py").path],
    ["node", Repository.url("Examples/back-end/tender-client.mjs").path],
  ]

  @Test(arguments: clients)
  func `written in another language creates a basket, reads the order and verifies a webhook`(
    client: [String]
  ) async throws {
    var shopper = try await Shopper.enters(system, service: "collection")
    var document = shopper.document(1990, "EUR", "collection")
    if case .object(var object) = document {
      object["note"] = "ring twice – Größe 花"
      document = .object(object)
    }
    let stored = try await run(client, ["put", shopper.basket], document.serialized())
    #expect(stored.code == 0 && stored.output?["state"] == "open", "\(stored)")
    #expect(try await run(client, ["order", shopper.basket]).output == .null)
    try await shopper.opens()
    let paid = try await shopper.pays()
    let order = try await run(client, ["order", shopper.basket])
    #expect(order.code == 0 && order.output?["orderId"] == paid.body["orderId"], "\(paid.errorText)")
    #expect(order.output?["paid"] == true, "\(order)")
    #expect(order.output?["note"]?.text == "ring twice – Größe 花" && order.output?["customer"] != nil)

    let body = Array(#"{"id":"1","note":"ü"}"#.utf8)
    let signature = try #require(try MerchantFolder.webhookKey(at: folder)).signature(of: body)
    #expect(try await run(client, ["verify", signature], body).code == 0)
    #expect(try await run(client, ["verify", signature], body + [10]).code == 1)
  }

  @Test func `written in another language takes an answer without a body, and names a variable that is missing`()
    async throws
  {
    let (folder, node) = (Repository.url("Examples/back-end").path, "tender-client.mjs")
    func commands(_ path: String) -> [[String]] {
      let script = "import {call} from '\(folder)/\(node)'; console.log(await call('DELETE', '\(path)'))"
      let module = "import sys; sys.path.insert(0, '\(folder)'); sys.dont_write_bytecode = True; import tender_client"
      return [
        ["node", "--input-type=module", "-e", script],
        [
          "/usr/bin/python3", "-c",
          "\(module); import json; print(json.dumps(tender_client.call('DELETE', '\(path)')))",
        ],
      ]
    }
    for index in 0..<2 {
      let shopper = try await Shopper.enters(system, service: "collection")
      let command = commands("/v2/harbour/baskets/\(shopper.basket)")[index]
      let answer = try await run(command, [])
      #expect(answer.code == 0 && answer.output == .null, "\(answer)")
      let missing = try await run(
        ["/bin/sh", "-c", "unset SHOP_KEY_ID; \"$@\" 2>&1 | grep -q SHOP_KEY_ID", "sh"], command)
      #expect(missing.code == 0, "\(missing)")
    }
  }

  @Test func `gets a merchant session for a domain of its own, and for no other`() async throws {
    let path = "/v2/harbour/products/302/sessions"
    func asks(_ domain: String, _ name: JSONValue = .null) async throws -> JSONClient.Answer {
      try await system.harbour.signed(
        "POST", path,
        ["paymentProductSession302SpecificInput": ["domainName": .string(domain), "displayName": name]],
        at: system.clock.wall.now())
    }
    let answer = try await asks("harbour.localhost", "Harbour at Night")
    #expect(answer.status == 201, "\(answer.errorText)")
    let text = try #require(answer.body["paymentProductSession302SpecificOutput"]?["session"]?.text)
    let session = try JSONReader.read(Array(text.utf8))
    #expect(session["domainName"] == "harbour.localhost" && session["displayName"] == "Harbour at Night")
    #expect(session["signature"] != nil)
    for foreign in ["kitsune.localhost", "harbour.localhost.evil.example", ""] {
      let refused = try await asks(foreign)
      #expect(refused.status == 400 && refused.body["errors"]?.elements.first?["id"] == "DOMAIN_UNKNOWN")
    }
    #expect(try await asks("harbour.localhost", "").body["errors"]?.elements.first?["id"] == "DISPLAY_NAME_INVALID")
    let unsigned = try await system.harbour.page.call("POST", path, .object([:]))
    #expect(unsigned.status == 403)
  }

  @Test func `claims a guest for its customer`() async throws {
    let shopper = try await Shopper.enters(system, service: "collection")
    let paid = try await shopper.pays()
    let token = try #require(paid.body["guestToken"], "\(paid.errorText)")
    let again = try await Shopper.enters(system, service: "collection")
    guard case .object(var payment) = try await again.payment(try await again.token()) else { return }
    payment["guestToken"] = token
    #expect(try await again.pays(.object(payment)).status == 200)
    func looksUp(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONClient.Answer {
      try await system.harbour.signed(method, "/v2/harbour/\(path)", body, at: system.clock.wall.now())
    }
    let orders = [
      try await looksUp("GET", "baskets/\(shopper.basket)").body,
      try await looksUp("GET", "baskets/\(again.basket)").body,
    ]
    let guest = try #require(orders[0]["order"]?["customer"]?["guestId"]?.text)
    #expect(orders[1]["order"]?["customer"]?["guestId"]?.text == guest)
    let claimed = try await looksUp("PUT", "guests/\(guest)", ["merchantCustomerId": "c-9"])
    #expect(claimed.status == 200 && claimed.body["orders"]?.elements.count == 2, "\(claimed.errorText)")
    #expect(try await looksUp("GET", "guests/\(guest)").body["merchantCustomerId"] == "c-9")
    let other = try await looksUp("PUT", "guests/\(guest)", ["merchantCustomerId": "c-10"])
    #expect(other.status == 409 && other.body["errors"]?.elements.first?["id"] == "GUEST_CLAIMED")
    #expect(try await looksUp("GET", "guests/nobody").status == 404)
  }
}

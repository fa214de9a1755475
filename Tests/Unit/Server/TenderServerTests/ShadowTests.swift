import Administration
import Foundation
import HTTPTransport
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// Payments that a merchant still sends elsewhere, handed in to compare.
@Suite struct `A payment in shadow mode` {
  private struct Visit: Sendable {
    let system: TestSystem
    let shop: Shopfront
    /// Of the route's files.
    let folder: String

    func admin(_ method: String, _ path: String, _ body: JSONValue = .null) async throws -> JSONValue {
      let socket = "\(shop.store)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
      let request = OutboundRequest(
        method: method, url: "http+unix://\(socket)\(path)", body: body == .null ? [] : body.serialized())
      return try JSONReader.read(try await system.sender.send(request, TestRun.whole).body)
    }

    func shadow(_ token: JSONValue, amount: String, _ answer: JSONObject) async throws -> JSONValue {
      try await admin(
        "POST", "/shadow",
        [
          "merchant": .string(shop.merchant.id), "amount": .string(amount), "currency": "EUR", "token": token,
          "merchantReference": "elsewhere-1", "answer": .object(answer),
        ])
    }
  }

  private func visit() async throws -> Visit {
    let path = FileManager.default.temporaryDirectory.appending(path: "shadow-\(RandomBytes.system.hex(4))").path
    let folder = "\(path)/braintree"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let files = [
      "connector.yaml":
        "merchantId: tender_sandbox\npublicKey: sandbox_public_key\nmerchantAccounts: [EUR=tender_eur]\n",
      "private-key.secret": "sandbox_private_key\n",
    ]
    for (name, text) in files {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/\(name)")
    }
    let system = try await TestSystem.shared.value
    return Visit(system: system, shop: try await system.secondServer { $0.connectorsDirectory = path }, folder: folder)
  }

  @Test func `is verified, routed and built, leaves nothing behind, and its token can still pay`() async throws {
    let visit = try await visit()
    let shopper = try await Shopper.enters(visit.system, visit.shop, service: "collection")
    let token = try await shopper.token()
    let report = try await visit.shadow(
      token, amount: shopper.total, ["result": "approved", "route": "braintree"])
    #expect(report["token"] == "accepted" && report["route"] == "braintree" && report["differences"]?.elements == [])
    let built = report["requests"]?.elements.compactMap(\.text).joined() ?? ""
    #expect(built.contains("transaction") && built.contains(shopper.total), "\(built)")
    #expect(try await visit.admin("GET", "/payments")["payments"]?.elements == [])
    #expect(try await visit.admin("GET", "/journal/verification")["violations"]?.elements == [])
    // Neither Tender nor the provider has seen the token.
    #expect(try await shopper.pays(try await shopper.payment(token)).body["status"] == "captured")
  }

  @Test func `is refused with the setting that is wrong, where the route's files have changed`() async throws {
    let visit = try await visit()
    let shopper = try await Shopper.enters(visit.system, visit.shop, service: "collection")
    let token = try await shopper.token()
    try Data("merchantId: tender_sandbox\ncolour: red\n".utf8).write(
      to: URL(fileURLWithPath: "\(visit.folder)/connector.yaml"))
    let answer = try await visit.shadow(token, amount: shopper.total, ["result": "approved", "route": "braintree"])
    let text = String(decoding: answer.serialized(), as: UTF8.self)
    #expect(text.contains("merchant_not_served") && text.contains("colour"), "\(text)")
  }

  @Test func `is examined for the merchant's own server too, signed`() async throws {
    let visit = try await visit()
    let shopper = try await Shopper.enters(visit.system, visit.shop, service: "collection")
    let path = "/v2/\(visit.shop.merchant.id)/shadow"
    let payment: JSONValue = [
      "amount": .string(shopper.total), "currency": "EUR", "token": try await shopper.token(),
      "answer": ["result": "approved", "route": "adyen"],
    ]
    let now = visit.system.clock.wall.now()
    let report = try await visit.shop.signed("POST", path, payment, at: now)
    #expect(report.status == 200 && report.body["route"] == "braintree")
    #expect(report.body["differences"] == ["another_route"])
    #expect(try await visit.shop.signed("POST", path, payment, at: now, secret: "another").status == 403)
    let faulty = try await visit.shop.signed("POST", path, ["amount": "1.00"], at: now)
    #expect(faulty.status == 400 && faulty.body["errors"]?.elements.isEmpty == false)
  }

  @Test func `shows in what it differs from what the merchant reports`() async throws {
    let visit = try await visit()
    let shopper = try await Shopper.enters(visit.system, visit.shop, service: "collection")
    let token = try await shopper.token()
    func differences(_ token: JSONValue, _ amount: String, _ answer: JSONObject) async throws -> [String] {
      try await visit.shadow(token, amount: amount, answer)["differences"]?.elements.compactMap(\.text) ?? []
    }
    #expect(try await differences(token, shopper.total, ["result": "approved", "route": "adyen"]) == ["another_route"])
    #expect(try await differences(token, "99.99", ["result": "approved"]) == ["another_amount"])
    #expect(try await differences(["version": "EC_v1"], "1.00", ["result": "approved"]) == ["token_refused"])
    #expect(try await differences(["version": "EC_v1"], "1.00", ["result": "declined"]) == [])
  }
}

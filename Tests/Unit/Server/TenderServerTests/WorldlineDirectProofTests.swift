import AcquirerSandbox
import DirectWire
import Foundation
import HTTPTransport
import ProviderEmulators
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// A server with one route, to the emulated Worldline Direct, in a system of its own.
private struct WorldlineDirectShop: Sendable {
  let system: TestSystem
  let shop: Shopfront

  /// Network tokens of every merchant, and the sealed ones of one.
  init() async throws {
    system = try await TestSystem()
    let folder = system.directory + "/connectors"
    let account = WorldlineDirectAccount.sandbox
    let files = [
      "connector.yaml": "merchantId: \(account.merchantID)\napiKeyId: \(account.apiKeyID)\n",
      "api-key.secret": account.secretAPIKey, "webhook-keys/\(account.webhookKeyID).secret": account.webhookSecret,
      "certificates/kitsune.pem": try await Self.certificate("merchant.test.kitsune", system),
    ]
    for (name, text) in files { try Self.put(text, at: "\(folder)/worldline-direct/\(name)") }
    shop = try await system.secondServer { $0.connectorsDirectory = folder }
    _ = try await system.sandbox.require(
      "PUT", "/worldline-direct/webhook", ["url": .string("\(shop.server)/acquirers/worldline-direct/events")],
      headers: [Self.password])
  }

  private static let password = HTTPField("Authorization", WorldlineDirectAccount.sandbox.portalAuthorization)

  private static func put(_ text: String, at path: String) throws {
    let file = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  /// The provider makes the certificate's request, the portal issues, devices encrypt to it.
  private static func certificate(_ merchant: String, _ system: TestSystem) async throws -> String {
    let request = try await system.sandbox.require(
      "POST", "/worldline-direct/certificate-requests", ["merchantIdentifier": .string(merchant)], headers: [password])
    let certificates = "/portal/merchants/\(merchant)/certificates"
    let issued = try await system.sandbox.require(
      "POST", certificates, ["type": "processing", "csr": request["csr"] ?? .null])
    let id = try #require(issued["id"]?.text)
    _ = try await system.sandbox.require("POST", "\(certificates)/\(id)/activate", .object([:]))
    return try #require(issued["certificate"]?.text)
  }

  func admin(_ method: String, _ path: String) async throws -> JSONValue {
    let socket = "\(shop.store)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
    let request = OutboundRequest(method: method, url: "http+unix://\(socket)\(path)")
    return try JSONReader.read(try await system.sender.send(request, TestRun.whole).body)
  }

  /// Returns when the payment is so.
  func payment(_ id: String, _ name: String, is value: JSONValue) async throws {
    try await waitFor("\(value) as \(name) of the payment", { try await admin("GET", "/payments/\(id)") }) {
      $0[name] == value
    }
  }

  func pays(_ front: Shopfront? = nil, capture: String = "manual") async throws -> String {
    let shopper = try await Shopper.enters(system, front ?? shop, service: "collection", capture: capture)
    let answer = try await shopper.pays(card: "visa-debit")
    return try #require(answer.body["paymentId"]?.text, "\(answer.errorText) \(answer.body)")
  }

  /// What Worldline has of a payment: its state, what was captured and was not refunded.
  func books(_ id: String) async throws -> (status: String?, acquired: Int64?) {
    let name = try await name("authorize", id)
    let request = OutboundRequest(
      method: "GET", url: system.sandbox.base + "/worldline-direct/payments", headers: [Self.password])
    let body = try await system.sender.send(request, TestRun.whole).body
    let payment = try DirectJSON.read([DirectPayment].self, body).first { $0.id == name }
    return (payment?.status, payment?.paymentOutput.acquiredAmount?.amount)
  }

  private func name(_ kind: String, _ id: String) async throws -> String {
    let operations = try await admin("GET", "/payments/\(id)")["operations"]?.elements ?? []
    return try #require(operations.first { $0["kind"]?.text == kind }?["acquirerReference"]?.text)
  }

  /// What a person does in the Merchant Portal.
  func actsInPortal(_ act: String, _ id: String, _ value: Int64) async throws {
    _ = try await system.sandbox.require(
      "POST", "/worldline-direct/payments/\(try await name("authorize", id))/\(act)", ["value": .integer(value)],
      headers: [Self.password])
  }
}

@Suite(.serialized) struct `A shop that is paid through Worldline Direct` {
  @Test func `agrees with its ledger, network and sealed, and books what a person did`() async throws {
    let place = try await WorldlineDirectShop()
    let parts = try await place.pays()
    for amount in ["10.00", "1.50"] { _ = try await place.admin("POST", "/payments/\(parts)/capture?amount=\(amount)") }
    try await place.payment(parts, "captured", is: 1150)
    _ = try await place.admin("POST", "/payments/\(parts)/refund?amount=3.00")
    try await place.payment(parts, "refunded", is: 300)
    try await place.actsInPortal("refunds", parts, 200)
    try await place.payment(parts, "refunded", is: 500)
    #expect(try await place.books(parts) == ("CAPTURED", 650))

    let voided = try await place.pays()
    _ = try await place.admin("POST", "/payments/\(voided)/void?amount=2.50")
    _ = try await place.admin("POST", "/payments/\(voided)/void")
    try await place.payment(voided, "status", is: "voided")
    #expect(try await place.books(voided) == ("CANCELLED", 0))

    let kitsune = try Shopfront(
      TestSystem.kitsuneMerchant, place.system.directory, place.shop.server, place.system.sender,
      store: place.shop.store)
    let sealed = try await place.pays(kitsune, capture: "immediate")
    try await place.payment(sealed, "captured", is: 1250)
    #expect(try await place.admin("GET", "/payments/\(sealed)")["amountConfirmed"] == false)
    #expect(try await place.books(sealed) == ("CAPTURED", 1250))
    #expect(try await place.admin("GET", "/journal/verification")["violations"] == [])
  }
}

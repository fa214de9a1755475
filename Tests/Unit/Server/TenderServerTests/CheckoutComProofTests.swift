import AcquirerSandbox
import Foundation
import HTTPTransport
import ProviderEmulators
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// A server with a route to the emulated Checkout.com, in a system of its own: the emulator's ledger holds nothing else.
private struct CheckoutComShop: Sendable {
  let system: TestSystem
  let shop: Shopfront
  private let start: Timestamp
  private static let key = HTTPField("Authorization", "Bearer \(CheckoutComAccount.sandbox.secretKey)")

  /// Sealed payment tokens are kitsune's.
  init() async throws {
    system = try await TestSystem()
    start = system.clock.wall.now().adding(.seconds(-1))
    let folder = system.directory + "/connectors"
    let account = CheckoutComAccount.sandbox
    for (name, text) in [
      "connector.yaml": "processingChannels: [\(account.processingChannel)]\ndescriptorCity: London\n",
      "secret-key.secret": account.secretKey, "public-key.secret": account.publicKey,
      "signature-keys/1.secret": account.signatureKey,
    ] { try Self.put(text, at: "\(folder)/checkout-com/\(name)") }
    try await Self.seal("merchant.test.kitsune", system, folder)
    shop = try await system.secondServer { $0.connectorsDirectory = folder }
    try await sendEvents(to: shop.server)
  }

  private static func put(_ text: String, at path: String) throws {
    let file = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  /// The provider makes the certificate's request, the portal issues, devices encrypt to it.
  private static func seal(_ identifier: String, _ system: TestSystem, _ folder: String) async throws {
    let request = try await system.sandbox.require(
      "POST", "/checkout-com/certificate-requests", ["merchantIdentifier": .string(identifier)], headers: [key])
    let certificates = "/portal/merchants/\(identifier)/certificates"
    let issued = try await system.sandbox.require(
      "POST", certificates, ["type": "processing", "csr": request["csr"] ?? .null])
    let id = try #require(issued["id"]?.text)
    _ = try await system.sandbox.require("POST", "\(certificates)/\(id)/activate", .object([:]))
    try put(try #require(issued["certificate"]?.text), at: "\(folder)/checkout-com/certificates/kitsune.pem")
  }

  func sendEvents(to server: String) async throws {
    let url = JSONValue.string("\(server)/acquirers/checkout-com/events")
    _ = try await system.sandbox.require("PUT", "/checkout-com/webhook", ["url": url], headers: [Self.key])
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

  func pays(_ card: String, at front: Shopfront? = nil, capture: String = "immediate") async throws -> String {
    let shopper = try await Shopper.enters(system, front ?? shop, service: "collection", capture: capture)
    let answer = try await shopper.pays(card: card)
    return try #require(answer.body["paymentId"]?.text, "\(card): \(answer.errorText) \(answer.body)")
  }

  func kitsune() throws -> Shopfront {
    try Shopfront(TestSystem.kitsuneMerchant, system.directory, shop.server, system.sender, store: shop.store)
  }

  /// What is in Checkout.com's books and not in ours, or the other way round.
  func differences() async throws -> [String] {
    let until = system.clock.wall.now().adding(.seconds(2))
    let found = try await admin("POST", "/reconcile?listing=yes&route=checkout-com&from=\(start)&until=\(until)")
    guard case .array(let all) = found else { return ["\(found)"] }
    return all.compactMap { $0["kind"]?.text }
  }

  /// What a person, a cardholder or the time does at Checkout.com.
  func acts(_ act: String, _ id: String, _ value: Int64) async throws {
    let operations = try await admin("GET", "/payments/\(id)")["operations"]?.elements ?? []
    let name = try #require(operations.first { $0["kind"]?.text == "authorize" }?["acquirerReference"]?.text)
    _ = try await system.sandbox.require(
      "POST", "/checkout-com/payments/\(name)/\(act)", ["value": .integer(value)], headers: [Self.key])
  }
}

@Suite(.serialized) struct `A shop that is paid through Checkout.com` {
  @Test func `agrees with its ledger to the minor unit, network and sealed`() async throws {
    let place = try await CheckoutComShop()
    let captured = try await place.pays("visa-debit")
    try await place.payment(captured, "captured", is: 1250)
    let voided = try await place.pays("mastercard-credit", capture: "manual")
    _ = try await place.admin("POST", "/payments/\(voided)/void")
    try await place.payment(voided, "status", is: "voided")
    let parts = try await place.pays("visa-debit", capture: "manual")
    for amount in ["10.00", "2.50"] { _ = try await place.admin("POST", "/payments/\(parts)/capture?amount=\(amount)") }
    try await place.payment(parts, "captured", is: 1250)
    _ = try await place.admin("POST", "/payments/\(parts)/refund?amount=3.00")
    try await place.payment(parts, "refunded", is: 300)
    let sealed = try await place.pays("visa-debit", at: try place.kitsune())
    try await place.payment(sealed, "captured", is: 1250)
    #expect(try await place.admin("GET", "/payments/\(sealed)")["amountConfirmed"] == false)
    let shopper = try await Shopper.enters(place.system, place.shop, service: "collection")
    #expect(try await shopper.pays(card: "visa-lost").status == 402)
    #expect(try await place.differences() == [])
    try await findsWhatAPersonDid(captured, place)
    #expect(try await place.admin("GET", "/journal/verification")["violations"] == [])
  }

  /// A refund in the dashboard is a difference until its event arrives, and booked from then on.
  private func findsWhatAPersonDid(_ id: String, _ place: CheckoutComShop) async throws {
    try await place.sendEvents(to: "http://127.0.0.1:9")
    try await place.acts("refunds", id, 200)
    let found = try await waitFor("a difference", { try await place.differences() }) { !$0.isEmpty }
    #expect(found == ["missing_here"])
    try await place.sendEvents(to: place.shop.server)
    try await place.payment(id, "refunded", is: 200)
    try await place.acts("disputes", id, 300)
    try await place.payment(id, "chargedBack", is: 300)
    #expect(try await place.differences() == [])
    let operations = try await place.admin("GET", "/payments/\(id)")["operations"]?.elements ?? []
    #expect(operations.compactMap { $0["cause"]?.text }.suffix(2) == ["provider", "provider"])
  }
}

import AcquirerSandbox
import Administration
import Foundation
import HTTPTransport
import ProviderEmulators
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// A server with a route to each emulated provider, in a system of its own: the emulators' ledgers hold nothing else.
private struct ProviderShop: Sendable {
  let system: TestSystem
  let shop: Shopfront
  private let connectors: String
  private let start: Timestamp

  /// Visa goes to Adyen, Mastercard to Braintree, American Express to Stripe, and sealed payment tokens to the provider
  /// whose key they are for.
  init() async throws {
    system = try await TestSystem()
    start = system.clock.wall.now().adding(.seconds(-1))
    let folder = system.directory + "/connectors"
    connectors = folder
    try Self.write(folder)
    try Self.append(
      "routes: [\"adyen network=visa\", \"braintree network=masterCard\", \"stripe network=amex\"]\n"
        + "statementDescriptor: HARBOUR*KITCHEN\n",
      to: system.directory + "/merchants/harbour/merchant.yaml")
    try await Self.seal("kitsune", "adyen", system, folder)
    try await Self.seal("counted", "braintree", system, folder)
    try await Self.seal("stall", "stripe", system, folder)
    shop = try await system.secondServer { $0.connectorsDirectory = folder }
    try await sendEvents(to: shop.server)
  }

  private static func write(_ folder: String) throws {
    let (adyen, braintree) = (AdyenAccount.sandbox, BraintreeAccount.sandbox)
    let files = [
      "adyen/connector.yaml": "merchantAccounts: [\(adyen.merchantAccount)]\n", "adyen/api-key.secret": adyen.apiKey,
      "adyen/hmac-keys/1.secret": adyen.hmacKey,
      "braintree/connector.yaml": """
      merchantId: \(braintree.merchantID)
      publicKey: \(braintree.publicKey)
      merchantAccounts: [EUR=tender_eur]
      capturesInParts: true

      """,
      "braintree/private-key.secret": braintree.privateKey, "stripe/connector.yaml": "multicapture: true\n",
      "stripe/secret-key.secret": StripeAccount.sandbox.secretKey,
      "stripe/signing-secrets/1.secret": StripeAccount.sandbox.signingSecret,
    ]
    for (name, text) in files { try put(text, at: "\(folder)/\(name)") }
  }

  private static func put(_ text: String, at path: String) throws {
    let file = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  private static func append(_ text: String, to path: String) throws {
    try MerchantProvisioning.write(try String(contentsOfFile: path, encoding: .utf8) + text, to: path)
  }

  /// The provider makes the certificate's request, the portal issues, devices encrypt to it.
  private static func seal(_ merchant: String, _ route: String, _ system: TestSystem, _ folder: String) async throws {
    let identifier = "merchant.test.\(merchant)"
    let request = try await system.sandbox.require(
      "POST", "/\(route)/certificate-requests", ["merchantIdentifier": .string(identifier)], headers: [key(route)])
    let certificates = "/portal/merchants/\(identifier)/certificates"
    let issued = try await system.sandbox.require(
      "POST", certificates, ["type": "processing", "csr": request["csr"] ?? .null])
    let id = try #require(issued["id"]?.text)
    _ = try await system.sandbox.require("POST", "\(certificates)/\(id)/activate", .object([:]))
    try put(try #require(issued["certificate"]?.text), at: "\(folder)/\(route)/certificates/\(merchant).pem")
  }

  private static func key(_ route: String) -> HTTPField {
    if route == "stripe" { return HTTPField("Authorization", "Bearer \(StripeAccount.sandbox.secretKey)") }
    guard route == "braintree" else { return HTTPField("X-API-Key", AdyenAccount.sandbox.apiKey) }
    let pair = "\(BraintreeAccount.sandbox.publicKey):\(BraintreeAccount.sandbox.privateKey)"
    return HTTPField("Authorization", "Basic " + Base64.encode(Array(pair.utf8)))
  }

  func sendEvents(to server: String) async throws {
    let paths = [
      ("adyen", "/adyen/webhook"), ("braintree", "/braintree/event-endpoint"), ("stripe", "/stripe/webhook"),
    ]
    for (route, path) in paths {
      _ = try await system.sandbox.require(
        "PUT", path, ["url": .string("\(server)/acquirers/\(route)/events")], headers: [Self.key(route)])
    }
  }

  func front(_ merchant: MerchantProvisioning.NewMerchant) throws -> Shopfront {
    try Shopfront(merchant, system.directory, shop.server, system.sender, store: shop.store)
  }

  func admin(_ method: String, _ path: String, _ body: [UInt8] = []) async throws -> JSONValue {
    let socket = "\(shop.store)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
    let request = OutboundRequest(method: method, url: "http+unix://\(socket)\(path)", body: body)
    return try JSONReader.read(try await system.sender.send(request, TestRun.whole).body)
  }

  /// Returns when the payment is so.
  func payment(_ id: String, _ name: String, is value: JSONValue) async throws {
    try await waitFor("\(value) as \(name) of the payment", { try await admin("GET", "/payments/\(id)") }) {
      $0[name] == value
    }
  }

  func pays(
    _ card: String, at front: Shopfront? = nil, delivery: Bool = false, capture: String = "immediate"
  ) async throws -> String {
    var shopper = try await Shopper.enters(
      system, front ?? shop, service: delivery ? "delivery" : "collection", capture: capture)
    if delivery { try await shopper.chooses() }
    let answer = try await shopper.pays(card: card)
    return try #require(answer.body["paymentId"]?.text, "\(card): \(answer.errorText) \(answer.body)")
  }

  /// What is in the provider's books and not in ours, or the other way round.
  func differences(_ route: String) async throws -> [String] {
    let found: JSONValue
    if route != "adyen" {
      let until = system.clock.wall.now().adding(.seconds(2))
      found = try await admin("POST", "/reconcile?listing=yes&route=\(route)&from=\(start)&until=\(until)")
    } else {
      let request = OutboundRequest(
        method: "GET", url: system.sandbox.base + "/adyen/report", headers: [Self.key(route)])
      found = try await admin(
        "POST", "/reconcile?route=\(route)", try await system.sender.send(request, TestRun.whole).body)
    }
    guard case .array(let all) = found else { return ["\(found)"] }
    return all.compactMap { $0["kind"]?.text }
  }

  /// The acquirer's name of a payment's operation.
  func name(_ kind: String, _ id: String) async throws -> String {
    let operations = try await admin("GET", "/payments/\(id)")["operations"]?.elements ?? []
    return try #require(operations.first { $0["kind"]?.text == kind }?["acquirerReference"]?.text)
  }

  /// A person voids in Braintree's control panel, of which Braintree sends no event.
  func voidAtBraintree(_ id: String) async throws {
    let path = "/merchants/\(BraintreeAccount.sandbox.merchantID)/transactions/\(try await name("authorize", id))/void"
    _ = try await system.sandbox.require(
      "PUT", path,
      headers: [Self.key("braintree"), HTTPField("X-ApiVersion", "6"), HTTPField("Sandbox-Source", "control_panel")])
  }

  /// A person at Adyen refunds, or a cardholder's bank takes money back.
  func actsAtAdyen(_ act: String, _ id: String, _ value: Int64) async throws {
    _ = try await system.sandbox.require(
      "POST", "/adyen/payments/\(try await name("authorize", id))/\(act)", ["value": .integer(value)],
      headers: [Self.key("adyen")])
  }

  /// A person at Stripe acts, or a cardholder's bank takes money back.
  func actsAtStripe(_ act: String, _ id: String, _ value: Int64? = nil) async throws {
    _ = try await system.sandbox.require(
      "POST", "/stripe/payment_intents/\(try await name("authorize", id))/\(act)",
      ["value": value.map(JSONValue.integer) ?? .null], headers: [Self.key("stripe")])
  }
}

@Suite(.serialized) struct `A shop that is paid through several providers` {
  @Test func `agrees with both ledgers to the minor unit, network and sealed`() async throws {
    let place = try await ProviderShop()
    for card in ["visa-debit", "mastercard-credit", "amex-credit"] {
      let delivered = try await place.pays(card, delivery: true)
      try await place.payment(delivered, "captured", is: 1500)
      let voided = try await place.pays(card, capture: "manual")
      _ = try await place.admin("POST", "/payments/\(voided)/void")
      try await place.payment(voided, "status", is: "voided")
      let parts = try await place.pays(card, capture: "manual")
      for amount in ["10.00", "2.50"] {
        _ = try await place.admin("POST", "/payments/\(parts)/capture?amount=\(amount)")
      }
      try await place.payment(parts, "captured", is: 1250)
      try await refunds(parts, place)
    }
    try await declinesThenPays(place)
    try await paysSealed(place, try place.front(TestSystem.kitsuneMerchant), ["1000", "250", "300"])
    try await paysSealed(place, try place.front(TestSystem.countedMerchant), ["10.00", "2.50", "3.00"])
    try await paysSealed(place, try place.front(TestSystem.stallMerchant), ["10.00", "2.50", "3.00"])
    #expect(try await place.differences("adyen") == [])
    #expect(try await place.differences("braintree") == [])
    #expect(try await place.differences("stripe") == [])
    try await findsWhatAPersonDidAtStripe(place)
    try await findsWhatAPersonDid(place)
    #expect(try await place.admin("GET", "/journal/verification")["violations"] == [])
  }

  /// The provider opens the payment tokens.
  ///
  /// - Parameter amounts: two parts that are captured, and one that is refunded.
  private func paysSealed(_ place: ProviderShop, _ front: Shopfront, _ amounts: [String]) async throws {
    let whole = try await place.pays("visa-debit", at: front)
    try await place.payment(whole, "captured", is: 1250)
    #expect(try await place.admin("GET", "/payments/\(whole)")["amountConfirmed"] == false)
    let voided = try await place.pays("visa-debit", at: front, capture: "manual")
    _ = try await place.admin("POST", "/payments/\(voided)/void")
    try await place.payment(voided, "status", is: "voided")
    let parts = try await place.pays("mastercard-credit", at: front, capture: "manual")
    for amount in amounts.prefix(2) { _ = try await place.admin("POST", "/payments/\(parts)/capture?amount=\(amount)") }
    try await place.payment(parts, "captured", is: 1250)
    try await refunds(parts, place, amounts[2])
  }

  /// Braintree refuses a part of what it has not settled; the refund that it accepts is the only one that counts.
  private func refunds(_ id: String, _ place: ProviderShop, _ amount: String = "3.00") async throws {
    try await waitFor(
      "a refund that is accepted", { try await place.admin("POST", "/payments/\(id)/refund?amount=\(amount)") }
    ) { ["approved", "pending"].contains($0["performed"]?.elements.first?["state"]?.text) }
    try await place.payment(id, "refunded", is: 300)
  }

  private func declinesThenPays(_ place: ProviderShop) async throws {
    var shopper = try await Shopper.enters(place.system, place.shop, service: "collection")
    #expect(try await shopper.pays(card: "visa-lost").status == 402)
    try await shopper.opens()
    let paid = try await shopper.pays(card: "mastercard-debit")
    let id = try #require(paid.body["paymentId"]?.text, "\(paid.errorText)")
    try await place.payment(id, "captured", is: 1250)
  }

  /// Events tell what a person captured, refunded and voided, and the listing has the same.
  private func findsWhatAPersonDidAtStripe(_ place: ProviderShop) async throws {
    let id = try await place.pays("amex-credit", capture: "manual")
    try await place.actsAtStripe("captures", id, 1000)
    try await place.payment(id, "captured", is: 1000)
    try await place.actsAtStripe("refunds", id, 200)
    try await place.payment(id, "refunded", is: 200)
    try await place.actsAtStripe("disputes", id, 300)
    try await place.payment(id, "chargedBack", is: 300)
    let held = try await place.pays("amex-credit", capture: "manual")
    try await place.actsAtStripe("cancels", held)
    try await place.payment(held, "status", is: "voided")
    #expect(try await place.differences("stripe") == [])
  }

  /// A refund in the dashboard is a difference until its event arrives, and booked from then on.
  private func findsWhatAPersonDid(_ place: ProviderShop) async throws {
    let id = try await place.pays("visa-credit")
    try await place.payment(id, "captured", is: 1250)
    try await place.sendEvents(to: "http://127.0.0.1:9")
    try await place.actsAtAdyen("refunds", id, 200)
    let found = try await waitFor("a difference", { try await place.differences("adyen") }) { !$0.isEmpty }
    #expect(found == ["missing_here"])
    try await place.sendEvents(to: place.shop.server)
    try await place.payment(id, "refunded", is: 200)
    try await place.actsAtAdyen("chargebacks", id, 300)
    try await place.payment(id, "chargedBack", is: 300)
    #expect(try await place.differences("adyen") == [])
    let operations = try await place.admin("GET", "/payments/\(id)")["operations"]?.elements ?? []
    #expect(operations.compactMap { $0["cause"]?.text }.suffix(2) == ["provider", "provider"])
    let held = try await place.pays("mastercard-credit", capture: "manual")
    try await place.voidAtBraintree(held)
    #expect(try await place.differences("braintree") == ["missing_here"])
  }
}

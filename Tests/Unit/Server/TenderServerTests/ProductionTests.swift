import AcquirerSandbox
import Administration
import ApplePayToken
import Crypto
import Foundation
import HTTPTransport
import Logging
import ProviderEmulators
import Settings
import StrictJSON
import SwiftASN1
import TenderPayments
import TenderServer
import TenderTesting
import Testing
import X509

/// How a payment token reaches a provider in production.
private struct ProductionWay: Sendable, CustomTestStringConvertible {
  let provider: String
  let isSealed: Bool
  var testDescription: String { "\(provider), \(isSealed ? "sealed" : "network")" }

  static let all = ["adyen", "braintree"].flatMap { provider in
    [false, true].map { ProductionWay(provider: provider, isSealed: $0) }
  }
}

/// A server in `production` whose composition has the sandbox's root in place of Apple's. Its signers have no
/// `-SANDBOX` in their names, so they are production's. The providers' live hosts lead to the emulators.
private struct ProductionShop {
  static let domain = "shop.example.com"
  static let merchant = MerchantProvisioning.NewMerchant(
    id: "harbour", merchantIdentifier: "merchant.test.harbour", displayName: "Harbour Kitchen", countryCode: "IE",
    currencyCode: "EUR", domains: [domain])

  let system: TestSystem
  let shop: Shopfront
  let way: ProductionWay

  init(
    _ way: ProductionWay = ProductionWay(provider: "braintree", isSealed: true), trusting production: Bool = true
  ) async throws {
    self.way = way
    system = try await TestSystem()
    let directory = system.directory + "/production"
    try Self.write(way, directory)
    if way.isSealed { try await Self.seal(way, system, directory) } else { try Self.takeKeys(system, directory) }
    let ca = try await system.sandbox.require("GET", "/sandbox/ca.json")
    let root = try #require(ca["rootPEM"]?.text)
    let configuration = try await ServerConfiguration.load(
      file: nil,
      variables: [
        "TENDER_ENVIRONMENT": "production", "TENDER_PUBLIC_URL": "https://pay.example.com", "TENDER_PORT": "0",
        "TENDER_HOST": "127.0.0.1", "TENDER_DIRECTORY": directory,
      ])
    let port = Mailbox<Int>()
    let server = try await TenderServer(
      configuration, network: Self.network(system),
      trust: try .apple(standIn: root, production: production, sandbox: !production),
      logger: Logger(label: "production") { _ in SwiftLogNoOpLogHandler() }
    ) { port.put($0) }
    port.start { try await server.run() }
    shop = try Shopfront(
      Self.merchant, directory, "http://127.0.0.1:\(try await port.awaited)", system.sender, store: directory,
      scheme: "https")
  }

  /// Nothing but the providers' live hosts is reached.
  private static func network(_ system: TestSystem) -> Network {
    let hosts = [
      "https://api.braintreegateway.com", "https://payments.braintree-api.com",
      "https://1797a841fbb37ca7-Harbour-checkout-live.adyenpayments.com/checkout",
    ]
    return Network(
      plain: HTTPSender {
        [sender = system.sender, base = system.sandbox.base] request, timeout throws(TransportError) in
        guard let host = hosts.first(where: { request.url.hasPrefix($0 + "/") }) else { throw .notSent("no such host") }
        return try await sender.send(
          OutboundRequest(
            method: request.method, url: base + request.url.dropFirst(host.count), headers: request.headers,
            body: request.body), timeout)
      },
      identified: { _, _ in HTTPSender { _, _ throws(TransportError) in throw .notSent("no merchant sessions here") } })
  }

  private static func write(_ way: ProductionWay, _ directory: String) throws {
    let shared = [
      "merchants/harbour/merchant.yaml": """
      merchantIdentifier: \(merchant.merchantIdentifier)
      displayName: Harbour Kitchen
      countryCode: IE
      currencyCode: EUR
      domains: [\(domain)]

      """,
      "merchants/harbour/api-keys/7f3ac0de.secret": String(repeating: "5a", count: 32),
    ]
    let files = shared.merging(way.provider == "adyen" ? adyen : braintree) { first, _ in first }
    for (name, text) in files { try put(text, at: "\(directory)/\(name)") }
  }

  private static var adyen: [String: String] {
    let account = AdyenAccount.sandbox
    return [
      "connectors/adyen/connector.yaml":
        "merchantAccounts: [\(account.merchantAccount)]\nlivePrefix: 1797a841fbb37ca7-Harbour\n",
      "connectors/adyen/api-key.secret": account.apiKey, "connectors/adyen/hmac-keys/1.secret": account.hmacKey,
    ]
  }

  private static var braintree: [String: String] {
    let account = BraintreeAccount.sandbox
    return [
      "connectors/braintree/connector.yaml": """
      merchantId: \(account.merchantID)
      publicKey: \(account.publicKey)
      merchantAccounts: [EUR=tender_eur]
      capturesInParts: true

      """,
      "connectors/braintree/private-key.secret": account.privateKey,
    ]
  }

  /// The merchant's own processing keys, which the portal of the test system certified, under an issuer of Apple's
  /// name. Production looks at the issuer's name, and payment tokens name the key.
  private static func takeKeys(_ system: TestSystem, _ directory: String) throws {
    let (from, to) = (system.directory + "/merchants/harbour/processing", directory + "/merchants/harbour/processing")
    try FileManager.default.copyItem(atPath: from, toPath: to)
    for name in try FileManager.default.contentsOfDirectory(atPath: to) where name.hasSuffix(".pem") {
      let issued = try Certificate(pemEncoded: String(contentsOfFile: "\(to)/\(name)", encoding: .utf8))
      try put(issued.namingApple().serializeAsPEM().pemString, at: "\(to)/\(name)")
    }
  }

  private static func put(_ text: String, at path: String) throws {
    let file = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  private static func seal(_ way: ProductionWay, _ system: TestSystem, _ directory: String) async throws {
    let request = try await system.sandbox.require(
      "POST", "/\(way.provider)/certificate-requests", ["merchantIdentifier": .string(merchant.merchantIdentifier)],
      headers: [way.credentials])
    let certificates = "/portal/merchants/\(merchant.merchantIdentifier)/certificates"
    let issued = try await system.sandbox.require(
      "POST", certificates, ["type": "processing", "csr": request["csr"] ?? .null])
    let id = try #require(issued["id"]?.text)
    _ = try await system.sandbox.require("POST", "\(certificates)/\(id)/activate", .object([:]))
    try put(
      try #require(issued["certificate"]?.text), at: "\(directory)/connectors/\(way.provider)/certificates/harbour.pem")
  }

  func admin(_ method: String, _ path: String) async throws -> JSONValue {
    let socket = "\(shop.store)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
    let request = OutboundRequest(method: method, url: "http+unix://\(socket)\(path)")
    return try JSONReader.read(try await system.sender.send(request, TestRun.whole).body)
  }

  /// Does it, and says it as Adyen's live system does where the answer comes as an event.
  func moves(_ verb: String, _ units: Int64, of payment: String) async throws -> JSONValue {
    let amount = Amount(minorUnits: units, currency: Currency(code: "EUR") ?? Currency.all[0]).decimalString
    let answer = try await admin("POST", "/payments/\(payment)/\(verb)?amount=\(amount)")
    for operation in answer["performed"]?.elements ?? [] where operation["state"]?.text == "pending" {
      // Of Adyen's test system: taken, so that it is not sent again, and nothing is changed by it.
      #expect(try await tells(operation, live: false) == 200)
      #expect(try await admin("GET", "/payments/\(payment)")["operations"]?.elements.last?["state"]?.text == "pending")
      #expect(try await tells(operation, live: true) == 200)
    }
    return try await admin("GET", "/payments/\(payment)")
  }

  /// - Returns: the server's answer to an event that says that the operation is done.
  private func tells(_ operation: JSONValue, live: Bool) async throws -> Int {
    let (name, reference) = (operation["acquirerReference"]?.text ?? "", operation["reference"]?.text ?? "")
    let kind = operation["kind"]?.text ?? ""
    let item = AdyenEventText(
      name: name, reference: "\(reference).\(kind)", code: kind.uppercased(), units: operation["amount"]?.whole ?? 0)
    return try await system.sender.send(
      OutboundRequest(
        method: "POST", url: shop.server + "/acquirers/adyen/events",
        headers: [HTTPField("Content-Type", "application/json")], body: item.body(live: live)), TestRun.whole
    ).status
  }

  /// Braintree refunds what it has settled. The emulator may have settled it by itself meanwhile, and then refuses.
  func settle(_ payment: String) async throws {
    guard way.provider == "braintree" else { return }
    for operation in try await admin("GET", "/payments/\(payment)")["operations"]?.elements ?? []
    where operation["kind"] == "capture" {
      let name = operation["acquirerReference"]?.text ?? ""
      _ = try await system.sandbox.call(
        "PUT", "/merchants/\(BraintreeAccount.sandbox.merchantID)/transactions/\(name)/settle",
        headers: [way.credentials, HTTPField("X-ApiVersion", "6")])
    }
  }

  func pays(capture: String = "immediate") async throws -> JSONClient.Answer {
    let shopper = try await Shopper.enters(system, shop, service: "collection", capture: capture)
    let token = try await system.sandbox.require(
      "POST", "/device/tokens",
      [
        "cardId": "visa-debit", "publicKeyOf": .string(Self.merchant.merchantIdentifier),
        "amount": .string(shopper.total), "currency": "EUR",
        "applicationData": shopper.request["applicationData"] ?? .null,
      ])
    return try await shopper.pays(try await shopper.payment(token))
  }
}

extension Certificate {
  func namingApple() throws -> Certificate {
    try Certificate(
      version: .v3, serialNumber: serialNumber, publicKey: publicKey, notValidBefore: notValidBefore,
      notValidAfter: notValidAfter,
      issuer: DistinguishedName {
        CommonName("Apple Worldwide Developer Relations Certification Authority - G2")
        OrganizationName("Apple Inc.")
      }, subject: subject, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
      issuerPrivateKey: Certificate.PrivateKey(P256.Signing.PrivateKey()))
  }
}

extension ProductionWay {
  var credentials: HTTPField {
    guard provider == "braintree" else { return HTTPField("X-API-Key", AdyenAccount.sandbox.apiKey) }
    let pair = "\(BraintreeAccount.sandbox.publicKey):\(BraintreeAccount.sandbox.privateKey)"
    return HTTPField("Authorization", "Basic " + Base64.encode(Array(pair.utf8)))
  }
}

/// An event of Adyen's, signed with the key of the emulator's account.
private struct AdyenEventText {
  let name: String
  let reference: String
  let code: String
  let units: Int64

  func body(live: Bool) throws -> [UInt8] {
    let account = AdyenAccount.sandbox.merchantAccount
    let signed = [name, "", account, reference, "\(units)", "EUR", code, "true"].joined(separator: ":")
    let key = SymmetricKey(data: try #require(Hex.decode(AdyenAccount.sandbox.hmacKey)))
    let signature = Base64.encode(Array(HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: key)))
    let item: JSONValue = [
      "eventCode": .string(code), "success": "true", "pspReference": .string(name),
      "merchantReference": .string(reference),
      "merchantAccountCode": .string(account), "eventDate": "2026-11-23T10:00:00+00:00", "reason": "",
      "amount": ["value": .integer(units), "currency": "EUR"], "additionalData": ["hmacSignature": .string(signature)],
    ]
    let document: JSONValue = [
      "live": live ? "true" : "false", "notificationItems": [["NotificationRequestItem": item]],
    ]
    return document.serialized()
  }
}

@Suite struct `A server in production` {
  @Test(arguments: ProductionWay.all)
  fileprivate func `takes a payment, captures it in parts and refunds it, under a root that the test gives it`(
    way: ProductionWay
  ) async throws {
    let shop = try await ProductionShop(way)
    let answer = try await shop.pays(capture: "manual")
    let id = try #require(answer.body["paymentId"]?.text, "\(answer.errorText)")
    #expect(try await shop.admin("GET", "/payments/\(id)")["amountConfirmed"] == .bool(!way.isSealed))
    #expect(try await shop.moves("capture", 1000, of: id)["captured"] == 1000)
    #expect(try await shop.moves("capture", 250, of: id)["captured"] == 1250)
    try await shop.settle(id)
    #expect(try await shop.moves("refund", 300, of: id)["refunded"] == 300)
    #expect(try await shop.moves("refund", 950, of: id)["status"] == "refunded")
    #expect(try await shop.admin("GET", "/journal/verification")["violations"] == [])
  }

  @Test func `captures at once where the order says so`() async throws {
    let answer = try await ProductionShop().pays()
    #expect(answer.status == 200 && answer.body["status"] == "captured", "\(answer.errorText)")
  }

  @Test func `refuses the same payment token where the root stands for Apple's sandbox`() async throws {
    let answer = try await ProductionShop(trusting: false).pays()
    #expect(answer.status == 422 || answer.status == 400, "\(answer.status) \(answer.errorText)")
  }
}

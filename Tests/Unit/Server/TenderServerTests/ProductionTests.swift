import AcquirerSandbox
import ApplePayToken
import Foundation
import HTTPTransport
import Logging
import StrictJSON
import TenderPayments
import TenderServer
import Testing

/// A server in `production` whose composition has the sandbox's root in place of Apple's. Its signers have no
/// `-SANDBOX` in their names, so they are production's. Braintree's live hosts lead to the emulator.
private struct ProductionShop {
  static let domain = "shop.example.com"
  static let merchant = MerchantProvisioning.NewMerchant(
    id: "harbour", merchantIdentifier: "merchant.test.harbour", displayName: "Harbour Kitchen", countryCode: "IE",
    currencyCode: "EUR", domains: [domain])

  let system: TestSystem
  let shop: Shopfront

  init(trusting production: Bool = true) async throws {
    system = try await TestSystem()
    let directory = system.directory + "/production"
    try Self.write(directory)
    try await Self.seal(system, directory)
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
    Task { try await server.run() }
    shop = try Shopfront(
      Self.merchant, directory, "http://127.0.0.1:\(try await port.awaited)", system.sender, scheme: "https")
  }

  /// Nothing but Braintree's live hosts is reached.
  private static func network(_ system: TestSystem) -> Network {
    let hosts = ["https://api.braintreegateway.com", "https://payments.braintree-api.com"]
    return Network(
      plain: HTTPSender {
        [sender = system.sender, base = system.sandbox.base] request, patience throws(TransportError) in
        guard let host = hosts.first(where: { request.url.hasPrefix($0 + "/") }) else { throw .notSent("no such host") }
        return try await sender.send(
          OutboundRequest(
            method: request.method, url: base + request.url.dropFirst(host.count), headers: request.headers,
            body: request.body), patience)
      },
      identified: { _, _ in HTTPSender { _, _ throws(TransportError) in throw .notSent("no merchant sessions here") } })
  }

  private static func write(_ directory: String) throws {
    let account = BraintreeAccount.sandbox
    let files = [
      "merchants/harbour/merchant.yaml": """
      merchantIdentifier: \(merchant.merchantIdentifier)
      displayName: Harbour Kitchen
      countryCode: IE
      currencyCode: EUR
      domains: [\(domain)]

      """,
      "merchants/harbour/api-keys/7f3ac0de.secret": String(repeating: "5a", count: 32),
      "connectors/braintree/connector.yaml":
        "merchantId: \(account.merchantID)\npublicKey: \(account.publicKey)\nmerchantAccounts: [EUR=tender_eur]\n",
      "connectors/braintree/private-key.secret": account.privateKey,
    ]
    for (name, text) in files { try put(text, at: "\(directory)/\(name)") }
  }

  private static func put(_ text: String, at path: String) throws {
    let file = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  private static func seal(_ system: TestSystem, _ directory: String) async throws {
    let pair = "\(BraintreeAccount.sandbox.publicKey):\(BraintreeAccount.sandbox.privateKey)"
    let request = try await system.sandbox.require(
      "POST", "/braintree/certificate-requests", ["merchantIdentifier": .string(merchant.merchantIdentifier)],
      headers: [HTTPField("Authorization", "Basic " + Base64.encode(Array(pair.utf8)))])
    let certificates = "/portal/merchants/\(merchant.merchantIdentifier)/certificates"
    let issued = try await system.sandbox.require(
      "POST", certificates, ["type": "processing", "csr": request["csr"] ?? .null])
    let id = try #require(issued["id"]?.text)
    _ = try await system.sandbox.require("POST", "\(certificates)/\(id)/activate", .object([:]))
    try put(
      try #require(issued["certificate"]?.text), at: "\(directory)/connectors/braintree/certificates/harbour.pem")
  }

  func pays() async throws -> JSONClient.Answer {
    let shopper = try await Shopper.enters(system, shop, service: "collection", capture: "immediate")
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

@Suite struct `A server in production` {
  @Test func `takes a whole payment under a root that the test's composition gives it`() async throws {
    let answer = try await ProductionShop().pays()
    #expect(answer.status == 200 && answer.body["status"] == "captured", "\(answer.errorText)")
  }

  @Test func `refuses the same payment token where the root stands for Apple's sandbox`() async throws {
    let answer = try await ProductionShop(trusting: false).pays()
    #expect(answer.status == 422 || answer.status == 400, "\(answer.status) \(answer.errorText)")
  }
}

import Administration
import Foundation
import HTTPTransport
import Logging
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// Routes to payment providers, configured by folders; the sandbox emulates the providers.
@Suite struct `A route to a payment provider` {
  /// A folder of connectors, as an operator writes it.
  private struct Connectors {
    let path = FileManager.default.temporaryDirectory.appending(path: "connectors-\(RandomBytes.system.hex(4))").path

    func write(_ name: String, _ text: String, readableByOthers: Bool = false) throws {
      let file = URL(fileURLWithPath: "\(path)/\(name)")
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      let mode = readableByOthers ? 0o644 : 0o600
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    func adyen(_ folder: String = "adyen", _ lines: String = "") throws {
      try write("\(folder)/connector.yaml", "merchantAccounts: [TenderSandbox]\n\(lines)")
      try write("\(folder)/api-key.secret", "sandbox-adyen-key\n")
      try write("\(folder)/hmac-keys/1.secret", String(repeating: "5AD8B0A1", count: 8))
    }

    func braintree(_ folder: String = "braintree/eu") throws {
      try write(
        "\(folder)/connector.yaml",
        "merchantId: tender_sandbox\npublicKey: sandbox_public_key\nmerchantAccounts: [EUR=tender_eur]\n")
      try write("\(folder)/private-key.secret", "sandbox_private_key\n")
    }

    func checkoutCom(_ lines: String = "", environment: String = "sbox_") throws {
      let folder = "checkout-com"
      try write("\(folder)/connector.yaml", "processingChannels: [pc_tendersandboxchannel2222222]\n\(lines)")
      try write("\(folder)/secret-key.secret", "sk_\(environment)tendersandboxsecretkey22222\n")
      try write("\(folder)/public-key.secret", "pk_\(environment)tendersandboxpublickey22222\n")
      try write("\(folder)/signature-keys/1.secret", "tender-sandbox-signature-key\n")
    }

    func worldlineDirect() throws {
      try write("worldline-direct/connector.yaml", "merchantId: TenderSandbox\napiKeyId: 5ANDB0X0D1RECT00\n")
      try write("worldline-direct/api-key.secret", "sandbox-worldline-direct-secret\n")
      try write(
        "worldline-direct/webhook-keys/sandbox-webhook-key.secret", "sandbox-worldline-direct-webhook-secret\n")
    }

    func stripe(_ folder: String = "stripe") throws {
      try write("\(folder)/connector.yaml", "multicapture: true\n")
      try write("\(folder)/secret-key.secret", "sk_test_tendersandbox\n")
      try write("\(folder)/signing-secrets/1.secret", "whsec_tendersandbox\n")
    }
  }

  private func paid(_ connectors: Connectors) async throws -> JSONValue {
    let system = try await TestSystem.shared.value
    let shop = try await system.secondServer { $0.connectorsDirectory = connectors.path }
    let answer = try await Shopper.enters(system, shop, service: "collection").pays()
    #expect(answer.status == 200, "\(answer.errorText)")
    return answer.body
  }

  @Test func `takes payments through Braintree and captures them at once`() async throws {
    let connectors = Connectors()
    try connectors.braintree()
    #expect(try await paid(connectors)["status"] == "captured")
  }

  @Test func `takes payments through Stripe and captures them at once`() async throws {
    let connectors = Connectors()
    try connectors.stripe()
    #expect(try await paid(connectors)["status"] == "captured")
  }

  @Test func `takes payments through Adyen, which tells later that they are captured`() async throws {
    let connectors = Connectors()
    try connectors.adyen()
    #expect(try await paid(connectors)["status"] == "authorized")
  }

  @Test func `takes payments through Checkout.com, which tells later that they are captured`() async throws {
    let connectors = Connectors()
    try connectors.checkoutCom()
    #expect(try await paid(connectors)["status"] == "authorized")
  }

  @Test func `takes payments through Worldline Direct, which tells later that they are captured`() async throws {
    let connectors = Connectors()
    try connectors.worldlineDirect()
    #expect(try await paid(connectors)["status"] == "authorized")
  }

  @Test func `is the first of several that takes the payment`() async throws {
    let connectors = Connectors()
    try connectors.adyen()
    try connectors.braintree()
    #expect(try await paid(connectors)["status"] == "authorized")
  }

  @Test func `is listed, checked and explained by the running server`() async throws {
    let connectors = Connectors()
    try connectors.adyen()
    try connectors.braintree()
    try connectors.worldlineDirect()
    try connectors.stripe()
    let system = try await TestSystem.shared.value
    let shop = try await system.secondServer { $0.connectorsDirectory = connectors.path }
    func admin(_ method: String, _ path: String, _ body: JSONValue = .null) async throws -> JSONValue {
      let socket = "\(shop.store)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
      let request = OutboundRequest(
        method: method, url: "http+unix://\(socket)\(path)", body: body == .null ? [] : body.serialized())
      return try JSONReader.read(try await system.sender.send(request, TestRun.whole).body)
    }
    let names = ["adyen", "braintree/eu", "stripe", "worldline-direct", "sandbox"]
    #expect(try await admin("GET", "/routes")["routes"]?.elements.compactMap { $0["route"]?.text } == names)
    let checks = try await admin("POST", "/routes/check")["routes"]?.elements ?? []
    #expect(checks.compactMap { $0["credentials"]?.text } == Array(repeating: "accepted", count: 4) + ["not_offered"])
    let rules = try await admin(
      "POST", "/routes/explain", ["merchant": "harbour", "amount": "12.50", "currency": "GBP", "network": "visa"])
    let results = rules["rules"]?.elements.compactMap { $0["result"]?.text }
    #expect(results == ["chosen", "skipped", "next", "next", "next"])
    let unknown = try await admin(
      "POST", "/routes/explain", ["merchant": "nobody", "amount": "12.50", "currency": "GBP"])
    #expect(unknown["code"] == "merchant_unknown")
    let mistyped = try await admin(
      "POST", "/routes/explain", ["merchant": "harbour", "amount": "12,50", "currency": "GBP"])
    #expect(mistyped["detail"]?.text?.contains("use a point") == true, "\(mistyped)")
  }

  @Test func `counts what its payments cost, by network`() async throws {
    let connectors = Connectors()
    try connectors.braintree()
    try connectors.write(
      "braintree/eu/fees.yaml", "fees: [basisPoints=100 network=amex, basisPoints=120 fixed=0.10 currency=EUR]\n")
    let system = try await TestSystem.shared.value
    let shop = try await system.secondServer { $0.connectorsDirectory = connectors.path }
    let answer = try await Shopper.enters(system, shop, service: "collection").pays()
    #expect(answer.status == 200, "\(answer.errorText)")
    let socket = "\(shop.store)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
    let request = OutboundRequest(method: "GET", url: "http+unix://\(socket)/metrics")
    let text = String(decoding: try await system.sender.send(request, TestRun.whole).body, as: UTF8.self)
    func value(_ name: String) throws -> Int64 {
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + "{") }, "\(name)")
      return try #require(line.split(separator: " ").last.flatMap { Int64($0) })
    }
    let authorized = try value("tender_authorized_minor_units_total")
    #expect(authorized > 0)
    #expect(try value("tender_route_cost_minor_units_total") == (authorized * 120 + 5_000) / 10_000 + 10)
    #expect(
      text.contains(#"tender_authorizations_total{answer="approved",network="visa",route="braintree/eu"} 1"#), "\(text)"
    )
    #expect(text.contains(#"tender_acquirer_seconds_count{operation="authorize",route="braintree/eu"} 1"#))
  }

  @Test func `serves in production without any sandbox, once its merchants are there`() async throws {
    let connectors = Connectors()
    try connectors.braintree()
    let logger = Logger(label: "production") { _ in SwiftLogNoOpLogHandler() }
    let configuration = try await production(connectors)
    try FileManager.default.createDirectory(
      atPath: configuration.merchantsDirectory, withIntermediateDirectories: true)
    let port = Mailbox<Int>()
    let server = try await TenderServer(configuration, logger: logger) { port.put($0) }
    let running = port.start { try await server.run() }
    #expect(try await port.awaited > 0)
    running.cancel()
  }

  @Test(arguments: [
    ("none", "connectors.directory"), ("unknown connector", "unheard"), ("no secret", "private-key.secret"),
    ("secret that others read", "private-key.secret"), ("no live prefix", "connector.yaml"),
    ("misspelt setting", "connector.yaml"), ("no prefix", "connector.yaml"), ("key of a sandbox", "secret-key.secret"),
    ("key of the test mode", "secret-key.secret"), ("a fee without a currency", "fees.yaml"),
  ])
  func `that is not complete keeps production from starting, by its name`(what: String, named: String) async throws {
    let connectors = Connectors()
    switch what {
    case "unknown connector": try connectors.write("unheard/connector.yaml", "key: value\n")
    case "no secret":
      try connectors.braintree()
      try FileManager.default.removeItem(atPath: "\(connectors.path)/braintree/eu/private-key.secret")
    case "secret that others read":
      try connectors.braintree()
      try connectors.write("braintree/eu/private-key.secret", "sandbox_private_key", readableByOthers: true)
    case "no live prefix": try connectors.adyen()
    case "no prefix": try connectors.checkoutCom(environment: "")
    case "key of a sandbox": try connectors.checkoutCom("prefix: vkuhvk4v\n")
    case "key of the test mode": try connectors.stripe()
    case "a fee without a currency":
      try connectors.braintree()
      try connectors.write("braintree/eu/fees.yaml", "fees: [fixed=0.10]\n")
    case "misspelt setting": try connectors.adyen("adyen", "livePrefx: x\n")
    default: break
    }
    let configuration = try await production(connectors)
    try FileManager.default.createDirectory(
      atPath: configuration.merchantsDirectory, withIntermediateDirectories: true)
    let error = await #expect(throws: ConfigurationError.self) {
      _ = try await TenderServer(configuration, logger: Logger(label: "production"))
    }
    #expect(error?.description.contains(named) == true, "\(String(describing: error))")
  }

  @Test func `whose merchant account is missing, or takes another currency, is refused at start and at reload`()
    async throws
  {
    let connectors = Connectors()
    try connectors.adyen()
    try connectors.braintree()
    try connectors.write(
      "braintree/eu/connector.yaml",
      "merchantId: tender_sandbox\npublicKey: sandbox_public_key\nmerchantAccounts: [EUR=tender_eur, EUR=own, GBP=gb]\n"
    )
    let system = try await TestSystem()
    let file = system.directory + "/merchants/harbour/merchant.yaml"
    let yaml = try String(contentsOfFile: file, encoding: .utf8)
    func name(_ account: String) throws {
      try MerchantProvisioning.write(yaml + "merchantAccounts: [\(account)]\n", to: file)
    }
    try name("braintree/eu=own")
    let shop = try await system.secondServer { $0.connectorsDirectory = connectors.path }
    let socket = "\(shop.store)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
    let reload = OutboundRequest(method: "POST", url: "http+unix://\(socket)/merchants/reload")
    let refusals = [
      "braintree/eu=nobody": "braintree/eu has no merchant account nobody; it has tender_eur, gb, own",
      "adyen=Nobody": "adyen has no merchant account Nobody; it has TenderSandbox",
      "braintree/eu=gb": "gb at braintree/eu takes GBP, and the merchant's currency is EUR",
    ]
    for (account, reason) in refusals {
      try name(account)
      let answer = try JSONReader.read(try await system.sender.send(reload, TestRun.whole).body)
      #expect(
        answer["detail"]?.text?.contains("harbour/merchant.yaml: merchantAccounts: \(reason)") == true, "\(answer)")
      let error = await #expect(throws: ConfigurationError.self) {
        _ = try await system.secondServer { $0.connectorsDirectory = connectors.path }
      }
      #expect(error?.description.contains(reason) == true)
    }
  }

  private func production(_ connectors: Connectors) async throws -> ServerConfiguration {
    try await ServerConfiguration.load(
      file: nil,
      variables: [
        "TENDER_ENVIRONMENT": "production", "TENDER_PUBLIC_URL": "https://pay.example.com", "TENDER_PORT": "0",
        "TENDER_DIRECTORY": connectors.path + "-state", "TENDER_CONNECTORS_DIRECTORY": connectors.path,
      ])
  }
}

import AcquirerSandbox
import Foundation
import HTTPTransport
import Logging
import ProviderEmulators
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// A server whose only provider is the emulated Worldline Acquiring, in a system of its own: its ledger holds nothing else.
private struct WorldlineAcquiringShop: Sendable {
  let system: TestSystem
  let shop: Shopfront

  init() async throws {
    system = try await TestSystem()
    let folder = system.directory + "/connectors"
    try Self.write(below: folder)
    shop = try await system.secondServer { $0.connectorsDirectory = folder }
  }

  static func write(below folder: String, settings: String = "") throws {
    let account = WorldlineAcquiringAccount.sandbox
    let route = "\(folder)/worldline-acquiring"
    try FileManager.default.createDirectory(atPath: route, withIntermediateDirectories: true)
    let files = [
      "connector.yaml": """
      clientId: \(account.clientID)
      acquirerId: "\(account.acquirerID)"
      merchantIds: ["\(account.merchantIDs[0])"]
      preAuthorization: true
      terminalId: "12345678"
      merchantName: Harbour Kitchen
      merchantCity: Dublin
      merchantCountry: IE
      \(settings)
      """,
      "client-secret.secret": account.clientSecret,
    ]
    for (name, text) in files {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(route)/\(name)"))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(route)/\(name)")
    }
  }

  func admin(_ method: String, _ path: String, _ body: [UInt8] = []) async throws -> JSONValue {
    let socket = "\(shop.store)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
    let request = OutboundRequest(method: method, url: "http+unix://\(socket)\(path)", body: body)
    return try JSONReader.read(try await system.sender.send(request, TestRun.whole).body)
  }

  func pays(_ card: String, capture: String = "immediate") async throws -> String {
    let shopper = try await Shopper.enters(system, shop, service: "collection", capture: capture)
    let answer = try await shopper.pays(card: card)
    return try #require(answer.body["paymentId"]?.text, "\(card): \(answer.errorText) \(answer.body)")
  }

  /// What is in the acquirer's books and not in ours, or the other way round.
  func differences() async throws -> [String] {
    let pair = Base64.encode(
      Array("\(WorldlineAcquiringAccount.sandbox.clientID):\(WorldlineAcquiringAccount.sandbox.clientSecret)".utf8))
    let report = try await system.sender.send(
      OutboundRequest(
        method: "GET", url: system.sandbox.base + "/worldline-acquiring/report",
        headers: [HTTPField("Authorization", "Basic \(pair)")]), TestRun.whole)
    let found = try await admin("POST", "/reconcile?route=worldline-acquiring", report.body)
    guard case .array(let all) = found else { return ["\(found)"] }
    return all.compactMap { $0["kind"]?.text }
  }
}

@Suite(.serialized) struct `A shop that is paid through Worldline Acquiring` {
  @Test func `agrees with the acquirer's ledger to the minor unit`() async throws {
    let place = try await WorldlineAcquiringShop()
    for card in ["visa-debit", "mastercard-credit"] {
      let captured = try await place.pays(card)
      #expect(try await place.admin("GET", "/payments/\(captured)")["captured"] == 1250)
      let voided = try await place.pays(card, capture: "manual")
      _ = try await place.admin("POST", "/payments/\(voided)/void")
      #expect(try await place.admin("GET", "/payments/\(voided)")["status"]?.text == "voided")
      let parts = try await place.pays(card, capture: "manual")
      for amount in ["10.00", "2.50"] {
        _ = try await place.admin("POST", "/payments/\(parts)/capture?amount=\(amount)")
      }
      _ = try await place.admin("POST", "/payments/\(parts)/refund?amount=3.00")
      let after = try await place.admin("GET", "/payments/\(parts)")
      #expect(after["captured"] == 1250 && after["refunded"] == 300, "\(after)")
    }
    let shopper = try await Shopper.enters(place.system, place.shop, service: "collection")
    #expect(try await shopper.pays(card: "visa-lost").status == 402)
    #expect(try await place.differences() == [])
    #expect(try await place.admin("GET", "/journal/verification")["violations"] == [])
  }

  @Test func `raises a hold by an operator's command, once for a key, and captures the sum`() async throws {
    let place = try await WorldlineAcquiringShop()
    let id = try await place.pays("visa-debit", capture: "manual")
    for _ in 0..<2 {
      let raised = try await place.admin("POST", "/payments/\(id)/increment?amount=2.50&key=once")
      #expect(raised["authorized"] == 1500 && raised["performed"]?.elements.first?["kind"] == "increment", "\(raised)")
    }
    let unnamed = try await place.admin("POST", "/payments/\(id)/increment")
    #expect(unnamed["code"] == "bad_request", "\(unnamed)")
    #expect(try await place.admin("POST", "/payments/\(id)/capture")["captured"] == 1500)
    #expect(try await place.differences() == [])
    let late = try await place.admin("POST", "/payments/\(id)/increment?amount=1.00")
    #expect(late["code"] == "operation_not_possible", "\(late)")
    #expect(try await place.admin("GET", "/journal/verification")["violations"] == [])
  }

  @Test func `is stopped for nobody by cards of a network that it does not take: they go another way`() async throws {
    let place = try await WorldlineAcquiringShop()
    for _ in 0..<6 { _ = try await place.pays("amex-credit") }
    let routes = try await place.admin("GET", "/routes")["routes"]?.elements ?? []
    #expect(routes.compactMap { $0["circuit"]?.text } == ["closed", "closed"])
    _ = try await place.pays("visa-debit")
    #expect(try await place.differences() == [], "the report has the one payment")
    let payment = Array(#"{"merchant":"harbour","amount":"12.50","currency":"EUR","network":"amex"}"#.utf8)
    let rules = try await place.admin("POST", "/routes/explain", payment)["rules"]?.elements ?? []
    #expect(rules.first?["reason"]?.text?.contains("network") == true, "\(rules)")
  }

  @Test func `resolves what is pending by asking, since no event comes`() async throws {
    let place = try await WorldlineAcquiringShop()
    let id = try await place.pays("visa-pending", capture: "manual")
    try await waitFor("the payment's authorization") { () -> JSONValue in
      _ = try await place.admin("POST", "/payments/\(id)/inquire")
      return try await place.admin("GET", "/payments/\(id)")
    } until: {
      $0["status"] == "authorized"
    }
    #expect(try await place.differences() == [])
  }

  @Test func `is listed and checked by the running server`() async throws {
    let place = try await WorldlineAcquiringShop()
    let routes = try await place.admin("GET", "/routes")["routes"]?.elements ?? []
    #expect(routes.compactMap { $0["route"]?.text } == ["worldline-acquiring", "sandbox"])
    let checks = try await place.admin("POST", "/routes/check")["routes"]?.elements ?? []
    #expect(checks.compactMap { $0["credentials"]?.text } == ["accepted", "not_offered"])
  }

  @Test(arguments: [("merchantIds: [x]", "merchantIds"), ("tokenURL: https://x.example", "connector.yaml")])
  func `is not started with a setting that is wrong`(line: String, named: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "worldline-\(RandomBytes.system.hex(4))").path
    try WorldlineAcquiringShop.write(below: folder, settings: "")
    let file = "\(folder)/worldline-acquiring/connector.yaml"
    let text = try String(contentsOfFile: file, encoding: .utf8)
      .replacing(
        "merchantIds: [\"520000001\"]", with: line.hasPrefix("merchantIds") ? line : "merchantIds: [1]\n\(line)")
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    let configuration = try await ServerConfiguration.load(
      file: nil,
      variables: [
        "TENDER_ENVIRONMENT": "apple-sandbox", "TENDER_PUBLIC_URL": "https://pay.example.com", "TENDER_PORT": "0",
        "TENDER_DIRECTORY": folder + "-state", "TENDER_CONNECTORS_DIRECTORY": folder,
      ])
    try FileManager.default.createDirectory(
      atPath: configuration.merchantsDirectory, withIntermediateDirectories: true)
    let error = await #expect(throws: ConfigurationError.self) {
      _ = try await TenderServer(configuration, logger: Logger(label: "test"))
    }
    #expect(error?.description.contains(named) == true, "\(String(describing: error))")
  }
}

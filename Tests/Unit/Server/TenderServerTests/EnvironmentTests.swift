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

@Suite struct `The environment of a server` {
  struct Shown: Sendable, CustomTestStringConvertible {
    let environment: TenderPayments.Environment
    /// What the payment page and the back office say of it.
    let page: String?
    let office: String?
    var testDescription: String { environment.rawValue }
  }

  static let all = [
    Shown(
      environment: .simulated, page: "This is a simulation. No money moves.", office: "Everything here is simulated"),
    Shown(
      environment: .appleSandbox, page: "This is a test. No money moves.", office: "A test with Apple’s sandbox"),
    Shown(environment: .production, page: nil, office: nil),
  ]

  @Test(arguments: all)
  func `is seen on the payment page, in the back office and in the metrics; only with real money no banner`(
    _ shown: Shown
  ) async throws {
    let system = try await TestSystem.shared.value
    let office = try FreePorts.row(of: 1)
    let (directory, name) = ("\(system.directory)/env-\(RandomBytes.system.hex(4))", shown.environment.rawValue)
    try Self.writeFiles(directory)
    var variables = [
      "TENDER_ENVIRONMENT": name, "TENDER_PUBLIC_URL": "https://pay.example.com", "TENDER_PORT": "0",
      "TENDER_DIRECTORY": directory, "TENDER_BACK_OFFICE_PORT": "\(office)",
      "TENDER_BACK_OFFICE_URL": "https://office.example.com",
    ]
    if shown.environment == .simulated { variables["TENDER_SANDBOX_URL"] = system.sandbox.base }
    let port = Mailbox<Int>()
    let server = try await TenderServer(
      try await ServerConfiguration.load(file: nil, variables: variables),
      logger: Logger(label: "environment") { _ in SwiftLogNoOpLogHandler() }
    ) { port.put($0) }
    let run = port.start { try await server.run() }
    let url = "http://127.0.0.1:\(try await port.awaited)"

    let key = try MerchantFolder.apiKey(at: directory + "/merchants/harbour")
    let (path, checkout): (String, JSONValue) = (
      "/v2/harbour/hostedcheckouts",
      [
        "order": ["amountOfMoney": ["amount": 1450, "currencyCode": "EUR"]],
        "hostedCheckoutSpecificInput": ["locale": "en_IE", "returnUrl": "https://shop.example.com/back"],
      ]
    )
    let made = try await JSONClient(url, sender: system.sender).call(
      "POST", path, checkout,
      headers: RequestSigning.headers(key.id, key.secret, "POST", path, checkout, nil, at: WallClock.system.now()))
    let id = try #require(made.body["hostedCheckoutId"]?.text, "\(made.errorText)")
    func page(_ url: String) async throws -> String {
      let answer = try await system.sender.send(OutboundRequest(method: "GET", url: url), TestRun.whole)
      return String(decoding: answer.body, as: UTF8.self)
    }
    let pages = [
      (try await page("\(url)/hosted/\(id)"), shown.page),
      (try await page("http://127.0.0.1:\(office)/sign-in"), shown.office),
    ]
    for (text, words) in pages {
      #expect(text.contains("</html>") && text.contains("class=\"ribbon\"") == (words != nil), "\(text)")
      if let words { #expect(text.contains(words), "\(text)") }
    }
    #expect(pages[1].0.contains("data-environment=\"\(name)\">\(name)<"))
    #expect(
      try await TestSystem.metrics(directory, system.sender).contains("tender_environment{environment=\"\(name)\"} 1"))
    run.cancel()
    _ = await run.result
  }

  private static func writeFiles(_ directory: String) throws {
    let account = AdyenAccount.sandbox
    let files = [
      "merchants/harbour/merchant.yaml": """
      merchantIdentifier: merchant.com.example.harbour
      displayName: Harbour Kitchen
      countryCode: IE
      currencyCode: EUR
      domains: [shop.example.com]

      """,
      "merchants/harbour/api-keys/7f3ac0de.secret": String(repeating: "5a", count: 32),
      "connectors/adyen/connector.yaml":
        "merchantAccounts: [\(account.merchantAccount)]\nlivePrefix: 1797a841fbb37ca7-Harbour\n",
      "connectors/adyen/api-key.secret": account.apiKey, "connectors/adyen/hmac-keys/1.secret": account.hmacKey,
    ]
    for (name, text) in files {
      let file = URL(fileURLWithPath: "\(directory)/\(name)")
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
  }
}

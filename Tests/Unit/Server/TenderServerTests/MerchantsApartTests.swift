import Administration
import BackOffice
import Foundation
import HTTPTransport
import MerchantIdentity
import Settings
import Storage
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing
import Webhooks

/// What an administrator of one merchant, or the file of one, tries against the platform and the other merchants.
@Suite(.serialized) struct `One merchant's administrator` {
  private static let association = "/.well-known/apple-developer-merchantid-domain-association"

  /// The file of a merchant `third`.
  ///
  /// - Parameter fields: JSON that stands in the place of what an export writes.
  private static func file(_ fields: String) throws -> String {
    let merchant = MerchantProvisioning.NewMerchant(
      id: "third", merchantIdentifier: "merchant.test.third", displayName: "Third", countryCode: "IE",
      currencyCode: "EUR", domains: ["third.example"])
    let bundle = try JSONEncoder().encode(try MerchantBundle(merchant, random: .system))
    var whole = try #require(try JSONSerialization.jsonObject(with: bundle) as? [String: Any])
    whole.merge(try #require(try JSONSerialization.jsonObject(with: Data(fields.utf8)) as? [String: Any])) { $1 }
    return String(decoding: try JSONSerialization.data(withJSONObject: whole), as: UTF8.self)
  }

  private static func secret(_ kind: String, _ id: String, _ secret: String, _ more: String = "") -> String {
    #"{"secrets": [{"kind": "\#(kind)", "id": "\#(id)", "secret": "\#(secret)"\#(more)}]}"#
  }

  // The platform's own hosts.

  @Test func `cannot take a host of the platform's own as a domain`() async throws {
    let platform = try await MerchantsApart()
    let file = try String(
      contentsOfFile: "\(platform.system.directory)/platform/association/\(TestSystem.hostedDomain).txt",
      encoding: .utf8)
    try await platform.serve { server async throws in
      let mallory = try await server.administrator(of: "mine")
      for host in [
        TestSystem.hostedDomain, "api.platform.example", "office.platform.example",
        String(platform.system.sandbox.base.dropFirst("http://".count)),
      ] {
        let page = try await mallory.post(
          "/merchants/mine/add-domain", ["domain": host, "association": "7B7D", "reason": "mine now"])
        #expect(page.status == 409 && page.text.contains(host), "\(host): \(page.text)")
      }
      let served = try await server.get(Self.association, host: TestSystem.hostedDomain)
      #expect(String(decoding: served.body, as: UTF8.self) == file)
      #expect(try await server.get("/applepay/metadata", host: "api.platform.example").status == 403)
      #expect(
        try await mallory.post(
          "/merchants/mine/add-domain", ["domain": "www.mine.example", "reason": "another page"]
        ).status == 303)
    }
  }

  @Test func `has taken a host of the platform's before: its own pages and file come first`() async throws {
    var platform = try await MerchantsApart()
    let hosted = platform.configuration.hostedCheckoutURL
    platform.configuration.hostedCheckoutURL = "http://elsewhere.localhost:1"
    try await platform.behindItsBack { administration, _ in
      _ = try await administration.perform(
        .addDomain(TestSystem.hostedDomain, merchant: "mine", associationBase64: Base64.encode(Array("7B7D".utf8))))
    }
    platform.configuration.hostedCheckoutURL = hosted
    let file = try Data(
      contentsOf: URL(filePath: "\(platform.system.directory)/platform/association/\(TestSystem.hostedDomain).txt"))
    try await platform.serve { server async throws in
      #expect(try await server.get(Self.association, host: TestSystem.hostedDomain).body == Array(file))
      #expect(try await server.get("/applepay/metadata", host: TestSystem.hostedDomain).status == 403)
      #expect(try await server.isServed("mine.example"), "its own domain is served")
      let page = try await Self.hostedPage(server)
      #expect(page.status == 200, "\(String(decoding: page.body, as: UTF8.self))")
    }
  }

  /// The page of a checkout of `theirs`, at the platform's host.
  private static func hostedPage(_ server: MerchantsApart.Running) async throws -> InboundResponse {
    let key = try #require(
      try StrictJSONDecoder().decode(
        MerchantAnswer.self, from: try await server.ask(.addKey(merchant: "theirs", kind: .apiKey))
      ).keys?.first)
    let shop = Shopfront(
      MerchantsApart.theirs, server.system, key: (merchant: "theirs", id: key.id, secret: try #require(key.secret)),
      at: server.url)
    let answer = try await shop.signed(
      "POST", "/v2/theirs/hostedcheckouts",
      [
        "order": ["amountOfMoney": ["amount": 900, "currencyCode": "EUR"]],
        "hostedCheckoutSpecificInput": ["returnUrl": "https://theirs.example/"],
      ], at: WallClock.system.now())
    let id = try #require(answer.body["hostedCheckoutId"]?.text, "\(answer.errorText)")
    return try await server.get("/hosted/\(id)", host: TestSystem.hostedDomain)
  }

  // Changes and starts of all.

  @Test func `stops neither the changes of others nor the next start`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let mallory = try await server.administrator(of: "mine")
      for url in ["ftp://mine.example/hooks", "http://mine.example/hooks", "https://user:word@mine.example/hooks"] {
        let page = try await mallory.post(
          "/webhooks/address", ["merchant": "mine", "endpoint": "orders", "url": url, "reason": "moved"])
        #expect(page.status == 409 && page.text.contains("webhooks"), "\(url): \(page.text)")
      }
      let other = try await server.administrator(of: "theirs")
      let change = try await other.post(
        "/merchants/theirs/add-domain", ["domain": "www.theirs.example", "reason": "another page"])
      #expect(change.status == 303, "\(change.text)")
      #expect(try await server.isServed("www.theirs.example"))
    }
    try await platform.serve { server async throws in
      #expect(try await server.isServed("mine.example"))
      #expect(try await server.isServed("theirs.example"))
    }
  }

  @Test func `each of several endpoints that are added at the same time is kept`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let mallory = try await server.administrator(of: "mine")
      let names = (1...4).map { "books-\($0)" }
      try await withThrowingTaskGroup { group in
        for name in names {
          group.addTask {
            let page = try await mallory.post(
              "/webhooks/address",
              ["merchant": "mine", "endpoint": name, "url": "https://93.184.215.14/\(name)", "reason": "new"])
            #expect(page.status == 303, "\(page.text)")
          }
        }
        try await group.waitForAll()
      }
      let bundle = try await server.ask(.export(merchant: "mine"))["bundle"]
      let settings = try #require(bundle?["settings"]?.text)
      for name in names { #expect(settings.contains("\(name)=https://93.184.215.14/\(name)"), "\(settings)") }
    }
  }

  @Test func `and a file with another merchant's key id change nothing`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let anna = try await server.operatorOfAll()
      let key = try #require(
        try StrictJSONDecoder().decode(
          MerchantAnswer.self, from: try await server.ask(.listKeys(merchant: "theirs"))
        ).keys?.first { $0.kind == .apiKey })
      let file = try Self.file(Self.secret("api-key", key.id, "a-secret-that-i-know-well"))
      let page = try await anna.upload("/merchants/import", ["reason": "moves here"], "merchant", file)
      #expect(page.status == 409 && page.text.contains(key.id), "\(page.text)")
      #expect(try await server.ask(.export(merchant: "third"))["code"]?.text == "merchant_unknown")
      #expect(try await server.isServed("theirs.example"))
    }
    try await platform.serve { server async throws in #expect(try await server.isServed("theirs.example")) }
  }

  @Test(arguments: [
    "webhooks: [\"ftp://mine.example/hooks\"]", "countryCode: Nowhere", "routes: [\"nobody knows\"]",
  ])
  func `has broken the merchant before: it is left out with an alarm, and can be mended`(line: String) async throws {
    let platform = try await MerchantsApart()
    try await platform.write(line, to: "mine")
    try await platform.serve { server async throws in
      #expect(try await server.isServed("theirs.example"))
      #expect(try await !server.isServed("mine.example"))
      let setting = String(line.prefix { $0 != ":" })
      #expect(server.log.text.contains("a merchant of the store is left out") && server.log.text.contains(setting))
      #expect(try await server.metrics().contains("tender_merchant_left_out{merchant=\"mine\"} 1"))
      let checks = try await server.admin("POST", "/doctor/merchants")["checks"]?.elements ?? []
      let alarm = checks.first { $0["code"] == "merchant_served" && $0["subject"] == "mine" }
      #expect(alarm?["status"] == "failed" && alarm?["finding"]?.text?.contains(setting) == true, "\(checks)")
      let anna = try await server.operatorOfAll()
      #expect(try await anna.get("/merchants").text.contains(setting))
      let mended = try await anna.change(
        "mine", "edit", ["setting": setting, "value": line.hasPrefix("c") ? "IE" : ""])
      #expect(mended.status == 303, "\(mended.text)")
      #expect(try await server.isServed("mine.example"))
      #expect(try await !server.metrics().contains("tender_merchant_left_out"))
    }
  }

  @Test func `has let all webhook keys end: the merchant and its keys can still be switched off`() async throws {
    let platform = try await MerchantsApart()
    try await platform.behindItsBack { administration, store in
      let endpoint = MerchantCall.setEndpoint("orders", url: "https://mine.example/hooks", merchant: "mine")
      _ = try await administration.perform(endpoint)
      func key(_ kind: SecretName.Kind) async throws -> String {
        let keys = try await administration.perform(.listKeys(merchant: "mine")).keys ?? []
        return try #require(keys.first { $0.kind == kind }?.id)
      }
      let last = try await key(.webhookKey)
      await #expect(throws: ConfigurationError.self, "the last key is taken away") {
        _ = try await administration.perform(.revokeKey(merchant: "mine", kind: .webhookKey, id: last))
      }
      let past = WallClock.system.now().adding(.seconds(-60))
      try await store.write { try $0.replace(SecretName("mine", .webhookKey, last), at: past) }
      await #expect(throws: ConfigurationError.self, "an endpoint more") {
        _ = try await administration.perform(
          .setEndpoint("stock", url: "https://mine.example/stock", merchant: "mine"))
      }
      let leaked = try await key(.apiKey)
      for call in [
        MerchantCall.setEnabled(false, merchant: "mine", domain: "mine.example"),
        .setEnabled(false, merchant: "mine", domain: nil),
        .rotateKey(merchant: "mine", kind: .apiKey, overlapSeconds: 3_600),
        .revokeKey(merchant: "mine", kind: .apiKey, id: leaked),
        .addKey(merchant: "mine", kind: .webhookKey),
      ] {
        await #expect(throws: Never.self, "\(call)") { _ = try await administration.perform(call) }
      }
    }
  }

  @Test func `has rows that this version cannot read: the merchant is left out, and the others go on`() async throws {
    let platform = try await MerchantsApart()
    try await platform.behindItsBack { _, store in
      try await store.write {
        try $0.store.run("UPDATE merchant_secrets SET scopes = 'of a later version' WHERE merchant = 'mine'")
      }
    }
    try await platform.serve { server async throws in
      #expect(try await server.isServed("theirs.example"))
      #expect(try await !server.isServed("mine.example"))
      #expect(try await server.metrics().contains("tender_merchant_left_out{merchant=\"mine\"} 1"))
    }
  }

  /// As a later version may write one, whose table allows more.
  @Test(.enabled(if: StoreEngineUnderTest.isFile))
  func `has a processing key whose row cannot be read: it is left out with an alarm, and the server starts`()
    async throws
  {
    let platform = try await MerchantsApart()
    try await platform.behindItsBack { _, store in
      try await store.write {
        try $0.store.run("PRAGMA ignore_check_constraints = ON")
        try $0.store.run(
          """
          INSERT INTO processing_keys (owner, public_key_hash, version, state)
          VALUES ('mine', 'ab12', 'EC_v1', 'suspended')
          """)
      }
    }
    try await platform.serve { server async throws in
      #expect(try await server.isServed("theirs.example"))
      #expect(server.log.text.contains("a processing key is left out"))
    }
  }

  @Test func `has a certificate that cannot be retired: later changes are taken over all the same`() async throws {
    let platform = try await MerchantsApart()
    try await platform.behindItsBack { _, store in
      try await store.write {
        try $0.store.run(
          """
          INSERT INTO merchant_certificates
            (id, merchant, kind, algorithm, state, state_since, public_key_hash, created_at)
          VALUES ('odd', 'mine', 'identity', 'RSA-2048', 'draining', 0, 'no hash', 0)
          """)
      }
    }
    try await platform.serve { server async throws in
      try await waitUntil("the first failure") { server.log.text.contains("not read again") }
      // Its end is no call: the server finds it by looking.
      _ = try await server.ask(.rotateKey(merchant: "theirs", kind: .apiKey, overlapSeconds: 1))
      try await waitUntil("the end of the old key") { server.log.text.contains("the merchants were read again") }
    }
  }

  @Test func `has got another's key id before: who had it first is served`() async throws {
    let platform = try await MerchantsApart()
    try await platform.behindItsBack { _, store in
      try await store.write { tables in
        let theirs = try #require(try tables.apiKeys(of: "theirs").first)
        try tables.keep("a-secret-that-i-know-well", as: SecretName("mine", .apiKey, theirs))
      }
    }
    try await platform.serve { server async throws in
      #expect(try await server.isServed("theirs.example"))
      #expect(try await !server.isServed("mine.example"))
      let alarm = try await server.admin("POST", "/merchants/reload")["leftOut"]?.elements.first
      #expect(alarm?["id"] == "mine" && alarm?["reason"]?.text?.contains("has a key of the same id") == true)
      #expect(
        try await server.administrator(of: "mine").get("/merchants/mine").text.contains("has a key of the same id"))
      let (mine, theirs) = (try await Self.changed("mine", server), try await Self.changed("theirs", server))
      #expect(mine?["problem"]?.text?.contains("has a key of the same id") == true && theirs?["problem"]?.text == nil)
    }
  }

  /// The merchant as a change of it is answered.
  private static func changed(_ merchant: String, _ server: MerchantsApart.Running) async throws -> JSONValue? {
    try await server.ask(.setEnabled(true, merchant: merchant, domain: nil))["merchants"]?.elements.first
  }

  @Test func `has a domain that a folder declares too: the folder's is served, and every answer says so`() async throws
  {
    let platform = try await MerchantsApart()
    let folder = "\(platform.directory)/merchants/rival"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let lines = [
      "merchantIdentifier: merchant.test.rival", "displayName: Rival", "countryCode: IE", "currencyCode: EUR",
      "domains: [\"mine.example\"]", "",
    ]
    try lines.joined(separator: "\n").write(toFile: folder + "/merchant.yaml", atomically: true, encoding: .utf8)
    try await platform.serve { server async throws in
      #expect(
        try await server.administrator(of: "mine").get("/merchants/mine").text.contains("mine.example belongs to"))
      let changed = try await Self.changed("mine", server)
      #expect(changed?["problem"]?.text?.contains("mine.example belongs to the merchant rival") == true)
      #expect(try await Self.changed("theirs", server)?["problem"]?.text == nil)
    }
  }

  @Test func `sees and changes the merchant also while another's folder cannot be read`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let folder = "\(platform.directory)/merchants/broken"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try "countryCode: [".write(toFile: folder + "/merchant.yaml", atomically: true, encoding: .utf8)
      let anna = try await server.administrator(of: "mine")
      for path in ["/merchants", "/merchants/mine", "/webhooks"] {
        let page = try await anna.get(path)
        #expect(page.status == 200 && page.text.contains("mine") && !page.text.contains("theirs"), "\(path)")
      }
      #expect(try await Self.changed("mine", server)?["id"] == "mine")
    }
  }

  @Test(arguments: ["rival", "other"])
  func `sees a change served while a folder cannot be read: declared merchants stay as they were`(
    broken: String
  ) async throws {
    let platform = try await MerchantsApart()
    try Self.declare("rival", Self.rival, platform)
    try await platform.serve { server async throws in
      let changed = Self.rival.replacing("rival.example", with: "new.example")
      try Self.declare("rival", broken == "rival" ? "domains: [" : changed, platform)
      if broken == "other" { try Self.declare("other", "domains: [", platform) }
      #expect(try await Self.takesDomain("shop.mine.example", server))
      #expect(try await server.isServed("rival.example"))
      #expect(try await !server.isServed("new.example"))
      #expect(server.log.text.contains("a declared merchant cannot be read"))
      #expect(try await server.metrics().contains("tender_merchant_left_out{merchant=\"\(broken)\"} 1"))
      let checks = try await server.admin("POST", "/doctor/merchants")["checks"]?.elements ?? []
      let alarm = checks.first { $0["code"] == "merchant_served" && $0["subject"]?.text == broken }
      #expect(alarm?["status"] == "failed" && alarm?["finding"]?.text?.contains(broken) == true, "\(checks)")
      let refused = try await server.admin("POST", "/merchants/reload")
      #expect(refused["code"] == "merchants_not_read" && refused["detail"]?.text?.contains(broken) == true)
      #expect(try await !server.isServed("new.example"))

      try Self.declare(broken, Self.rival.replacing("rival", with: broken), platform)
      #expect(try await server.admin("POST", "/merchants/reload")["merchants"] != nil)
      #expect(try await server.isServed(broken == "rival" ? "rival.example" : "new.example"))
      #expect(try await !server.metrics().contains("tender_merchant_left_out"))
    }
  }

  @Test func `sees a change served while the folder of all declared merchants is gone, and those stay`() async throws {
    let platform = try await MerchantsApart()
    try Self.declare("rival", Self.rival, platform)
    try await platform.serve { server async throws in
      try FileManager.default.moveItem(atPath: platform.directory + "/merchants", toPath: platform.directory + "/away")
      #expect(try await Self.takesDomain("shop.mine.example", server))
      #expect(try await server.isServed("rival.example"))
      #expect(try await server.metrics().contains("tender_merchant_left_out{merchant=\"rival\"} 1"))
      #expect(try await server.admin("POST", "/merchants/reload")["code"] == "merchants_not_read")
      #expect(try await server.isServed("rival.example"))
    }
  }

  @Test func `sees a merchant move from its folder into the store while another folder cannot be read`() async throws {
    let platform = try await MerchantsApart()
    try Self.declare("rival", Self.rival, platform)
    try await platform.serve { server async throws in
      try Self.declare("other", "domains: [", platform)
      try FileManager.default.removeItem(atPath: platform.directory + "/merchants/rival")
      let rival = MerchantProvisioning.NewMerchant(
        id: "rival", merchantIdentifier: "merchant.test.rival", displayName: "Rival", countryCode: "IE",
        currencyCode: "EUR", domains: ["rival.example"])
      _ = try await server.ask(.add(try MerchantBundle(rival, random: .system)))
      #expect(try await server.isServed("rival.example"))
      #expect(try await !server.metrics().contains("tender_merchant_left_out{merchant=\"rival\"}"))
    }
  }

  @Test func `sees a change served while the platform's folder cannot be read`() async throws {
    var platform = try await MerchantsApart()
    let folder = platform.directory + "/platform"
    try FileManager.default.copyItem(atPath: platform.system.directory + "/platform", toPath: folder)
    platform.configuration.platformDirectory = folder
    try await platform.serve { server async throws in
      try "no certificate".write(toFile: folder + "/processing/next.pem", atomically: true, encoding: .utf8)
      #expect(try await Self.takesDomain("shop.mine.example", server))
      #expect(server.log.text.contains("the platform's folder cannot be read"))
      let refused = try await server.admin("POST", "/merchants/reload")
      #expect(refused["code"] == "merchants_not_read" && refused["detail"]?.text?.contains("next") == true)
    }
  }

  private static let rival = """
    merchantIdentifier: merchant.test.rival
    displayName: Rival
    countryCode: IE
    currencyCode: EUR
    domains: ["rival.example"]

    """

  private static func declare(_ id: String, _ settings: String, _ platform: MerchantsApart) throws {
    let folder = "\(platform.directory)/merchants/\(id)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try settings.write(toFile: folder + "/merchant.yaml", atomically: true, encoding: .utf8)
  }

  /// Whether a domain that `mine` gets is served.
  private static func takesDomain(_ domain: String, _ server: MerchantsApart.Running) async throws -> Bool {
    _ = try await server.ask(.addDomain(domain, merchant: "mine", associationBase64: nil))
    return try await server.isServed(domain)
  }

  // Files.

  private static let long = String(repeating: "6a", count: 32)
  /// Sixty combining marks in a row, of which no line has more than thirty.
  private static let folded = Array(repeating: String(repeating: "\u{301}", count: 30), count: 2).joined(
    separator: "\\\n")

  /// What is forged, as JSON in the place of what an export writes.
  private static let forgeries: [String: String] = [
    "settings that hold themselves hundreds of times": settings("routes: [&a [x, x], &b [*a, *a], &c [*b, *b]]"),
    "settings with a key that is dear to compare": settings("? \"a\(folded)\"\n: 1"),
    "settings with a value that is dear to compare": settings("displayName: \"a\(folded)\""),
    "settings that a key makes large": settings("routes: [&a [x, x]]\n? *a\n: y"),
    "settings in many levels": settings(
      "routes: \(String(repeating: "[", count: 40))\(String(repeating: "]", count: 40))"),
    "a list without an end": settings("supportedNetworks: [\((0..<4_000).map { "n\($0)" }.joined(separator: ", "))]"),
    "an empty secret": secret("webhook-key", "w1", ""), "a short secret": secret("api-key", "k1", "too short"),
    "a secret of two lines": secret("api-key", "k1", #"a secret of\ntwo long lines"#),
    "an operator's one-time codes": secret("one-time-code", "anna", long),
    "the platform's key": secret("customer-input-key", "c1", long),
    "a certificate's key": secret("certificate-key", "c1", long),
    "a path": secret("api-key", "../../outside", long), "a hidden file": secret("api-key", ".outside", long),
    "a long id": secret("api-key", String(repeating: "k", count: 65), long),
    "an end that is none": secret("api-key", "k1", long, #", "expires": "soon""#),
    "scopes that are none's": secret("webhook-key", "w1", long, #", "scopes": ["read"]"#),
    "nobody's id": #"{"id": ""}"#, "a path as id": #"{"id": "../outside"}"#,
    "an association file that is none":
      #"{"domains": [{"domain": "third.example", "enabled": true, "associationBase64": "%"}]}"#,
    "a domain that is none": #"{"domains": [{"domain": "../outside", "enabled": true}]}"#,
    "the platform's host": #"{"domains": [{"domain": "\#(TestSystem.hostedDomain)", "enabled": true}]}"#,
    "an address inside the platform's network":
      #"{"settings": "merchantIdentifier: merchant.test.third\ndisplayName: T\ncountryCode: IE\ncurrencyCode: EUR\nbasketSource: https://169.254.169.254/\n"}"#,
  ]

  private static func settings(_ more: String) -> String {
    let lines = [
      "merchantIdentifier: merchant.test.third", "displayName: T", "countryCode: IE", "currencyCode: EUR", more, "",
    ].joined(separator: "\n")
    return "{\"settings\": \(String(decoding: JSONValue.string(lines).serialized(), as: UTF8.self))}"
  }

  /// Grows to ten to the thirtieth texts, or ends the process.
  @Test func `has no file read that becomes larger than it is`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let anna = try await server.operatorOfAll()
      let layers = (1..<30).map { "&a\($0) [\(Array(repeating: "*a\($0 - 1)", count: 10).joined(separator: ", "))]" }
      let wide = Self.settings("routes: [&a0 [x], \(layers.joined(separator: ", "))]")
      let nested = (1..<75).map { level in
        let (open, close) = (String(repeating: "[", count: 400), String(repeating: "]", count: 400))
        return "&a\(level) \(open)*a\(level - 1) \(close)"
      }
      let deep = Self.settings("routes: [&a0 [x], \(nested.joined(separator: ", "))]")
      for fields in [wide, deep] {
        let page = try await anna.upload("/merchants/import", ["reason": "moves here"], "merchant", Self.file(fields))
        #expect(page.status == 409, "\(page.status)")
      }
      #expect(try await server.isServed("theirs.example"))
    }
  }

  @Test func `cannot have a file believed that no export has made`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let anna = try await server.operatorOfAll()
      for (what, fields) in Self.forgeries {
        let page = try await anna.upload("/merchants/import", ["reason": "moves here"], "merchant", Self.file(fields))
        #expect(page.status == 409, "\(what): \(page.status) \(page.text)")
      }
      let merchants = try await server.ask(.list)["merchants"]?.elements.compactMap { $0["id"]?.text }
      #expect(merchants == ["theirs", "mine"], "\(merchants ?? [])")
      // What a merchant's file may bring along is taken.
      let whole = try await anna.upload("/merchants/import", ["reason": "moves here"], "merchant", Self.file("{}"))
      #expect(whole.status == 303, "\(whole.text)")
    }
  }

  @Test func `cannot become an operator by a file with the operator's one-time codes`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let (anna, bert) = (try await server.operatorOfAll(), try await server.operatorOfAll())
      let zeros = String(repeating: "00", count: 20)
      for id in ["", "third"] {
        let forged = Self.secret("one-time-code", bert.name, zeros).dropLast() + ", \"id\": \"\(id)\"}"
        let page = try await anna.upload(
          "/merchants/import", ["reason": "moves here"], "merchant", Self.file(String(forged)))
        #expect(page.status == 409, "\(page.text)")
      }
      let known = try #require(OneTimeCodeSecret(hex: zeros))
      #expect(try await bert.code() != known.code(at: WallClock.system.now()))
    }
  }

  @Test func `cannot have an export write outside of its folder`() throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "tender-export-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: place) }
    try PrivateFile.makeFolder(place)
    for (what, fields) in Self.forgeries where fields.contains("outside") {
      let bundle = try StrictJSONDecoder().decode(MerchantBundle.self, from: Array(Self.file(fields).utf8))
      #expect(throws: (any Error).self, "\(what)") { try bundle.write(to: place + "/merchants/third", random: .system) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: place).isEmpty)
  }

  // Settings.

  private static let ofOperator: [String: String] = [
    "callbackHosts": "mine.example", "basketSource": "https://mine.example/baskets", "unsignedPaymentData": "true",
    "routes": "sandbox", "merchantAccounts": "sandbox=another", "encryptTo": "platform",
    "requireContentDigest": "", "apiKeyLimits": "", "touchIcons": "https://mine.example/icon.png",
    "merchantIdentifier": "merchant.test.theirs", "teamIdentifier": "ABCDE12345", "gatewayRegion": "mainland-china",
    "merchantCategory": "5812",
  ]

  @Test func `sets what is the merchant's, and nothing that is the operator's`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let (mallory, anna) = (try await server.administrator(of: "mine"), try await server.operatorOfAll())
      for (key, value) in Self.ofOperator {
        let fields = ["setting": key, "value": value, "reason": "for me"]
        let page = try await mallory.post("/merchants/mine/edit", fields)
        #expect(page.status == 409 && page.text.contains("set by the operator"), "\(key): \(page.text)")
      }
      let shown = try await mallory.get("/merchants/mine").text
      #expect(!shown.contains("id=\"set-routes\"") && shown.contains("id=\"set-displayName\""))
      #expect(try await anna.get("/merchants/mine").text.contains("id=\"set-routes\""))
      for (key, value) in [("displayName", "Mine Too"), ("webhooks", "https://mine.example/hooks")] {
        _ = try await mallory.change("mine", "edit", ["setting": key, "value": value])
      }
      _ = try await anna.change("mine", "edit", ["setting": "callbackHosts", "value": "mine.example"])
    }
  }

  // Addresses.

  @Test func `takes no address of an endpoint that is longer than 2,048 bytes, in whatever way it comes`() async throws
  {
    func address(_ bytes: Int) -> String {
      let stem = "https://mine.example/"
      return stem + String(repeating: "a", count: bytes - stem.utf8.count)
    }
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let anna = try await server.operatorOfAll()
      func endpoints() async throws -> [String] {
        let settings = try #require(try await server.ask(.export(merchant: "mine"))["bundle"]?["settings"]?.text)
        return settings.matches(of: /https:\/\/mine\.example\/a*/).map { String($0.output) }
      }
      _ = try await server.ask(.addKey(merchant: "mine", kind: .webhookKey))
      for call in [
        MerchantCall.setEndpoint("stock", url: address(2_049), merchant: "mine"),
        .edit(merchant: "mine", settings: ["webhooks": "stock=\(address(2_049))"]),
        .edit(merchant: "mine", settings: ["webhooks": address(2_049)]),
      ] {
        let refused = try await server.ask(call)
        #expect(refused["detail"]?.text?.contains("2048 bytes") == true, "\(refused)")
      }
      let page = try await anna.post(
        "/webhooks/address",
        ["merchant": "mine", "endpoint": "stock", "url": address(2_049), "reason": "a test"])
      #expect(page.status == 400 && page.text.contains("2048 bytes"))
      #expect(try await endpoints().isEmpty)
      _ = try await server.ask(.setEndpoint("stock", url: address(2_048), merchant: "mine"))
      #expect(try await endpoints() == [address(2_048)])
    }
  }

  @Test func `is served on when a key that a setting names is replaced`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let anna = try await server.operatorOfAll()
      let keys = try await server.ask(.listKeys(merchant: "mine"))["keys"]?.elements ?? []
      let id = try #require(keys.first { $0["kind"] == "api-key" }?["id"]?.text)
      _ = try await anna.change("mine", "edit", ["setting": "requireContentDigest", "value": id])
      let rotated = try await server.ask(.rotateKey(merchant: "mine", kind: .apiKey, overlapSeconds: 0))
      let next = try #require(rotated["keys"]?.elements.first?["id"]?.text)
      _ = try await server.admin("POST", "/merchants/reload")
      #expect(try await server.isServed("mine.example"))
      let settings = try await server.ask(.export(merchant: "mine"))["bundle"]?["settings"]?.text
      #expect(settings?.contains(next) == true)
    }
  }

  @Test func `gives a new API key no more than its others: what it follows, and what the operator names`() async throws
  {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let anna = try await server.operatorOfAll()
      func key(_ call: MerchantCall) async throws -> JSONValue {
        try #require(try await server.ask(call)["keys"]?.elements.first)
      }
      func rotate() async throws -> JSONValue {
        try await key(.rotateKey(merchant: "mine", kind: .apiKey, overlapSeconds: 0))
      }
      func settings() async throws -> String {
        try #require(try await server.ask(.export(merchant: "mine"))["bundle"]?["settings"]?.text)
      }
      let first = try await server.ask(.listKeys(merchant: "mine"))["keys"]?.elements.first { $0["kind"] == "api-key" }
      let second = try await key(.addKey(merchant: "mine", kind: .apiKey, scopes: [.read], expires: nil))
      for id in [first?["id"]?.text, second["id"]?.text].compactMap(\.self).prefix(1) {
        _ = try await server.ask(.revokeKey(merchant: "mine", kind: .apiKey, id: id))
      }
      let reader = try await rotate()
      #expect(reader["scopes"] == ["read"])
      // The store keeps the limits of this one, so another key is the one that the settings name.
      let free = try await key(.addKey(merchant: "mine", kind: .apiKey, scopes: nil, expires: nil))
      #expect(free["scopes"] == nil)
      let (old, id) = (try #require(reader["id"]?.text), try #require(free["id"]?.text))
      _ = try await server.ask(.revokeKey(merchant: "mine", kind: .apiKey, id: old))
      _ = try await anna.change("mine", "edit", ["setting": "apiKeyLimits", "value": "\(id) baskets read"])
      _ = try await anna.change("mine", "edit", ["setting": "requireContentDigest", "value": id])
      let (limits, asked) = (["baskets", "read"] as JSONValue, MerchantCall.addKey(merchant: "mine", kind: .apiKey))
      #expect(try await key(asked)["scopes"] == limits)
      let refused = try await server.ask(.addKey(merchant: "mine", kind: .apiKey, scopes: [.refunds], expires: nil))
      #expect(refused["code"] == "key_limits_invalid", "\(refused)")
      let successor = try await rotate()
      #expect(successor["scopes"] == limits)
      let next = try #require(successor["id"]?.text)
      let written = try await settings()
      #expect(
        written.contains("\(next) baskets read") && written.components(separatedBy: next).count == 3, "\(written)")
      // Nor what a key may that is gone.
      let more = try await key(asked)
      let strong = try #require(more["id"]?.text)
      _ = try await anna.change(
        "mine", "edit", ["setting": "apiKeyLimits", "value": "\(next) read, \(strong) refunds read"])
      _ = try await server.ask(.revokeKey(merchant: "mine", kind: .apiKey, id: strong))
      let left = try await key(asked)
      #expect(left["scopes"] == ["read"])
      _ = try await server.ask(.revokeKey(merchant: "mine", kind: .apiKey, id: try #require(left["id"]?.text)))
      // Those that have ended are named no more.
      _ = try await rotate()
      #expect(try await !settings().contains(id))
    }
  }

  /// The merchant's administrator may revoke and add keys; what they may do is the operator's to say.
  @Test func `gets no key without limits from its administrator, whatever was replaced or revoked before`() async throws
  {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let (mallory, anna) = (try await server.administrator(of: "mine"), try await server.operatorOfAll())
      func keys() async throws -> [JSONValue] {
        try await server.ask(.listKeys(merchant: "mine"))["keys"]?.elements.filter { $0["kind"] == "api-key" } ?? []
      }
      func revoke(_ id: String, by person: OfficePerson) async throws {
        _ = try await person.change("mine", "revoke-key", ["kind": "api-key", "key": id])
      }
      func added() async throws -> JSONValue {
        let before = try await keys().map { $0["id"] }
        _ = try await mallory.change("mine", "add-key", ["kind": "api-key"])
        return try #require(try await keys().first { !before.contains($0["id"]) })
      }
      func limit(_ value: String) async throws {
        _ = try await anna.change("mine", "edit", ["setting": "apiKeyLimits", "value": value])
      }
      // Another took its place, and it is accepted for a day more.
      let rotated = try await server.ask(.rotateKey(merchant: "mine", kind: .apiKey, overlapSeconds: 86_400))
      let second = try #require(rotated["keys"]?.elements.first?["id"]?.text)
      try await limit("\(second) read")
      try await revoke(second, by: mallory)
      let third = try await added()
      #expect(third["scopes"] == ["read"], "\(third)")
      // The operator has taken back what a key could; the last key is gone with it.
      let (weak, strong) = (try #require(third["id"]?.text), try await added())
      let id = try #require(strong["id"]?.text)
      try await limit("\(weak) read, \(id) refunds read")
      try await revoke(id, by: anna)
      try await revoke(weak, by: mallory)
      let fourth = try await added()
      #expect(fourth["scopes"] == ["read"], "\(fourth)")
      // A replacement has no more than the key that it follows when that one is gone.
      try await revoke(try #require(fourth["id"]?.text), by: mallory)
      _ = try await mallory.change("mine", "rotate-key", ["kind": "api-key"])
      #expect(try await keys().filter { $0["expires"] == nil }.map { $0["scopes"] } == [["read"]])
    }
  }

  @Test func `gives a setting no longer list than can be used`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let mallory = try await server.administrator(of: "mine")
      for count in [301, 2_000] {
        let value = (0..<count).map { "n\($0)" }.joined(separator: ",")
        let fields = ["setting": "supportedNetworks", "value": value, "reason": "takes all"]
        let page = try await mallory.post("/merchants/mine/edit", fields)
        #expect(page.status == 409, "\(page.status)")
      }
    }
  }

  @Test func `is not told of another merchant's folder that cannot be read`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let mallory = try await server.administrator(of: "mine")
      let folder = "\(platform.directory)/merchants/rival"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try "displayName: x\n".write(toFile: "\(folder)/merchant.yaml", atomically: true, encoding: .utf8)
      let page = try await mallory.change("mine", "add-domain", ["domain": "new.mine.example"])
      #expect(page.status == 303 && !page.text.contains("rival"), "\(page.text)")
      #expect(try await !mallory.get("/merchants/mine").text.contains("rival"))
      #expect(try await server.isServed("new.mine.example"))
      #expect(server.log.text.contains("a declared merchant cannot be read") && server.log.text.contains("rival"))
    }
  }

  /// Prices of every merchant are asked for over the same connections.
  @Test func `has few of its domains looked at at once, and leaves others some`() async throws {
    var platform = try await MerchantsApart()
    platform.configuration.allowsPrivateWebhooks = true
    let (hold, asked, refused) = (Hold(), Counter(), Counter())
    let slow = DeliveryNetwork { _ in
      .init(
        HTTPSender { _, _ throws(TransportError) in
          asked.next()
          try? await waitUntil("the end of the hold") { !hold.isOn }
          return InboundResponse(status: 404)
        })
    }
    try await platform.serve(over: slow) { server async throws in
      let (mallory, anna) = (try await server.administrator(of: "mine"), try await server.operatorOfAll())
      @Sendable func check(_ person: OfficePerson, _ merchant: String) async throws {
        let fields = ["domain": "\(merchant).localhost", "reason": "slow"]
        if try await person.post("/merchants/\(merchant)/check-domain", fields).status == 409 { refused.next() }
      }
      for (person, merchant) in [(mallory, "mine"), (anna, "theirs")] {
        _ = try await person.change(
          merchant, "add-domain", ["domain": "\(merchant).localhost", "association": "7B7D"])
      }
      try await withThrowingTaskGroup { group in
        for _ in 0..<12 { group.addTask { try await check(mallory, "mine") } }
        try await waitUntil("all of mine") { asked.value + refused.value == 12 }
        #expect((1...4).contains(asked.value))
        let before = asked.value
        group.addTask { try await check(anna, "theirs") }
        try await waitUntil("one of theirs") { asked.value + refused.value == 13 }
        #expect(asked.value == before + 1)
        hold.end()
        try await group.waitForAll()
      }
    }
  }

  @Test func `sends the server to no address inside its network, whoever sets it`() async throws {
    let platform = try await MerchantsApart()
    try await platform.serve { server async throws in
      let (mallory, anna) = (try await server.administrator(of: "mine"), try await server.operatorOfAll())
      for (person, key, value) in [
        (mallory, "webhooks", "https://127.0.0.1/hooks"), (mallory, "webhooks", "https://0x7f000001/hooks"),
        (mallory, "webhooks", "https://[::ffff:10.0.0.1]/hooks"), (anna, "callbackHosts", "169.254.169.254"),
        (anna, "basketSource", "https://10.0.0.1/baskets"), (anna, "basketSource", "http://127.0.0.1:1/baskets"),
        (anna, "touchIcons", "https://192.168.0.1/icon.png"),
      ] {
        let page = try await person.post("/merchants/mine/edit", ["setting": key, "value": value, "reason": "why"])
        #expect(page.status == 409 && page.text.contains(key), "\(key) \(value): \(page.text)")
      }
      // What answers there is not to be told.
      let inside = "a.localhost:\(server.url.split(separator: ":").last ?? "")"
      _ = try await mallory.change("mine", "add-domain", ["domain": inside, "association": "7B7D"])
      _ = try await mallory.change("mine", "check-domain", ["domain": inside])
      let found = try await mallory.get("/merchants/mine").text
      #expect(found.contains("does not begin with https") && !found.contains("answers 404"), "\(found)")
      let checks = try await server.admin("POST", "/doctor/merchants")["checks"]?.elements ?? []
      let fetched = checks.filter { $0["subject"]?.text?.contains(inside) == true && $0["status"] == "failed" }
      #expect(!fetched.contains { $0["code"] == "association_served" }, "\(fetched)")
    }
  }

  @Test func `has set an address inside before: it is not fetched`() async throws {
    let platform = try await MerchantsApart()
    // The system's own server would answer that there is nothing.
    try await platform.write("basketSource: \(platform.system.server)/nothing", to: "mine")
    try await platform.serve { server async throws in
      let answer = try await server.get(
        "/applepay/basket/\(RandomBytes.system.hex(16))", origin: "https://mine.example")
      let code = try JSONReader.read(answer.body)["code"]
      #expect(answer.status == 502 && code == "basket_source_unavailable", "\(answer.status) \(code ?? .null)")
    }
  }
}

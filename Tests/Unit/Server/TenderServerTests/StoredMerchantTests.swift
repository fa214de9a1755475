import Administration
import Foundation
import HTTPTransport
import MerchantIdentity
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// A merchant in the store of the system's server, made at the portal and imported from its folder.
struct StoredShop: Sendable {
  /// A system of their own, because other tests break the folders of the shared one on purpose.
  static let system = Task { try await TestSystem() }

  let system: TestSystem
  let id: String
  let shop: Shopfront
  /// Where its folder was made.
  let folder: String

  init(_ id: String, _ system: TestSystem) async throws {
    let merchant = MerchantProvisioning.NewMerchant(
      id: id, merchantIdentifier: "merchant.test.\(id)", displayName: "Stored", countryCode: "IE", currencyCode: "EUR",
      domains: ["\(id).localhost:8410"])
    let directory = system.directory + "/imported"
    let provisioning = MerchantProvisioning(portal: system.sandbox, random: .system)
    folder = try await provisioning.make(merchant, below: directory + "/merchants")
    (self.system, self.id) = (system, id)
    shop = try Shopfront(merchant, directory, system.server, system.sender, store: system.directory)
    let bundle = try await MerchantBundle(
      folder: folder, at: system.clock.wall.now(), keysMayBeElsewhere: false)
    let added = try await call(.add(bundle))
    try #require(added.notes.isEmpty, "\(added.notes)")
    try await provisioning.verify(merchant)
  }

  /// The one merchant of a system that has served before.
  init(again system: TestSystem) {
    (self.system, shop, id) = (system, system.harbour, system.harbour.merchant.id)
    folder = "\(system.directory)/imported/merchants/\(id)"
  }

  @discardableResult
  func call(_ call: MerchantCall) async throws -> MerchantAnswer {
    let answer = try await system.admin("POST", "/merchants/calls", Array(try JSONEncoder().encode(call)))
    try #require(answer["code"] == nil, "\(answer)")
    return try StrictJSONDecoder().decode(MerchantAnswer.self, from: answer)
  }

  func refusal(_ call: MerchantCall) async throws -> String? {
    try await system.admin("POST", "/merchants/calls", Array(try JSONEncoder().encode(call)))["code"]?.text
  }

  func isOffered() async throws -> Bool {
    try await shop.page.require("GET", "/applepay/metadata")["enabled"] == .bool(true)
  }

  func certificate(_ kind: CertificateKind, _ state: CertificateState) async throws -> StoredCertificateReport? {
    try await call(.listCertificates(merchant: id)).certificates?.first { $0.kind == kind && $0.state == state }
  }

  /// Request and portal, as an operator does it in a browser beside a terminal.
  ///
  /// - Returns: the import of the portal's answer, and the portal's id of it.
  func answered(_ kind: CertificateKind) async throws -> (imports: MerchantCall, portalID: String) {
    let requested = try await call(.requestCertificate(merchant: id, kind: kind, isMainlandChina: false))
    let answer = try await system.sandbox.require(
      "POST", "/portal/merchants/\(shop.merchant.merchantIdentifier)/certificates",
      [
        "type": .string(kind.rawValue),
        "csr": .string(try #require(requested.certificates?.first?.request)),
      ])
    let file = CertificateFile(Array(try #require(answer["certificate"]?.text).utf8))
    let imports = MerchantCall.importCertificate(
      merchant: id, kind: kind, certificatesBase64: file.certificates.map { Base64.encode($0) }, privateKeyPEM: nil)
    return (imports, try #require(answer["id"]?.text))
  }

  /// Request, portal and import.
  func receivesNext(_ kind: CertificateKind) async throws -> (row: StoredCertificateReport, portalID: String) {
    let answer = try await answered(kind)
    return (try #require(try await call(answer.imports).certificates?.first), answer.portalID)
  }

  /// The portal encrypts to it from now on, or lets it in.
  func activatesAtApple(_ portalID: String) async throws {
    _ = try await system.sandbox.require(
      "POST", "/portal/merchants/\(shop.merchant.merchantIdentifier)/certificates/\(portalID)/activate", .object([:]))
  }

  func pays() async throws -> JSONClient.Answer {
    try await Shopper.enters(system, shop, service: "collection").pays()
  }
}

@Suite struct `A merchant of the store` {
  let system: TestSystem

  init() async throws { system = try await StoredShop.system.value }

  @Test func `is served as one of a folder is, from the moment of its import`() async throws {
    let stored = try await StoredShop("imported", system)
    #expect(try await stored.isOffered())
    #expect(try await stored.pays().body["status"] == "captured")
    let file = try await system.sender.send(
      OutboundRequest(
        method: "GET",
        url: system.server + "/.well-known/apple-developer-merchantid-domain-association",
        headers: [HTTPField("Host", stored.shop.merchant.domains[0])]), TestRun.whole)
    let path = "\(stored.folder)/association/\(stored.shop.merchant.domains[0]).txt"
    let association = Array(try Data(contentsOf: URL(filePath: path)))
    #expect(file.status == 200 && file.body == association)
    let report = try #require(try await stored.call(.list).merchants?.first { $0.id == "imported" })
    #expect(report.origin == "store" && report.refusal == nil && report.certificates.count == 2)
    #expect(try await stored.call(.list).merchants?.first { $0.id == "harbour" }?.origin == "folder")
  }

  @Test func `is removed only while no payment of its is open, and what it was paid stays`() async throws {
    let stored = try await StoredShop("removed", system)
    let holding = try await Shopper.enters(system, stored.shop, service: "collection", capture: "manual")
    let held = try await holding.pays()
    #expect(held.body["status"] == "authorized", "\(held.errorText)")
    #expect(try await stored.refusal(.remove(merchant: "removed")) == "merchant_has_payments")
    #expect(try await stored.isOffered())
    let payment = try #require(held.body["paymentId"]?.text)
    _ = try await system.admin("POST", "/payments/\(payment)/void")
    let answer = try await stored.call(.remove(merchant: "removed"))
    #expect(answer.merchants?.contains { $0.id == "removed" } == false)
    #expect(try await stored.refusal(.listKeys(merchant: "removed")) == "merchant_unknown")
    #expect(try await stored.shop.page.call("GET", "/applepay/metadata").status == 403)
    #expect(try await system.admin("GET", "/payments/\(payment)")["merchant"]?.text == "removed")
  }

  @Test func `is exported to the folder that it came from`() async throws {
    let stored = try await StoredShop("exported", system)
    let path = system.directory + "/exported/exported"
    try FileManager.default.createDirectory(atPath: system.directory + "/exported", withIntermediateDirectories: true)
    try #require(try await stored.call(.export(merchant: "exported")).bundle).write(to: path, random: .system)
    _ = try await MerchantBundle(folder: path, at: system.clock.wall.now(), keysMayBeElsewhere: false)
    for name in try FileManager.default.subpathsOfDirectory(atPath: stored.folder)
    where !name.hasSuffix(".yaml") && !name.hasSuffix(".pem") {
      #expect(
        FileManager.default.contents(atPath: "\(path)/\(name)")
          == FileManager.default.contents(atPath: "\(stored.folder)/\(name)"), "\(name)")
    }
  }

  @Test func `leaves no key in the files of the store, where a scan finds what is planted there`() async throws {
    let stored = try await StoredShop("scanned", system)
    func secrets() throws -> [String] {
      try ["identity.key", "processing/1.key"].map { name in
        let lines = try String(contentsOfFile: "\(stored.folder)/\(name)", encoding: .utf8).split(separator: "\n")
        return String(try #require(lines.dropFirst().first))
      } + [stored.shop.key.secret]
    }
    func found(_ text: String) throws -> Bool {
      let files = try FileManager.default.contentsOfDirectory(atPath: system.directory).filter {
        $0.hasPrefix("tender.db") && !$0.hasSuffix(".sock") && !$0.hasSuffix(".lock")
      }
      let forms = [Data(text.utf8)] + [Base64.decode(text), Hex.decode(text)].compactMap { $0.map { Data($0) } }
      return try files.contains { name in
        let bytes = try Data(contentsOf: URL(filePath: "\(system.directory)/\(name)"))
        return forms.contains { bytes.range(of: $0) != nil }
      }
    }
    for secret in try secrets() { #expect(try !found(secret)) }
    let planted = "a key that is planted in a setting"
    try await stored.call(.edit(merchant: "scanned", settings: ["displayName": planted]))
    #expect(try found(planted))
  }

  @Test func `is edited, and what the server could not serve is refused`() async throws {
    let stored = try await StoredShop("edited", system)
    try await stored.call(.edit(merchant: "edited", settings: ["displayName": "New \"Name\"", "locale": "de"]))
    let metadata = try await stored.shop.page.require("GET", "/applepay/metadata")
    #expect(metadata["displayName"]?.text == "New \"Name\"")
    #expect(try await stored.refusal(.edit(merchant: "edited", settings: ["displayNam": "x"])) == "merchant_not_served")
    #expect(
      try await stored.refusal(.edit(merchant: "edited", settings: ["countryCode": "ZZ"])) == "merchant_not_served")
    #expect(
      try await stored.refusal(
        .addDomain(TestSystem.harbourMerchant.domains[0], merchant: "edited", associationBase64: nil))
        == "domain_taken")
    #expect(try await stored.isOffered())
  }

  @Test func `may be framed by its domains in the store, and the doctor names other sites`() async throws {
    let stored = try await StoredShop("framed", system)
    func warnings() async throws -> [String] {
      let checks = try await system.admin("POST", "/doctor/merchants")["checks"]?.elements ?? []
      return checks.filter {
        $0["code"] == "hosted_frames_registered" && $0["subject"] == "framed" && $0["status"] == "warning"
      }.compactMap { $0["finding"]?.text }
    }
    let (own, other) = ("http://\(stored.shop.merchant.domains[0])", "https://other.example")
    try await stored.call(.edit(merchant: "framed", settings: ["hostedFrameAncestors": own]))
    #expect(try await warnings() == [])
    try await stored.call(.edit(merchant: "framed", settings: ["hostedFrameAncestors": "\(own),\(other)"]))
    #expect(try await warnings() == ["no domain of the merchant: \(other)"])
  }

  @Test func `and a declared one are told apart: commands only read what a folder declares`() async throws {
    let stored = try await StoredShop("apart", system)
    for call in [
      MerchantCall.edit(merchant: "harbour", settings: ["displayName": "x"]),
      .setEnabled(false, merchant: "harbour", domain: nil), .addKey(merchant: "harbour", kind: .apiKey),
      .export(merchant: "harbour"),
    ] {
      #expect(try await stored.refusal(call) == "merchant_declared")
    }
    #expect(try await stored.refusal(.export(merchant: "nobody")) == "merchant_unknown")
  }

  @Test func `is switched off and on at once, as a whole or by its domain`() async throws {
    let stored = try await StoredShop("switched", system)
    for domain in [nil, stored.shop.merchant.domains[0]] {
      let shopper = try await Shopper.enters(system, stored.shop, service: "collection")
      let token = try await shopper.token()
      try await stored.call(.setEnabled(false, merchant: "switched", domain: domain))
      #expect(try await !stored.isOffered())
      let session = try await stored.shop.page.call(
        "POST", "/applepay/validate", ["basketId": .string(shopper.basket)])
      #expect(session.status == 403 && session.body["code"] == "apple_pay_disabled")
      if domain == nil {
        let refused = try await shopper.pays(try await shopper.payment(token))
        #expect(refused.status == 403 && refused.body["code"] == "apple_pay_disabled")
      }
      try await stored.call(.setEnabled(true, merchant: "switched", domain: domain))
      #expect(try await stored.isOffered())
      #expect(try await shopper.pays(try await shopper.payment(token)).body["status"] == "captured")
    }
  }

  @Test func `that has unsubscribed cannot be paid on any path, and gets answers to what was paid before`() async throws
  {
    let stored = try await StoredShop("unsubscribed", system)
    let paid = try await Shopper.enters(system, stored.shop, service: "collection")
    let payment = try await paid.payment(try await paid.token())
    let answer = try await paid.pays(payment)
    let open = try await Shopper.enters(system, stored.shop, service: "collection")
    let token = try await open.token()
    func platform(_ method: String, _ resource: String, _ body: JSONValue? = nil) async throws -> JSONClient.Answer {
      try await stored.shop.signed(method, "/v2/unsubscribed/\(resource)", body, at: system.clock.wall.now())
    }
    let order: JSONValue = ["amountOfMoney": ["amount": 900, "currencyCode": "EUR"]]
    let page: JSONValue = ["order": order, "hostedCheckoutSpecificInput": ["returnUrl": "https://shop.example/"]]
    let checkout = try #require(try await platform("POST", "hostedcheckouts", page).body["hostedCheckoutId"]?.text)
    func hosted() async throws -> String {
      let page = try await HostedShopper.load(system, "/hosted/\(checkout)")
      return page.text
    }
    #expect(try await hosted().contains("<tender-apple-pay "))
    let products = "products?countryCode=IE&currencyCode=EUR"
    #expect(try await platform("GET", products).body["paymentProducts"]?.elements.count == 1)
    try await stored.call(.unsubscribe(merchant: "unsubscribed", actor: "ann"))
    #expect(try await !stored.isOffered())
    let refused = try await open.pays(try await open.payment(token))
    #expect(refused.status == 403 && refused.body["code"] == "terms_not_accepted")
    #expect(try await open.holds().isEmpty)
    let session = try await stored.shop.page.call("POST", "/applepay/validate", ["basketId": .string(open.basket)])
    #expect(session.body["code"] == "terms_not_accepted")
    let product = try await stored.shop.signed(
      "POST", "/v2/unsubscribed/products/302/sessions",
      ["paymentProductSession302SpecificInput": ["domainName": .string(stored.shop.merchant.domains[0])]],
      at: system.clock.wall.now())
    #expect(product.status == 403, "\(product.body)")

    // The platform API, and pages of the platform's own.
    #expect(try await platform("GET", products).body["paymentProducts"] == [])
    let data = try #require(token["paymentData"] ?? token["token"]?["paymentData"])
    let server = try await platform(
      "POST", "payments",
      [
        "order": order,
        "mobilePaymentMethodSpecificInput": [
          "paymentProductId": 302, "encryptedPaymentData": .string(String(decoding: data.serialized(), as: UTF8.self)),
        ],
      ])
    #expect(server.status == 403 && server.body["errors"]?.elements.first?["id"] == "TERMS_NOT_ACCEPTED")
    for (resource, body) in [("hostedcheckouts", page), ("paymentlinks", ["order": order])] {
      let refused = try await platform("POST", resource, body)
      #expect(refused.status == 403 && refused.body["errors"]?.elements.first?["id"] == "TERMS_NOT_ACCEPTED")
    }
    let shown = try await hosted()
    #expect(!shown.contains("<tender-apple-pay ") && shown.contains("not available"), "\(shown)")
    #expect(try await paid.pays(payment).body == answer.body)
    #expect(try await stored.call(.list).merchants?.first { $0.id == "unsubscribed" }?.refusal == "terms_not_accepted")
  }

  @Test func `has keys that are made, rotated and revoked while the server runs`() async throws {
    let stored = try await StoredShop("keyed", system)
    func accepted(_ id: String, _ secret: String) async throws -> Bool {
      var shop = stored.shop
      shop = Shopfront(shop, key: (merchant: "keyed", id: id, secret: secret))
      return try await shop.signed("GET", "/v2/keyed/services/testconnection", at: system.clock.wall.now()).status
        == 200
    }
    let first = (stored.shop.key.id, stored.shop.key.secret)
    #expect(try await accepted(first.0, first.1))
    let added = try #require(try await stored.call(.addKey(merchant: "keyed", kind: .apiKey)).keys?.first)
    let secret = try #require(added.secret)
    #expect(try await accepted(added.id, secret))
    let rotated = try #require(
      try await stored.call(.rotateKey(merchant: "keyed", kind: .apiKey, overlapSeconds: 0)).keys?.first)
    let newSecret = try #require(rotated.secret)
    #expect(try await accepted(rotated.id, newSecret))
    #expect(try await !accepted(added.id, secret))
    #expect(try await !accepted(first.0, first.1))
    let left = try await stored.call(.revokeKey(merchant: "keyed", kind: .apiKey, id: rotated.id)).keys
    #expect(try await !accepted(rotated.id, newSecret))
    #expect(left?.contains { $0.secret != nil } == false && left?.contains { $0.kind == .webhookKey } == true)
  }

  /// - Parameter change: what is done while the body of a call is under way.
  private func answer(
    to id: String, while change: (StoredShop) async throws -> Void
  ) async throws -> RawConnection.Answer? {
    let stored = try await StoredShop(id, system)
    let (key, path) = (stored.shop.key, "/v2/\(id)/baskets/\(RandomBytes.system.hex(16))")
    let body: JSONValue = [
      "currencyCode": "EUR", "countryCode": "IE", "merchantReference": "slow", "businessName": "Slow",
      "serviceTypes": ["collection"], "items": [["id": "soup", "label": "Soup", "unitAmount": 100]],
    ]
    let bytes = body.serialized()
    let signed = RequestSigning.headers(key.id, key.secret, "PUT", path, body, at: system.clock.wall.now())
    let head =
      (["PUT \(path) HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Expect: 100-continue"]
      + ["Content-Length: \(bytes.count)"] + signed.map { "\($0.name): \($0.value)" })
      .joined(separator: "\n") + "\n\n"
    let slow = try RawConnection.Shared(port: stored.shop.port)
    let begun = try await RawConnection.onThread {
      try slow.value.send(head)
      return try slow.value.answers(1)
    }
    #expect(begun.map(\.status) == [100])
    try await change(stored)
    return try await RawConnection.onThread {
      try slow.value.send(String(decoding: bytes, as: UTF8.self))
      return try slow.value.answers(1)
    }.first
  }

  @Test func `does nothing for a key that was revoked, or has lost the scope, while the body of its call arrived`()
    async throws
  {
    let usual = try await answer(to: "slow") { _ in }
    #expect(usual?.status == 200, "\(String(describing: usual))")
    let revoked = try await answer(to: "slow-revoked") { stored in
      try await stored.call(.addKey(merchant: stored.id, kind: .apiKey))
      try await stored.call(.revokeKey(merchant: stored.id, kind: .apiKey, id: stored.shop.key.id))
    }
    #expect(revoked?.status == 403, "\(String(describing: revoked))")
    let limited = try await answer(to: "slow-limited") { stored in
      try await stored.call(
        .edit(merchant: stored.id, settings: ["apiKeyLimits": "\(stored.shop.key.id) read"]))
    }
    #expect(limited?.body["errors"]?.elements.first?["id"] == "SCOPE_MISSING", "\(String(describing: limited))")
  }
}

@Suite struct `A running server` {
  private static let merchant = MerchantProvisioning.NewMerchant(
    id: "polled", merchantIdentifier: "merchant.test.polled", displayName: "Stored", countryCode: "IE",
    currencyCode: "EUR", domains: ["polled.localhost:8410"])

  /// In a system of its own, because the clock of the common one shows all tests the time.
  @Test func `takes over within seconds what nobody has told it: a key that ends by itself`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tender-polled-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let system = try await TestSystem(of: Self.merchant, in: directory, at: StoppableClock())
    let stored = try await StoredShop("polled", system)
    func isAccepted() async throws -> Bool {
      try await stored.shop.signed("GET", "/v2/polled/services/testconnection", at: system.clock.wall.now()).status
        == 200
    }
    try await stored.call(.rotateKey(merchant: "polled", kind: .apiKey, overlapSeconds: 3_600))
    #expect(try await isAccepted())
    system.clock.move(.seconds(3_600))
    try await waitUntil("the end of the key") { try await !isAccepted() }
    await system.stop()
  }
}

@Suite struct `Certificates of a merchant in the store` {
  let system: TestSystem

  init() async throws { system = try await StoredShop.system.value }

  @Test func `are renewed through request, portal, import and activation while payments run: none fails`() async throws
  {
    let stored = try await StoredShop("renewed", system)
    let outcomes = Log()
    let isDone = Mailbox<Bool>()
    try await withThrowingTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          while isDone.value == nil {
            let answer = try await stored.pays()
            outcomes.keep(answer.body["status"]?.text ?? "failed: \(answer.errorText)")
          }
        }
      }
      group.addTask {
        defer { isDone.put(true) }
        for kind in [CertificateKind.processing, .identity] {
          let before = try #require(try await stored.certificate(kind, .active))
          let next = try await stored.receivesNext(kind)
          #expect(next.row.state == .next)
          try await Self.waits(for: 3, outcomes)
          if kind == .processing { try await stored.activatesAtApple(next.portalID) }
          try await stored.call(.activateCertificate(id: next.row.id))
          try await Self.waits(for: 3, outcomes)
          #expect(try await stored.certificate(kind, .active)?.id == next.row.id)
          #expect(try await stored.certificate(kind, .draining)?.id == before.id)
        }
      }
      // Ends with the first failure: without payments the renewal waits.
      for try await _ in group {}
    }
    #expect(outcomes.count(of: "captured") >= 12 && outcomes.count(of: "failed") == 0, "\(outcomes.text)")
    let drained = try #require(try await stored.certificate(.processing, .draining))
    #expect(try await stored.refusal(.retireCertificate(id: drained.id)) == "certificate_state")
  }

  @Test func `that nobody activated by hand become active with the first payment token for them`() async throws {
    let stored = try await StoredShop("proved", system)
    let next = try await stored.receivesNext(.processing)
    try await stored.activatesAtApple(next.portalID)
    #expect(try await stored.pays().body["status"] == "captured")
    try await waitFor(
      "\(next.row.id) as the active certificate", { try await stored.certificate(.processing, .active)?.id }
    ) { $0 == next.row.id }
  }

  /// Of an issuer's name in letters of four bytes, whose number of bytes is none of them: some libraries read it, and not
  /// that of the connections.
  @Test func `are refused when no connection could present them, and the others' changes go on`() async throws {
    let stored = try await StoredShop("odd", system)
    let answer = try await stored.answered(.identity)
    guard case .importCertificate(let merchant, let kind, let chain, _) = answer.imports else { return }
    var bytes = try #require(Base64.decode(chain[0]))
    // The first is the issuer's common name.
    let name = try #require(bytes.firstRange(of: [0x55, 0x04, 0x03, 0x0C]))
    try #require(bytes[name.upperBound] % 4 != 0)
    bytes[name.upperBound - 1] = 0x1C
    let odd = MerchantCall.importCertificate(
      merchant: merchant, kind: kind, certificatesBase64: [Base64.encode(bytes)], privateKeyPEM: nil)
    #expect(try await stored.refusal(odd) != nil)
    _ = try await stored.call(answer.imports)
  }

  @Test func `are refused for another merchant, and beyond three`() async throws {
    let stored = try await StoredShop("three", system)
    let other = try String(
      contentsOfFile: system.directory + "/merchants/harbour/processing/1.pem", encoding: .utf8)
    let file = CertificateFile(Array(other.utf8)).certificates.map { Base64.encode($0) }
    #expect(
      try await stored.refusal(
        .importCertificate(merchant: "three", kind: nil, certificatesBase64: file, privateKeyPEM: nil))
        == "wrong_merchant")
    for _ in 0..<2 { _ = try await stored.receivesNext(.identity) }
    let rows = try await stored.call(.listCertificates(merchant: "three")).certificates ?? []
    #expect(rows.count { $0.kind == .identity } == 3)
    #expect(rows.allSatisfy { ($0.daysLeft ?? 0) > 700 })
    #expect(try await stored.refusal(try await stored.answered(.identity).imports) == "certificate_limit")
  }

  /// Returns when so many payments more have ended.
  private static func waits(for count: Int, _ outcomes: Log) async throws {
    let end = outcomes.lineCount + count
    try await waitFor("\(end) payments", { outcomes.lineCount }) { $0 >= end }
  }
}

@Suite struct `A merchant that the platform registers with Apple` {
  @Test func `is paid under the platform's identity and key, on registered domains alone`() async throws {
    let system = try await StoredShop.system.value
    let merchant = MerchantProvisioning.NewMerchant(
      id: "partner", merchantIdentifier: "merchant.test.partner", displayName: "Partner", countryCode: "IE",
      currencyCode: "EUR", domains: ["partner.localhost:8411"])
    let path = "/portal/merchants/\(TestSystem.platformMerchant.merchantIdentifier)/platform"
    let file = try #require(
      try await system.sandbox.require("POST", path, .object([:]))["associationFile"]?.text)
    let platform = try await StoredShop("beside", system)
    let anna = try await OfficePerson(office: system.office, store: system.directory, system.sender)
    let form = [
      "id": merchant.id, "identifier": merchant.merchantIdentifier, "name": merchant.displayName, "country": "IE",
      "currency": "EUR", "platform": "yes", "reason": "a new partner",
    ]
    #expect(try await anna.post("/merchants", form).location == "/merchants/partner?done=changed")
    try await platform.call(
      .addDomain(merchant.domains[0], merchant: "partner", associationBase64: Base64.encode(Array(file.utf8))))
    let key = try #require(try await platform.call(.addKey(merchant: "partner", kind: .apiKey)).keys?.first)
    let shop = Shopfront(
      merchant, system, key: (merchant: "partner", id: key.id, secret: try #require(key.secret)))
    #expect(try await shop.page.require("GET", "/applepay/metadata")["enabled"] == .bool(false))

    let registration = "/merchants/partner/registration"
    #expect(try await anna.get(registration).text.contains("Apple knows no merchant of this name"))
    _ = try await anna.change("partner", "register-domain", ["domain": merchant.domains[0]])
    let known = try await anna.get(registration).text
    #expect(known.contains("partner.localhost") && known.contains("<dd>Partner</dd>"), "\(known)")
    let metadata = try await shop.page.require("GET", "/applepay/metadata")
    #expect(metadata["enabled"] == .bool(true) && metadata["merchantIdentifier"]?.text == "partner")
    let answer = try await Shopper.enters(system, shop, service: "collection").pays()
    #expect(answer.body["status"] == "captured", "\(answer.errorText)")
  }
}

@Suite struct `A rehearsal of 26 months` {
  private static let merchant = MerchantProvisioning.NewMerchant(
    id: "rehearsed", merchantIdentifier: "merchant.test.rehearsed", displayName: "Stored", countryCode: "IE",
    currencyCode: "EUR", domains: ["rehearsed.localhost:8410"])
  /// TLS goes by the machine's clock, so the rehearsal begins in the past and ends today.
  private static let span: Duration = .seconds(-792 * 86_400)

  @Test func `goes from registration through expiry to renewal, against the sandbox's portal`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tender-rehearsal-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await registration(directory)
    try await renewal(directory)
  }

  private func registration(_ directory: String) async throws {
    let past = try await TestSystem(of: Self.merchant, in: directory, at: StoppableClock(ahead: Self.span))
    let stored = try await StoredShop("rehearsed", past)
    #expect(try await stored.isOffered())
    let left = try #require(try await stored.certificate(.identity, .active)?.daysLeft)
    #expect((755...765).contains(left), "\(left)")
    #expect(try await paysWithoutSession(stored).body["status"] == "captured")
    await past.stop()
  }

  private func renewal(_ directory: String) async throws {
    let today = try await TestSystem(of: Self.merchant, in: directory, at: StoppableClock())
    let stored = StoredShop(again: today)
    #expect(try await !stored.isOffered())
    for kind in CertificateKind.allCases {
      let left = try #require(try await stored.certificate(kind, .active)?.daysLeft)
      #expect(left < 0)
      let next = try await stored.receivesNext(kind)
      if kind == .processing { try await stored.activatesAtApple(next.portalID) }
      try await stored.call(.activateCertificate(id: next.row.id))
    }
    #expect(try await stored.isOffered())
    let answer = try await stored.pays()
    #expect(answer.body["status"] == "captured", "\(answer.errorText)")
    await today.stop()
  }

  /// As an app pays, which needs no merchant session and so no TLS at that time.
  private func paysWithoutSession(_ stored: StoredShop) async throws -> JSONClient.Answer {
    let shopper = try await Shopper.enters(stored.system, stored.shop, service: "collection")
    let token = try await stored.system.sandbox.require(
      "POST", "/device/tokens",
      [
        "cardId": "visa-debit", "publicKeyOf": .string(Self.merchant.merchantIdentifier),
        "amount": .string(shopper.total), "currency": "EUR",
        "applicationData": shopper.request["applicationData"] ?? .null,
      ])
    return try await shopper.pays(try await shopper.payment(token))
  }
}

@Suite struct `A key and a certificate that were renewed two days ago` {
  private static let merchant = MerchantProvisioning.NewMerchant(
    id: "retiring", merchantIdentifier: "merchant.test.retiring", displayName: "Retiring", countryCode: "IE",
    currencyCode: "EUR", domains: ["retiring.localhost:8410"])

  @Test func `are retired on the running server, which is paid with the new ones, and not before`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tender-retired-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await renewal(directory)
    let today = try await TestSystem(of: Self.merchant, in: directory, at: StoppableClock())
    let stored = StoredShop(again: today)
    let old = try #require(try await stored.certificate(.processing, .draining))
    let active = try #require(try await stored.certificate(.processing, .active))
    #expect(try await retire(active, today)["code"] == "key_active")
    let hash = old.publicKeyHash
    #expect(try await retire(old, today)["retired"]?.text == hash)
    let keys = try await today.admin("GET", "/keys")["keys"]?.elements ?? []
    #expect(keys.first { $0["publicKeyHash"]?.text == hash }?["state"] == "retired", "\(keys)")
    #expect(try await retired(.processing, stored)?.id == old.id)
    // The server itself retires an identity's certificate a day after it was replaced.
    let identity = try #require(try await retired(.identity, stored))
    for id in [old.id, identity.id] {
      #expect(try await stored.call(.exportCertificate(id: id, withKey: true)).privateKeyPEM == nil)
    }
    #expect(try await stored.pays().body["status"] == "captured")
    await today.stop()
  }

  private func renewal(_ directory: String) async throws {
    let clock = StoppableClock(ahead: .seconds(-2 * 86_400))
    let past = try await TestSystem(of: Self.merchant, in: directory, at: clock)
    let stored = try await StoredShop("retiring", past)
    #expect(try await stored.pays().body["status"] == "captured")
    let first = try #require(try await stored.certificate(.processing, .active))
    for kind in CertificateKind.allCases {
      let next = try await stored.receivesNext(kind)
      if kind == .processing { try await stored.activatesAtApple(next.portalID) }
      try await stored.call(.activateCertificate(id: next.row.id))
    }
    #expect(try await stored.pays().body["status"] == "captured")
    #expect(try await retire(first, past)["code"] == "key_in_use")
    await past.stop()
  }

  /// The certificate that was retired, as soon as there is one.
  private func retired(_ kind: CertificateKind, _ stored: StoredShop) async throws -> StoredCertificateReport? {
    try await waitFor("a certificate that is retired", { try await stored.certificate(kind, .retired) }) { $0 != nil }
  }

  /// `tender certificate retire-key`
  private func retire(_ certificate: StoredCertificateReport, _ system: TestSystem) async throws -> JSONValue {
    let body: JSONValue = [
      "merchant": .string(Self.merchant.id), "publicKeyHash": .string(certificate.publicKeyHash),
    ]
    return try await system.admin("POST", "/keys/retire", body.serialized())
  }
}

import AppleSandbox
import Crypto
import Foundation
import HTTPTypes
import SandboxTesting
import StrictJSON
import TenderPayments
import Testing
import TokenIssuer

@Suite struct `The device` {
  static let request: JSONValue = ["cardId": "visa-debit", "amount": "12.50", "currency": "EUR"]
  static let page = "http://shop.localhost:8401"

  private func inApp(_ changes: (String, JSONValue?)...) -> JSONValue {
    changes.reduce(Self.request.with("publicKeyOf", .string(Merchant.identifier))) { $0.with($1.0, $1.1) }
  }

  private func enrolled<Value: Sendable>(
    _ body: @escaping @Sendable (Caller) async throws -> Value
  ) async throws -> Value {
    let testSandbox = try await TestSandbox()
    let merchant = try Merchant()
    return try await testSandbox.calls { caller in
      try await caller.enroll(merchant, in: testSandbox.web)
      return try await body(caller)
    }
  }

  @Test func `an app pays without a session`() async throws {
    let data = Base64.encode(Array("basket 7".utf8))
    let request = inApp(("applicationData", .string(data)))
    let answer = try await enrolled { try await $0.post("/device/tokens", request) }
    #expect(answer.status == 200)
    let header = answer.json["paymentData"]?["header"]
    #expect(header?["applicationData"] == .string(Hex.encode(SHA256.hash(data: Array("basket 7".utf8)))))
    #expect(answer.json["paymentMethod"]?["displayName"] == "Visa 0492")
  }

  @Test func `a page cannot pay without one`() async throws {
    let request = inApp()
    let answer = try await enrolled { try await $0.post("/device/tokens", request, origin: Self.page) }
    #expect(answer.status == 400 && answer.code == "session_required")
  }

  @Test func `an invalid request gets the error's code`() async throws {
    let requests = [
      (inApp(("cardId", "visa-black")), "card_unknown"), (inApp(("amount", "1e3")), "invalid_amount"),
      (inApp(("amount", "12.")), "invalid_amount"), (inApp(("amount", "12.50x")), "invalid_amount"),
      (inApp(("amount", "-1.00")), "invalid_amount"), (inApp(("currency", "EURO")), "invalid_currency"),
      (inApp(("applicationData", "x")), "invalid_application_data"), (inApp(("publicKeyOf", nil)), "invalid_request"),
      (inApp(("publicKeyOf", "merchant.unknown")), "merchant_unknown"), (inApp(("amount", nil)), "invalid_request"),
    ]
    try await enrolled { device in
      for (request, code) in requests { try await device.post("/device/tokens", request).expect(code: code) }
    }
  }

  @Test(
    arguments: [
      ("1200.00", "JPY", 1200), ("1200", "JPY", 1200), ("1199.5", "JPY", 1200), ("0", "EUR", 0),
      ("12.500", "KWD", 12_500), ("12.5", "EUR", 1250), ("1.3", "EUR", 130), ("4.359999999999999", "EUR", 436),
      ("0.30000000000000004", "EUR", 30), ("12.505", "EUR", 1251), ("12.5049", "EUR", 1250), ("9.995", "EUR", 1000),
    ])
  func `amounts of any number of decimals are signed in whole minor units`(
    amount: String, currency: String, minorUnits: Int64
  ) throws {
    let currency = try #require(Currency(code: currency))
    #expect(try Amount(sheet: amount, currency: currency).minorUnits == minorUnits)
  }

  @Test func `a page's binary fraction is paid`() async throws {
    let request = inApp(("amount", "4.359999999999999"))
    #expect(try await enrolled { try await $0.post("/device/tokens", request).status } == 200)
  }

  @Test func `a merchant without a processing certificate cannot be paid`() async throws {
    let request = inApp()
    let answer = try await TestSandbox().calls { device in
      _ = try await device.post("/portal/merchants", ["merchantIdentifier": .string(Merchant.identifier)])
      return try await device.post("/device/tokens", request)
    }
    #expect(answer.code == "no_processing_certificate")
  }

  @Test func `a token is encrypted to the active certificate, and to the next one once it is activated`() async throws {
    let next = try Merchant().processingCSR
    let request = inApp()
    try await enrolled { caller in
      let path = "/portal/merchants/\(Merchant.identifier)/certificates"
      let before = try await caller.post("/device/tokens", request).json["paymentData"]?["header"]?["publicKeyHash"]
      let id = try await caller.post(path, ["type": "processing", "csr": .string(next)])["id"] ?? ""
      let still = try await caller.post("/device/tokens", request).json["paymentData"]?["header"]?["publicKeyHash"]
      _ = try await caller.post("\(path)/\(id)/activate")
      let after = try await caller.post("/device/tokens", request).json["paymentData"]?["header"]?["publicKeyHash"]
      #expect(before == still && before != after)
    }
  }

  @Test func `cards and contacts are listed, and pages of any origin may ask`() async throws {
    try await TestSandbox().calls { device in
      let cards = try await device.get("/device/cards", headers: [.origin: Self.page])
      #expect(cards.headers[.accessControlAllowOrigin] == "*")
      #expect(cards.json.elements.count == SandboxCards.all.count)
      let contacts = try await device.get("/device/contacts").json.elements
      #expect(contacts.first?["redacted"]?["postalCode"] == "EC1A")
      let preflight = try await device.send(
        "/device/tokens", .options, [.origin: Self.page, .accessControlRequestMethod: "POST"])
      #expect(preflight.status == 204)
      #expect(preflight.headers[.accessControlAllowMethods]?.contains("POST") == true)
      let portal = try await device.get("/portal/merchants", headers: [.origin: Self.page])
      #expect(portal.status == 403 && portal.headers[.accessControlAllowOrigin] == nil)
    }
  }
}

@Suite struct `A merchant session` {
  /// Opens a session over TLS, then lets the body use it at the device.
  private func opened(
    _ request: JSONValue = ListeningSandbox.request,
    _ body: @escaping @Sendable (JSONValue, Caller, ListeningSandbox) async throws -> Void
  ) async throws {
    try await ListeningSandbox.run { sandbox in
      let session = try await sandbox.ask(request.serialized()).json
      try await sandbox.testSandbox.calls { try await body(session, $0, sandbox) }
    }
  }

  private static func request(_ session: JSONValue) -> JSONValue {
    `The device`.request.with("merchantSession", session)
  }

  @Test func `pays once on its own page`() async throws {
    try await opened { session, device, _ in
      let check = try await device.post(
        "/device/sessions/check", ["merchantSession": session], origin: `The device`.page)
      #expect(check.status == 200)
      let first = try await device.post("/device/tokens", Self.request(session), origin: `The device`.page)
      #expect(first.status == 200)
      let second = try await device.post("/device/tokens", Self.request(session), origin: `The device`.page)
      #expect(second.status == 422 && second.code == "session_used")
    }
  }

  @Test func `serves another try in the sheet that used it, and no other sheet`() async throws {
    try await opened { session, device, sandbox in
      let request = Self.request(session).with("sheetId", "this sheet")
      for _ in 0..<2 { try await device.post("/device/tokens", request, origin: `The device`.page).expect(status: 200) }
      for other in ["another sheet", nil] as [JSONValue?] {
        try await device.post("/device/tokens", request.with("sheetId", other)).expect(code: "session_used")
      }
      sandbox.testSandbox.clock.advance(.seconds(301))
      try await device.post("/device/tokens", request).expect(code: "session_expired")
    }
  }

  @Test func `is refused after five minutes, not before`() async throws {
    try await opened { session, device, sandbox in
      sandbox.testSandbox.clock.advance(.seconds(300))
      let check: JSONValue = ["merchantSession": session]
      try await device.post("/device/sessions/check", check).expect(status: 200)
      sandbox.testSandbox.clock.advance(.seconds(1))
      try await device.post("/device/tokens", Self.request(session)).expect(code: "session_expired")
    }
  }

  @Test(arguments: ["http://evil.localhost:8401", "null", "https://shop.localhost.evil.example"])
  func `is refused on another page`(origin: String) async throws {
    try await opened { session, device, _ in
      let answer = try await device.post("/device/tokens", Self.request(session), origin: origin)
      #expect(answer.code == "session_domain_mismatch")
      try await device.post("/device/tokens", Self.request(session), origin: `The device`.page).expect(status: 200)
    }
  }

  @Test func `names the domain in the address bar, whichever frame asks`() async throws {
    try await opened { session, device, _ in
      let frame = "http://frame.localhost:8401"
      for (origin, topHost, status) in [
        (frame, "shop.localhost", 200), (frame, "SHOP.localhost", 200), (`The device`.page, "other.localhost", 422),
        (`The device`.page, "", 422), (frame, nil, 422),
      ] {
        let check = JSONValue.object(["merchantSession": session]).with("topHost", topHost.map { .string($0) })
        let answer = try await device.post("/device/sessions/check", check, origin: origin)
        #expect(answer.status == status, "\(origin) in \(topHost ?? "no page")")
        if status != 200 { #expect(answer.code == "session_domain_mismatch") }
      }
      let request = Self.request(session).with("topHost", "shop.localhost")
      try await device.post("/device/tokens", request, origin: frame).expect(status: 200)
    }
  }

  @Test func `is rejected when a member was changed, left out, or added`() async throws {
    try await opened { session, device, _ in
      for altered in [session.with("displayName", "Other"), session.with("retries", nil), session.with("extra", 1)] {
        try await device.post("/device/tokens", Self.request(altered)).expect(code: "session_altered")
      }
    }
  }

  @Test func `of another sandbox is another environment's, and a removed one is unknown`() async throws {
    try await opened { session, device, _ in
      let foreign = session.with("merchantSessionIdentifier", "SSH00").with("signature", "3080")
      try await device.post("/device/tokens", Self.request(foreign)).expect(code: "environment_mismatch")
      _ = try await device.post("/sandbox/reset-sessions")
      try await device.post("/device/tokens", Self.request(session)).expect(code: "session_unknown")
    }
  }

  @Test func `cannot be used for another merchant`() async throws {
    try await opened { session, device, _ in
      let request = Self.request(session).with("publicKeyOf", "merchant.com.example.other")
      try await device.post("/device/tokens", request).expect(code: "session_merchant_mismatch")
    }
  }

  @Test func `is used by one of two concurrent payments`() async throws {
    try await opened { session, device, _ in
      async let one = device.post("/device/tokens", Self.request(session)).status
      async let two = device.post("/device/tokens", Self.request(session)).status
      let statuses = try await [one, two].sorted()
      #expect(statuses == [200, 422])
    }
  }

  @Test func `carries a signature that OpenSSL accepts over the documented text`() async throws {
    try await opened { session, _, sandbox in
      let names = ["merchantSessionIdentifier", "nonce", "merchantIdentifier", "domainName", "displayName"]
      guard case .integer(let made)? = session["epochTimestamp"] else { return #expect(Bool(false)) }
      let text = (names.map { session[$0]?.text ?? "" } + [String(made)]).joined(separator: "\n")
      let files = sandbox.testSandbox.directory
      let check = try openssl(
        "cms", "-verify", "-inform", "DER", "-in",
        files.file("session.der", Hex.decode(session["signature"]?.text ?? "") ?? []), "-content",
        files.file("session.txt", text), "-binary", "-CAfile",
        files.file("root.pem", sandbox.testSandbox.sandbox.rootPEM), "-purpose", "any", "-out", "/dev/null")
      #expect(check.status == 0, "\(check.output)")
    }
  }
}

@Suite struct `Contacts before authorization` {
  @Test(arguments: [
    ("gb-london", "EC1A"), ("us-arlington", "22201"), ("ca-ottawa", "K1A"), ("de-berlin", "10115"),
    ("jp-tokyo", "150-0001"), ("fr-paris", "75001"),
  ])
  func `have their postal code shortened as Apple does`(id: String, code: String) throws {
    #expect(try #require(SandboxContacts.contact(id: id)).redacted.postalCode == code)
  }

  @Test(arguments: SandboxContacts.all)
  func `have no name, street, telephone or mail`(contact: SandboxContact) {
    let redacted = contact.redacted
    #expect(redacted.givenName == nil && redacted.familyName == nil && redacted.addressLines == nil)
    #expect(redacted.phoneNumber == nil && redacted.emailAddress == nil && redacted.phoneticGivenName == nil)
    #expect(redacted.countryCode == contact.countryCode && redacted.locality == contact.locality)
  }
}

@Suite struct `The wallet` {
  @Test func `every card has a valid check digit, its own number and its own id`() {
    #expect(SandboxCards.all.count == 31)
    #expect(Set(SandboxCards.all.map(\.id)).count == 31)
    #expect(Set(SandboxCards.all.map(\.dpan)).count == 31)
    #expect(Set(SandboxCards.all.map(\.network)) == Set(CardNetwork.known))
    #expect(SandboxCards.all.allSatisfy { passesLuhn($0.dpan.revealed) })
    #expect(!passesLuhn("4761739000000013"))
  }

  private func passesLuhn(_ digits: String) -> Bool {
    let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
      let value = (digit.element.wholeNumberValue ?? 0) * (digit.offset.isMultiple(of: 2) ? 1 : 2)
      return sum + value / 10 + value % 10
    }
    return sum.isMultiple(of: 10)
  }
}

@Suite struct `The front page` {
  @Test func `shows merchants, cards and contacts, escaped, and allows no script`() async throws {
    let page = try await TestSandbox().calls { caller in
      _ = try await caller.post(
        "/portal/merchants", ["merchantIdentifier": .string(Merchant.identifier), "displayName": "<b>Ours</b>"])
      return try await caller.get("/")
    }
    #expect(page.status == 200)
    #expect(page.text.contains("&lt;b&gt;Ours&lt;/b&gt;") && !page.text.contains("<b>Ours"))
    #expect(page.text.contains("NOT APPLE") && page.text.contains("visa-pending") && page.text.contains("gb-london"))
    #expect(page.text.contains("20.51") && page.text.contains("insufficient funds"))
    #expect(!page.text.contains("<script") && !page.text.contains("style=\""))
    let policy = page.headers[.contentSecurityPolicy] ?? ""
    #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"))
  }

  @Test func `only listed files are served, of all that are embedded`() async throws {
    let served = try await TestSandbox().calls { caller in
      var served: Set<String> = []
      for path in try Self.candidates() where try await caller.get("/\(path)").status == 200 { served.insert(path) }
      return served
    }
    #expect(served == Self.publicFiles.union(["agreements", "code", "device", "mail", "recent", "wallet"]))
  }

  /// Every path under which a file of the sandbox could be asked for: its own, and that of a page without its ending.
  private static func candidates() throws -> [String] {
    let roots = ["sandbox", "pages/sandbox"].map { "\(web)/\($0)" }
    let paths = try roots.flatMap(FileManager.default.subpathsOfDirectory)
    try #require(paths.contains("session/driver.js") && paths.contains("device.mustache"))
    let names = paths.compactMap { $0.split(separator: "/").last.map(String.init) }
    let stems = names.map { String($0.prefix { $0 != "." }) }
    return Set(paths + names + stems + names.map { "fixtures/\($0)" }).sorted()
  }

  private static let publicFiles: Set = [
    "agreements.js", "apple-pay-session.css", "code.js", "device.css", "device.js", "front.css",
    "fixtures/apple-pay-playwright.js",
    "fixtures/apple-pay-playwright.ts", "fixtures/apple-pay-sandbox.d.ts", "fixtures/apple_pay_playwright.py",
    "fixtures/apple_pay_selenium.py", "wallet.js",
  ]

  /// `Web`, from this file.
  private static let web = (0..<5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    .appending(path: "Web").path

  @Test func `the page of a paired device runs its own script alone, in no frame`() async throws {
    let page = try await TestSandbox().calls { try await $0.get("/device") }
    #expect(page.status == 200 && page.headers[.contentType] == "text/html; charset=utf-8")
    #expect(page.text.contains(#"<script src="/device.js" defer>"#) && !page.text.contains("{{"))
    let policy = page.headers[.contentSecurityPolicy] ?? ""
    #expect(policy.contains("script-src 'self';") && policy.hasSuffix("frame-ancestors 'none'"))
  }

  @Test func `its files are served with their types, and templates are not`() async throws {
    try await TestSandbox().calls { caller in
      let script = try await caller.get("/apple-pay-session.js", headers: [.origin: "http://shop.localhost:8401"])
      #expect(script.status == 200 && script.headers[.contentType] == "text/javascript; charset=utf-8")
      #expect(script.headers[.accessControlAllowOrigin] == "*")
      #expect(script.headers[.xContentTypeOptions] == "nosniff")
      let style = try await caller.get("/front.css")
      #expect(style.status == 200 && style.headers[.contentType] == "text/css; charset=utf-8")
      let fixture = try await caller.get("/fixtures/apple_pay_selenium.py")
      #expect(fixture.status == 200 && fixture.headers[.contentType] == "text/plain; charset=utf-8")
      try await caller.get("/index.mustache").expect(status: 404)
      try await caller.get("/..%2Fkit%2Ftender.js").expect(status: 404)
    }
  }

  @Test func `the session script is one classic script, without the imports and exports of its modules`() async throws {
    let script = try await TestSandbox().calls { try await $0.get("/apple-pay-session.js").text }
    let lines = script.split(separator: "\n")
    #expect(lines.count > 1_000 && lines.last == "})();")
    #expect(!lines.contains { $0.hasPrefix("import ") || $0.hasPrefix("export ") || $0.contains(#" from "./"#) })
  }

  @Test func `what to trust is published without any private key`() async throws {
    let answer = try await TestSandbox().calls { try await $0.get("/sandbox/ca.json") }
    #expect(answer["rootPEM"]?.hasPrefix("-----BEGIN CERTIFICATE-----") == true)
    #expect(answer["gatewayURL"]?.hasPrefix("https://localhost:") == true)
    #expect(!answer.text.contains("PRIVATE"))
  }
}

import HTTPTypes
import SandboxTesting
import StrictJSON
import Testing

@Suite struct `Paired phones and watches` {
  static let page = "http://shop.localhost:8401"
  static let payment: JSONValue = [
    "merchant": "Harbour Kitchen", "amount": "12.50", "currency": "EUR", "card": "Visa 0492", "page": "shop.localhost",
  ]

  private func withSandbox(_ body: @escaping @Sendable (Caller, TestSandbox) async throws -> Void) async throws {
    let testSandbox = try await TestSandbox()
    try await testSandbox.calls { try await body($0, testSandbox) }
  }

  @Test func `a sheet asks, the device shows it and approves`() async throws {
    try await withSandbox { caller, _ in
      let device = try await caller.pairs("Phone")
      let asked = try await caller.asks(device)
      asked.expect(status: 201)
      let shown = try await caller.get("/paired/\(device)/confirmation").json["confirmation"]
      #expect(shown?["payment"] == Self.payment && shown?["state"] == "waiting")
      try await caller.answers(asked["id"], on: device, approve: true).expect(status: 204)
      #expect(try await caller.state(asked["id"]) == "approved")
      #expect(try await caller.get("/paired/\(device)/confirmation").json["confirmation"] == .null)
    }
  }

  @Test func `an answer is final`() async throws {
    try await withSandbox { caller, _ in
      let device = try await caller.pairs("Phone")
      let id = try await caller.asks(device)["id"]
      _ = try await caller.answers(id, on: device, approve: false)
      _ = try await caller.answers(id, on: device, approve: true)
      _ = try await caller.post("/device/confirmations/\(id ?? "")/withdraw", origin: Self.page)
      #expect(try await caller.state(id) == "cancelled")
    }
  }

  @Test func `closing the sheet, asking again and closing the window cancel a confirmation`() async throws {
    try await withSandbox { caller, _ in
      let device = try await caller.pairs("Phone")
      let withdrawn = try await caller.asks(device)["id"]
      try await caller.post("/device/confirmations/\(withdrawn ?? "")/withdraw", origin: Self.page).expect(status: 204)
      let overtaken = try await caller.asks(device)["id"]
      let open = try await caller.asks(device)["id"]
      try await caller.post("/paired/\(device)/leave").expect(status: 204)
      for id in [withdrawn, overtaken, open] { #expect(try await caller.state(id) == "cancelled") }
      #expect(try await caller.get("/device/paired").json == .array([]))
    }
  }

  @Test func `a device that is silent for ninety seconds is removed, and its confirmation cancelled`() async throws {
    try await withSandbox { caller, testSandbox in
      let silent = try await caller.pairs("Silent")
      let id = try await caller.asks(silent)["id"]
      testSandbox.clock.advance(.seconds(90))
      #expect(try await caller.get("/device/paired").json.elements.count == 1)
      let awake = try await caller.pairs("Awake")
      testSandbox.clock.advance(.seconds(1))
      #expect(try await caller.get("/device/paired").json.elements.map { $0["id"]?.text } == [awake])
      #expect(try await caller.state(id) == "cancelled")
      try await caller.get("/paired/\(silent)/confirmation").expect(code: "device_unknown")
    }
  }

  @Test func `one device does not answer for another`() async throws {
    try await withSandbox { caller, _ in
      let (one, other) = (try await caller.pairs("One"), try await caller.pairs("Other"))
      let id = try await caller.asks(one)["id"]
      try await caller.answers(id, on: other, approve: true).expect(code: "confirmation_unknown")
      #expect(try await caller.state(id) == "waiting")
    }
  }

  @Test func `a page of another origin asks and does not answer`() async throws {
    try await withSandbox { caller, _ in
      let device = try await caller.pairs("Phone")
      let id = try await caller.asks(device)["id"]
      let answer = try await caller.post(
        "/paired/\(device)/answer", ["confirmation": .string(id ?? ""), "approve": true], origin: Self.page)
      answer.expect(code: "origin_refused")
      try await caller.post("/paired", ["kind": "phone", "name": "M"], origin: Self.page).expect(code: "origin_refused")
      #expect(try await caller.state(id) == "waiting")
    }
  }

  @Test func `an invalid request gets the error's code`() async throws {
    try await withSandbox { caller, _ in
      try await caller.post("/paired", ["kind": "tablet", "name": "T"]).expect(code: "invalid_request")
      try await caller.post("/paired", ["kind": "phone", "name": ""]).expect(code: "invalid_request")
      try await caller.asks("unknown").expect(code: "device_unknown")
      try await caller.get("/device/confirmations/nothing").expect(code: "confirmation_unknown")
      let device = try await caller.pairs("Phone")
      try await caller.post("/device/confirmations", ["device": .string(device), "payment": [:]]).expect(
        code: "invalid_request")
      for number in 2...20 { _ = try await caller.pairs("Phone \(number)") }
      try await caller.post("/paired", ["kind": "phone", "name": "One more"]).expect(code: "too_many_devices")
    }
  }

  @Test func `the device's page loads only the sandbox's files`() async throws {
    let page = try await TestSandbox().calls { try await $0.get("/device") }
    #expect(page.status == 200 && page.headers[.contentType] == "text/html; charset=utf-8")
    let policy = HTTPField.Name("Content-Security-Policy").flatMap { page.headers[$0] } ?? ""
    #expect(policy.contains("script-src 'self'") && !policy.contains("unsafe"))
    #expect(!page.text.contains("style=\"") && !page.text.contains("onclick"))
  }
}

@Suite struct `The session's script` {
  @Test func `its modules are one classic script`() async throws {
    let script = try await TestSandbox().calls { try await $0.get("/apple-pay-session.js") }.text
    let lines = script.split(separator: "\n")
    #expect(!lines.contains { $0.hasPrefix("import ") || $0.hasPrefix("export ") })
    #expect(!script.contains("was built without"))
    for name in ["class ApplePaySession ", "class ApplePayPaymentRequest ", "const applePaySandbox "] {
      #expect(script.split(separator: name).count == 2, "\(name)")
    }
  }

  @Test func `its modules are not served one by one, and what a shop copies is served as text`() async throws {
    try await TestSandbox().calls { caller in
      try await caller.get("/session/sheet.js").expect(status: 404)
      let fixture = try await caller.get("/fixtures/apple_pay_selenium.py")
      #expect(fixture.status == 200 && fixture.headers[.contentType] == "text/plain; charset=utf-8")
      try await caller.get("/fixtures/nothing.py").expect(status: 404)
    }
  }

  @Test func `a merchant is known with its domain, and not without`() async throws {
    let testSandbox = try await TestSandbox()
    let merchant = try Merchant()
    try await testSandbox.calls { caller in
      try await caller.enroll(merchant, in: testSandbox.web)
      let path = "/device/merchants/\(Merchant.identifier)"
      let own = try await caller.get(path, headers: [.origin: "http://shop.localhost:8401"]).json
      #expect(own == ["registered": true, "domainVerified": true])
      let foreign = try await caller.get(path, headers: [.origin: "http://other.localhost:8401"]).json
      #expect(foreign == ["registered": true, "domainVerified": false])
      #expect(try await caller.get("/device/merchants/merchant.unknown").json["registered"] == false)
    }
  }
}

extension Caller {
  fileprivate func pairs(_ name: String) async throws -> String {
    try await post("/paired", ["kind": "phone", "name": .string(name)])["id"] ?? ""
  }

  fileprivate func asks(_ device: String) async throws -> Answer {
    let body: JSONValue = ["device": .string(device), "payment": `Paired phones and watches`.payment]
    return try await post("/device/confirmations", body, origin: `Paired phones and watches`.page)
  }

  fileprivate func answers(_ id: String?, on device: String, approve: Bool) async throws -> Answer {
    try await post("/paired/\(device)/answer", ["confirmation": .string(id ?? ""), "approve": .bool(approve)])
  }

  fileprivate func state(_ id: String?) async throws -> String? {
    try await get("/device/confirmations/\(id ?? "")")["state"]
  }
}

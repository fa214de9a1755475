import AppleSandbox
import HTTPTypes
import HummingbirdTesting
import SandboxTesting
import StrictJSON
import Testing

@Suite struct `A phone as wallet` {
  static let page = "http://shop.localhost:8401"
  static let state: JSONValue = ["merchant": "Harbour Kitchen", "total": "€12.50"]

  private func withSandbox(_ body: @escaping @Sendable (Caller, TestSandbox) async throws -> Void) async throws {
    let testSandbox = try await TestSandbox()
    try await testSandbox.calls { try await body($0, testSandbox) }
  }

  @Test func `a phone that scanned the code sees the sheet, and its choices arrive in order`() async throws {
    try await withSandbox { caller, _ in
      let sheet = try await caller.opensSheet()
      #expect(sheet.url.hasPrefix("http://127.0.0.1:") && sheet.url.contains("/wallet?code=") && !sheet.path.isEmpty)
      #expect(try await caller.exchanges(sheet, after: 0) == ["isPaired": false, "choices": []])
      let wallet = try await caller.pairs(code: sheet.code)
      #expect(try await caller.get("/wallet/\(wallet)").json == ["isOpen": true, "state": Self.state])
      for choice in [["card": "visa-credit"], ["approve": true]] as [JSONValue] {
        try await caller.post("/wallet/\(wallet)/choices", choice).expect(status: 204)
      }
      #expect(
        try await caller.exchanges(sheet, after: 0)
          == ["isPaired": true, "choices": [["card": "visa-credit"], ["approve": true]]])
      #expect(try await caller.exchanges(sheet, after: 1) == ["isPaired": true, "choices": [["approve": true]]])
    }
  }

  @Test func `a code pairs once`() async throws {
    try await withSandbox { caller, _ in
      let sheet = try await caller.opensSheet()
      _ = try await caller.pairs(code: sheet.code)
      try await caller.post("/wallet/pair", ["code": .string(sheet.code)]).expect(code: "code_used")
    }
  }

  @Test func `a code pairs for five minutes`() async throws {
    try await withSandbox { caller, testSandbox in
      let (one, other) = (try await caller.opensSheet(), try await caller.opensSheet())
      testSandbox.clock.advance(.seconds(300))
      _ = try await caller.pairs(code: one.code)
      testSandbox.clock.advance(.seconds(1))
      try await caller.post("/wallet/pair", ["code": .string(other.code)]).expect(code: "code_expired")
    }
  }

  @Test func `a foreign code, and the one of a closed sheet, pair none`() async throws {
    try await withSandbox { caller, _ in
      let sheet = try await caller.opensSheet()
      try await caller.post("/wallet/pair", ["code": "beef"]).expect(code: "code_unknown")
      try await caller.post("/wallet/pair", ["code": .string(sheet.id)]).expect(code: "code_unknown")
      try await caller.closes(sheet)
      try await caller.post("/wallet/pair", ["code": .string(sheet.code)]).expect(code: "code_expired")
    }
  }

  @Test func `what a phone chooses after the end is rejected, and it sees the end`() async throws {
    try await withSandbox { caller, _ in
      let sheet = try await caller.opensSheet()
      let wallet = try await caller.pairs(code: sheet.code)
      try await caller.closes(sheet)
      try await caller.post("/wallet/\(wallet)/choices", ["approve": true]).expect(code: "sheet_closed")
      #expect(try await caller.get("/wallet/\(wallet)").json == ["isOpen": false, "state": ["result": "Done"]])
    }
  }

  @Test func `a page of another origin opens sheets, and is no phone`() async throws {
    try await withSandbox { caller, _ in
      let sheet = try await caller.opensSheet()
      try await caller.post("/wallet/pair", ["code": .string(sheet.code)], origin: Self.page).expect(
        code: "origin_refused")
      let wallet = try await caller.pairs(code: sheet.code)
      try await caller.post("/wallet/\(wallet)/choices", ["approve": true], origin: Self.page).expect(
        code: "origin_refused")
      try await caller.get("/wallet/\(sheet.id)").expect(code: "sheet_unknown")
    }
  }

  @Test func `the phone's page loads only the sandbox's files`() async throws {
    let page = try await TestSandbox().calls { try await $0.get("/wallet?code=beef") }
    let policy = HTTPField.Name("Content-Security-Policy").flatMap { page.headers[$0] } ?? ""
    #expect(page.status == 200 && policy.contains("script-src 'self'") && !policy.contains("unsafe"))
  }

  @Test func `phones on the network reach that page, its calls and its files, and nothing else`() async throws {
    let sandbox = try await TestSandbox().sandbox
    try await sandbox.phoneWalletApplication(at: PhoneWalletAddress(host: "127.0.0.1", port: 0)).test(.router) {
      let caller = Caller(client: $0)
      for path in ["/wallet", "/wallet.js", "/device.css"] { try await caller.get(path).expect(status: 200) }
      try await caller.post("/wallet/pair", ["code": "beef"]).expect(code: "code_unknown")
      for path in ["/", "/device", "/device/cards", "/portal/merchants", "/sandbox/ca.json", "/apple-pay-session.js"] {
        try await caller.get(path).expect(status: 404)
      }
      try await caller.post("/device/sheets", ["state": [:]]).expect(status: 404)
    }
  }

  @Test func `an address for the network is called by itself, and one for all by an address of this machine`() {
    #expect(PhoneWalletAddress(host: "192.0.2.7", port: 8405).url == "http://192.0.2.7:8405")
    #expect(PhoneWalletAddress(host: "::1", port: 8405).url == "http://[::1]:8405")
    #expect(!PhoneWalletAddress(host: "0.0.0.0", port: 8405).url.contains("0.0.0.0"))
  }
}

/// A sheet with its code.
private struct OpenedSheet {
  let id: String
  let url: String
  let path: String
  var code: String { String(url.split(separator: "=").last ?? "") }
}

extension Caller {
  fileprivate func opensSheet() async throws -> OpenedSheet {
    let answer = try await post(
      "/device/sheets", ["state": `A phone as wallet`.state], origin: `A phone as wallet`.page)
    answer.expect(status: 201)
    return OpenedSheet(id: answer["sheet"] ?? "", url: answer["url"] ?? "", path: answer["path"] ?? "")
  }

  fileprivate func exchanges(_ sheet: OpenedSheet, after count: Int64) async throws -> JSONValue {
    try await post(
      "/device/sheets/\(sheet.id)", ["state": `A phone as wallet`.state, "received": .integer(count)],
      origin: `A phone as wallet`.page
    ).json
  }

  fileprivate func closes(_ sheet: OpenedSheet) async throws {
    try await post(
      "/device/sheets/\(sheet.id)/close", ["state": ["result": "Done"]], origin: `A phone as wallet`.page
    ).expect(status: 204)
  }

  fileprivate func pairs(code: String) async throws -> String {
    let answer = try await post("/wallet/pair", ["code": .string(code)])
    answer.expect(status: 201)
    return answer["wallet"] ?? ""
  }
}

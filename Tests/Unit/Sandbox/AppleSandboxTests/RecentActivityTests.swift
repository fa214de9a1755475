import AppleSandbox
import CryptoExtras
import HTTPTransport
import HTTPTypes
import Logging
import SandboxTesting
import StrictJSON
import Synchronization
import Testing
import TokenIssuer

@Suite struct `Recent activity` {
  private static func sessions(_ sandbox: ListeningSandbox) async throws -> [JSONValue] {
    try await sandbox.testSandbox.calls { try await $0.get("/sandbox/recent").json["sessions"]?.elements ?? [] }
  }

  @Test func `a rejection by the gateway is on both pages, with its remedy`() async throws {
    try await ListeningSandbox.run { sandbox in
      let other = ListeningSandbox.request.with("initiativeContext", "other.example.com")
      try await sandbox.ask(other.serialized()).expect(status: 400)
      let newest = try #require(try await Self.sessions(sandbox).first)
      #expect(newest["refused"] == true)
      #expect(newest["result"]?.text?.contains("not registered for domain=other.example.com. Add the domain") == true)
      for path in ["/", "/recent"] {
        let page = try await sandbox.testSandbox.calls { try await $0.get(path) }
        #expect(page.text.contains("not registered for domain=other.example.com"), "\(path)")
      }
    }
  }

  @Test func `a client with another sandbox's certificate is on the page, though no request arrived`() async throws {
    try await ListeningSandbox.run { sandbox in
      let foreign = try SandboxPKI().certificate(
        .identity, for: Merchant.identifier, csr: sandbox.merchant.identityCSR)
      let identity = ClientIdentity(
        certificateChainPEM: foreign, privateKeyPEM: sandbox.merchant.identityKey.pemRepresentation)
      await #expect(throws: (any Error).self) { try await sandbox.ask(as: identity) }
      let newest = try #require(try await Self.sessions(sandbox).first)
      #expect(newest["detail"] == "TLS handshake" && newest["refused"] == true)
    }
  }

  @Test func `the log has a warning for every rejection by the gateway, and none for a session`() async throws {
    let lines = LogLines()
    try await ListeningSandbox.run(logger: Logger(label: "test") { _ in lines }) { sandbox in
      try await sandbox.ask().expect(status: 200)
      #expect(lines.warnings.isEmpty)
      try await sandbox.ask([]).expect(status: 400)
      try await sandbox.ask(path: "/paymentservices/other").expect(status: 404)
      #expect(lines.warnings.map { $0["status"] } == ["400", "404"])
      #expect(lines.warnings[0]["reason"]?.contains("empty request body") == true)
      #expect(lines.warnings.allSatisfy { $0["remedy"]?.isEmpty == false })
    }
  }

  @Test func `a session and a payment token are listed, and why the device rejected another`() async throws {
    try await ListeningSandbox.run { sandbox in
      let session = try await sandbox.ask().json
      let recent = try await sandbox.testSandbox.calls { caller in
        let request = `The device`.request.with("merchantSession", session)
        for _ in 0..<2 { _ = try await caller.post("/device/tokens", request, origin: `The device`.page) }
        return try await caller.get("/sandbox/recent").json
      }
      #expect(recent["sessions"]?.elements.first?["detail"] == "web shop.localhost")
      let tokens = recent["tokens"]?.elements ?? []
      #expect(tokens.map { $0["refused"] } == [true, false])
      #expect(tokens[0]["result"]?.text?.hasPrefix("session_used: ") == true)
      #expect(tokens[1]["subject"] == "visa-debit")
      #expect(tokens[1]["detail"]?.text?.hasPrefix("12.50 EUR for shop.localhost, transaction ") == true)
    }
  }

  @Test func `payments of the acquirer and its events are listed`() async throws {
    let testSandbox = try await TestSandbox()
    let recent = try await testSandbox.calls { caller in
      try await caller.send(
        "/acquirer/v1/authorizations", .post, [.authorization: "Bearer sandbox-acquirer-key"],
        Self.authorization.serialized()
      ).expect(status: 200)
      return try await caller.get("/sandbox/recent").json
    }
    let payments = recent["payments"]?.elements ?? []
    #expect(payments.map { $0["subject"] } == ["reference-1"])
    #expect(payments[0]["detail"] == "authorize 12.50 EUR, card ending 0012" && payments[0]["refused"] == false)
    #expect(recent["events"] == [])
    await testSandbox.sandbox.close()
  }

  private static let authorization: JSONValue = [
    "reference": "reference-1", "merchantReference": "order-1", "amount": 1250, "currency": "EUR",
    "dpan": "4761739000000012", "expiry": "3112", "cryptogram": "AgAAAAAAAIR8CQrXcIhbQAAAAAA=",
  ]
}

/// The metadata of the warnings that were logged.
final class LogLines: LogHandler {
  private let kept = Mutex<[[String: String]]>([])

  var warnings: [[String: String]] { kept.withLock { $0 } }

  func log(event: LogEvent) {
    guard event.level == .warning else { return }
    let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
    kept.withLock { $0.append(metadata) }
  }

  subscript(metadataKey _: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }
  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  var logLevel: Logger.Level {
    get { .warning }
    set {}
  }
}

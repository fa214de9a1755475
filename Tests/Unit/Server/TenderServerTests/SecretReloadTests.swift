import Foundation
import HTTPTransport
import Mail
import Settings
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// Secrets in files, which a running server reads again.
@Suite struct `A secret in a file` {
  let system: TestSystem
  private let folder = FileManager.default.temporaryDirectory.appending(path: "secrets-\(RandomBytes.system.hex(4))")
    .path

  init() async throws { system = try await TestSystem.shared.value }

  private func write(_ text: String, to name: String) throws -> String {
    let file = URL(fileURLWithPath: "\(folder)/\(name)")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file, options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    return file.path
  }

  private func writeAdyen(key: String) throws {
    _ = try write("merchantAccounts: [TenderSandbox]\n", to: "connectors/adyen/connector.yaml")
    _ = try write(String(repeating: "5AD8B0A1", count: 8), to: "connectors/adyen/hmac-keys/1.secret")
    _ = try write(key, to: "connectors/adyen/api-key.secret")
  }

  private func admin(_ store: String, _ method: String, _ path: String) async throws -> JSONValue {
    let socket = "\(store)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
    let request = OutboundRequest(method: method, url: "http+unix://\(socket)\(path)")
    // A reload reads the merchants of all tests.
    let body = try await Turn.ofMerchantsFolder.take { [sender = system.sender] in
      try await sender.send(request, TestRun.whole).body
    }
    return try JSONReader.read(body)
  }

  /// What the provider says of the credentials with which the server asks.
  private func credentials(_ store: String) async throws -> String? {
    try await admin(store, "POST", "/routes/check")["routes"]?.elements.first { $0["route"] == "adyen" }?[
      "credentials"]?
      .text
  }

  @Test func `of a provider is the next call's after a reload, and one that cannot be read changes nothing`()
    async throws
  {
    try writeAdyen(key: "a-former-adyen-key")
    let shop = try await system.secondServer { $0.connectorsDirectory = folder + "/connectors" }
    #expect(try await credentials(shop.store) == "refused")
    try writeAdyen(key: "")
    let refused = try await admin(shop.store, "POST", "/merchants/reload")
    #expect(refused["code"] == "merchants_not_read" && refused["detail"]?.text?.contains("api-key.secret") == true)
    try writeAdyen(key: "sandbox-adyen-key\n")
    #expect(try await credentials(shop.store) == "refused", "before the reload")
    #expect(try await admin(shop.store, "POST", "/merchants/reload")["needRestart"] == [])
    #expect(try await credentials(shop.store) == "accepted")
    let paid = try await Shopper.enters(system, shop, service: "collection").pays()
    #expect(paid.status == 200, "\(paid.errorText)")

    // Settings of a route wait for a restart, and with them what stands beside them.
    try writeAdyen(key: "a-later-adyen-key")
    _ = try write(
      "merchantAccounts: [TenderSandbox]\nmultiplePartialCaptures: false\n", to: "connectors/adyen/connector.yaml")
    #expect(try await admin(shop.store, "POST", "/merchants/reload")["needRestart"] == ["adyen"])
    #expect(try await credentials(shop.store) == "accepted")
  }

  @Test func `is taken by a hangup signal too`() async throws {
    try writeAdyen(key: "a-former-adyen-key")
    let tender = try await ServedTender(system, settings: "connectors:\n  directory: \(folder)/connectors\n")
    defer { tender.end() }
    #expect(try await credentials(tender.directory) == "refused")
    try writeAdyen(key: "sandbox-adyen-key")
    // Again where another test has broken the merchants' folder at that moment.
    try await waitFor(
      "the new key",
      {
        tender.process.signal(SIGHUP)
        return try await credentials(tender.directory)
      }
    ) { $0 == "accepted" }
    #expect(try tender.lines(at: "notice").contains { $0.contains(#""environment":"simulated""#) })
  }

  @Test func `of the acquirer is the next payment's after a reload`() async throws {
    let right = try #require(try await system.sandbox.require("GET", "/sandbox/ca.json")["acquirerKey"]?.text)
    let file = try write("a-key-that-opens-nothing", to: "acquirer.secret")
    let shop = try await system.secondServer {
      ($0.acquirer.apiKey, $0.acquirer.apiKeyFile) = ("a-key-that-opens-nothing", file)
    }
    #expect(try await Shopper.enters(system, shop, service: "collection").pays().status != 200)
    _ = try write(right, to: "acquirer.secret")
    _ = try await admin(shop.store, "POST", "/merchants/reload")
    let paid = try await Shopper.enters(system, shop, service: "collection").pays()
    #expect(paid.status == 200, "\(paid.errorText)")
  }

  @Test func `of the mail server is the next delivery's`() async throws {
    let file = try write("a former password\n", to: "mail.secret")
    let shop = try await system.secondServer {
      $0.mail = system.mail
      ($0.mail.password, $0.mail.passwordFile) = (nil, file)
    }
    let first = try await admin(shop.store, "POST", "/mail/test?to=before%40pay.example")
    #expect(first["state"] != "sent", "\(first)")
    _ = try write(try #require(system.mail.password), to: "mail.secret")
    let second = try await admin(shop.store, "POST", "/mail/test?to=after%40pay.example")
    #expect(second["state"] == "sent", "\(second)")
  }

  @Test func `is the next TLS connection's after a reload, with its certificate`() async throws {
    let (certificate, key) = (folder + "/tls.pem", folder + "/tls.key")
    _ = try write("", to: "tls.key")
    func issue(_ name: String) async throws {
      let call = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=\(name)"]
      let made = try await RawConnection.onThread {
        try ChildProcess.run(call + ["-keyout", key, "-out", certificate])
      }
      try #require(made.status == 0)
    }
    try await issue("former.example")
    let shop = try await system.secondServer(scheme: "https") {
      $0.tls = ServerConfiguration.TLSFiles(certificateFile: certificate, keyFile: key)
      $0.publicURL = "https://localhost"
    }
    func shown() async throws -> String {
      let call = ["openssl", "s_client", "-connect", "127.0.0.1:\(shop.port)"]
      let answer = try await RawConnection.onThread { try ChildProcess.run(call, input: []) }
      return String(decoding: answer.output, as: UTF8.self)
    }
    #expect(try await shown().contains("former.example"))
    try await issue("renewed.example")
    #expect(try await shown().contains("former.example"), "before the reload")
    _ = try await admin(shop.store, "POST", "/merchants/reload")
    #expect(try await shown().contains("renewed.example"))
  }
}

import AcquirerSandbox
import AppleSandbox
import CryptoExtras
import Foundation
import HTTPTransport
import HTTPTypes
import Logging
import SandboxTesting
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// A running sandbox with a registered merchant.
struct ListeningSandbox {
  let testSandbox: TestSandbox
  let merchant: Merchant
  let identityPEM: String
  let addresses: SandboxAddresses

  static func run<Value: Sendable>(
    logger: Logger? = nil, events: EventDelivery = .unavailable,
    _ body: @escaping @Sendable (ListeningSandbox) async throws -> Value
  ) async throws -> Value {
    let testSandbox = try await TestSandbox(logger: logger, events: events)
    let merchant = try Merchant()
    let identity = try await testSandbox.calls { try await $0.enroll(merchant, in: testSandbox.web) }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await testSandbox.sandbox.run() }
      defer { group.cancelAll() }
      guard let addresses = await testSandbox.ready.first(where: { _ in true }) else { throw CancellationError() }
      return try await body(
        ListeningSandbox(testSandbox: testSandbox, merchant: merchant, identityPEM: identity, addresses: addresses))
    }
  }

  var identity: ClientIdentity {
    ClientIdentity(certificateChainPEM: identityPEM, privateKeyPEM: merchant.identityKey.pemRepresentation)
  }

  static let request: JSONValue = [
    "merchantIdentifier": .string(Merchant.identifier), "displayName": "Store", "initiative": "web",
    "initiativeContext": "shop.localhost",
  ]

  /// One call of the gateway over TLS.
  func ask(
    _ body: [UInt8] = request.serialized(), path: String = "/paymentservices/paymentSession",
    as identity: ClientIdentity? = nil, method: String = "POST", also more: [HTTPTransport.HTTPField] = []
  ) async throws -> Caller.Answer {
    let client = try LiveHTTPClient(identity: identity ?? self.identity, trust: .pem(testSandbox.sandbox.tlsRootPEM))
    let outbound = OutboundRequest(
      method: method, url: addresses.gatewayURL + path,
      headers: more.isEmpty ? [.init("Content-Type", "application/json")] : more, body: body)
    let answer: Result<InboundResponse, any Error>
    do {
      answer = .success(try await client.sender.send(outbound, TestRun.whole))
    } catch {
      answer = .failure(error)
    }
    try await client.shutdown()
    let response = try answer.get()
    return Caller.Answer(status: response.status, headers: [:], text: String(decoding: response.body, as: UTF8.self))
  }
}

@Suite struct `Apple's gateway behind a proxy` {
  private static let url = "https://\(TestSandbox.gatewayName)/paymentservices/paymentSession"

  private static func ask(
    _ sandbox: ListeningSandbox, through proxy: TestProxy, password: String = "secret",
    trust roots: KeyPath<ListeningSandbox, String?> = \.root
  ) async throws -> Result<InboundResponse, TransportError> {
    let egress = Egress(
      proxy: .init(host: "127.0.0.1", port: proxy.port, user: "tender", password: password),
      rootsPEM: sandbox[keyPath: roots])
    let client = try LiveHTTPClient(identity: sandbox.identity, egress: egress)
    let request = OutboundRequest(
      method: "POST", url: url, headers: [.init("Content-Type", "application/json"), .init("Host", "localhost")],
      body: ListeningSandbox.request.serialized())
    let answer: Result<InboundResponse, TransportError>
    do throws(TransportError) { answer = .success(try await client.sender.send(request, TestRun.whole)) } catch {
      answer = .failure(error)
    }
    try await client.shutdown()
    return answer
  }

  private static func proxy(to sandbox: ListeningSandbox) throws -> TestProxy {
    try TestProxy(login: "tender:secret", places: ["\(TestSandbox.gatewayName):443": sandbox.addresses.gatewayPort])
  }

  @Test func `gives a session to the certificate inside the tunnel, under a root beside the system's`() async throws {
    try await ListeningSandbox.run { sandbox in
      let proxy = try Self.proxy(to: sandbox)
      let answer = try await Self.ask(sandbox, through: proxy).get()
      #expect(
        answer.status == 200 && String(decoding: answer.body, as: UTF8.self).contains("merchantSessionIdentifier"))
      #expect(proxy.calls == ["\(TestSandbox.gatewayName):443"])
    }
  }

  @Test func `gets nothing with a wrong password, and nothing under a root that is not trusted`() async throws {
    try await ListeningSandbox.run { sandbox in
      let proxy = try Self.proxy(to: sandbox)
      let refused = try await Self.ask(sandbox, through: proxy, password: "wrong")
      #expect(
        refused
          == .failure(.notSent("the proxy refuses the user or the password: status 407")))
      guard case .failure(let error) = try await Self.ask(sandbox, through: proxy, trust: \.noRoot) else {
        Issue.record("a certificate of an unknown authority was accepted")
        return
      }
      #expect(error.certificateProblem == CertificateTrust.refused)
    }
  }
}

extension ListeningSandbox {
  fileprivate var root: String? { try? testSandbox.sandbox.tlsRootPEM }
  fileprivate var noRoot: String? { nil }
}

@Suite struct `Apple's gateway` {
  @Test func `a merchant with its certificate gets a session of Apple's form`() async throws {
    try await ListeningSandbox.run { sandbox in
      let answer = try await sandbox.ask()
      let session = answer.json
      answer.expect(status: 200)
      let hash = "C23073D7F46B012BFD60FE9E90EF578910B808069D52539A291A62DF9FECDD1B"
      #expect(session["merchantIdentifier"] == .string(hash) && session["pspId"] == .string(hash))
      #expect(session["domainName"] == "shop.localhost" && session["displayName"] == "Store")
      #expect(session["operationalAnalyticsIdentifier"] == .string("Store:\(hash)"))
      let identifier = session["merchantSessionIdentifier"]?.text ?? ""
      #expect(identifier.wholeMatch(of: #/SSH[0-9A-F]{32}_[0-9A-F]{64}/#) != nil)
      #expect(session["nonce"]?.text?.wholeMatch(of: #/[0-9a-f]{8}/#) != nil)
      #expect(session["signature"]?.text?.hasPrefix("308006092a864886f70d010702a080") == true)
      guard case .integer(let made)? = session["epochTimestamp"] else { return #expect(Bool(false)) }
      #expect(session["expiresAt"] == .integer(made + 3_600_000))
    }
  }

  @Test func `the hash names the merchant as well, and the older call still works`() async throws {
    try await ListeningSandbox.run { sandbox in
      let hash = "C23073D7F46B012BFD60FE9E90EF578910B808069D52539A291A62DF9FECDD1B"
      let byHash = ListeningSandbox.request.with("merchantIdentifier", .string(hash))
      try await sandbox.ask(byHash.serialized()).expect(status: 200)
      let older: JSONValue = [
        "merchantIdentifier": .string(Merchant.identifier), "displayName": "Store", "domainName": "shop.localhost",
      ]
      try await sandbox.ask(older.serialized(), path: "/paymentservices/startSession").expect(status: 200)
    }
  }

  @Test(arguments: ["shop.localhost:8401", "shop.localhost:443"])
  func `the port of a loopback name is ignored`(context: String) async throws {
    try await ListeningSandbox.run { sandbox in
      for body in [
        ListeningSandbox.request.with("initiativeContext", .string(context)),
        ListeningSandbox.request.with("domainName", .string(context)),
      ] {
        let path = "/paymentservices/\(body["domainName"] == nil ? "paymentSession" : "startSession")"
        let answer = try await sandbox.ask(body.serialized(), path: path)
        answer.expect(status: 200)
        #expect(answer.json["domainName"] == "shop.localhost")
      }
    }
  }

  @Test func `the port of any other name is refused with that reason`() async throws {
    try await ListeningSandbox.run { sandbox in
      let request = ListeningSandbox.request.with("initiativeContext", "shop.example.com:443")
      let answer = try await sandbox.ask(request.serialized())
      answer.expect(status: 400)
      #expect(answer.json["statusMessage"]?.text?.contains("shop.example.com:443 has a port") == true)
    }
  }

  @Test func `each fault gets Apple's status`() async throws {
    try await ListeningSandbox.run { sandbox in
      let good = ListeningSandbox.request
      let faults: [(String, [UInt8], Int)] = [
        ("empty", [], 400), ("malformed", Array("{".utf8), 500),
        ("no merchant", good.with("merchantIdentifier", nil).serialized(), 400),
        ("no name", good.with("displayName", nil).serialized(), 400),
        ("long name", good.with("displayName", .string(String(repeating: "x", count: 65))).serialized(), 400),
        ("no initiative", good.with("initiative", nil).serialized(), 400),
        ("odd initiative", good.with("initiative", "mail").serialized(), 400),
        ("no context", good.with("initiativeContext", nil).serialized(), 400),
        ("other domain", good.with("initiativeContext", "other.example.com").serialized(), 400),
        ("unknown merchant", good.with("merchantIdentifier", "merchant.unknown").serialized(), 417),
      ]
      for (name, body, status) in faults {
        let answer = try await sandbox.ask(body)
        #expect(answer.status == status, "\(name)")
        #expect(answer.json["statusCode"] == .string(String(status)), "\(name)")
      }
      let wrongURL = try await sandbox.ask(path: "/paymentservices/other")
      #expect(wrongURL.status == 404 && wrongURL.json["statusCode"] == "404")
    }
  }

  @Test func `the errors for another domain and another merchant have Apple's texts`() async throws {
    try await ListeningSandbox.run { sandbox in
      let hash = "C23073D7F46B012BFD60FE9E90EF578910B808069D52539A291A62DF9FECDD1B"
      let domain = try await sandbox.ask(
        ListeningSandbox.request.with("initiativeContext", "other.example.com").serialized())
      #expect(
        domain.json["statusMessage"]
          == .string("Payment Services Exception merchantId=\(hash) not registered for domain=other.example.com"))
      _ = try await sandbox.testSandbox.calls {
        try await $0.post("/portal/merchants", ["merchantIdentifier": "merchant.com.example.other"])
      }
      let other = try await sandbox.ask(
        ListeningSandbox.request.with("merchantIdentifier", "merchant.com.example.other").serialized())
      #expect(other.status == 417)
      #expect(other.json["statusMessage"]?.text?.contains("never authorized mass enablement transactions") == true)
    }
  }

  @Test func `without an active processing certificate there is no session`() async throws {
    try await ListeningSandbox.run { sandbox in
      let path = "/portal/merchants/\(Merchant.identifier)"
      try await sandbox.testSandbox.calls { portal in
        for certificate in try await portal.get(path).json["certificates"]?.elements ?? []
        where certificate["type"] == "processing" {
          _ = try await portal.send("\(path)/certificates/\(certificate["id"]?.text ?? "")", .delete)
        }
      }
      let answer = try await sandbox.ask()
      #expect(answer.status == 417)
      #expect(answer.json["statusMessage"]?.text?.contains("not registered for Apple Pay on the web") == true)
    }
  }

  @Test func `an app needs no domain`() async throws {
    try await ListeningSandbox.run { sandbox in
      let request = ListeningSandbox.request.with("initiative", "in_app").with("initiativeContext", "TENDERTEST")
      try await sandbox.ask(request.serialized()).expect(status: 200)
    }
  }

  @Test func `TLS rejects clients without a certificate, with one of their own, and with another sandbox's`()
    async throws
  {
    try await ListeningSandbox.run { sandbox in
      let other = try SandboxPKI()
      let foreign = try other.certificate(.identity, for: Merchant.identifier, csr: sandbox.merchant.identityCSR)
      let key = sandbox.merchant.identityKey.pemRepresentation
      await #expect(throws: (any Error).self) {
        try await sandbox.ask(as: ClientIdentity(certificateChainPEM: foreign, privateKeyPEM: key))
      }
      let client = try LiveHTTPClient(identity: nil, trust: .pem(sandbox.testSandbox.sandbox.tlsRootPEM))
      let url = "\(sandbox.addresses.gatewayURL)/paymentservices/paymentSession"
      await #expect(throws: (any Error).self) {
        try await client.sender.send(OutboundRequest(method: "POST", url: url), TestRun.whole)
      }
      try await client.shutdown()
    }
  }

  @Test func `an expired identity certificate is refused by TLS, an unlisted one by the gateway`() async throws {
    try await ListeningSandbox.run { sandbox in
      let threeYearsAgo = WallClock { WallClock.system.now().adding(.seconds(-3 * 365 * 86_400)) }
      let expired = try sandbox.testSandbox.sandbox.pki.certificate(
        .identity, for: Merchant.identifier, csr: sandbox.merchant.identityCSR, clock: threeYearsAgo)
      let key = sandbox.merchant.identityKey.pemRepresentation
      await #expect(throws: (any Error).self) {
        try await sandbox.ask(as: ClientIdentity(certificateChainPEM: expired, privateKeyPEM: key))
      }
      let unlisted = try sandbox.testSandbox.sandbox.pki.certificate(
        .identity, for: Merchant.identifier, csr: sandbox.merchant.identityCSR)
      try await sandbox.ask(as: ClientIdentity(certificateChainPEM: unlisted, privateKeyPEM: key)).expect(status: 417)
    }
  }

  @Test func `a client that does not know the sandbox does not trust it`() async throws {
    try await ListeningSandbox.run { sandbox in
      let client = try LiveHTTPClient(identity: sandbox.identity, trust: .system)
      let url = "\(sandbox.addresses.gatewayURL)/paymentservices/paymentSession"
      await #expect(throws: (any Error).self) {
        try await client.sender.send(OutboundRequest(method: "POST", url: url), TestRun.whole)
      }
      try await client.shutdown()
    }
  }

  @Test func `an injected fault happens once`() async throws {
    try await ListeningSandbox.run { sandbox in
      _ = try await sandbox.testSandbox.calls {
        try await $0.post("/sandbox/misbehave", ["next": "gateway_unavailable"])
      }
      try await sandbox.ask().expect(status: 503)
      try await sandbox.ask().expect(status: 200)
    }
  }
}

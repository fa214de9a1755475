import Doctor
import Foundation
import HTTPTransport
import Logging
import Mail
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing
import Webhooks

/// The server's network, behind a proxy for each destination.
@Suite struct `Everything that leaves the server` {
  private static func proxies() throws -> [Egress.Destination: TestProxy] {
    let server = try AnsweringServer()
    return try Dictionary(
      uniqueKeysWithValues: Egress.Destination.allCases.map { destination in
        (destination, try TestProxy(places: [host(of: destination): server.port]))
      })
  }

  private static func host(of destination: Egress.Destination) -> String {
    "\(destination.rawValue.lowercased()).example:8080"
  }

  private static func load(_ variables: [String: String]) async throws -> ServerConfiguration {
    try await ServerConfiguration.load(file: nil, variables: variables)
  }

  @Test func `takes the proxy of its destination`() async throws {
    let proxies = try Self.proxies()
    var variables = [
      "TENDER_OUTBOUND_NAMES_TO_PROXY": "true", "TENDER_WEBHOOKS_ALLOW_PRIVATE_ADDRESSES": "true",
      "TENDER_MAIL_HOST": "mail.example", "TENDER_MAIL_PORT": "8080", "TENDER_MAIL_SECURITY": "none",
      "TENDER_MAIL_FROM": "a@pay.example",
    ]
    for (destination, proxy) in proxies {
      let name = destination == .signIn ? "SIGN_IN" : destination.rawValue.uppercased()
      variables["TENDER_OUTBOUND_\(name)_PROXY"] = "http://127.0.0.1:\(proxy.port)"
    }
    let configuration = try await Self.load(variables)
    let network = try Network.live(configuration.outbound)
    let material = try Clinic.material.get().identity
    let identity = ClientIdentity(certificateChainPEM: material.pem, privateKeyPEM: material.key)
    let senders: [(Egress.Destination, HTTPSender)] = [
      (.providers, network.plain), (.apple, network.apple), (.apple, try network.identified(identity, .system)),
      (.webhooks, configuration.destinations.sender(over: network.webhooks)),
      (.merchants, network.sender(guardedBy: configuration.destinations)), (.telemetry, network.telemetry),
      (.signIn, network.signIn),
    ]
    for (destination, sender) in senders {
      let request = OutboundRequest(method: "POST", url: "http://\(Self.host(of: destination))/")
      #expect(try await sender.send(request, TestRun.whole).status == 204)
    }
    _ = await MailTransport.smtp.probe(try #require(try configuration.mailSettings()).server)
    for (destination, proxy) in proxies {
      let calls = Array(repeating: Self.host(of: destination), count: destination == .apple ? 2 : 1)
      #expect(proxy.calls == calls)
    }
    await network.close()
  }

  @Test func `is answered at an address of IPv6`() async throws {
    let file = try TemporaryStore()
    let configuration = try await Self.load([
      "TENDER_ENVIRONMENT": "apple-sandbox", "TENDER_PUBLIC_URL": "https://pay.example", "TENDER_HOST": "[::1]",
      "TENDER_PORT": "0", "TENDER_DIRECTORY": file.directory,
      "TENDER_ACQUIRER_BASE_URL": "https://acquirer.example", "TENDER_ACQUIRER_API_KEY": "0123456789abcdef",
    ])
    let port = Mailbox<Int>()
    let server = try await TenderServer(configuration, logger: Logger(label: "v6") { _ in SwiftLogNoOpLogHandler() }) {
      port.put($0)
    }
    let run = port.start { try await server.run() }
    let client = try LiveHTTPClient()
    let request = OutboundRequest(method: "GET", url: "http://[::1]:\(try await port.awaited)/healthz")
    #expect(try await client.sender.send(request, TestRun.whole).status == 200)
    try await client.shutdown()
    run.cancel()
    _ = await run.result
  }

  @Test(arguments: [
    (TestProxy.Manner.connecting, "right", []), (.connecting, "wrong", ["proxy_authentication"]),
    (.refusing(403), "right", ["proxy_apple"]), (.refusing(401), "right", ["proxy_authentication"]),
    (.hangingUp, "right", ["proxy_reachable"]),
  ])
  func `is looked at by the doctor`(manner: TestProxy.Manner, password: String, failed: [String]) async throws {
    let server = try AnsweringServer()
    let proxy = try TestProxy(login: "tender:right", places: ["apple-pay-gateway-cert.apple.com:443": server.port])
    proxy.behave(manner)
    let configuration = try await Self.load([
      "TENDER_ENVIRONMENT": "apple-sandbox", "TENDER_PUBLIC_URL": "https://pay.example", "TENDER_HOST": "127.0.0.1",
      "TENDER_ACQUIRER_BASE_URL": "https://acquirer.example", "TENDER_ACQUIRER_API_KEY": "0123456789abcdef",
      "TENDER_OUTBOUND_PROXY": "http://127.0.0.1:\(proxy.port)", "TENDER_OUTBOUND_USER": "tender",
      "TENDER_OUTBOUND_PASSWORD": password,
    ])
    let network = try Network.live(configuration.outbound)
    let doctor = Doctor(
      DoctorSubject(configuration, merchants: []), .live(network, configuration), facts: nil)
    let findings = await doctor.networkFindings()
    await network.close()
    #expect(findings.filter { $0.status == .failed }.map(\.code) == failed, "\(findings)")
    #expect(findings.count == 3 && proxy.calls == ["apple-pay-gateway-cert.apple.com:443"])
    let words = findings.map { "\($0.finding) \($0.remedy)" }.joined(separator: "\n")
    #expect(!words.contains(password) || password == "right" && !words.contains("tender:right"))
    if failed == ["proxy_authentication"] { #expect(words.contains("status 40") && words.contains("outbound.user")) }
  }

  @Test func `shows the doctor a server's certificate, also one for another host, and nothing without the proxy`()
    async throws
  {
    let sandbox = try await TestSystem.shared.value.sandbox
    let gateway = try await sandbox.require("GET", "/sandbox/ca.json")["gatewayURL"]?.text ?? ""
    let proxy = try TestProxy(places: ["shop.example:443": try #require(URL(string: gateway)?.port)])
    let destinations = DestinationGuard(allowsPrivate: false, namesToProxy: true) { _ in [] }
    let configuration = try await Self.load(["TENDER_OUTBOUND_PROXY": "http://127.0.0.1:\(proxy.port)"])
    let network = try Network.live(configuration.outbound)
    let seen = try await DoctorNetwork.live(network, destinations).handshake("shop.example", 443)
    #expect(!seen.chain.isEmpty && seen.trustProblem != nil)
    #expect(proxy.calls == ["shop.example:443", "shop.example:443"])
    await network.close()
    // A name that has no address here, and no proxy on its way.
    let direct = try Network.live(try await Self.load([:]).outbound)
    await #expect(throws: DestinationRefusal.unresolvable("shop.example")) {
      try await DoctorNetwork.live(direct, destinations).handshake("shop.example", 443)
    }
    await direct.close()
  }
}

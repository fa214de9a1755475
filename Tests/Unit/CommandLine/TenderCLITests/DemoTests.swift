import Foundation
import HTTPTransport
import StrictJSON
import TenderTesting
import Testing

/// The demo, as a newcomer runs it after the build.
@Suite(.serialized) struct `A running demo` {
  @Test func `is paid at, looked at, says why it refuses a call, and ends when asked`() async throws {
    let port = try FreePorts.row(of: 6)
    let workshop = try Workshop(variables: ["PORT": "\(port)", "SANDBOX": "http://localhost:\(port + 2)"])
    try await workshop.with("tender-sandbox demo --port \(port)", sign: "Open http://localhost:\(port + 1)") { demo in
      for difference in try await Transcript(file: "demo.txt").differences(in: workshop) {
        Issue.record("\(difference)")
      }
      try await openSavedToken(workshop, port)
      try await callWithoutSignature(port)
      try await demo.wait(for: "signature refused")
      #expect(demo.lines.contains { $0.contains("signature refused") && $0.contains("reason") }, "\(demo.lines)")
      // The transcript has made it.
      let listen =
        "tender webhooks listen --merchant own-localhost-3000 --port \(port) --forward-to http://localhost:1/"
      try await workshop.with(listen, sign: "forwarding webhooks of own-localhost-3000") { _ in }
      #expect(await demo.terminate() == 0, "\(demo.lines)")
      #expect(!demo.lines.contains { $0.contains("Fatal error") }, "\(demo.lines)")
    }
    let afterwards = try await workshop.run("tender payment list --store .tender/demo-$PORT/tender.db")
    #expect(afterwards.exitCode == 0 && !afterwards.lines.isEmpty, "\(afterwards.lines)")
  }

  @Test func `prints commands that work for the options it was given`() async throws {
    let port = try FreePorts.row(of: 6)
    let workshop = try Workshop()
    let demo = "tender-sandbox demo --port \(port) --directory 'another place'"
    try await workshop.with(demo, sign: "Ctrl-C ends it") { demo in
      let commands = demo.lines.compactMap { $0.firstMatch(of: /: +(\S*tender(?:-sandbox)? pay.*)/)?.output.1 }
      #expect(commands.count == 2, "\(demo.lines)")
      for command in commands {
        let answer = try await workshop.run(String(command))
        #expect(answer.exitCode == 0 && answer.lines.count > 1, "\(command): \(answer.lines)")
      }
      #expect(await demo.terminate() == 0)
    }
  }

  @Test func `sells agreements, charges them as its clock is moved on, and ends one whose card is removed`()
    async throws
  {
    let port = try FreePorts.row(of: 6)
    let workshop = try Workshop(variables: ["PORT": "\(port)", "SANDBOX": "http://localhost:\(port + 2)"])
    try await workshop.with("tender-sandbox demo --port \(port)", sign: "Ctrl-C ends it") { demo in
      for difference in try await Transcript(file: "agreements.txt").differences(in: workshop) {
        Issue.record("\(difference)")
      }
      #expect(await demo.terminate() == 0, "\(demo.lines)")
    }
  }

  /// A provider by itself and one behind a sealed token; `TENDER_DEMOS=all` takes every provider, in either form.
  private static let connectors: [(options: String, route: String)] = {
    let few = [("--connector adyen", "adyen"), ("--connector braintree --sealed", "braintree")]
    guard ProcessInfo.processInfo.environment["TENDER_DEMOS"] == "all" else { return few }
    let names = ["checkout-com", "worldline-direct", "stripe"]
    return few + [("--connector braintree --connector adyen", "braintree")]
      + names.flatMap { [("--connector \($0)", $0), ("--connector \($0) --sealed", $0)] }
  }()

  @Test(arguments: connectors)
  func `takes payments through an emulated provider, whose events arrive`(
    _ options: String, _ route: String
  ) async throws {
    let port = try FreePorts.row(of: 6)
    let workshop = try Workshop()
    try await workshop.with("tender-sandbox demo --port \(port) \(options)", sign: "Ctrl-C ends it") { demo in
      let commands = demo.lines.compactMap { $0.firstMatch(of: /: +(\S*tender(?:-sandbox)? pay.*)/)?.output.1 }
      let pay = try #require(commands.first)
      let answer = try await workshop.run(String(pay))
      #expect(answer.exitCode == 0 && answer.lines.count > 1, "\(pay): \(answer.lines)")
      // The port alone finds it, though its folder is not that of the demo without providers.
      let again = try await workshop.run("tender-sandbox pay --port \(port)")
      #expect(again.exitCode == 0 && again.lines.count > 1, "\(again.lines)")
      let client = try LiveHTTPClient()
      let recent = OutboundRequest(method: "GET", url: "http://localhost:\(port + 2)/sandbox/recent")
      try await waitFor("an event of \(route) that was delivered") {
        String(decoding: try await client.sender.send(recent, TestRun.whole).body, as: UTF8.self)
      } until: {
        $0.contains("\"delivered\"")
      }
      try await client.shutdown()
      #expect(await demo.terminate() == 0)
    }
  }

  @Test func `refuses to seal payment tokens to two providers`() async throws {
    let workshop = try Workshop()
    let answer = try await workshop.run("tender-sandbox demo --sealed --connector adyen --connector braintree")
    #expect(answer.exitCode != 0)
    #expect(answer.lines.contains { $0.contains("--sealed needs one --connector") }, "\(answer.lines)")
  }

  private func callWithoutSignature(_ port: Int) async throws {
    let client = try LiveHTTPClient()
    let answer = try await client.sender.send(
      OutboundRequest(method: "GET", url: "http://localhost:\(port)/v2/harbour/services/testconnection"), TestRun.whole)
    try await client.shutdown()
    #expect(answer.status == 403)
  }

  /// The payment token that paid is saved, opened with the merchant's key, and refused once a letter differs.
  private func openSavedToken(_ workshop: Workshop, _ port: Int) async throws {
    try workshop.write(try await Self.root("http://localhost:\(port + 2)/sandbox/ca.json"), to: "root.pem")
    let decrypt = "--key .tender/demo-$PORT/merchants/harbour/processing/1.key --merchant-id merchant.test.harbour"
    let opened = try await workshop.run("tender token decrypt saved.json --root root.pem \(decrypt)")
    #expect(opened.exitCode == 0 && opened.lines.first?.hasPrefix("verified and decrypted: ") == true, "\(opened)")
    let text = try workshop.text("saved.json")
    try workshop.write(Self.altered(text), to: "altered.json")
    let refused = try await workshop.run("tender token decrypt altered.json --root root.pem \(decrypt)")
    #expect(refused.exitCode == 1 && refused.lines.first?.hasPrefix("refused at signature: ") == true, "\(refused)")
  }

  /// One letter of `data`'s base64, in the middle.
  private static func altered(_ text: String) throws -> String {
    let start = try #require(text.firstRange(of: #""data":""#)).upperBound
    let place = text.index(start, offsetBy: 40)
    return text.replacingCharacters(in: place...place, with: text[place] == "A" ? "B" : "A")
  }

  /// Whom the sandbox signs its payment tokens as.
  private static func root(_ url: String) async throws -> String {
    let client = try LiveHTTPClient()
    let answer = try await client.sender.send(OutboundRequest(method: "GET", url: url), TestRun.whole)
    try await client.shutdown()
    guard case .object(let members) = try JSONReader.read(answer.body), case .string(let pem)? = members["rootPEM"]
    else { throw CocoaError(.fileReadCorruptFile) }
    return pem
  }
}

/// Sandbox, server and shops as processes of their own, for two merchants with different currencies.
@Suite(.serialized) struct `Sandbox, server and shops apart` {
  @Test func `two merchants are made, verified and paid`() async throws {
    let port = try FreePorts.row(of: 6)
    let workshop = try Workshop(variables: Self.variables(port))
    try workshop.write(Self.configuration(port), to: "tender.yaml")
    try await workshop.with("tender-sandbox sandbox --port \(port + 2)", sign: "gateway") { _ in
      try await check("merchants.txt", workshop)
      try await workshop.with("tender serve --config tender.yaml", sign: "tender serves simulated") { server in
        try await workshop.with("tender-sandbox shop \(Self.harbour(port))", sign: "shop  http") { _ in
          try await workshop.with("tender-sandbox shop \(Self.kitsune(port))", sign: "shop  http") { _ in
            try await check("paying.txt", workshop)
          }
        }
        #expect(await server.terminate() == 0, "\(server.lines)")
      }
    }
  }

  private func check(_ file: String, _ workshop: Workshop) async throws {
    for difference in try await Transcript(file: file).differences(in: workshop) { Issue.record("\(difference)") }
  }

  private static func variables(_ port: Int) -> [String: String] {
    [
      "SERVER": "http://localhost:\(port)", "SANDBOX": "http://localhost:\(port + 2)",
      "EXAMPLES": Repository.url("Examples").path, "HARBOUR": "localhost:\(port + 1)",
      "KITSUNE": "kitsune.localhost:\(port + 4)", "PORT": "\(port)",
    ]
  }

  private static func configuration(_ port: Int) -> String {
    """
    environment: simulated
    port: \(port)
    sandboxURL: http://localhost:\(port + 2)/
    store:
      path: data/tender.db
    merchants:
      directory: merchants
    guestTokens:
      keyFile: data/guest-token.key

    """
  }

  private static func harbour(_ port: Int) -> String {
    "--port \(port + 1) --server http://localhost:\(port) --sandbox http://localhost:\(port + 2)"
      + " --merchant merchants/harbour"
  }

  private static func kitsune(_ port: Int) -> String {
    "--port \(port + 4) --server http://localhost:\(port) --sandbox http://localhost:\(port + 2)"
      + " --merchant merchants/kitsune --menu kitsune"
  }
}

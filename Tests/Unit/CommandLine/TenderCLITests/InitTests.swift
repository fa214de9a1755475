import Foundation
import HTTPTransport
import StrictJSON
import TenderTesting
import Testing

/// `tender init`, run in an empty folder as a stranger runs it.
@Suite struct `A new server` {
  private static let all =
    "--domain shop.example.com --merchant-identifier merchant.com.example.shop --country IE --currency EUR"

  @Test func `is not begun while something is missing, and all of it is named at once`() async throws {
    let workshop = try Workshop()
    let nothing = try await workshop.run("tender init --config tender.yaml </dev/null")
    #expect(nothing.exitCode == 2)
    let options = ["--domain", "--merchant-identifier", "--country", "--currency", "--provider"]
    #expect(nothing.lines.count == 1 && options.allSatisfy { nothing.lines[0].contains($0) }, "\(nothing.lines)")
    let mistakes = [
      "\(Self.all) --provider nobody": "adyen", "\(Self.all) --provider adyen --country ie": "--country",
      "\(Self.all) --provider adyen --domain nonsense/": "--domain",
      "\(Self.all) --provider adyen --public-url https://shop.example.com": "--domain",
      "\(Self.all) --provider adyen --public-url http://pay.example.com": "--public-url",
      "\(Self.all) --provider adyen --tls-key key.pem": "--tls-certificate",
      "\(Self.all) --provider adyen --environment test": "apple-sandbox", "--simulated --provider adyen": "--provider",
      "--sandbox http://localhost:1": "--simulated",
    ]
    for (arguments, word) in mistakes {
      let answer = try await workshop.run("tender init --config tender.yaml \(arguments) </dev/null")
      #expect(answer.exitCode == 2 && answer.lines.joined().contains(word), "\(arguments): \(answer.lines)")
    }
    #expect(try await workshop.run("ls -A | grep -v output").lines.isEmpty, "nothing was made")
  }

  /// The connector of every provider, and a file of its folder.
  private static let providers = [
    ("adyen", "hmac-keys/1.secret"), ("braintree", "private-key.secret"), ("checkout-com", "signature-keys/1.secret"),
    ("stripe", "signing-secrets/1.secret"), ("worldline-acquiring", "client-secret.secret"),
    ("worldline-direct", "api-key.secret"),
  ]

  @Test(arguments: providers)
  func `has configuration, merchant, requests and route, and a second run keeps all of it`(
    _ provider: String, _ secret: String
  ) async throws {
    let workshop = try Workshop()
    let command = "tender init --config tender.yaml \(Self.all) --provider \(provider) --json </dev/null"
    let first = try await workshop.run(command)
    #expect(first.exitCode == 0, "\(first.lines)")
    let said = try Self.answer(first)
    #expect(said["there"]?.elements.isEmpty == true)
    let events = provider == "worldline-acquiring" ? "There is no webhook" : "acquirers/\(provider)/events"
    #expect(said["steps"]?.elements.contains { $0.text?.contains(events) == true } == true)
    #expect(said["doctor"]?["environment"] == "apple-sandbox")
    #expect(said["doctor"]?["checks"]?.elements.contains { $0["code"] == "routes_readable" } == true)
    let modes = try await workshop.run("stat -c %a .tender/connectors/\(provider)/\(secret) .tender/store.key")
    #expect(modes.lines == ["600", "600"])
    let verify = "openssl req -in shop-example-com-$kind.csr -verify -noout 2>&1"
    let requests = "for kind in identity processing; do \(verify); done"
    #expect(try await workshop.run(requests).lines.count { $0.contains("verify OK") } == 2)
    // All that is left to complete are the connector's settings and credentials.
    let check = try await workshop.run("tender config check --config tender.yaml")
    #expect(check.lines.dropLast().allSatisfy { $0.contains("connectors/\(provider)/") }, "\(check.lines)")

    let before = try await workshop.run("md5sum tender.yaml *.csr; tender certificate list --config tender.yaml")
    _ = try await workshop.run("echo 0123456789abcdef > .tender/connectors/\(provider)/\(secret)")
    for again in [command, "tender init --config tender.yaml --json </dev/null"] {
      let second = try Self.answer(try await workshop.run(again))
      #expect(second["made"]?.elements.isEmpty == true, "\(again)")
      #expect(second["there"]?.elements.count ?? 0 >= 5)
    }
    let after = try await workshop.run("md5sum tender.yaml *.csr; tender certificate list --config tender.yaml")
    #expect(before.lines == after.lines)
    #expect(try workshop.text(".tender/connectors/\(provider)/\(secret)") == "0123456789abcdef\n")
    // Only what is missing is made.
    let third = try Self.answer(try await workshop.run("rm shop-example-com-identity.csr && " + command))
    #expect(third["made"]?.elements.compactMap { $0["name"]?.text } == ["shop-example-com-identity.csr"])
  }

  @Test func `takes every setting of its files when the operator switches it on`() async throws {
    let workshop = try Workshop()
    _ = try await workshop.run("tender init --config tender.yaml \(Self.all) --provider adyen </dev/null")
    _ = try await workshop.run(
      "(umask 077; echo secret | tee mail.secret > store-password.secret)"
        + " && sed -i 's/^#\\([a-z]\\)/\\1/; s/^#\\(  [a-z]\\)/\\1/' tender.yaml .tender/connectors/adyen/connector.yaml"
    )
    let check = try await workshop.run("tender config check --config tender.yaml")
    #expect(check.lines.contains { $0.contains("the file is empty") }, "\(check.lines)")
    #expect(!check.lines.contains { $0.contains("tender.yaml:") || $0.contains("connector.yaml") }, "\(check.lines)")
  }

  @Test func `may begin with the example for Apple's sandbox, which lacks the secrets alone`() async throws {
    let workshop = try Workshop()
    let example = Repository.url("Examples/apple-sandbox").path
    let secrets = [
      "secret-key.secret": "rk_test_0123456789abcdef", "signing-secrets/1.secret": "whsec_0123456789abcdef",
    ]
    _ = try await workshop.run(
      "cp -r '\(example)'/. . && chmod -R go-w . && mkdir -p connectors/stripe/signing-secrets")
    let missing = try await workshop.run("tender config check --config tender.yaml")
    #expect(missing.exitCode == 1 && missing.lines.allSatisfy { $0.contains("secret") || $0.contains("error") })
    for (name, text) in secrets { try workshop.write(text, to: "connectors/stripe/\(name)") }
    let complete = try await workshop.run("tender config check --config tender.yaml")
    #expect(complete.exitCode == 0 && complete.lines.first?.contains("apple-sandbox") == true, "\(complete.lines)")
  }

  @Test func `has TLS of its own where files are named, and the machine's usual port for it`() async throws {
    let workshop = try Workshop()
    let tls = "--tls-certificate chain.pem --tls-key key.pem --provider stripe --environment production"
    let answer = try await workshop.run("tender init --config tender.yaml \(Self.all) \(tls) </dev/null")
    #expect(answer.exitCode == 0 && !answer.lines.joined().contains("reverse_proxy"), "\(answer.lines)")
    let text = try workshop.text("tender.yaml")
    let lines = ["environment: production", "port: 443", "  certificateFile: chain.pem"]
    for line in lines + ["publicURL: https://pay.example.com"] {
      #expect(text.contains(line + "\n"), "\(text)")
    }
    let other = try await workshop.run("tender init --config tender.yaml --environment apple-sandbox </dev/null")
    #expect(other.exitCode == 2 && other.lines.joined().contains("tender.yaml is for production"), "\(other.lines)")
  }

  @Test func `is asked for at a terminal, only what is missing, and again after a mistake`() async throws {
    let workshop = try Workshop()
    try workshop.write(Self.terminal, to: "terminal.py")
    let command = "python3 terminal.py tender init --config tender.yaml --currency EUR"
    let ended = try await workshop.run("printf 'shop.example.com\\n' | \(command)")
    #expect(ended.exitCode == 1 && ended.lines.joined().contains("nothing was made"), "\(ended.lines)")
    let answers = "nonsense/\\nHTTPS://shop.example.com/\\n\\nie\\nIE\\nstripes\\nstripe\\n"
    let answer = try await workshop.run("printf '\(answers)' | \(command)")
    #expect(answer.exitCode == 0, "\(answer.lines)")
    let text = answer.lines.joined(separator: "\n")
    #expect(text.contains("[merchant.com.example.shop]") && text.contains("“ie” is no country"), "\(text)")
    #expect(text.contains("“stripes” is no provider") && !text.contains("The currency"), "\(text)")
    let merchants = try await workshop.run("tender merchant list --config tender.yaml")
    #expect(merchants.lines.last?.contains("merchant.com.example.shop") == true, "\(merchants.lines)")
    #expect(try await workshop.run("ls .tender/connectors").lines == ["stripe"])
  }

  /// Runs a program on a pseudo-terminal, on which it types what it reads, and ends with its exit code. A carriage
  /// return alone would end lines twice.
  private static let terminal = """
    import os, pty, sys
    typed = sys.stdin.buffer.read()
    child, terminal = pty.fork()
    if child == 0: os.execvp(sys.argv[1], sys.argv[1:])
    os.write(terminal, typed + b"\\x04")
    try:
        while part := os.read(terminal, 4096): sys.stdout.buffer.write(part.replace(b"\\r", b""))
    except OSError: pass
    sys.stdout.flush()
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    """

  @Test func `belongs to the user whose folder it is, where root makes it`() async throws {
    guard geteuid() == 0 else { return }
    let workshop = try Workshop()
    let folder = "chmod 755 . && mkdir data && chown 12345:12345 data"
    let answer = try await workshop.run(
      "\(folder) && tender init --config tender.yaml --directory data \(Self.all) --provider adyen </dev/null")
    #expect(answer.exitCode == 0, "\(answer.lines)")
    let owners = try await workshop.run("find data | xargs stat -c %u | sort -u; stat -c %u tender.yaml")
    #expect(owners.lines == ["12345", "0"])
  }

  @Test(arguments: ["data", "disk"]) func `follows no link of that user's out of it, also where it is a link`(
    folder: String
  ) async throws {
    guard geteuid() == 0 else { return }
    let workshop = try Workshop()
    let folders =
      "chmod 755 . && mkdir \(folder) roots && chown 12345:12345 \(folder) && ln -s ../roots \(folder)/connectors"
      + (folder == "data" ? "" : " && ln -s \(folder) data")
    let answer = try await workshop.run(
      "\(folders) && tender init --config tender.yaml --directory data \(Self.all) --provider adyen </dev/null")
    #expect(answer.exitCode == 1, "\(answer.lines)")
    #expect(try await workshop.run("ls -A roots").lines.isEmpty)
  }

  @Test func `goes through no link of that user's to its folder`() async throws {
    guard geteuid() == 0 else { return }
    let workshop = try Workshop()
    let folders =
      "chmod 755 . && mkdir lib roots && chown 12345:12345 lib && ln -s ../roots lib/live && chown -h 12345 lib/live"
    let answer = try await workshop.run(
      "\(folders) && tender init --config tender.yaml --directory lib/live \(Self.all) --provider adyen </dev/null")
    #expect(answer.exitCode == 1 && answer.lines.joined().contains("is a link that is not root's"), "\(answer.lines)")
    #expect(try await workshop.run("ls -A roots").lines.isEmpty)
  }

  static func answer(_ answer: Workshop.Answer) throws -> JSONValue {
    try JSONReader.read(Array(answer.lines.joined(separator: "\n").utf8))
  }
}

/// `tender init --simulated`
@Suite(.serialized) struct `A new simulated server` {
  @Test func `makes nothing without a sandbox, and says how to start one`() async throws {
    let workshop = try Workshop()
    let answer = try await workshop.run("tender init --simulated --config tender.yaml --sandbox http://localhost:1")
    #expect(answer.exitCode == 1 && answer.lines.joined().contains("`tender-sandbox sandbox`"), "\(answer.lines)")
    #expect(try await workshop.run("ls -A | grep -v output").lines.isEmpty)
  }

  @Test func `has a payment page that takes a payment once it is started, and is kept by a second run`() async throws {
    let port = try FreePorts.row(of: 6)
    let workshop = try Workshop()
    let sandbox = "tender-sandbox sandbox --port \(port + 2)"
    try await workshop.with(sandbox, sign: "mailbox") { _ in
      let command =
        "tender init --simulated --json --config tender.yaml --port \(port) --sandbox http://localhost:\(port + 2)"
      let first = try `A new server`.answer(try await workshop.run(command))
      #expect(first["made"]?.elements.count == 4)
      #expect(Self.troubles(first).isEmpty, "\(Self.troubles(first))")
      let link = try #require(first["paymentLink"]?.text)
      #expect(first["steps"]?.elements.contains { $0.text?.contains(link) == true } == true)
      try await workshop.with("tender serve --config tender.yaml", sign: "tender serves simulated") { _ in
        try await Self.requirePayable(link)
        let second = try `A new server`.answer(try await workshop.run(command))
        #expect(second["made"]?.elements.isEmpty == true && second["there"]?.elements.count == 4)
        #expect(Self.troubles(second).isEmpty, "\(Self.troubles(second))")
        try await Self.requirePayable(try #require(second["paymentLink"]?.text))
      }
      let other = try await workshop.run("tender init --config tender.yaml --environment production </dev/null")
      #expect(other.exitCode == 2 && other.lines.joined().contains("tender.yaml is for simulated"), "\(other.lines)")
    }
  }

  /// The page offers the button, and Apple's simulated gateway gives it a session.
  private static func requirePayable(_ link: String) async throws {
    let client = try LiveHTTPClient()
    func call(_ method: String, _ path: String, _ body: String = "") async throws -> (status: Int, text: String) {
      let origin = link.split(separator: "/").prefix(2).joined(separator: "//")
      let answer = try await client.sender.send(
        OutboundRequest(
          method: method, url: link + path,
          headers: [HTTPField("Origin", origin), HTTPField("Content-Type", "application/json")],
          body: Array(body.utf8)), TestRun.whole)
      return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }
    do {
      let page = try await call("GET", "")
      #expect(page.status == 200 && page.text.contains("<tender-apple-pay"), "\(page)")
      let basket = link.split(separator: "/").last ?? ""
      let session = try await call("POST", "/applepay/validate", #"{"basketId":"\#(basket)"}"#)
      #expect(session.status == 200, "\(session)")
    } catch {
      try await client.shutdown()
      throw error
    }
    try await client.shutdown()
  }

  private static func troubles(_ answer: JSONValue) -> [JSONValue] {
    (answer["doctor"]?["checks"]?.elements ?? []).filter { $0["status"] != "ok" && $0["status"] != "skipped" }
  }
}

import AppleSandbox
import Foundation
import HTTPTransport
import Logging
import Mail
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// The sandbox's mailbox, over real sockets and TLS.
final class TestMailbox: Sendable {
  /// A name of the mail server that is not this machine's: a proxy may stand before it.
  static let name = "mail.example"
  static let shared = Task { try await TestMailbox() }

  let addresses: SandboxAddresses
  let rootsPEM: String
  private let client: LiveHTTPClient
  private let run: Task<Void, any Error>

  init() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tender-mailbox-\(UUID().uuidString)").path
    var configuration = SandboxConfiguration(directory: directory)
    (configuration.port, configuration.gatewayPort) = (0, 0)
    configuration.tlsHostNames.append(Self.name)
    configuration.logger.logLevel = .error
    let (stream, continuation) = AsyncStream<SandboxAddresses>.makeStream()
    configuration.onReady = { continuation.yield($0) }
    let sandbox = try await SandboxServer(configuration)
    run = Task { try await sandbox.run() }
    var ready = stream.makeAsyncIterator()
    addresses = try #require(await ready.next())
    rootsPEM = try sandbox.tlsRootPEM
    client = try LiveHTTPClient(maximumResponseBytes: 4 << 20)
  }

  func server(
    security: SMTPServer.Security = .startTLS, user: String? = "tender", password: String? = "sandbox-mailbox",
    roots: Bool = true, port: Int? = nil
  ) -> SMTPServer {
    SMTPServer(
      host: addresses.mailHost, port: port ?? addresses.mailPort, security: security, user: user, password: password,
      rootsPEM: roots ? rootsPEM : nil, ownName: "tender.example")
  }

  /// The server by its name, which only the proxy knows.
  func server(through proxy: TestProxy, proxyPassword: String = "secret", password: String = "sandbox-mailbox")
    -> SMTPServer
  {
    let proxy = Egress.Proxy(host: "127.0.0.1", port: proxy.port, user: "tender", password: proxyPassword)
    return SMTPServer(
      host: Self.name, port: 587, security: .startTLS, user: "tender", password: password,
      egress: Egress(proxy: proxy, rootsPEM: rootsPEM))
  }

  func get(_ path: String) async throws -> InboundResponse {
    try await client.sender.send(OutboundRequest(method: "GET", url: addresses.url + path), TestRun.whole)
  }

  /// What was taken for a recipient.
  func messages(to recipient: String) async throws -> [JSONField] {
    let list = JSONField(try JSONReader.read(try await get("/sandbox/mail").body))
    return try list.member("messages").array.filter { message in
      try message.member("recipients").array.contains { try $0.string == recipient }
    }
  }
}

@Suite struct `A message over SMTP` {
  private static func message(to recipient: String, _ body: String = "Guten Tag,\n\n.\n..zwei Punkte\näöü €\n")
    -> MailMessage
  {
    MailMessage(
      id: RandomBytes.system.hex(8), from: .sample("orders@shop.example"), senderName: "Küche", to: .sample(recipient),
      subject: "Ihre Bestellung – 12,50 €", language: "de", text: body, html: "<p>\(body)</p>",
      date: WallClock.system.now())
  }

  @Test func `arrives over STARTTLS with AUTH, as text and as HTML, and the server's answer is known`() async throws {
    let mailbox = try await TestMailbox.shared.value
    let sent = Self.message(to: "ada@example.com")
    let result = await MailTransport.smtp.send(sent, mailbox.server())
    #expect(result == SMTPResult(.done, "250 2.0.0 Taken into the sandbox's mailbox", code: 250))
    let got = try #require(try await mailbox.messages(to: "ada@example.com").first)
    #expect(try got.member("subject").string == sent.subject)
    #expect(try got.member("text").string.replacing("\r\n", with: "\n") == sent.text)
    #expect(try got.member("html").string.replacing("\r\n", with: "\n") == sent.html)
    #expect(try got.member("sender").string == "orders@shop.example")
    #expect(try got.member("from").string == "Küche <orders@shop.example>")
    let raw = try await mailbox.get("/mail/\(try got.member("number").integer)/raw").body
    let read = try PythonMail.read(raw)
    #expect(read["text"] == sent.text && read["defects"] == "0" && read["id"] == "<\(sent.id)@shop.example>")
  }

  @Test func `is not sent to a server whose certificate leads to no trusted root`() async throws {
    let mailbox = try await TestMailbox.shared.value
    let result = await MailTransport.smtp.send(
      Self.message(to: "untrusted@example.com"), mailbox.server(roots: false))
    #expect(result.stage == .tls, "\(result)")
    #expect(try await mailbox.messages(to: "untrusted@example.com").isEmpty)
  }

  @Test func `arrives through a proxy, under a root beside the system's`() async throws {
    let mailbox = try await TestMailbox.shared.value
    let proxy = try TestProxy(
      login: "tender:secret", places: ["\(TestMailbox.name):587": mailbox.addresses.mailPort])
    let result = await MailTransport.smtp.send(
      Self.message(to: "proxied@example.com"), mailbox.server(through: proxy))
    #expect(result == SMTPResult(.done, "250 2.0.0 Taken into the sandbox's mailbox", code: 250))
    #expect(try await mailbox.messages(to: "proxied@example.com").count == 1)
    #expect(proxy.calls == ["\(TestMailbox.name):587"])
    let wrong = await MailTransport.smtp.probe(mailbox.server(through: proxy, password: "wrong"))
    #expect(wrong.stage == .authentication && wrong.words.contains("535"), "\(wrong)")
  }

  @Test func `waits where the proxy refuses the password, refuses the call, hangs up or is down`() async throws {
    let mailbox = try await TestMailbox.shared.value
    let proxy = try TestProxy(
      login: "tender:secret", places: ["\(TestMailbox.name):587": mailbox.addresses.mailPort])
    func send(_ server: SMTPServer) async -> SMTPResult {
      await MailTransport.smtp.send(Self.message(to: "refused-by-proxy@example.com"), server)
    }
    let wrong = await send(mailbox.server(through: proxy, proxyPassword: "wrong"))
    #expect(wrong == SMTPResult(.connection, "the proxy refuses the user or the password: status 407"))
    for manner in [TestProxy.Manner.refusing(403), .hangingUp] {
      proxy.behave(manner)
      let result = await send(mailbox.server(through: proxy))
      #expect(result.stage == .connection && !result.isPermanent && !result.words.isEmpty, "\(manner): \(result)")
    }
    let down = SMTPServer(
      host: TestMailbox.name, port: 587, security: .startTLS, egress: Egress(proxy: .init(host: "127.0.0.1", port: 1)))
    let result = await send(down)
    #expect(result.stage == .connection, "\(result)")
    #expect(try await mailbox.messages(to: "refused-by-proxy@example.com").isEmpty)
  }

  @Test func `is not sent with a wrong password`() async throws {
    let mailbox = try await TestMailbox.shared.value
    let result = await MailTransport.smtp.send(Self.message(to: "x@example.com"), mailbox.server(password: "wrong"))
    #expect(result.stage == .authentication && result.words.contains("535") && !result.isPermanent, "\(result)")
  }

  @Test func `is refused for good, or for now, by the recipient's mailbox`() async throws {
    let mailbox = try await TestMailbox.shared.value
    let refused = await MailTransport.smtp.send(Self.message(to: "refused@example.com"), mailbox.server())
    #expect(refused.isPermanent && refused.words.contains("550 5.1.1 No such mailbox"), "\(refused)")
    let later = await MailTransport.smtp.send(Self.message(to: "later@example.com"), mailbox.server())
    #expect(later.stage == .message && !later.isPermanent && later.words.contains("451 4.3.0"), "\(later)")
  }

  @Test func `is not taken without TLS`() async throws {
    let mailbox = try await TestMailbox.shared.value
    let result = await MailTransport.smtp.send(
      Self.message(to: "plain@example.com"), mailbox.server(security: .none, user: nil, password: nil))
    #expect(result.stage == .message && result.words.contains("STARTTLS comes first"), "\(result)")
    let tls = await MailTransport.smtp.send(Self.message(to: "plain@example.com"), mailbox.server(security: .tls))
    #expect(tls.stage == .tls, "\(tls)")
  }

  @Test func `waits where no server listens`() async throws {
    let mailbox = try await TestMailbox.shared.value
    let result = await MailTransport.smtp.send(Self.message(to: "x@example.com"), mailbox.server(port: 9))
    #expect(result.stage == .connection && !result.words.isEmpty, "\(result)")
  }

  @Test func `is preceded by a probe that sends nothing`() async throws {
    let mailbox = try await TestMailbox.shared.value
    #expect(await MailTransport.smtp.probe(mailbox.server()).stage == .done)
    #expect(await MailTransport.smtp.probe(mailbox.server(password: "wrong")).stage == .authentication)
    #expect(await MailTransport.smtp.probe(mailbox.server(roots: false)).stage == .tls)
    #expect(await MailTransport.smtp.probe(mailbox.server(port: 9)).stage == .connection)
    // Before TLS the sandbox offers no AUTH, and the password stays here.
    let plain = await MailTransport.smtp.probe(mailbox.server(security: .none))
    #expect(plain.stage == .authentication, "\(plain)")
  }

  @Test func `of a long text arrives whole`() async throws {
    let mailbox = try await TestMailbox.shared.value
    let body = (0..<2_000).map { "\($0) ü " + String(repeating: "x", count: $0 % 120) }.joined(separator: "\n") + "\n"
    #expect(await MailTransport.smtp.send(Self.message(to: "long@example.com", body), mailbox.server()).stage == .done)
    let got = try #require(try await mailbox.messages(to: "long@example.com").first)
    #expect(try got.member("text").string.replacing("\r\n", with: "\n") == body)
  }

  @Test func `is shown on a page, its HTML in a frame that can do nothing`() async throws {
    let mailbox = try await TestMailbox.shared.value
    let attack = "</pre><script>alert(1)</script>"
    let sent = Self.message(to: "page@example.com", attack)
    #expect(await MailTransport.smtp.send(sent, mailbox.server()).stage == .done)
    let number = try #require(try await mailbox.messages(to: "page@example.com").first).member("number").integer
    let list = String(decoding: try await mailbox.get("/mail").body, as: UTF8.self)
    #expect(list.contains("Ihre Bestellung") && list.contains("/mail/\(number)"))
    let page = String(decoding: try await mailbox.get("/mail/\(number)").body, as: UTF8.self)
    #expect(page.contains("sandbox=\"\"") && !page.contains("<script>") && page.contains("&lt;script&gt;"))
    let html = try await mailbox.get("/mail/\(number)/html")
    #expect(html.header("Content-Security-Policy")?.hasPrefix("sandbox; default-src 'none'") == true)
    #expect(String(decoding: html.body, as: UTF8.self).contains(attack))
    #expect(try await mailbox.get("/mail/999999").status == 404)
  }
}

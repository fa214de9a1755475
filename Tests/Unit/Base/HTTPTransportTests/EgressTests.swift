import HTTPTransport
import NIOCore
import NIOPosix
import TenderTesting
import Testing

@Suite struct `The way out of a network` {
  private static let proxy = Egress.Proxy(host: "proxy.example", port: 3128)

  private static func isProxied(_ host: String, _ port: Int = 443, at address: String? = nil, not text: String) throws
    -> Bool
  {
    let exceptions = text.isEmpty ? [] : [try #require(Egress.Exception(text), "\(text)")]
    return Egress(proxy: proxy, exceptions: exceptions).proxy(to: host, port: port, at: address) != nil
  }

  @Test(arguments: [
    ("shop.example", "shop.example"), ("www.shop.example", "shop.example"), ("WWW.Shop.Example.", "shop.example"),
    ("www.shop.example", ".shop.example"), ("www.shop.example", "*.shop.example"), ("shop.example", "Shop.Example:443"),
    ("10.1.2.3", "10.0.0.0/8"), ("10.1.2.3", "10.1.2.3"), ("10.1.2.3", "10.1.2.3:443"), ("fd00::7", "fd00::/8"),
    ("[fd00::7]", "fd00::7"), ("fd00::7", "[fd00:0:0::7]:443"), ("::ffff:10.1.2.3", "10.0.0.0/8"),
  ])
  func `leads past the proxy to what is named`(host: String, exception: String) throws {
    #expect(try !Self.isProxied(host, not: exception))
  }

  @Test(arguments: [
    ("shop.example", ".shop.example"), ("myshop.example", "shop.example"), ("shop.example.org", "shop.example"),
    ("shop.example", "shop.example:8443"), ("11.1.2.3", "10.0.0.0/8"), ("fe00::7", "fd00::/8"),
    ("10.0.0.1.example", "10.0.0.0/8"), ("10.1.2.3", "0.0.0.0/32"), ("shop.example", ""),
  ])
  func `leads through the proxy to all else`(host: String, exception: String) throws {
    #expect(try Self.isProxied(host, not: exception))
  }

  @Test func `compares ranges with the address of a name, where it is known`() throws {
    #expect(try Self.isProxied("shop.example", not: "10.0.0.0/8"))
    #expect(try !Self.isProxied("shop.example", at: "10.1.2.3", not: "10.0.0.0/8"))
  }

  @Test(arguments: ["localhost", "shop.localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]", "::ffff:127.0.0.1"])
  func `never leads through the proxy to this machine`(host: String) throws {
    #expect(try !Self.isProxied(host, not: ""))
    #expect(try !Self.isProxied("shop.example", at: host, not: ""))
  }

  @Test(arguments: [
    "", "*", ".", "shop example", "shop.example:", "shop.example:0", "shop.example:99999", "http://shop.example",
    "10.0.0.0/33", "10.0.0.0/", "fd00::/129", "shop.example/8", "fd00::7:443:9999999", "[fd00::7", "10.0.0.0/8:443",
  ])
  func `takes no exception that means nothing`(text: String) { #expect(Egress.Exception(text) == nil) }

  @Test func `does not print the password`() {
    let proxy = Egress.Proxy(host: "::1", port: 3128, user: "tender", password: "hunter2")
    var text = "\(proxy) \(Egress(proxy: proxy))"
    dump(proxy, to: &text)
    dump(Egress(proxy: proxy), to: &text)
    #expect(!text.contains("hunter2") && text.contains("[::1]:3128"))
  }
}

@Suite struct `A live client behind a proxy` {
  private static let url = "http://provider.example:8080/payments"

  private func send(
    through proxy: TestProxy, login: (String, String)? = nil, host: String = "127.0.0.1", url: String = url,
    pinned: [String: String] = [:]
  ) async throws -> Result<InboundResponse, TransportError> {
    let egress = Egress(proxy: .init(host: host, port: proxy.port, user: login?.0, password: login?.1))
    let client = try LiveHTTPClient(egress: egress, pinned: pinned)
    let answer = await Self.answer(client, url)
    try await client.shutdown()
    return answer
  }

  private static func answer(_ client: LiveHTTPClient, _ url: String) async -> Result<InboundResponse, TransportError> {
    let request = OutboundRequest(method: "POST", url: url, body: Array("{}".utf8))
    do throws(TransportError) { return .success(try await client.sender.send(request, TestRun.whole)) } catch {
      return .failure(error)
    }
  }

  private static func proxy(
    to server: any Channel, on host: String = "127.0.0.1", login: String? = nil, place: String = "provider.example:8080"
  ) throws -> TestProxy {
    try TestProxy(on: host, login: login, places: [place: try #require(server.localAddress?.port)])
  }

  @Test func `reaches a server by its name, which the proxy resolves, and the server gets the request alone`()
    async throws
  {
    let server = try await Mirror.listen()
    let proxy = try Self.proxy(to: server, login: "tender:s:cret")
    let answer = try await send(through: proxy, login: ("tender", "s:cret")).get()
    let seen = String(decoding: answer.body, as: UTF8.self).lowercased()
    #expect(seen.hasPrefix("post /payments http/1.1\r\n") && seen.contains("host: provider.example:8080"))
    #expect(!seen.contains("proxy-") && !seen.contains("tender-"))
    #expect(proxy.calls == ["provider.example:8080"])
    try await server.close().get()
  }

  @Test func `has the proxy connect to the pinned address, and names the host to the server`() async throws {
    let server = try await Mirror.listen()
    let proxy = try Self.proxy(to: server, place: "192.0.2.7:8080")
    let answer = try await send(through: proxy, pinned: ["provider.example": "192.0.2.7"]).get()
    #expect(String(decoding: answer.body, as: UTF8.self).lowercased().contains("host: provider.example:8080"))
    #expect(proxy.calls == ["192.0.2.7:8080"])
    try await server.close().get()
  }

  @Test func `reaches a proxy and a server by addresses of IPv6`() async throws {
    let server = try await Mirror.listen()
    let proxy = try Self.proxy(to: server, on: "::1", place: "[2001:db8::7]:8080")
    let answer = try await send(through: proxy, host: "::1", url: "http://[2001:db8::7]:8080/").get()
    #expect(String(decoding: answer.body, as: UTF8.self).lowercased().contains("host: [2001:db8::7]:8080"))
    #expect(proxy.calls == ["[2001:db8::7]:8080"])
    try await server.close().get()
  }

  @Test func `asks no proxy for this machine`() async throws {
    let server = try await Mirror.listen()
    let proxy = try Self.proxy(to: server)
    let port = try #require(server.localAddress?.port)
    #expect(try await send(through: proxy, url: "http://localhost:\(port)/").get().status == 200)
    #expect(proxy.calls == [])
    try await server.close().get()
  }

  @Test(arguments: [nil, "wrong"])
  func `reports notSent, and says that the login is refused, after status 407`(password: String?) async throws {
    let server = try await Mirror.listen()
    let proxy = try Self.proxy(to: server, login: "tender:right")
    let answer = try await send(through: proxy, login: password.map { ("tender", $0) })
    guard case .failure(.notSent(let reason)) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(!reason.contains("127.0.0.1") && reason.contains("status 407"))
    #expect(reason.contains("password") && !reason.contains("wrong"))
    try await server.close().get()
  }

  @Test func `reports notSent where the proxy is down, refuses or hangs up, also beside an open connection`()
    async throws
  {
    let server = try await Mirror.listen()
    let places = ["provider.example:8080", "other.example:8080"]
    let port = try #require(server.localAddress?.port)
    let proxy = try TestProxy(places: Dictionary(uniqueKeysWithValues: places.map { ($0, port) }))
    let client = try LiveHTTPClient(egress: Egress(proxy: .init(host: "127.0.0.1", port: proxy.port)))
    #expect(try await Self.answer(client, Self.url).get().status == 200)
    for manner in [TestProxy.Manner.refusing(403), .refusing(503), .hangingUp] {
      proxy.behave(manner)
      let answer = await Self.answer(client, "http://other.example:8080/")
      guard case .failure(.notSent) = answer else {
        Issue.record("\(manner): \(answer)")
        continue
      }
    }
    try await client.shutdown()
    let down = try LiveHTTPClient(egress: Egress(proxy: .init(host: "127.0.0.1", port: 1)))
    let answer = await Self.answer(down, Self.url)
    #expect(answer == .failure(.notSent("the proxy cannot be reached")))
    try await down.shutdown()
    try await server.close().get()
  }

  @Test func `reports an interruption where the server hangs up after the request`() async throws {
    let server = try await HangUp.listen()
    let proxy = try Self.proxy(to: server)
    let answer = try await send(through: proxy)
    guard case .failure(.interrupted) = answer else {
      Issue.record("\(answer)")
      return
    }
    try await server.close().get()
  }

  @Test func `reports notSent where the connection ends in the TLS handshake`() async throws {
    let server = try await HangUp.listen()
    let proxy = try TestProxy(places: ["provider.example:443": try #require(server.localAddress?.port)])
    let answer = try await send(through: proxy, url: "https://provider.example/")
    guard case .failure(.notSent) = answer else {
      Issue.record("\(answer)")
      return
    }
    try await server.close().get()
  }

  @Test(arguments: [TestProxy.Manner.closing, .hangingUp, .refusing(403)])
  func `reports a refusal where the proxy opens no connection`(manner: TestProxy.Manner) async throws {
    let proxy = try TestProxy()
    proxy.behave(manner)
    for _ in 0..<20 {
      await #expect(throws: ProxyRefusal.self) {
        try await Egress.Proxy(host: "127.0.0.1", port: proxy.port).connect(to: "provider.example", port: 443)
      }
    }
  }

  /// The TLS library takes the address of the connection for the server's, and that is the proxy's.
  @Test func `sends nothing over TLS to a server without a name`() async throws {
    let server = try await Mirror.listen()
    let proxy = try Self.proxy(to: server)
    for url in ["https://192.0.2.7/", "https://[2001:db8::7]/"] {
      guard case .failure(.notSent) = try await send(through: proxy, url: url) else {
        Issue.record("\(url)")
        continue
      }
    }
    #expect(proxy.calls == [])
    try await server.close().get()
  }
}

/// Takes a request and ends the connection.
private final class HangUp: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.close(promise: nil) }

  static func listen() async throws -> any Channel {
    try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(HangUp()) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }
}

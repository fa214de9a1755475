import HTTPTransport
import Synchronization
import TenderPayments
import TenderTesting
import Testing
import Webhooks

@Suite struct `Where webhooks may go` {
  private static func refusal(
    _ url: String, allowsPrivate: Bool = false, addresses: [String] = ["93.184.215.14"]
  ) async -> DestinationRefusal? {
    let guarding = DestinationGuard(allowsPrivate: allowsPrivate) { _ in
      try addresses.map { (try address($0), $0) }
    }
    do {
      _ = try await guarding.destination(url)
      return nil
    } catch { return error as? DestinationRefusal }
  }

  @Test(arguments: [
    "https://shop.example", "https://shop.example/hooks?to=tender", "https://shop.example:8443/hooks",
    "https://93.184.215.14/hooks", "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/hooks",
  ])
  func `a public https address`(_ url: String) async {
    #expect(await Self.refusal(url) == nil)
  }

  @Test(arguments: [
    "http://shop.example/", "ftp://shop.example/", "file:///etc/passwd", "gopher://shop.example/", "shop.example",
    "//shop.example/", "HTTP://shop.example",
  ])
  func `nothing but https`(_ url: String) async {
    let refusal = await Self.refusal(url)
    #expect(refusal == .scheme || refusal == .malformed)
  }

  @Test(arguments: [
    "https://user@shop.example/", "https://user:secret@shop.example/", "https://shop.example#fragment", "https://",
    "https:///hooks", "https://shop.example\\@other.example/", "https://shop.example /", "https://shop%2eexample/",
    "https://shop.example:0/", "https://shop.example:99999/", "https://sh\u{00F6}p.example/", "https://shop.example\n/",
    "",
  ])
  func `no spelling that two readers could read as two hosts`(_ url: String) async {
    #expect(await Self.refusal(url) != nil)
  }

  @Test(arguments: [
    "0.0.0.0", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.255.255.254",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1",
    "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "0000:0000:0000:0000:0000:0000:0000:0000", "0000:0000:0000:0000:0000:0000:0000:0001",
    "0000:0000:0000:0000:0000:ffff:7f00:0001", "0000:0000:0000:0000:0000:ffff:0a00:0001",
    "0064:ff9b:0000:0000:0000:0000:7f00:0001", "0100:0000:0000:0000:0000:0000:0000:0001",
    "2001:0000:0000:0000:0000:0000:0000:0001", "2001:0db8:0000:0000:0000:0000:0000:0001",
    "2002:7f00:0001:0000:0000:0000:0000:0001", "fc00:0000:0000:0000:0000:0000:0000:0001",
    "fd12:3456:789a:0000:0000:0000:0000:0001", "fe80:0000:0000:0000:0000:0000:0000:0001",
    "fec0:0000:0000:0000:0000:0000:0000:0001", "ff02:0000:0000:0000:0000:0000:0000:0001",
    "4000:0000:0000:0000:0000:0000:0000:0001",
  ])
  func `an address inside a private network is refused, unless the operator allows it`(_ text: String) async {
    #expect(await Self.refusal("https://shop.example/", addresses: [text]) == .privateAddress("shop.example"))
    #expect(await Self.refusal("https://shop.example/", addresses: ["93.184.215.14", text]) != nil)
    #expect(await Self.refusal("http://shop.example/", allowsPrivate: true, addresses: [text]) == nil)
  }

  @Test(arguments: [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255",
    "198.20.0.0", "223.255.255.255", "2606:2800:0000:0000:0000:0000:0000:0001",
    "2a00:1450:4001:0810:0000:0000:0000:200e", "0000:0000:0000:0000:0000:ffff:0101:0101",
  ])
  func `the neighbours of the private blocks are public`(_ text: String) async throws {
    #expect(try address(text).isPublic)
    #expect(await Self.refusal("https://shop.example/", addresses: [text]) == nil)
  }

  /// What a merchant's server answers, and what the proxy was asked for.
  private static func send(
    _ url: String, resolved addresses: [String], namesToProxy: Bool = false, allowsPrivate: Bool = false,
    exceptions: [String] = [], places: [String]
  ) async throws -> (answer: Result<Int, TransportError>, calls: [String]) {
    let server = try AnsweringServer()
    let proxy = try TestProxy(places: Dictionary(uniqueKeysWithValues: places.map { ($0, server.port) }))
    let egress = Egress(
      proxy: .init(host: "127.0.0.1", port: proxy.port), exceptions: exceptions.compactMap { Egress.Exception($0) })
    let guarding = DestinationGuard(allowsPrivate: allowsPrivate, namesToProxy: namesToProxy) { _ in
      try addresses.map { (try address($0), $0) }
    }
    let sender = guarding.sender(over: .live(egress: egress))
    let answer: Result<Int, TransportError>
    do throws(TransportError) {
      answer = .success(try await sender.send(OutboundRequest(method: "POST", url: url), TestRun.whole).status)
    } catch { answer = .failure(error) }
    return (answer, proxy.calls)
  }

  @Test func `a proxy is asked for the address that was checked, and not for the name`() async throws {
    let (answer, calls) = try await Self.send(
      "http://shop.example:8080/hooks", resolved: ["93.184.215.14"], allowsPrivate: true, places: ["93.184.215.14:8080"]
    )
    #expect(try answer.get() == 204 && calls == ["93.184.215.14:8080"])
  }

  @Test func `a proxy is asked for the name where the operator says so, and only for one that may be public`()
    async throws
  {
    for resolved in [["93.184.215.14"], []] {
      let (answer, calls) = try await Self.send(
        "http://shop.example:8080/hooks", resolved: resolved, namesToProxy: true, allowsPrivate: true,
        places: ["shop.example:8080"])
      #expect(try answer.get() == 204 && calls == ["shop.example:8080"])
    }
    let inside = ["shop", "shop.local", "db.internal", "printer.lan", "1.2.3", "0x7f.1", "a.localhost", "x.home.arpa"]
    for host in inside {
      let (answer, calls) = try await Self.send(
        "https://\(host)/", resolved: [], namesToProxy: true, places: ["\(host):443"])
      #expect(answer == .failure(.notSent(DestinationRefusal.privateAddress(host).words)))
      #expect(calls == [])
    }
  }

  @Test(arguments: [true, false])
  func `a name inside a private network is refused before a proxy is asked`(namesToProxy: Bool) async throws {
    for address in ["10.0.0.1", "127.0.0.1", "169.254.169.254"] {
      let (answer, calls) = try await Self.send(
        "https://shop.example/", resolved: [address], namesToProxy: namesToProxy,
        places: ["shop.example:443", "\(address):443"])
      #expect(answer == .failure(.notSent(DestinationRefusal.privateAddress("shop.example").words)))
      #expect(calls == [])
    }
  }

  @Test func `a name that leads to this machine or past the proxy is not asked of the proxy`() async throws {
    let server = try AnsweringServer()
    for (resolved, exceptions) in [(["127.0.0.1"], []), (["127.0.0.1"], ["shop.example"])] {
      let (answer, calls) = try await Self.send(
        "http://shop.example:\(server.port)/", resolved: resolved, namesToProxy: true, allowsPrivate: true,
        exceptions: exceptions, places: [])
      #expect(try answer.get() == 204 && calls == [])
    }
    let (unknown, _) = try await Self.send(
      "https://shop.example/", resolved: [], namesToProxy: true, exceptions: ["shop.example"], places: [])
    guard case .failure(.notSent) = unknown else {
      Issue.record("\(unknown)")
      return
    }
  }

  @Test func `a name without an address is refused`() async {
    #expect(await Self.refusal("https://nowhere.example/", addresses: []) == .unresolvable("nowhere.example"))
  }

  @Test(arguments: ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "::1", "localhost"])
  func `the machine's resolver finds out what a loopback's other spellings mean`(_ host: String) async throws {
    let addresses = try await DestinationGuard.system(host)
    #expect(!addresses.isEmpty)
    #expect(addresses.allSatisfy { !$0.address.isPublic })
  }

  @Test func `a name that changes between the look and the call gains nothing`() async throws {
    let lookups = Lookups()
    let post = try await Post(
      destinations: DestinationGuard(allowsPrivate: false) { _ in
        let text = lookups.next() == 1 ? "93.184.215.14" : "127.0.0.1"
        return [(try address(text), text)]
      })
    try await post.pays()
    let guarding = DestinationGuard(allowsPrivate: false) { _ in [(try address("93.184.215.14"), "93.184.215.14")] }
    let destination = try await guarding.destination(Post.url)
    #expect(destination.address == "93.184.215.14")
    #expect(destination.host == "shop.example")
    try await post.dispatcher.round()
    #expect(lookups.count == 1)
    #expect(post.server.requests.count == 3)
  }

  @Test func `each call of what a merchant names is checked again, and goes to the address that was checked`()
    async throws
  {
    let (lookups, opened) = (Lookups(), Lookups())
    let guarding = DestinationGuard(allowsPrivate: false) { _ in
      let text = lookups.next() == 1 ? "93.184.215.14" : "127.0.0.1"
      return [(try address(text), text)]
    }
    let sender = guarding.sender(
      over: DeliveryNetwork { destination in
        #expect(destination.address == "93.184.215.14" && opened.next() == 1)
        return .init(HTTPSender { _, _ in InboundResponse(status: 204) })
      })
    let request = OutboundRequest(method: "GET", url: "https://shop.example/prices")
    #expect(try await sender.send(request, TestRun.whole).status == 204)
    await #expect(throws: TransportError.notSent(DestinationRefusal.privateAddress("shop.example").words)) {
      try await sender.send(request, TestRun.whole)
    }
    #expect(opened.count == 1)
  }

  @Test func `a resolver that does not answer holds nobody up`() async throws {
    let guarding = DestinationGuard(allowsPrivate: false) { _ in
      for await _ in AsyncStream<Void>.makeStream().stream {}
      return []
    }
    let sender = guarding.sender(over: DeliveryNetwork { _ in throw TransportError.timedOut })
    await #expect(throws: TransportError.timedOut) {
      try await sender.send(OutboundRequest(method: "GET", url: "https://shop.example/"), .milliseconds(1))
    }
  }

  @Test func `a private destination is tried and fails like any other, and nothing leaves`() async throws {
    let post = try await Post(
      destinations: DestinationGuard(allowsPrivate: false) { _ in [(try address("127.0.0.1"), "127.0.0.1")] })
    try await post.pays()
    try await post.dispatcher.round()
    #expect(post.server.requests.isEmpty)
    let waiting = try await WebhookDispatcher.deliveries(.waiting, in: post.database)
    #expect(waiting.contains { $0.result?.contains("private network") == true })
  }
}

private final class Lookups: Sendable {
  private let made = Mutex(0)

  var count: Int { made.withLock { $0 } }

  func next() -> Int {
    made.withLock {
      $0 += 1
      return $0
    }
  }
}

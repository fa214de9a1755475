import HTTPTransport
import Settings
import Testing

@Suite struct `The address of a caller` {
  private static let ranges = ["10.0.0.0/8", "fd00::/8"].compactMap { NetworkRange($0) }

  @Test(arguments: [
    // From a trusted proxy, as it says.
    ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"), ("::ffff:10.0.0.1", ["203.0.113.9:4711"], "203.0.113.9"),
    ("fd00::1", ["2001:db8::9"], "2001:db8::9"), ("fd00::1", ["[2001:db8::9]:4711"], "2001:db8::9"),
    // The last one that is no trusted proxy's; what stands before it anybody wrote.
    ("10.0.0.1", ["192.0.2.66, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
    ("10.0.0.1", ["192.0.2.66", "203.0.113.9", "10.0.0.2"], "203.0.113.9"),
    ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
    // From somebody else, or not readable.
    ("192.0.2.1", ["203.0.113.9"], "192.0.2.1"), ("10.0.0.1", [], "10.0.0.1"),
    ("10.0.0.1", ["203.0.113.9, unknown"], "10.0.0.1"),
    // A mark that joins with the comma that the proxy appends, and what is no port.
    ("10.0.0.1", ["6.6.6.6:\u{600}, 203.0.113.9"], "203.0.113.9"),
    ("10.0.0.1", ["6.6.6.6:\u{600}, 10.0.0.2"], "10.0.0.2"),
    ("10.0.0.1", ["6.6.6.6:, 203.0.113.9:x"], "10.0.0.1"), ("local", ["203.0.113.9"], "local"),
  ])
  func `is what trusted proxies say, and else the connection's`(peer: String, said: [String], caller: String) {
    #expect(TrustedProxies(Self.ranges).caller(at: peer, said: said) == caller)
  }

  @Test(arguments: [
    ("10.0.0.1", ["for=203.0.113.9;proto=https"], "203.0.113.9"),
    ("10.0.0.1", ["For=\"[2001:db8::9]:4711\";by=10.0.0.1"], "2001:db8::9"),
    ("10.0.0.1", ["for=192.0.2.66, for=203.0.113.9", "for=10.0.0.2"], "203.0.113.9"),
    ("192.0.2.1", ["for=203.0.113.9"], "192.0.2.1"), ("10.0.0.1", ["for=_hidden"], "10.0.0.1"),
    ("10.0.0.1", ["proto=https"], "10.0.0.1"), ("10.0.0.1", ["for=6.6.6.6;\u{600}, for=203.0.113.9"], "203.0.113.9"),
    ("10.0.0.1", ["for=6.6.6.6;\u{600}"], "10.0.0.1"),
  ])
  func `is read from Forwarded where the proxies write that`(peer: String, said: [String], caller: String) {
    #expect(TrustedProxies(Self.ranges, writing: .forwarded).caller(at: peer, said: said) == caller)
  }

  @Test func `is the connection's where no proxy is named`() {
    #expect(TrustedProxies().caller(at: "127.0.0.1", said: ["203.0.113.9"]) == "127.0.0.1")
  }
}

import AppleSandbox
import HTTPTransport
import StrictJSON
import TenderTesting
import Testing

/// DNS rebinding: a page whose own name was made to lead to this machine calls the sandbox as its own server.
@Suite struct `The sandbox's own port` {
  private static let foreign = [
    "evil.example:8402", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example",
    "[::1].evil.example.", "2130706433", "10.0.0.1:8402", "localhost\u{301}",
  ]
  private static let paths = ["/portal/merchants", "/sandbox/state", "/paired/1/confirmation", "/"]

  @Test func `refuses portal, management and pages under another machine's name`() async throws {
    try await ListeningSandbox.run { sandbox in
      for host in Self.foreign {
        for path in Self.paths {
          let answer = try await Self.get(path, sandbox, host: host)
          // The HTTP library refuses what is no host at all.
          #expect(answer.status == 403 || answer.status == 400, "\(host) \(path): \(answer.status)")
        }
      }
      let portal = try await Self.get("/portal/merchants", sandbox, host: "evil.example:8402")
      #expect(try JSONReader.read(portal.body)["code"] == "host_refused")
    }
  }

  @Test func `answers under every name of this machine`() async throws {
    try await ListeningSandbox.run { sandbox in
      let port = sandbox.addresses.port
      for host in ["localhost", "LOCALHOST:1", "shop.localhost:\(port)", "127.0.0.1:\(port)", "127.8.0.1", "[::1]:1"] {
        for path in ["/portal/merchants", "/sandbox/state", "/"] {
          let answer = try await Self.get(path, sandbox, host: host)
          #expect(answer.status == 200, "\(host) \(path)")
        }
      }
    }
  }

  private static func get(_ path: String, _ sandbox: ListeningSandbox, host: String) async throws -> InboundResponse {
    let client = try LiveHTTPClient()
    let request = OutboundRequest(
      method: "GET", url: sandbox.addresses.url + path, headers: [.init("Host", host)])
    let answer: Result<InboundResponse, any Error>
    do { answer = .success(try await client.sender.send(request, TestRun.whole)) } catch { answer = .failure(error) }
    try await client.shutdown()
    return try answer.get()
  }
}

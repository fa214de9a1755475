import Foundation
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `A server that is told to end` {
  @Test func `says so to load balancers, takes calls, and ends kept connections with a response`() async throws {
    let system = try await TestSystem.shared.value
    let served = try await ServedTender(system, settings: "drain:\n  seconds: 600\n")
    defer { served.end() }
    let kept = try RawConnection.Shared(port: served.port)
    let before = try await Self.answer(of: kept)
    #expect(before.status == 200 && !before.headers.contains("connection: close"))
    served.process.signal(SIGTERM)
    let refusal = try await waitFor(
      "an answer to /readyz that is not 200",
      { try await Self.answer("/readyz", of: RawConnection.Shared(port: served.port)) }, until: { $0.status != 200 })
    #expect(refusal.status == 503 && refusal.body["code"] == "shutting_down")
    let health = try await Self.answer(of: RawConnection.Shared(port: served.port))
    #expect(health.status == 200)
    let last = try await RawConnection.onThread {
      try kept.value.send("GET /healthz HTTP/1.1\nHost: localhost\n\n")
      return try kept.value.answersUntilTheEnd()
    }
    #expect(last.map(\.status) == [200])
    #expect(last[0].headers.contains("connection: close"))
  }

  @Test func `ends by itself, without an error`() async throws {
    let served = try await ServedTender(try await TestSystem.shared.value)
    defer { served.end() }
    served.process.signal(SIGTERM)
    #expect(await served.process.end() == 0)
    #expect(try served.lines(at: "error") == [])
  }

  private static func answer(
    _ path: String = "/healthz", of connection: RawConnection.Shared
  ) async throws -> RawConnection.Answer {
    try await RawConnection.onThread {
      try connection.value.send("GET \(path) HTTP/1.1\nHost: localhost\n\n")
      return try connection.value.answers(1)[0]
    }
  }
}

@Suite struct `Sockets that a server is started with` {
  private static func variables(_ names: String, pid: pid_t = getpid()) -> [String: String] {
    ["LISTEN_PID": "\(pid)", "LISTEN_FDS": "1", "LISTEN_FDNAMES": names]
  }

  @Test func `are none when they are meant for another process, or not named`() throws {
    #expect(try InheritedSockets.take(Self.variables("http", pid: 1)).isEmpty)
    #expect(try InheritedSockets.take([:]).isEmpty)
  }

  @Test func `are refused until they listen, and by a name that no listener has`() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    func refusal(_ name: String) -> String? {
      #expect(throws: ConfigurationError.self) { try InheritedSockets.take(Self.variables(name), first: descriptor) }?
        .reason
    }
    #expect(refusal("http")?.contains("does not listen") == true)
    #expect(listen(descriptor, 1) == 0)
    for name in ["http", "unknown", ""] {
      #expect(try InheritedSockets.take(Self.variables(name), first: descriptor)[.http] == descriptor)
    }
    #expect(refusal("ftp")?.contains("ftp is no listener") == true)
  }

  @Test func `are refused for a listener that the configuration does not have`() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    #expect(listen(descriptor, 1) == 0)
    var configuration = ServerConfiguration(
      environment: .simulated, directory: ".", host: "127.0.0.1", port: 0, sandboxURL: nil,
      acquirer: .init(connector: "sandbox", baseURL: "http://localhost:8402", apiKey: "none"))
    for (name, key) in [("office", "backOffice.port"), ("metrics", "metrics.port")] {
      let sockets = try InheritedSockets.take(Self.variables(name), first: descriptor)
      let error = #expect(throws: ConfigurationError.self) { try sockets.check(configuration) }
      #expect(error?.key == key)
      (configuration.office.port, configuration.metricsPort) = (8_403, 8_404)
      try sockets.check(configuration)
      (configuration.office.port, configuration.metricsPort) = (nil, nil)
    }
  }
}

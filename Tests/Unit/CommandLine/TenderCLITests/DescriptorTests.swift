import Foundation
import TenderTesting
import Testing

/// `tender serve` in a process that may open 160 files.
@Suite(.serialized) struct `A server that may open 160 files` {
  @Test func `answers while more connections are opened than it has files, and does not spin`() async throws {
    try await Self.serving { server, port, _ in
      let idle = try (0..<200).map { _ in try Connection(port) }
      for _ in 0..<10 { #expect(try Connection(port).asksForHealth() == "HTTP/1.1 200 OK") }
      try await ProcessorTime.untilRest(of: server)
      #expect(idle.count == 200)
    }
  }

  /// The limit is lowered from outside below what is open, so that no limit of connections can help.
  ///
  /// On a busy machine libdispatch ends such a process by SIGILL and without a word: it counts its working threads by
  /// files in /proc, and takes one that it cannot open for a thread that has ended
  /// (`_dispatch_workq_count_runnable_workers`).
  @Test func `pauses when there are no files left, and goes on when there are`() async throws {
    try await Self.serving { server, port, program in
      do {
        try await Self.pauses(server, port, program)
      } catch {
        let isDispatch = await Self.hasEndedSilently(server, program)
        try withKnownIssue("libdispatch cannot count its threads") {
          throw error
        } when: {
          isDispatch
        }
      }
    }
  }

  private static func pauses(_ server: pid_t, _ port: Int, _ program: RunningProgram) async throws {
    let kept = try Connection(port)
    try #require(try kept.asksForHealth() == "HTTP/1.1 200 OK")
    try limitFiles(of: server, to: 8)
    let waiting = try Connection(port)
    try await program.wait(for: "accepts no connections for a moment")
    try await ProcessorTime.untilRest(of: server)
    try limitFiles(of: server, to: 160)
    try #require(try waiting.asksForHealth() == "HTTP/1.1 200 OK")
  }

  /// By SIGILL, with nothing said; Swift's own traps print a line. `timeout` passes the signal on.
  private static func hasEndedSilently(_ server: pid_t, _ program: RunningProgram) async -> Bool {
    guard kill(server, 0) != 0 else { return false }
    return await program.end() == 128 + SIGILL && !program.lines.contains { $0.contains("Fatal error") }
  }

  private static func serving(
    _ body: (_ server: pid_t, _ port: Int, _ program: RunningProgram) async throws -> Void
  ) async throws {
    let port = try FreePorts.row(of: 2)
    let workshop = try Workshop(variables: ["PORT": "\(port)", "SANDBOX": "http://localhost:\(port + 1)"])
    let sandbox = "tender-sandbox sandbox --port \(port + 1)"
    try await workshop.with(sandbox, sign: "gateway") { _ in
      let serve =
        "sh -c 'ulimit -n 160; echo $$ > pid; mkdir -p .tender/merchants; "
        + "TENDER_SANDBOX_URL=$SANDBOX exec tender serve --port $PORT'"
      try await workshop.with(serve, sign: "tender serves simulated") { program in
        let text = try workshop.text("pid").split(separator: "\n")[0]
        try await body(try #require(pid_t(text)), port, program)
      }
    }
  }

  /// Sets the soft limit of another process.
  private static func limitFiles(of process: pid_t, to count: Int) throws {
    let answer = try ChildProcess.run(["prlimit", "--pid", "\(process)", "--nofile=\(count):160"])
    try #require(answer.status == 0)
  }
}

@Suite struct `A program that starts` {
  @Test func `answers every call of which it has taken the connection`() async throws {
    for _ in 0..<3 {
      let port = try FreePorts.row(of: 2)
      let workshop = try Workshop(variables: ["PORT": "\(port)"])
      let program = try RunningProgram("exec tender-sandbox sandbox --port $PORT", in: workshop)
      #expect(try await Self.firstAnswer(port).hasPrefix("HTTP/1.1 "))
      await program.kill()
    }
  }

  /// Calls again and again, until a connection is taken.
  private static func firstAnswer(_ port: Int) async throws -> String {
    while true {
      do { return try Connection(port).asksForHealth() } catch let refused as Connection.NotConnected {
        guard !TestRun.isOver else { throw refused }
        await Task.yield()
      }
    }
  }
}

/// A connection that is opened at once and sends nothing at first.
private final class Connection: Sendable {
  private let descriptor: Int32

  struct NotConnected: Error { let code: Int32 }

  init(_ port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw NotConnected(code: errno) }
  }

  deinit { close(descriptor) }

  /// The first line of the answer; empty where there is none.
  func asksForHealth() throws -> String {
    let request = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return "" }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)).prefix { $0 != 0x0D }, as: UTF8.self)
  }
}

/// What a process has used of the processors, in user and system mode.
private enum ProcessorTime {
  static func of(_ process: pid_t) throws -> Duration {
    let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    let fields = try #require(text.split(separator: ")").last).split(separator: " ")
    let ticks = try #require(Int(fields[11])) + #require(Int(fields[12]))
    return .milliseconds(ticks * 1_000 / sysconf(Int32(_SC_CLK_TCK)))
  }

  /// Waits for a quarter of a second in which a process does next to nothing. One that spins uses all the time that it
  /// gets, so it never comes to rest.
  static func untilRest(of process: pid_t) async throws {
    try await waitFor("the processor time of a server that rests") {
      let before = try of(process)
      try await Task.sleep(for: .milliseconds(250))
      return try of(process) - before
    } until: {
      $0 < .milliseconds(50)
    }
  }
}

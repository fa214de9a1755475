import CommandSupport
import Foundation
import HTTPTransport
import Logging
import Mail
import ServiceLifecycle
import Settings
import TenderPayments
import TenderServer

/// The demo on PostgreSQL: its own server is the first node, a second one is a process of its own that may be killed, and
/// HAProxy sends each call to one of them.
struct DemoNodes: Sendable {
  /// Where shops and browsers call.
  let port: Int
  let directory: String
  /// The address of the database.
  let store: String

  var firstPort: Int { port + 7 }
  var secondPort: Int { port + 8 }

  private static let programs = ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy", "/opt/homebrew/bin/haproxy"]
  private var haproxy: String? { Self.programs.first { FileManager.default.isExecutableFile(atPath: $0) } }

  /// Beside this program. The name may have been found on the PATH; the process knows its own file.
  private static let server = URL(fileURLWithPath: Bundle.main.executablePath ?? CommandLine.arguments[0])
    .deletingLastPathComponent().appending(path: "tender").path

  /// Both servers' programs, and what stands before them.
  func requirePrograms() throws {
    _ = try balancerProgram()
    guard FileManager.default.isExecutableFile(atPath: Self.server) else {
      throw MistakenCall("--store runs a second server, and there is no program \(Self.server)")
    }
  }

  private func balancerProgram() throws -> String {
    guard let haproxy else {
      throw MistakenCall("--store needs HAProxy in front of both servers; Debian's package is haproxy")
    }
    return haproxy
  }

  /// The settings of the first node: what the demo has, on the database and behind the balancer.
  func first(_ demo: ServerConfiguration) -> ServerConfiguration {
    var node = demo
    node.port = firstPort
    node.storeURL = store
    return node
  }

  func balancer(_ logger: Logger) throws -> some Service {
    let settings = directory + "/haproxy.cfg"
    try write(balancing, to: settings)
    return ChildProgram(path: try balancerProgram(), arguments: ["-db", "-q", "-f", settings], logger: logger)
  }

  /// Waits at most ten seconds.
  func balancerIsUp(_ sender: HTTPSender) async throws {
    let call = OutboundRequest(method: "GET", url: "http://localhost:\(port)/readyz", headers: [], body: [])
    for _ in 0..<100 {
      if let answer = try? await sender.send(call, .seconds(1)), answer.status == 200 { return }
      try await Task.sleep(for: .milliseconds(100))
    }
    throw MistakenCall("HAProxy does not answer on port \(port)")
  }

  /// - Parameter first: the first node's settings. The second one has its directory, and so its keys.
  func second(beside first: ServerConfiguration, _ logger: Logger) throws -> some Service {
    let settings = directory + "/node2.yaml"
    try write(secondNode(first), to: settings)
    return ChildProgram(path: Self.server, arguments: ["serve", "--config", settings], logger: logger)
  }

  /// It has the password of the simulated mail server.
  private func write(_ text: String, to path: String) throws {
    guard
      FileManager.default.createFile(
        atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
    else { throw MistakenCall("\(path) cannot be written") }
  }

  private func secondNode(_ first: ServerConfiguration) -> String {
    """
    port: \(secondPort)
    publicURL: \(first.publicURL)
    directory: \(absolute(directory))
    sandboxURL: \(first.sandboxURL ?? "")
    store:
      url: \(store)
    administration:
      socket: \(absolute(directory))/node2.sock
    platform:
      directory: \(absolute(first.platformDirectory ?? directory))
    webhooks:
      allowPrivateAddresses: true
    mail:
      host: \(first.mail.host ?? "")
      port: \(first.mail.port)
      user: \(first.mail.user ?? "")
      password: \(first.mail.password ?? "")
      rootsFile: \(absolute(first.mail.rootsFile ?? ""))
      from: \(first.mail.from?.text ?? "")
      recipients: [\(first.mail.recipients.map(\.text).joined(separator: ", "))]

    """
  }

  /// A call whose connection is refused goes to the other server. One that was cut is answered with an error, because the
  /// server may have done it: page and merchant ask again.
  private var balancing: String {
    """
    defaults
      mode http
      timeout connect 1s
      timeout client 90s
      timeout server 90s
      retries 2
      retry-on conn-failure
      option redispatch 1
    listen demo
      bind 127.0.0.1:\(port)
      balance roundrobin
      option httpchk
      http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost
      default-server check inter 500ms fall 1 rise 1
      server node1 127.0.0.1:\(firstPort)
      server node2 127.0.0.1:\(secondPort)

    """
  }

  private func absolute(_ path: String) -> String { URL(fileURLWithPath: path).path }
}

/// A program that runs beside this one, and is started again five seconds after it ended.
struct ChildProgram: Service {
  let path: String
  let arguments: [String]
  let logger: Logger

  func run() async throws {
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      let status = try await runOnce()
      guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
      logger.warning("\(path) \(arguments.joined(separator: " ")) ended with \(status); it starts again in 5 s")
      try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(5)) }
    }
  }

  private func runOnce() async throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    // The demo's own words stay readable.
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    let ended = OneTimeValue<Int32>()
    process.terminationHandler = { ended.set($0.terminationStatus) }
    try process.run()
    let id = process.processIdentifier
    return try await withGracefulShutdownHandler {
      try await withTaskCancellationHandler {
        // Waited for without the task's cancellation, so that none is left behind.
        try await Task.detached { try await ended.value }.value
      } onCancel: {
        kill(id, SIGTERM)
      }
    } onGracefulShutdown: {
      kill(id, SIGTERM)
    }
  }
}

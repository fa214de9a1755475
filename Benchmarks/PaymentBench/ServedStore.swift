import AppleSandbox
import Foundation
import HTTPTransport
import LoadGenerator
import TenderTesting

/// A `tender serve` in a process of its own, with a store of its own, and what a run needs of it.
struct ServedStore: Sendable {
  let process: ChildProcess
  /// From the start of the process to the line that says that it serves.
  let start: Duration
  private let path: String
  let url: String
  let port: Int
  let generator: LoadGenerator
  /// Trusts the server's certificate, where it has one.
  let sender: HTTPSender

  /// - Parameter name: the store's folder, below the environment's directory.
  static func open(
    _ environment: BenchEnvironment, _ name: String, binary: String, _ options: ServerOptions = ServerOptions()
  ) async throws -> ServedStore {
    let path = "\(environment.directory)/\(name)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try configuration(environment, path, options).write(
      toFile: path + "/tender.yaml", atomically: true, encoding: .utf8)
    let (log, began) = (path + "/log", ContinuousClock.now)
    let process = try ChildProcess([binary, "serve", "--config", path + "/tender.yaml", "--port", "0"], output: log)
    try "\(process.id)".write(toFile: path + "/pid", atomically: true, encoding: .utf8)
    let port = try await port(in: log, of: process)
    let start = ContinuousClock.now - began
    let client = try options.client(environment.sender)
    return ServedStore(process, start, path, port, options, client)
  }

  /// A second server on the same database, which begins with the first one's keys.
  func another(
    _ environment: BenchEnvironment, _ name: String, binary: String, _ options: ServerOptions
  ) async throws -> ServedStore {
    let other = "\(environment.directory)/\(name)"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    for key in ["guest-token.key", "fingerprint.key"] {
      try FileManager.default.copyItem(atPath: "\(path)/\(key)", toPath: "\(other)/\(key)")
    }
    return try await Self.open(environment, name, binary: binary, options)
  }

  private init(
    _ process: ChildProcess, _ start: Duration, _ path: String, _ port: Int, _ options: ServerOptions,
    _ sender: HTTPSender
  ) {
    (self.process, self.start, self.path, self.port, self.sender) = (process, start, path, port, sender)
    url = "\(options.tls == nil ? "http" : "https")://127.0.0.1:\(port)"
    generator = LoadGenerator(port: port, tls: options.tls?.client)
  }

  private static func configuration(
    _ environment: BenchEnvironment, _ path: String, _ options: ServerOptions
  ) -> String {
    """
    directory: \(path)
    sandboxURL: \(environment.addresses.url)
    merchants:
      directory: \(options.merchants ?? environment.merchants)
    acquirer:
      baseURL: \(environment.acquirer.url)
    traces: false
    administration:
      socket: \(path)/tender.sock
    quotas:
      perKey: 0
      perMerchant: 0
    \(options.settings)

    """
  }

  /// The port that the server prints when it listens. It is looked for often, because the start is measured.
  private static func port(in log: String, of process: ChildProcess) async throws -> Int {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      for line in text.split(separator: "\n") where line.hasPrefix("tender serves") {
        if let port = line.split(separator: ":").last.flatMap({ Int($0) }) { return port }
      }
      guard process.isRunning else { throw BenchFailure("the server did not start: \(text)") }
      try await Task.sleep(for: .milliseconds(1))
    }
    throw BenchFailure("the server did not start within two minutes")
  }

  /// Durable commits since its start, each one flush of the disk.
  func commits() async throws -> Int { Int(try await metric("tender_store_commits")) }

  /// A figure without labels of the server's metrics.
  func metric(_ name: String) async throws -> Double {
    let socket = "\(path)/tender.sock".replacingOccurrences(of: "/", with: "%2F")
    let request = OutboundRequest(method: "GET", url: "http+unix://\(socket)/metrics", headers: [], body: [])
    let page = String(decoding: try await sender.send(request, .seconds(30)).body, as: UTF8.self)
    let line = page.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
    guard let value = line.flatMap({ Double($0.dropFirst(name.count + 1)) }) else {
      throw BenchFailure("the metrics page has no \(name)")
    }
    return value
  }

  /// What of its memory a process has resident, by the names of `/proc/PID/status`.
  enum Memory: String {
    /// With the pages of the program and its libraries, which the kernel can drop and read again.
    case all = "VmRSS"
    /// What it has written itself.
    case own = "RssAnon"
  }

  /// In bytes.
  func residentMemory(_ kind: Memory) throws -> Double {
    let status = try String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("\(kind.rawValue):") }
    guard let size = line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap({ Double($0) })
    else {
      throw BenchFailure("/proc/\(process.id)/status is not as expected")
    }
    return size * 1_024
  }

  func processorTime() throws -> Double { try ProcessorTime.of(process.id) }

  func close() async throws {
    try await generator.close()
    process.signal(SIGCONT)
    process.signal(SIGTERM)
    let killer = Task { [process] in
      try await Task.sleep(for: .seconds(40))
      process.signal(SIGKILL)
    }
    _ = await process.end()
    killer.cancel()
    try FileManager.default.removeItem(atPath: path + "/pid")
  }
}

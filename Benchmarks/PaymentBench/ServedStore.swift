import AppleSandbox
import Foundation
import HTTPTransport
import LoadGenerator
import TenderTesting

/// A `tender serve` in a process of its own, with a store of its own, and what a run needs of it.
struct ServedStore: Sendable {
  let process: ChildProcess
  private let path: String
  let url: String
  let port: Int
  let generator: LoadGenerator
  private let sender: HTTPSender

  /// - Parameters:
  ///   - name: the store's folder, below the environment's directory.
  ///   - store: the address of a PostgreSQL; nil for a file in the folder.
  static func open(
    _ environment: BenchEnvironment, _ name: String, binary: String, store: String? = nil
  ) async throws -> ServedStore {
    let path = "\(environment.directory)/\(name)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try configuration(environment, path, store).write(toFile: path + "/tender.yaml", atomically: true, encoding: .utf8)
    let log = path + "/log"
    let process = try ChildProcess([binary, "serve", "--config", path + "/tender.yaml", "--port", "0"], output: log)
    try "\(process.id)".write(toFile: path + "/pid", atomically: true, encoding: .utf8)
    let port = try await port(in: log, of: process)
    return ServedStore(process: process, path: path, port: port, sender: environment.sender)
  }

  /// One whose files are in memory, so that nothing waits for the disk.
  ///
  /// - Returns: nil when there is no folder in memory.
  static func inMemory(_ environment: BenchEnvironment, binary: String) async throws -> ServedStore? {
    guard FileManager.default.fileExists(atPath: environment.directory + "/memory") else { return nil }
    return try await open(environment, "memory", binary: binary)
  }

  /// A second server on the same database, which begins with the first one's keys.
  func another(
    _ environment: BenchEnvironment, _ name: String, binary: String, store: String
  ) async throws -> ServedStore {
    let other = "\(environment.directory)/\(name)"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    for key in ["guest-token.key", "fingerprint.key"] {
      try FileManager.default.copyItem(atPath: "\(path)/\(key)", toPath: "\(other)/\(key)")
    }
    return try await Self.open(environment, name, binary: binary, store: store)
  }

  private init(process: ChildProcess, path: String, port: Int, sender: HTTPSender) {
    self.path = path
    (self.process, self.port, self.sender) = (process, port, sender)
    url = "http://127.0.0.1:\(port)"
    generator = LoadGenerator(port: port)
  }

  private static func configuration(_ environment: BenchEnvironment, _ path: String, _ store: String?) -> String {
    """
    directory: \(path)
    sandboxURL: \(environment.addresses.url)
    merchants:
      directory: \(environment.directory)/merchants
    acquirer:
      baseURL: \(environment.acquirer.url)
    \(store.map { "store:\n  url: \($0)" } ?? "")
    administration:
      socket: \(path)/tender.sock
    quotas:
      perKey: 0
      perMerchant: 0

    """
  }

  /// The port that the server prints when it listens.
  private static func port(in log: String, of process: ChildProcess) async throws -> Int {
    for _ in 0..<1_200 {
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      for line in text.split(separator: "\n") where line.hasPrefix("tender serves") {
        if let port = line.split(separator: ":").last.flatMap({ Int($0) }) { return port }
      }
      guard process.isRunning else { throw BenchFailure("the server did not start: \(text)") }
      try await Task.sleep(for: .milliseconds(100))
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

import Foundation
import HTTPTransport
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// `tender serve` in a process of its own, with a store of its own, for the merchants of the system.
struct ServedTender: Sendable {
  let process: ChildProcess
  let port: Int
  let directory: String
  private let log: String

  /// - Parameters:
  ///   - files: how many it may open; nil for as many as the tests.
  ///   - merchants: where their folders are, in place of the system's.
  ///   - settings: more of them, YAML.
  init(
    _ system: TestSystem, files: Int? = nil, merchants: String? = nil, settings: String = ""
  ) async throws {
    directory = "\(system.directory)/served-\(RandomBytes.system.hex(4))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let file = directory + "/tender.yaml"
    try (Self.configuration(system, directory, merchants) + settings).write(
      toFile: file, atomically: true, encoding: .utf8)
    log = directory + "/log"
    let limit = files.map { ["prlimit", "--nofile=\($0)"] } ?? []
    (process, port) = try await Turn.ofMerchantsFolder.take { [log] in
      let process = try ChildProcess(
        limit + [try Self.program(), "serve", "--config", file, "--port", "0"],
        environment: ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TENDER") }, output: log)
      return (process, try await Self.port(in: log, of: process))
    }
  }

  struct NotStarted: Error { let log: String }

  var url: String { "http://127.0.0.1:\(port)" }

  /// The lines of its log at a level.
  func lines(at level: String) throws -> [String] {
    try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
      .filter { $0.contains("\"level\":\"\(level)\"") }
  }

  func end() { process.signal(SIGKILL) }

  private static func configuration(_ system: TestSystem, _ directory: String, _ merchants: String?) -> String {
    """
    environment: simulated
    directory: \(directory)
    sandboxURL: \(system.sandbox.base)
    merchants:
      directory: \(merchants ?? system.directory + "/merchants")
    platform:
      directory: \(system.directory)/platform
    acquirer:
      baseURL: \(system.sandbox.base)
    webhooks:
      allowPrivateAddresses: true

    """
  }

  /// It says on its first line where it listens.
  private static func port(in log: String, of process: ChildProcess) async throws -> Int {
    let text = try await waitFor(
      "the server's first line",
      {
        // In this order: a process that has ended has written all that it says.
        let isRunning = process.isRunning
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        guard isRunning else { throw NotStarted(log: text) }
        return text
      }, until: { $0.contains(/tender serves .*\n/) })
    return try #require(text.firstMatch(of: /tender serves .*:(\d+)/).flatMap { Int($0.output.1) }, "\(text)")
  }

  /// `TENDER`, or the program that was built together with these tests: it lies beside them.
  static func program() throws -> String {
    let places: [String?] = [
      ProcessInfo.processInfo.environment["TENDER"],
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "tender").path,
      FileManager.default.currentDirectoryPath + "/.build/debug/tender",
      FileManager.default.currentDirectoryPath + "/.build/release/tender",
    ]
    return try #require(places.compactMap(\.self).first { FileManager.default.isExecutableFile(atPath: $0) })
  }
}

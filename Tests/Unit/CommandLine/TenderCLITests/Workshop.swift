import Foundation
import TenderTesting
import Testing

/// A directory in which the built programs run as a user runs them: from a shell, by their names.
final class Workshop: Sendable {
  let path: String
  let variables: [String: String]

  /// - Parameter variables: are set for every command, as `$PORT`.
  init(variables: [String: String] = [:]) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "tender-cli-\(UUID().uuidString)").path
    self.variables = variables
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  struct Answer: Sendable {
    let exitCode: Int32
    let lines: [String]
  }

  /// For its owner alone, because some of the files are keys.
  func write(_ text: String, to name: String) throws {
    let mode = [FileAttributeKey.posixPermissions: 0o600]
    #expect(FileManager.default.createFile(atPath: "\(path)/\(name)", contents: Data(text.utf8), attributes: mode))
  }

  func text(_ name: String) throws -> String { try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }

  /// Runs a line of shell and waits for its end.
  func run(_ command: String) async throws -> Answer {
    let program = try RunningProgram(command, in: self)
    let code = await program.end()
    return Answer(exitCode: code, lines: program.lines)
  }

  /// Starts a program that runs until it is stopped, does something, and always stops it.
  ///
  /// - Parameter sign: is in the line that the program prints when it is ready.
  func with<R: Sendable>(
    _ command: String, sign: String, _ body: (RunningProgram) async throws -> R
  ) async throws -> R {
    let program = try RunningProgram("exec " + command, in: self)
    do {
      try await program.wait(for: sign)
      let result = try await body(program)
      await program.kill()
      return result
    } catch {
      await program.kill()
      throw error
    }
  }
}

/// A program under test. It ends within a day, even when the tests are killed.
final class RunningProgram: Sendable {
  private let process: ChildProcess
  private let output: String

  init(_ command: String, in place: Workshop) throws {
    output = "\(place.path)/.output-\(UUID().uuidString)"
    process = try ChildProcess(
      ["/usr/bin/env", "-C", place.path, "timeout", "\(TestRun.whole.components.seconds)", "sh", "-c", command],
      environment: Self.environment(place.variables), output: output)
  }

  var lines: [String] {
    let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  /// The exit code, when the program has ended.
  func end() async -> Int32 { await process.end() }

  /// Waits until so many lines hold `sign`.
  func wait(for sign: String, times: Int = 1) async throws {
    try await waitFor("\(times) × \(sign)") {
      // In this order: a program that has ended has written all of its lines.
      let isRunning = process.isRunning
      return (lines: lines, isRunning: isRunning)
    } until: { program in
      if program.lines.count(where: { $0.contains(sign) }) >= times { return true }
      guard program.isRunning else { throw NotReady(output: program.lines) }
      return false
    }
  }

  /// Asks it to stop, as a terminal or a service manager does, and returns its exit code.
  func terminate() async -> Int32 {
    process.signal(SIGTERM)
    return await end()
  }

  /// Ends it and all that it started, without a wait for what it still does: what a test claims about a program's end,
  /// it asks ``terminate()``.
  func kill() async {
    process.signal(SIGKILL, toGroup: true)
    _ = await end()
  }

  struct NotReady: Error { let output: [String] }

  private static func environment(_ variables: [String: String]) throws -> [String: String] {
    let tender = try Self.tender.get()
    var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TENDER") }
    environment["PATH"] = tender.deletingLastPathComponent().path + ":/usr/local/bin:/usr/bin:/bin"
    environment["SWIFT_BACKTRACE"] = "enable=no"
    return environment.merging(variables) { _, ours in ours }
  }

  /// `TENDER`, or the program that was built together with these tests: it lies beside them. So does tender-sandbox.
  private static let tender = Result {
    #if DEBUG
      let configuration = "debug"
    #else
      let configuration = "release"
    #endif
    let places = [
      ProcessInfo.processInfo.environment["TENDER"].map { URL(filePath: $0) },
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "tender"),
      Repository.url(".build/\(configuration)/tender"),
    ]
    return try #require(
      places.compactMap { $0 }.first { FileManager.default.isExecutableFile(atPath: $0.path) },
      "the program is not built: swift build")
  }
}

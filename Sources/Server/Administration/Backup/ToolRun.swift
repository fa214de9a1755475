import Foundation
import HTTPTransport
import Synchronization
import TenderPayments

/// One run of a program that a backup needs: `age`, `pg_dump`, `pg_restore`. No shell reads its words.
struct ToolRun: Sendable {
  /// What a program may print: the keys of a store, or the list of its migrations.
  private static let mostOutput = 64 << 20

  let program: String
  let arguments: [String]
  /// Beside the environment of this process.
  var environment: [String: String] = [:]
  /// For the program to read; nothing by default.
  var input: [UInt8] = []

  /// Runs the program to its end, on threads of its own.
  ///
  /// - Returns: what it printed.
  /// - Throws: ``CallFailure`` with the end of what it said, when it cannot be started or fails.
  @discardableResult
  func run() async throws -> [UInt8] {
    try await withCheckedThrowingContinuation { answer in
      Thread.detachNewThread { answer.resume(with: Result { try finish() }) }
    }
  }

  private func finish() throws -> [UInt8] {
    guard let path = Self.path(of: program) else {
      throw CallFailure("the program \(program) is not installed: apt-get install \(Self.package(of: program))")
    }
    let (process, source, output, errors) = (Process(), Pipe(), Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    (process.standardInput, process.standardOutput, process.standardError) = (source, output, errors)
    // A program that ends before it has read all would end this one.
    signal(SIGPIPE, SIG_IGN)
    do { try process.run() } catch {
      throw CallFailure("\(program) cannot be started: \(error.localizedDescription)")
    }
    let words = Mutex<[UInt8]>([])
    let reading = DispatchGroup()
    reading.enter()
    Thread.detachNewThread {
      words.withLock { $0 = Array(errors.fileHandleForReading.readDataToEndOfFile()) }
      reading.leave()
    }
    reading.enter()
    Thread.detachNewThread { [input] in
      try? source.fileHandleForWriting.write(contentsOf: Data(input))
      try? source.fileHandleForWriting.close()
      reading.leave()
    }
    let printed = try? output.fileHandleForReading.read(upToCount: Self.mostOutput)
    try? output.fileHandleForReading.close()
    reading.wait()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      let said = words.withLock { String(decoding: $0.suffix(1_000), as: UTF8.self) }
      let lines = said.split(whereSeparator: \.isNewline).joined(separator: "; ")
      throw CallFailure("\(program) failed: \(lines.isEmpty ? "code \(process.terminationStatus)" : lines)")
    }
    return Array(printed ?? Data())
  }

  private static func path(of program: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Debian's package of a program.
  private static func package(of program: String) -> String { program == "age" ? "age" : "postgresql-client" }
}

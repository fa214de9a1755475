import Foundation
import HTTPTransport
import Storage
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
  /// A file for what it prints, which is not there yet; nil to return it.
  var output: String?
  /// Whether the program runs as the user who has called, where the command works as the owner of a folder.
  var isCaller = false

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
    let (process, source, words, errors) = (Process(), Pipe(), Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    (process.standardInput, process.standardOutput, process.standardError) = (source, words, errors)
    // A program that ends before it has read all would end this one.
    signal(SIGPIPE, SIG_IGN)
    let file = try output.map(Self.make)
    if let file { process.standardOutput = file }
    do { try isCaller ? FolderOwner.asCaller(process.run) : process.run() } catch {
      throw CallFailure("\(program) cannot be started: \(error.localizedDescription)")
    }
    let problems = Mutex<[UInt8]>([])
    let reading = DispatchGroup()
    reading.enter()
    Thread.detachNewThread {
      problems.withLock { $0 = Array(errors.fileHandleForReading.readDataToEndOfFile()) }
      reading.leave()
    }
    reading.enter()
    Thread.detachNewThread { [input] in
      try? source.fileHandleForWriting.write(contentsOf: Data(input))
      try? source.fileHandleForWriting.close()
      reading.leave()
    }
    let printed = file == nil ? try? words.fileHandleForReading.read(upToCount: Self.mostOutput) : nil
    try? words.fileHandleForReading.close()
    try? file?.close()
    reading.wait()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      let said = problems.withLock { String(decoding: $0.suffix(1_000), as: UTF8.self) }
      let lines = said.split(whereSeparator: \.isNewline).joined(separator: "; ")
      throw CallFailure("\(program) failed: \(lines.isEmpty ? "code \(process.terminationStatus)" : lines)")
    }
    return Array(printed ?? Data())
  }

  /// Made here, so that the program opens nothing in a folder that may be another user's.
  private static func make(_ path: String) throws -> FileHandle {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw CallFailure("\(path) cannot be made: \(String(cString: strerror(errno)))") }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  private static func path(of program: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Debian's package of a program.
  private static func package(of program: String) -> String { program == "age" ? "age" : "postgresql-client" }
}

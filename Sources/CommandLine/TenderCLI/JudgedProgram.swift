import CommandSupport
import Foundation
import StrictJSON

/// Another reader of payment tokens, as a command that is started for each vector.
struct JudgedProgram: Sendable {
  private let command: [String]
  private let timeout: Duration

  init(_ command: [String], timeout: Duration) { (self.command, self.timeout) = (command, timeout) }

  /// What the reader does wrongly; nil when it does what is expected.
  ///
  /// - Parameter place: a folder for its input and output.
  func finding(about vector: VectorSuite.Vector, in place: URL) async throws -> Finding? {
    let (input, output) = (place.appending(path: "\(vector.number).in"), place.appending(path: "\(vector.number).out"))
    try Data(vector.call).write(to: input)
    try Data().write(to: output)
    let end = try await run(from: input, to: output)
    let isInvalid = vector.result == "invalid"
    switch end {
    case .exit(0) where isInvalid: return Finding(vector: vector, kind: .accepted, detail: nil)
    case .exit(0):
      return try matches(output, vector) ? nil : Finding(vector: vector, kind: .differs, detail: nil)
    case .exit(1) where vector.result == "valid": return Finding(vector: vector, kind: .refused, detail: nil)
    case .exit(1): return nil
    // env(1) says so: the command is not there, or cannot be started.
    case .exit(126), .exit(127): throw MistakenCall("\(command.first ?? "") cannot be run")
    case .exit, .signal, .late: return Finding(vector: vector, kind: .broken, detail: end.description)
    }
  }

  /// Compares as JSON: order, white space and the form of numbers may differ. A reader that prints nothing is believed.
  private func matches(_ output: URL, _ vector: VectorSuite.Vector) throws -> Bool {
    let printed = try Data(contentsOf: output)
    guard let expected = vector.paymentData, printed.contains(where: { $0 > 0x20 }) else { return true }
    guard let found = try? JSONSerialization.jsonObject(with: printed, options: .fragmentsAllowed) as? NSObject,
      let wanted = try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSObject
    else { return false }
    return found == wanted
  }

  private enum End: Sendable, CustomStringConvertible {
    case exit(Int32)
    case signal(Int32)
    case late

    var description: String {
      switch self {
      case .exit(let code): "exit code \(code)"
      case .signal(let number): "signal \(number)"
      case .late: "did not end"
      }
    }
  }

  private func run(from input: URL, to output: URL) async throws -> End {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.standardInput = try FileHandle(forReadingFrom: input)
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = FileHandle.nullDevice
    let (ends, continuation) = AsyncStream.makeStream(of: End.self)
    process.terminationHandler = { process in
      let status = process.terminationStatus
      continuation.yield(process.terminationReason == .exit ? .exit(status) : .signal(status))
      continuation.finish()
    }
    try process.run()
    let (identifier, timeout) = (process.processIdentifier, timeout)
    let watch = Task {
      try await Task.sleep(for: timeout)
      kill(identifier, SIGKILL)
      return true
    }
    var end = End.late
    for await found in ends { end = found }
    watch.cancel()
    let isLate = (try? await watch.value) ?? false
    return isLate ? .late : end
  }
}

import Foundation
import Synchronization
import TenderPayments

/// The program of `secrets.keyCommand`, which prints the keys of the store. No shell reads its words.
package struct KeyCommand: Sendable {
  /// More cannot be keys.
  private static let maximumBytes = 1 << 16
  private static let partBytes = 4_096

  /// The program's path, and its arguments.
  private let words: [String]
  private let timeout: Duration

  /// - Parameter timeout: how long the program may take.
  package init(_ words: [String], timeout: Duration = .seconds(10)) { (self.words, self.timeout) = (words, timeout) }

  /// What the program prints. It is waited for on a thread of its own, because tasks share theirs. The program runs once
  /// at a time, whoever asks for its keys.
  ///
  /// - Throws: ``ConfigurationError`` when it cannot be started, takes too long, prints too much, or fails.
  package func output() async throws -> String {
    try await Self.runs.withLock { runs in
      let known = runs[words] ?? SharedRuns<String>()
      runs[words] = known
      return known
    }.output { @Sendable in
      try await withCheckedThrowingContinuation { answer in
        Thread.detachNewThread { answer.resume(with: Result { try run() }) }
      }
    }
  }

  private static let runs = Mutex<[[String]: SharedRuns<String>]>([:])

  private func run() throws -> String {
    let (process, pipe, ended) = (Process(), Pipe(), DispatchSemaphore(value: 0))
    let deadline = Deadline.after(timeout)
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.terminationHandler = { _ in ended.signal() }
    do { try process.run() } catch {
      throw Self.failure("\(words[0]) cannot be started: \(error.localizedDescription)")
    }
    do {
      let bytes = try Self.read(pipe.fileHandleForReading.fileDescriptor, until: deadline)
      guard ended.wait(timeout: .now() + .milliseconds(deadline.milliseconds)) == .success else {
        throw Self.late
      }
      guard process.terminationStatus == 0, process.terminationReason == .exit,
        let text = String(validating: bytes, as: UTF8.self)
      else { throw Self.failure("the command ended with \(process.terminationStatus); it must print the keys") }
      return text
    } catch {
      // The program has not ended, or nobody wants its answer.
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
      throw error
    }
  }

  /// Reads to the end.
  private static func read(_ pipe: Int32, until deadline: Deadline) throws -> [UInt8] {
    var (bytes, part) = ([UInt8](), [UInt8](repeating: 0, count: partBytes))
    var descriptor = pollfd(fd: pipe, events: Int16(clamping: POLLIN), revents: 0)
    while true {
      let left = deadline.milliseconds
      guard left > 0 else { throw late }
      guard poll(&descriptor, 1, CInt(clamping: left)) > 0 else { continue }
      let size = Foundation.read(pipe, &part, partBytes)
      guard size >= 0 || errno == EINTR else { throw failure("what the command prints cannot be read: errno \(errno)") }
      guard size != 0 else { return bytes }
      bytes += part.prefix(max(size, 0))
      guard bytes.count <= maximumBytes else { throw failure("the command prints more than keys can be") }
    }
  }

  private static let late = failure("the command did not end in time")

  private static func failure(_ reason: String) -> ConfigurationError {
    ConfigurationError("secrets.keyCommand", reason)
  }
}

extension Deadline {
  /// What remains, in whole ones.
  fileprivate var milliseconds: Int { Int(remaining / .milliseconds(1)) }
}

package import Foundation
import Synchronization

/// A program that a test starts. It reads and writes files; its errors go to the output file.
///
/// Not Foundation's `Process`: it copies entries of `/proc/self/fd` beyond their end, which crashes the tests once
/// enough files are open.
package final class ChildProcess: Sendable {
  package let id: pid_t
  private let ending = Mutex<(code: Int32?, waiting: [CheckedContinuation<Int32, Never>])>((nil, []))

  package struct NotStarted: Error { public let code: Int32 }

  /// - Parameters:
  ///   - arguments: the program, searched in `PATH`, and its arguments.
  ///   - input: a file.
  ///   - output: a file, which is emptied first.
  package init(
    _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment,
    input: String = "/dev/null", output: String
  ) throws {
    id = try Self.spawn(arguments, environment, input, output)
    Thread.detachNewThread { self.finish(Self.waited(for: self.id)) }
  }

  /// Runs a program to its end. The code is 128 and the signal where one ended it.
  package static func run(
    _ arguments: [String], input: [UInt8] = []
  ) throws -> (status: Int32, output: [UInt8]) {
    let place = FileManager.default.temporaryDirectory.appending(path: "child-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    let (source, target) = (place.appending(path: "input"), place.appending(path: "output"))
    try Data(input).write(to: source)
    let child = try spawn(arguments, ProcessInfo.processInfo.environment, source.path, target.path)
    let status = waited(for: child)
    return (status, Array(try Data(contentsOf: target)))
  }

  package var isRunning: Bool { ending.withLock { $0.code == nil } }

  /// The exit code, when it has ended.
  package func end() async -> Int32 {
    await withCheckedContinuation { continuation in
      let code = ending.withLock { ending in
        if ending.code == nil { ending.waiting.append(continuation) }
        return ending.code
      }
      if let code { continuation.resume(returning: code) }
    }
  }

  /// Sends a signal to it, or to all of its group, while it runs.
  package func signal(_ number: Int32, toGroup: Bool = false) {
    ending.withLock { if $0.code == nil { kill(toGroup ? -id : id, number) } }
  }

  private func finish(_ code: Int32) {
    let waiting = ending.withLock { ending in
      ending.code = code
      defer { ending.waiting = [] }
      return ending.waiting
    }
    for continuation in waiting { continuation.resume(returning: code) }
  }
}

extension ChildProcess {
  private static func waited(for child: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : 128 + signal
  }

  private static func spawn(
    _ arguments: [String], _ environment: [String: String], _ input: String, _ output: String
  ) throws -> pid_t {
    var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    startAfresh(&attributes)
    var child: pid_t = 0
    let code = withCStrings(arguments) { words in
      withCStrings(environment.map { "\($0.key)=\($0.value)" }) { variables in
        posix_spawnp(&child, arguments[0], &actions, &attributes, words, variables)
      }
    }
    guard code == 0 else { throw NotStarted(code: code) }
    return child
  }

  /// Resets the signal mask, because a program inherits its parent thread's mask and the test threads block all
  /// signals: it would never receive SIGTERM. Starts a new process group.
  private static func startAfresh(_ attributes: inout posix_spawnattr_t) {
    var (none, usual) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigemptyset(&usual)
    for signal in [SIGPIPE, SIGTERM, SIGINT, SIGHUP] { sigaddset(&usual, signal) }
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &usual)
    let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETPGROUP)
    posix_spawnattr_setflags(&attributes, Int16(flags))
  }

  private static func withCStrings<R>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R
  ) -> R {
    let words = strings.map { strdup($0) }
    defer { for word in words { free(word) } }
    return body(words + [nil])
  }
}

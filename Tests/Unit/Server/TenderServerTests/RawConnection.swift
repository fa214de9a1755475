import Foundation
import StrictJSON

/// A connection on which is sent what a test wrote, byte for byte. It blocks the thread that uses it and needs no task:
/// what it receives was sent by the server's event loops alone, when nothing else can run.
struct RawConnection: ~Copyable {
  struct Answer: Sendable {
    let status: Int
    /// In lower case, as `name: value`.
    let headers: [String]
    let body: JSONValue
  }

  struct Trouble: Error { let words: String }

  /// One that several closures use, one after the other.
  final class Shared: Sendable {
    let value: RawConnection
    init(port: Int) throws { value = try RawConnection(port: port) }
    init(socket path: String) throws { value = try RawConnection(socket: path) }
  }

  private let descriptor: Int32

  /// - Parameter host: which of this machine's own addresses it comes from, 127.0.0.1 and on.
  init(port: Int, from host: UInt32 = 1) throws {
    let opened = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    descriptor = opened
    guard host == 1 || Self.with(host, 0, { bind(opened, $0, $1) }) == 0,
      Self.with(1, port, { connect(opened, $0, $1) }) == 0
    else { throw Trouble(words: "not connected: errno \(errno)") }
  }

  private static func with(_ host: UInt32, _ port: Int, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = (0x7F00_0000 + host).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { use($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  /// - Parameter path: of a socket of this machine.
  init(socket path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard connected == 0 else { throw Trouble(words: "not connected: errno \(errno)") }
  }

  deinit { close(descriptor) }

  /// - Parameter text: one request or more, with LF for CRLF.
  func send(_ text: String) throws {
    let bytes = Array(text.replacingOccurrences(of: "\n", with: "\r\n").utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw Trouble(words: "not sent") }
  }

  /// As many answers, in the order in which they came.
  func answers(_ count: Int) throws -> [Answer] {
    var (found, bytes) = ([Answer](), [UInt8]())
    while found.count < count {
      if let (answer, length) = Self.first(of: bytes) {
        found.append(answer)
        bytes.removeFirst(length)
      } else {
        bytes += try more()
      }
    }
    return found
  }

  /// Every answer until the server ends the connection.
  func answersUntilTheEnd() throws -> [Answer] {
    var (found, bytes) = ([Answer](), [UInt8]())
    while let piece = try? more() { bytes += piece }
    while let (answer, length) = Self.first(of: bytes) {
      found.append(answer)
      bytes.removeFirst(length)
    }
    return found
  }

  /// All that the server sends until it ends the connection.
  func textUntilTheEnd() throws -> String {
    var bytes = [UInt8]()
    while let piece = try? more() { bytes += piece }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Ends the connection in both directions: who reads from it sees its end.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// What is said to these calls, on a new connection.
  static func answers(_ count: Int, to calls: String, port: Int, from host: UInt32 = 1) async throws -> [Answer] {
    try await onThread {
      let connection = try RawConnection(port: port, from: host)
      try connection.send(calls)
      return try connection.answers(count)
    }
  }

  /// Runs what blocks on a thread that runs no tasks.
  static func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try body() }) }.start()
    }
  }

  private func more() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { throw Trouble(words: "the connection ended before the answer") }
    return Array(buffer.prefix(count))
  }

  private static func first(of bytes: [UInt8]) -> (Answer, length: Int)? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.range(of: "\r\n\r\n") else { return nil }
    let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
    let headers = lines.dropFirst().map { $0.lowercased() }
    let length = headers.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
    let head = text[..<end.upperBound].utf8.count
    guard bytes.count >= head + length else { return nil }
    let body = (try? JSONReader.read(Array(bytes[head..<head + length]))) ?? .null
    let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return (Answer(status: status, headers: headers.sorted(), body: body), head + length)
  }
}

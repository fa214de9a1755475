import Foundation
import Synchronization

/// An HTTP proxy on loopback that knows CONNECT alone.
///
/// Each connection has two threads, which block. They end with the connection.
package final class TestProxy: Sendable {
  /// What it does with a call.
  package enum Manner: Sendable {
    case connecting
    /// Refuses every call with this status.
    case refusing(Int)
    /// Ends the connection without an answer.
    case hangingUp
    /// Ends the connection before anything is asked.
    case closing
  }

  private struct State {
    var calls: [String] = []
    var manner = Manner.connecting
  }

  package let port: Int
  private let host: String
  private let login: String?
  private let places: [String: Int]
  private let state = Mutex(State())

  /// - Parameters:
  ///   - host: the address to listen on: `127.0.0.1` or `::1`.
  ///   - login: `user:password` that it wants; nil for none.
  ///   - places: the port of loopback that stands for a place, `provider.example:443`; it connects to no other.
  package init(on host: String = "127.0.0.1", login: String? = nil, places: [String: Int] = [:]) throws {
    (self.host, self.login, self.places) = (host, login, places)
    let listener = socket(host.contains(":") ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    port = try FreePorts.row(of: 1)
    guard Self.with(host, port, { bind(listener, $0, $1) == 0 && listen(listener, 64) == 0 }) else {
      throw POSIXError(.EADDRNOTAVAIL)
    }
    Thread { while true { self.serve(accept(listener, nil, nil)) } }.start()
  }

  /// What it was asked for, in order: `provider.example:443`.
  package var calls: [String] { state.withLock(\.calls) }

  package func behave(_ manner: Manner) { state.withLock { $0.manner = manner } }

  private func serve(_ client: Int32) {
    Thread {
      if case .closing = self.state.withLock(\.manner) { return Self.end(client) }
      guard let (target, login) = Self.readHead(client) else { return Self.end(client) }
      let manner = self.state.withLock { state in
        state.calls.append(target)
        return state.manner
      }
      switch manner {
      case .hangingUp, .closing: Self.end(client)
      case .refusing(let status): Self.refuse(client, status)
      case .connecting where login != self.login: Self.refuse(client, 407)
      case .connecting: self.connect(client, target)
      }
    }.start()
  }

  private func connect(_ client: Int32, _ target: String) {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard let port = places[target], Self.with("127.0.0.1", port, { Foundation.connect(server, $0, $1) == 0 }) else {
      close(server)
      return Self.refuse(client, 502)
    }
    Self.say(client, "HTTP/1.1 200 Connection established\r\n\r\n")
    let back = DispatchSemaphore(value: 0)
    Thread {
      Self.pass(from: server, to: client)
      back.signal()
    }.start()
    Self.pass(from: client, to: server)
    back.wait()
    close(server)
    close(client)
  }

  /// The target of CONNECT, and the user with the password.
  private static func readHead(_ client: Int32) -> (target: String, login: String?)? {
    var (head, byte) = ([UInt8](), UInt8(0))
    while head.suffix(4) != [13, 10, 13, 10] {
      guard head.count < 8_192, recv(client, &byte, 1, 0) == 1 else { return nil }
      head.append(byte)
    }
    let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count == 3, words[0] == "CONNECT" else { return nil }
    let sent = lines.first { $0.lowercased().hasPrefix("proxy-authorization: basic ") }?.split(separator: " ").last
    let login = sent.flatMap { Data(base64Encoded: String($0)) }.map { String(decoding: $0, as: UTF8.self) }
    return (String(words[1]), login)
  }

  private static func refuse(_ client: Int32, _ status: Int) {
    say(client, "HTTP/1.1 \(status) Refused\r\nProxy-Authenticate: Basic realm=\"test\"\r\nContent-Length: 0\r\n\r\n")
    end(client)
  }

  fileprivate static func say(_ client: Int32, _ text: String) {
    send(client, Array(text.utf8), text.utf8.count, Int32(MSG_NOSIGNAL))
  }

  private static func end(_ client: Int32) {
    shutdown(client, Int32(SHUT_RDWR))
    close(client)
  }

  private static func pass(from: Int32, to: Int32) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = recv(from, &buffer, buffer.count, 0), count > 0,
      send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count
    {}
    shutdown(from, Int32(SHUT_RDWR))
    shutdown(to, Int32(SHUT_RDWR))
  }

  fileprivate static func with(_ host: String, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool)
    -> Bool
  {
    if host.contains(":") {
      var address = sockaddr_in6()
      (address.sin6_family, address.sin6_port) = (sa_family_t(AF_INET6), in_port_t(port).bigEndian)
      inet_pton(AF_INET6, host, &address.sin6_addr)
      return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in6>.size)) }
      }
    }
    var address = sockaddr_in()
    (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), in_port_t(port).bigEndian)
    inet_pton(AF_INET, host, &address.sin_addr)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }
}

/// Answers every HTTP request on loopback with 204.
package final class AnsweringServer: Sendable {
  package let port: Int

  package init() throws {
    port = try FreePorts.row(of: 1)
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard TestProxy.with("127.0.0.1", port, { bind(listener, $0, $1) == 0 && listen(listener, 64) == 0 }) else {
      throw POSIXError(.EADDRNOTAVAIL)
    }
    Thread { while true { Self.answer(accept(listener, nil, nil)) } }.start()
  }

  private static func answer(_ client: Int32) {
    Thread {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while recv(client, &buffer, buffer.count, 0) > 0 { TestProxy.say(client, "HTTP/1.1 204 No Content\r\n\r\n") }
      close(client)
    }.start()
  }
}

import Foundation
import Synchronization

/// Stands between a node and its PostgreSQL. It ends a connection when the server has done a COMMIT, and keeps the answer.
///
/// Each connection has two threads, which block. They end with the connection.
package final class CuttingProxy: Sendable {
  private struct Plan {
    /// What the transaction sends whose COMMIT is not answered.
    var mark: [UInt8]?
    var staysDown = false
    var isDown = false
    var cuts = 0
    /// The sockets of connections that are open.
    var sockets: Set<Int32> = []
  }

  package let port: Int
  private let server: Int
  private let plan = Mutex(Plan())

  package init(to server: Int) throws {
    self.server = server
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.address(of: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    port = Int(in_port_t(bigEndian: address.sin_port))
    Thread { while true { self.serve(accept(listener, nil, nil)) } }.start()
  }

  /// The next transaction that sends this text, which no other may, is committed, and the node does not learn it.
  ///
  /// - Parameter staysDown: whether the database is out of reach from then on.
  package func cut(_ text: String, staysDown: Bool = false) {
    plan.withLock { ($0.mark, $0.staysDown) = (Array(text.utf8), staysDown) }
  }

  /// How often that has happened.
  package var cuts: Int { plan.withLock(\.cuts) }

  /// The database is in reach again.
  package func comeBack() { plan.withLock { $0.isDown = false } }

  private func serve(_ node: Int32) {
    let database = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.address(of: server)
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(database, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    let isOpen = plan.withLock { plan in
      guard isConnected, !plan.isDown else { return false }
      plan.sockets.formUnion([node, database])
      return true
    }
    guard isOpen else {
      close(node)
      close(database)
      return
    }
    let isMarked = Flag()
    Thread {
      var sent: [UInt8] = []
      self.pass(from: node, to: database) { bytes in
        sent = sent.suffix(256) + bytes
        if self.plan.withLock({ $0.mark.map { Self.holds(sent, $0) } ?? false }) { isMarked.raise() }
        return true
      }
    }.start()
    Thread {
      self.pass(from: database, to: node) { bytes in
        !(isMarked.isRaised && Self.holds(bytes, Self.committed) && self.cut())
      }
      self.plan.withLock { $0.sockets.subtract([node, database]) }
      close(node)
      close(database)
    }.start()
  }

  /// False when another connection was cut first.
  private func cut() -> Bool {
    plan.withLock { plan in
      guard plan.mark != nil else { return false }
      (plan.mark, plan.isDown, plan.cuts) = (nil, plan.staysDown, plan.cuts + 1)
      if plan.isDown { for socket in plan.sockets { shutdown(socket, Int32(SHUT_RDWR)) } }
      return true
    }
  }

  /// Ends both directions when one has ended, or `mayPass` says so.
  private func pass(from: Int32, to: Int32, _ mayPass: ([UInt8]) -> Bool) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(from, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      let bytes = Array(buffer.prefix(count))
      guard mayPass(bytes), send(to, bytes, count, Int32(MSG_NOSIGNAL)) == count else { break }
    }
    shutdown(from, Int32(SHUT_RDWR))
    shutdown(to, Int32(SHUT_RDWR))
  }

  /// `CommandComplete` of a COMMIT.
  private static let committed: [UInt8] = [0x43, 0, 0, 0, 11] + Array("COMMIT".utf8) + [0]

  private static func holds(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    bytes.count >= part.count
      && (0...bytes.count - part.count).contains { bytes[$0..<$0 + part.count].elementsEqual(part) }
  }

  private static func address(of port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private final class Flag: Sendable {
    private let state = Mutex(false)
    var isRaised: Bool { state.withLock(\.self) }
    func raise() { state.withLock { $0 = true } }
  }
}

extension EmptyDatabase {
  /// The address of this database through a proxy; only on PostgreSQL.
  package func address(through proxy: (Int) throws -> CuttingProxy) throws -> (address: String, proxy: CuttingProxy) {
    let address = try self.address
    guard let port = address.firstMatch(of: /127\.0\.0\.1:(\d+)\//).flatMap({ Int($0.output.1) }) else {
      throw CocoaError(.formatting)
    }
    let made = try proxy(port)
    return (address.replacing("127.0.0.1:\(port)/", with: "127.0.0.1:\(made.port)/"), made)
  }
}

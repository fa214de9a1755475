import Foundation
import Synchronization

/// Free TCP ports of 127.0.0.1, for programs that cannot listen on port 0 and print their port.
///
/// The ports lie below the range that the kernel gives to clients, so that no client is given one meanwhile.
package enum FreePorts {
  package struct NotFound: Error {}

  /// The first of `count` free ports in a row. Each stays free until a program listens on it.
  package static func row(of count: Int) throws -> Int {
    let bases = (0..<200).map { _ in Int.random(in: 2_000..<3_000) * 10 }
    return try given.withLock { given in
      guard let base = bases.first(where: { !given.contains($0) && ($0..<$0 + count).allSatisfy(isFree) }) else {
        throw NotFound()
      }
      given.insert(base)
      return base
    }
  }

  /// Tests run in parallel, and a port is free until its program listens.
  private static let given = Mutex<Set<Int>>([])

  private static func isFree(_ port: Int) -> Bool {
    let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}

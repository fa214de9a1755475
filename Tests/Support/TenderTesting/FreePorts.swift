import Foundation

/// Free TCP ports of 127.0.0.1, for programs that cannot listen on port 0 and print their port.
///
/// The ports lie below the range that the kernel gives to clients, so that no client is given one meanwhile, and below
/// the range of `free_ports.py`.
package enum FreePorts {
  package struct NotFound: Error {}

  /// The first of `count` free ports in a row, at most nine. Each stays free until a program listens on it.
  ///
  /// The tenth port is bound for as long as this process lives: it tells the tests of other processes that the row is
  /// given.
  package static func row(of count: Int) throws -> Int {
    for base in (0..<200).map({ _ in Int.random(in: 1_800..<2_700) * 10 }) {
      guard let mark = bound(base + 9) else { continue }
      if (base..<base + count).allSatisfy({ bound($0).map { close($0) } != nil }) { return base }
      close(mark)
    }
    throw NotFound()
  }

  /// A socket that holds the port, without listening.
  private static func bound(_ port: Int) -> Int32? {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let socket = Foundation.socket(AF_INET, kind, 0)
    guard socket >= 0 else { return nil }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let answer = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard answer == 0 else {
      close(socket)
      return nil
    }
    return socket
  }
}

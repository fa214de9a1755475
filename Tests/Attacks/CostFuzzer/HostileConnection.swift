import Foundation

/// A connection that sends one request and reads until the server closes it. It blocks its thread.
struct HostileConnection: ~Copyable {
  private let descriptor: Int32

  init(port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw CostError("not connected: errno \(errno)") }
  }

  deinit { close(descriptor) }

  /// The status of the first answer; 0 when the server closed the connection without one.
  func status(of request: [UInt8]) throws -> Int {
    send(request)
    var (head, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      if head.count < 12 { head += buffer.prefix(count).prefix(12) }
    }
    guard head.count >= 12 else { return 0 }
    return Int(String(decoding: head[9..<12], as: UTF8.self)) ?? 0
  }

  /// As much as the server takes: it may refuse a request before it has all of it.
  private func send(_ request: [UInt8]) {
    var sent = 0
    while sent < request.count {
      let count = request[sent...].withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sent += count
    }
  }
}

import Foundation
import HTTPTransport

extension DestinationGuard {
  /// The machine's resolver. It also reads what is no name at all, such as `2130706433` and `0x7f.1`, exactly as the
  /// machine's own network calls would. Names below `.localhost` are this machine by RFC 6761, which not every resolver
  /// knows.
  package static let system: Resolver = { host in
    try await withCheckedThrowingContinuation { continuation in
      // getaddrinfo blocks, for seconds if it must.
      let thread = Thread { continuation.resume(with: Result { try addresses(of: host) }) }
      thread.start()
    }
  }

  private static func addresses(of host: String) throws -> [(address: NetworkAddress, text: String)] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let name = host.lowercased().hasSuffix(".localhost") ? "127.0.0.1" : host
    guard getaddrinfo(name, nil, &hints, &list) == 0 else { throw DestinationRefusal.unresolvable(host) }
    defer { freeaddrinfo(list) }
    return sequence(first: list, next: { $0?.pointee.ai_next }).compactMap { $0.flatMap { address($0.pointee) } }
  }

  private static func address(_ entry: addrinfo) -> (address: NetworkAddress, text: String)? {
    guard let socketAddress = entry.ai_addr else { return nil }
    switch entry.ai_family {
    case AF_INET:
      let bytes = socketAddress.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { octets($0.pointee.sin_addr) }
      return named(bytes, AF_INET)
    case AF_INET6:
      let bytes = socketAddress.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { octets($0.pointee.sin6_addr) }
      return named(bytes, AF_INET6)
    default: return nil
    }
  }

  private static func octets(_ address: some Any) -> [UInt8] { withUnsafeBytes(of: address, Array.init) }

  private static func named(_ bytes: [UInt8], _ family: Int32) -> (address: NetworkAddress, text: String)? {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard let address = NetworkAddress(bytes: bytes),
      inet_ntop(family, bytes, &text, socklen_t(INET6_ADDRSTRLEN)) != nil
    else { return nil }
    return (address, String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }
}

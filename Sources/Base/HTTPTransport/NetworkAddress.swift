import Foundation

/// An address of the Internet Protocol, and whether it is one that the whole Internet shares.
package struct NetworkAddress: Sendable, Hashable {
  /// 4 or 16.
  package let bytes: [UInt8]

  /// - Parameter bytes: in network order; nil unless there are 4 or 16.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// - Parameter text: `192.0.2.7`, `2001:db8::7` or `[2001:db8::7]`; nil for a name. An IPv4 address written as IPv6
  ///   (`::ffff:192.0.2.7`) is the IPv4 address.
  package init?(_ text: String) {
    let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
    let text = isBracketed ? String(text.dropFirst().dropLast()) : text
    var (four, six) = (in_addr(), in6_addr())
    if !isBracketed, inet_pton(AF_INET, text, &four) == 1 {
      bytes = withUnsafeBytes(of: four, Array.init)
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      let all = withUnsafeBytes(of: six, Array.init)
      bytes = Self.matches(all, Self.mapped, 96) ? Array(all[12...]) : all
    } else {
      return nil
    }
  }

  /// `host:port`, with an IPv6 address in brackets.
  package static func authority(_ host: String, _ port: Int) -> String {
    host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// Whether connections to it stay on this machine.
  package var isLoopback: Bool { bytes.count == 4 ? bytes[0] == 127 : Self.matches(bytes, Self.loopback, 128) }

  /// Whether connections to the host, a name or an address, stay on this machine.
  package static func isLoopback(_ host: String) -> Bool {
    let name = host.lowercased()
    return name == "localhost" || name.hasSuffix(".localhost") || NetworkAddress(name)?.isLoopback == true
  }

  /// Whether packets to it leave for the public Internet, by the IANA registries of special-purpose addresses
  /// (RFC 6890). Loopback, private, link-local, shared, multicast, documentation and reserved ones do not, nor does an
  /// address that carries one of them inside: IPv4-mapped, 6to4, Teredo, NAT64.
  package var isPublic: Bool { bytes.count == 4 ? Self.isPublicV4(bytes) : Self.isPublicV6(bytes) }

  private static func isPublicV4(_ bytes: [UInt8]) -> Bool {
    !special4.contains { matches(bytes, $0.prefix, $0.bits) }
  }

  /// Only 2000::/3 is allocated for global unicast; the blocks in the list are exceptions.
  private static func isPublicV6(_ bytes: [UInt8]) -> Bool {
    if matches(bytes, mapped, 96) { return isPublicV4(Array(bytes[12...])) }
    return matches(bytes, [0x20], 3) && !special6.contains { matches(bytes, $0.prefix, $0.bits) }
  }

  fileprivate static func matches(_ bytes: [UInt8], _ prefix: [UInt8], _ bits: Int) -> Bool {
    (0..<bits).allSatisfy { bit in
      let (byte, mask) = (bit / 8, UInt8(0x80) >> (bit % 8))
      return bytes[byte] & mask == (byte < prefix.count ? prefix[byte] : 0) & mask
    }
  }

  private typealias Block = (prefix: [UInt8], bits: Int)

  private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
  private static let loopback: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]

  private static let special4: [Block] = [
    ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24),
    ([192, 0, 2], 24), ([192, 31, 196], 24), ([192, 52, 193], 24), ([192, 88, 99], 24), ([192, 168], 16),
    ([192, 175, 48], 24), ([198, 18], 15), ([198, 51, 100], 24), ([203, 0, 113], 24), ([224], 4), ([240], 4),
  ]

  private static let special6: [Block] = [
    ([0x20, 0x01, 0x00], 23), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x20, 0x02], 16), ([0x26, 0x20, 0, 0x4F, 0x80], 48),
    ([0x3F, 0xFE], 16), ([0x3F, 0xFF, 0x00], 20),
  ]
}

/// A range of addresses in CIDR notation, `10.0.0.0/8` or `fd00::/8`; a single address is a range of one.
package struct NetworkRange: Sendable, Hashable {
  package let text: String
  private let first: NetworkAddress
  private let bits: Int

  /// - Returns: nil for what is not an address, with a slash and a number of bits or without.
  package init?(_ text: String) {
    self.text = text
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = NetworkAddress(String(parts[0])) else { return nil }
    let most = first.bytes.count * 8
    guard parts.count == 2 else {
      (self.first, bits) = (first, most)
      return
    }
    guard parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let bits = Int(parts[1]), bits <= most else {
      return nil
    }
    (self.first, self.bits) = (first, bits)
  }

  package func contains(_ address: NetworkAddress) -> Bool {
    address.bytes.count == first.bytes.count && NetworkAddress.matches(address.bytes, first.bytes, bits)
  }
}

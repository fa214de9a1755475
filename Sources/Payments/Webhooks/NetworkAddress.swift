/// An address of the Internet Protocol, and whether it is one that the whole Internet shares.
package struct NetworkAddress: Sendable, Hashable {
  /// 4 or 16.
  package let bytes: [UInt8]

  /// - Parameter bytes: in network order; nil unless there are 4 or 16.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
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

  private static func matches(_ bytes: [UInt8], _ prefix: [UInt8], _ bits: Int) -> Bool {
    (0..<bits).allSatisfy { bit in
      let (byte, mask) = (bit / 8, UInt8(0x80) >> (bit % 8))
      return bytes[byte] & mask == (byte < prefix.count ? prefix[byte] : 0) & mask
    }
  }

  private typealias Block = (prefix: [UInt8], bits: Int)

  private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

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

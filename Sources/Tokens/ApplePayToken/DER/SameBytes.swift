extension ArraySlice<UInt8> {
  /// Compares eight bytes at a time. Names, keys and certificates are compared for every payment token.
  func isSame(as other: ArraySlice<UInt8>) -> Bool { other.withUnsafeBytes(isSame) }

  func isSame(as other: [UInt8]) -> Bool { other.withUnsafeBytes(isSame) }

  func isSame(as other: UnsafeRawBufferPointer) -> Bool {
    count == other.count && withUnsafeBytes { Self.areSame($0, other) }
  }

  /// - Parameters: as long as each other.
  private static func areSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    func isSameWord(_ place: Int) -> Bool {
      left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        == right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
    }
    guard left.count >= 8 else { return left.elementsEqual(right) }
    for place in Swift.stride(from: 0, to: left.count - 8, by: 8) {
      guard isSameWord(place) else { return false }
    }
    // The last word overlaps the one before it.
    return isSameWord(left.count - 8)
  }
}

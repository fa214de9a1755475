extension ArraySlice<UInt8> {
  /// Compares eight bytes at a time. Names, keys and certificates are compared for every payment token.
  func isSame(as other: ArraySlice<UInt8>) -> Bool {
    guard count == other.count else { return false }
    return withUnsafeBytes { own in other.withUnsafeBytes { Self.areSame(own, $0) } }
  }

  private static func areSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    let words = left.count & ~7
    for place in Swift.stride(from: 0, to: words, by: 8) {
      let (own, other) = (
        left.loadUnaligned(fromByteOffset: place, as: UInt64.self),
        right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      )
      guard own == other else { return false }
    }
    return left[words...].elementsEqual(right[words...])
  }
}

package import Foundation

extension [UInt8] {
  /// Overwrites the bytes with zeros and removes them, for secrets that are no longer needed.
  ///
  /// The compiler cannot optimize these writes away. If the array shares its storage, only a copy is overwritten: call
  /// this on the only owner.
  package mutating func wipe() {
    withUnsafeMutableBytes { Wiping.zero($0) }
    self = []
  }
}

extension Data {
  /// Zeroes the bytes and empties the value. For values from Foundation and swift-crypto.
  package mutating func wipe() {
    withUnsafeMutableBytes { Wiping.zero($0) }
    self = Data()
  }

  /// Moves the bytes into an array: they are overwritten here.
  package mutating func moveBytes() -> [UInt8] {
    defer { wipe() }
    return withUnsafeBytes { Array($0) }
  }
}

/// Overwrites memory that held a secret.
package enum Wiping {
  package static func zero(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    #if canImport(Darwin)
      memset_s(start, bytes.count, 0, bytes.count)
    #else
      explicit_bzero(start, bytes.count)
    #endif
  }
}

package import Foundation

extension [UInt8] {
  /// Overwrites the bytes with zeros and removes them, for secrets that are no longer needed.
  ///
  /// The compiler does not leave it out as it may leave out other writes that are never read. An array that shares its
  /// storage with another is copied by the first change, and then only the copy would be overwritten: call it on the one
  /// owner.
  package mutating func wipe() {
    withUnsafeMutableBytes { Wiping.zero($0) }
    self = []
  }
}

extension Data {
  /// The same for what Foundation and swift-crypto answer with.
  package mutating func wipe() {
    withUnsafeMutableBytes { Wiping.zero($0) }
    self = Data()
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

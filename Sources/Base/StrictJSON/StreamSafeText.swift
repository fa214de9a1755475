/// Unicode's stream-safe text format (UAX #15, section 13): at most 30 combining marks follow one another.
///
/// Comparing or hashing a `String` sorts each run of combining marks, in time quadratic in the length of the run. Text
/// from outside is checked once, where it enters, so that every later comparison is linear. No language needs a longer
/// run.
public enum StreamSafeText {
  /// The most combining marks that may follow one another.
  public static let longestRun = 30

  /// Whether no run of combining marks in the text is longer than ``longestRun``.
  public static func accepts(_ text: String) -> Bool {
    // U+0300 is the first combining mark, and its first byte in UTF-8 is 0xCC.
    guard text.utf8.withContiguousStorageIfAvailable({ $0.highest >= 0xCC }) ?? true else { return true }
    var run = 0
    for scalar in text.unicodeScalars {
      run = isCombining(scalar) ? run + 1 : 0
      guard run <= longestRun else { return false }
    }
    return true
  }

  private static func isCombining(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// The highest byte, 0 where there is none. Texts are long and mostly ASCII, so reading all bytes, many at a time, is
  /// faster than stopping at the first high one.
  var highest: UInt8 {
    var highest: UInt8 = 0
    for byte in self { highest = Swift.max(highest, byte) }
    return highest
  }
}

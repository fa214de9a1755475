extension JSONCursor {
  /// RFC 8259 §7.
  mutating func string() throws(JSONError) -> String {
    let quote = index
    index += 1
    let start = index
    // Most strings are ASCII without escapes. They are copied whole and need no other check.
    if try skipPlain(), peek == UInt8(ascii: "\"") {
      defer { index += 1 }
      return ascii(start..<index)
    }
    let string = try assemble(from: start)
    index += 1
    guard StreamSafeText.accepts(string) else {
      throw JSONError(
        .combiningMarks, offset: quote, "more than \(StreamSafeText.longestRun) combining marks in a row in a string")
    }
    return string
  }

  /// Piece by piece, up to the closing quote. The first piece, up to the index, is checked.
  private mutating func assemble(from start: Int) throws(JSONError) -> String {
    var result = try text(start..<index)
    while peek != UInt8(ascii: "\"") {
      result.unicodeScalars.append(try escape())
      let piece = index
      try skipPlain()
      result += try text(piece..<index)
    }
    return result
  }

  /// Advances to the next quote or backslash.
  ///
  /// - Returns: whether all bytes up to there are ASCII.
  @discardableResult
  private mutating func skipPlain() throws(JSONError) -> Bool {
    let plain = bytes.withUnsafeBufferPointer { [index] in Self.plain($0, from: index) }
    index = plain.end
    guard let byte = peek else { throw unexpected("the end of a string") }
    guard byte >= 0x20 else { throw JSONError(.badString, offset: index, "a control character in a string") }
    return plain.isASCII
  }

  /// Where the plain bytes end, and whether all of them are ASCII.
  private static func plain(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> (end: Int, isASCII: Bool) {
    var (place, seen): (Int, UInt64) = (start, 0)
    while place + 8 <= bytes.count, arePlain(eight(bytes, at: place)) {
      seen |= eight(bytes, at: place)
      place += 8
    }
    while place < bytes.count, isPlain(bytes[place]) {
      seen |= UInt64(bytes[place])
      place += 1
    }
    return (place, seen & 0x8080_8080_8080_8080 == 0)
  }

  private func ascii(_ range: Range<Int>) -> String {
    bytes.withUnsafeBufferPointer { String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self) }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private static func eight(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> UInt64 {
    UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: place, as: UInt64.self)
  }

  /// Checks eight bytes at a time, because base64 texts are long. A byte is zero if subtracting one borrows, and below
  /// 0x20 if subtracting 0x20 borrows. It may return false for plain bytes, which are then checked one by one.
  private static func arePlain(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let (quotes, backslashes) = (word ^ ones &* 0x22, word ^ ones &* 0x5C)
    let found =
      (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones &* 0x20) & ~word
    return found & (ones &* 0x80) == 0
  }

  /// Swift replaces invalid UTF-8 by another character, so a text that differs from its bytes was invalid.
  private func text(_ range: Range<Int>) throws(JSONError) -> String {
    let text: String? = bytes.withUnsafeBufferPointer { bytes in
      let piece = UnsafeBufferPointer(rebasing: bytes[range])
      let text = String(decoding: piece, as: UTF8.self)
      return piece.highest < 0x80 || text.utf8.elementsEqual(piece) ? text : nil
    }
    guard let text else { throw JSONError(.badEncoding, offset: range.lowerBound, "a string that is not UTF-8") }
    return text
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    index += 1
    guard let byte = peek else { throw unexpected("the rest of an escape") }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw JSONError(.badString, offset: index - 1, "an escape that JSON does not have")
    }
  }

  /// One `\uXXXX`, or two that make a surrogate pair. NUL is refused because databases and C libraries end a text
  /// there.
  private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
    let start = index
    let unit = try fourHexDigits()
    guard unit != 0 else { throw JSONError(.badString, offset: start, "the character NUL in a string") }
    guard (0xD800...0xDBFF).contains(unit) else {
      guard let scalar = Unicode.Scalar(unit) else { throw loneSurrogate(start) }
      return scalar
    }
    guard peek == UInt8(ascii: "\\"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "u") else {
      throw loneSurrogate(start)
    }
    index += 2
    let low = try fourHexDigits()
    guard (0xDC00...0xDFFF).contains(low), let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    else { throw loneSurrogate(start) }
    return scalar
  }

  private func loneSurrogate(_ offset: Int) -> JSONError {
    JSONError(.badString, offset: offset, "half of a surrogate pair")
  }

  private mutating func fourHexDigits() throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek else { throw unexpected("four hexadecimal digits") }
      guard let digit = Self.hexDigit(byte) else {
        throw JSONError(.badString, offset: index, "an escape without four hexadecimal digits")
      }
      value = value << 4 | digit
      index += 1
    }
    return value
  }

  private static func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x30...0x39: UInt32(byte - 0x30)
    case 0x41...0x46: UInt32(byte - 0x37)
    case 0x61...0x66: UInt32(byte - 0x57)
    default: nil
    }
  }
}

/// Hexadecimal text.
public enum Hex {
  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

  /// Two lowercase digits a byte.
  public static func encode(_ bytes: some Sequence<UInt8>) -> String { encode(Array(bytes)) }

  /// Encodes bytes without a copy.
  public static func encode(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { encode(memory: $0) } }

  /// 32 digits in the groups of a UUID (RFC 9562).
  package static func uuid(_ digits: String) -> String {
    [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits.dropFirst($0.lowerBound).prefix($0.count)) }
      .joined(separator: "-")
  }

  /// Encodes memory that is no array.
  package static func encode(memory bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: 2 * bytes.count) { out in
      for (index, byte) in bytes.enumerated() {
        out[2 * index] = digit(byte >> 4)
        out[2 * index + 1] = digit(byte & 15)
      }
      return 2 * bytes.count
    }
  }

  /// Reads an even number of digits of either case; nil otherwise.
  public static func decode(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8(decode)
  }

  /// Decodes a part of a text; nil if it is malformed.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(String(text)) }

  private static func decode(_ digits: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard digits.count.isMultiple(of: 2) else { return nil }
    var out: [UInt8] = []
    out.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
      out.append(high << 4 | low)
    }
    return out
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }
}

/// Base64 of RFC 4648 §4, strict: the standard alphabet, padding present, no white space, unused bits zero.
///
/// A second encoding of the same bytes is refused, because signed, hashed or compared data must have one form.
public enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  /// Four tables, one for each place in a group: what a character there adds to the group's three bytes, as the
  /// little-endian word that begins with them. The word's fourth byte is zero for the alphabet and not for others.
  private static let words: [UInt32] = {
    var table = [UInt32](repeating: 0xFF00_0000, count: 4 * 256)
    for (value, character) in alphabet.enumerated() {
      for place in 0..<4 {
        table[256 * place + Int(character)] = (UInt32(value) << (18 - 6 * place)).byteSwapped >> 8
      }
    }
    return table
  }()

  /// Four characters for every three bytes, padded.
  public static func encode(_ bytes: some Collection<UInt8>) -> String {
    encode(bytes, with: alphabet, isPadded: true)
  }

  /// - Parameter alphabet: 64 ASCII characters.
  static func encode(_ bytes: some Collection<UInt8>, with alphabet: [UInt8], isPadded: Bool) -> String {
    bytes.withContiguousStorageIfAvailable { encode($0, alphabet, isPadded) }
      ?? Array(bytes).withUnsafeBufferPointer { encode($0, alphabet, isPadded) }
  }

  private static func encode(_ bytes: UnsafeBufferPointer<UInt8>, _ alphabet: [UInt8], _ isPadded: Bool) -> String {
    String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { out in
      var (index, end) = (0, 0)
      while index < bytes.count {
        // Three bytes, or those that are left with zeros behind them, make a character more than they are.
        let left = bytes.count - index
        let (second, third) = (left > 1 ? bytes[index + 1] : 0, left > 2 ? bytes[index + 2] : 0)
        let group = UInt32(bytes[index]) << 16 | UInt32(second) << 8 | UInt32(third)
        for place in 0..<4 {
          out[end + place] = place <= left ? alphabet[Int(group >> (18 - 6 * UInt32(place)) & 63)] : UInt8(ascii: "=")
        }
        (index, end) = (index + 3, end + 4)
      }
      return isPadded ? end : end - (3 - bytes.count % 3) % 3
    }
  }

  /// The bytes; nil for any other encoding of them.
  public static func decode(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8(decode)
  }

  /// Decodes a part of a text; nil if it is malformed.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(String(text)) }

  /// Whole groups of four first, which are all but the last.
  private static func decode(_ input: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard input.count.isMultiple(of: 4) else { return nil }
    let padding = input.suffix(2).count { $0 == UInt8(ascii: "=") }
    let groups = padding == 0 ? input.count : input.count - 4
    var isGood = false
    // Words of eight bytes are written for each six, so that the last one ends up to two bytes behind the end.
    var out = [UInt8](unsafeUninitializedCapacity: input.count / 4 * 3 + 2) { out, count in
      isGood = words.withUnsafeBufferPointer {
        decode(UnsafeRawBufferPointer(input).prefix(groups), $0, into: UnsafeMutableRawBufferPointer(out))
      }
      count = groups / 4 * 3
    }
    guard isGood else { return nil }
    guard padding > 0 else { return out }
    guard let last = lastGroup(input.suffix(4).dropLast(padding)) else { return nil }
    out += last
    return out
  }

  /// - Returns: whether every character is of the alphabet.
  private static func decode(
    _ groups: Slice<UnsafeRawBufferPointer>, _ words: UnsafeBufferPointer<UInt32>,
    into out: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let groups = UnsafeRawBufferPointer(rebasing: groups)
    var (seen, index, place): (UInt32, Int, Int) = (0, 0, 0)
    while index < groups.count - 4 {
      let pair = UInt64(littleEndian: groups.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let (first, second) = (
        word(UInt32(truncatingIfNeeded: pair), words), word(UInt32(truncatingIfNeeded: pair >> 32), words)
      )
      seen |= first | second
      let both = UInt64(first) | UInt64(second) << 24
      out.storeBytes(of: both.littleEndian, toByteOffset: place, as: UInt64.self)
      index &+= 8
      place &+= 6
    }
    if index < groups.count {
      let last = word(UInt32(littleEndian: groups.loadUnaligned(fromByteOffset: index, as: UInt32.self)), words)
      seen |= last
      out.storeBytes(of: last.littleEndian, toByteOffset: place, as: UInt32.self)
    }
    return seen >> 24 == 0
  }

  /// - Parameter group: four characters, the first in the lowest byte.
  private static func word(_ group: UInt32, _ words: UnsafeBufferPointer<UInt32>) -> UInt32 {
    words[Int(group & 0xFF)] | words[256 + Int(group >> 8 & 0xFF)] | words[512 + Int(group >> 16 & 0xFF)]
      | words[768 + Int(group >> 24)]
  }

  /// One byte of two digits, or two of three; the bits that are left over must be zero.
  private static func lastGroup(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8]? {
    let values = digits.compactMap(value)
    guard values.count == digits.count else { return nil }
    switch values.count {
    case 2 where values[1] & 15 == 0: return [values[0] << 2 | values[1] >> 4]
    case 3 where values[2] & 3 == 0: return [values[0] << 2 | values[1] >> 4, values[1] << 4 | values[2] >> 2]
    default: return nil
    }
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    let word = words[768 + Int(digit)]
    return word >> 24 == 0 ? UInt8(truncatingIfNeeded: word >> 16) : nil
  }
}

/// Hexadecimal text.
public enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Two lowercase digits a byte.
  public static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var out: [UInt8] = []
    out.reserveCapacity(2 * bytes.underestimatedCount)
    for byte in bytes {
      out.append(digits[Int(byte >> 4)])
      out.append(digits[Int(byte & 15)])
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Reads an even number of digits of either case; nil otherwise.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let bytes = Array(text.utf8)
    guard bytes.count.isMultiple(of: 2) else { return nil }
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count / 2)
    for index in stride(from: 0, to: bytes.count, by: 2) {
      guard let high = value(bytes[index]), let low = value(bytes[index + 1]) else { return nil }
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
/// A second spelling of the same bytes is refused, because what is signed, hashed or compared must have one form.
public enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let reverse: [UInt8] = {
    var table = [UInt8](repeating: 0xFF, count: 256)
    for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
    return table
  }()

  public static func encode(_ bytes: some Collection<UInt8>) -> String {
    var out: [UInt8] = []
    out.reserveCapacity((bytes.count + 2) / 3 * 4)
    var iterator = bytes.makeIterator()
    while let first = iterator.next() {
      let second = iterator.next()
      let third = iterator.next()
      let group = UInt32(first) << 16 | UInt32(second ?? 0) << 8 | UInt32(third ?? 0)
      out.append(alphabet[Int(group >> 18)])
      out.append(alphabet[Int(group >> 12 & 63)])
      out.append(second == nil ? UInt8(ascii: "=") : alphabet[Int(group >> 6 & 63)])
      out.append(third == nil ? UInt8(ascii: "=") : alphabet[Int(group & 63)])
    }
    return String(decoding: out, as: UTF8.self)
  }

  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let input = Array(text.utf8)
    guard input.count.isMultiple(of: 4) else { return nil }
    let padding = input.suffix(2).count { $0 == UInt8(ascii: "=") }
    let digits = input.dropLast(padding)
    var out: [UInt8] = []
    out.reserveCapacity(input.count / 4 * 3)
    var buffer: UInt32 = 0
    var bits = 0
    for character in digits {
      let value = reverse[Int(character)]
      guard value != 0xFF else { return nil }
      buffer = buffer << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        out.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
        buffer &= (1 << UInt32(bits)) - 1
      }
    }
    guard buffer == 0, bits == 2 * padding else { return nil }
    return out
  }
}

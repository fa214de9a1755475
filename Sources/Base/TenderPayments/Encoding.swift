/// Hexadecimal text.
public enum Hex {
  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

  /// Two lowercase digits a byte.
  public static func encode(_ bytes: some Sequence<UInt8>) -> String {
    let bytes = Array(bytes)
    return String(unsafeUninitializedCapacity: 2 * bytes.count) { out in
      for (index, byte) in bytes.enumerated() {
        out[2 * index] = digit(byte >> 4)
        out[2 * index + 1] = digit(byte & 15)
      }
      return 2 * bytes.count
    }
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
/// A second encoding of the same bytes is refused, because signed, hashed or compared data must have one form.
public enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let reverse: [UInt8] = {
    var table = [UInt8](repeating: 0xFF, count: 256)
    for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
    return table
  }()

  /// Four characters for every three bytes, padded.
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

  /// The bytes; nil for any other encoding of them.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    if let decoded = text.utf8.withContiguousStorageIfAvailable(decode) { return decoded }
    return Array(text.utf8).withUnsafeBufferPointer(decode)
  }

  /// Whole groups of four first, which are all but the last; a table says the value of a digit, or more than 63.
  private static func decode(_ input: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard input.count.isMultiple(of: 4) else { return nil }
    let padding = input.suffix(2).count { $0 == UInt8(ascii: "=") }
    let groups = padding == 0 ? input.count : input.count - 4
    var bad: UInt8 = 0
    var out = [UInt8](unsafeUninitializedCapacity: input.count / 4 * 3) { out, count in
      bad = reverse.withUnsafeBufferPointer { decode(input, groups, $0, into: out) }
      count = groups / 4 * 3
    }
    guard bad < 64 else { return nil }
    guard padding > 0 else { return out }
    guard let last = lastGroup(input.suffix(4).dropLast(padding)) else { return nil }
    out += last
    return out
  }

  /// - Returns: every value in one, more than 63 when one of them is no digit.
  private static func decode(
    _ input: UnsafeBufferPointer<UInt8>, _ end: Int, _ values: UnsafeBufferPointer<UInt8>,
    into out: UnsafeMutableBufferPointer<UInt8>
  ) -> UInt8 {
    var (seen, place): (UInt8, Int) = (0, 0)
    for index in stride(from: 0, to: end, by: 4) {
      let (a, b) = (values[Int(input[index])], values[Int(input[index + 1])])
      let (c, d) = (values[Int(input[index + 2])], values[Int(input[index + 3])])
      seen |= a | b | c | d
      out[place] = a << 2 | b >> 4
      out[place + 1] = b << 4 | c >> 2
      out[place + 2] = c << 6 | d
      place += 3
    }
    return seen
  }

  /// One byte of two digits, or two of three; the bits that are left over must be zero.
  private static func lastGroup(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8]? {
    let values = digits.map { reverse[Int($0)] }
    guard values.allSatisfy({ $0 < 64 }) else { return nil }
    switch values.count {
    case 2 where values[1] & 15 == 0: return [values[0] << 2 | values[1] >> 4]
    case 3 where values[2] & 3 == 0: return [values[0] << 2 | values[1] >> 4, values[1] << 4 | values[2] >> 2]
    default: return nil
    }
  }
}

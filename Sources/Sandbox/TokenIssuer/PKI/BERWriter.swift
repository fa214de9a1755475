/// Writes ASN.1 in the mixture of definite and indefinite lengths that Apple's signer emits (X.690 §8.1.3).
enum BERWriter {
  /// Tag, length, and the parts one after another.
  static func definite(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
    let content = parts.flatMap { $0 }
    return [tag] + length(content.count) + content
  }

  /// Tag, `80`, the parts, and two zero bytes that end them.
  static func indefinite(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
    [tag, 0x80] + parts.flatMap { $0 } + [0x00, 0x00]
  }

  /// A non-negative INTEGER of big-endian bytes.
  static func integer(_ magnitude: some Collection<UInt8>) -> [UInt8] {
    let digits = Array(magnitude.drop { $0 == 0 })
    let needsZero = digits.first.map { $0 >= 0x80 } ?? true
    return definite(0x02, needsZero ? [0] + digits : digits)
  }

  private static func length(_ count: Int) -> [UInt8] {
    guard count >= 0x80 else { return [UInt8(count)] }
    let bytes = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: count >> $0) }.drop { $0 == 0 }
    return [0x80 | UInt8(bytes.count)] + bytes
  }
}

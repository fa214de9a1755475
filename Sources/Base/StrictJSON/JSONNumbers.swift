extension JSONCursor {
  /// RFC 8259 §6: `-? (0 | [1-9][0-9]*) (\.[0-9]+)? ([eE][+-]?[0-9]+)?`.
  mutating func number() throws(JSONError) -> JSONValue {
    let start = index
    if peek == UInt8(ascii: "-") { index += 1 }
    try wholePart()
    let isWhole = index
    if peek == UInt8(ascii: ".") {
      index += 1
      try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") { try exponent() }
    let literal = String(decoding: bytes[start..<index], as: UTF8.self)
    guard index == isWhole, let integer = Int64(literal) else { return .number(literal) }
    return .integer(integer)
  }

  private mutating func wholePart() throws(JSONError) {
    guard peek == UInt8(ascii: "0") else { return try digits() }
    index += 1
    if let byte = peek, (0x30...0x39).contains(byte) {
      throw JSONError(.badNumber, offset: index, "a number that begins with 0")
    }
  }

  private mutating func exponent() throws(JSONError) {
    index += 1
    if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { index += 1 }
    try digits()
  }

  private mutating func digits() throws(JSONError) {
    let start = index
    while let byte = peek, (0x30...0x39).contains(byte) { index += 1 }
    guard index > start else {
      throw JSONError(.badNumber, offset: index, "a number without the digit that belongs here")
    }
  }
}

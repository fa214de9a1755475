extension JSONValue {
  /// Compact text in UTF-8, without white space, members in their order.
  public func serialized() -> [UInt8] {
    var out: [UInt8] = []
    write(to: &out)
    return out
  }

  private func write(to out: inout [UInt8]) {
    switch self {
    case .null: out += "null".utf8
    case .bool(let value): out += (value ? "true" : "false").utf8
    case .integer(let value): out += String(value).utf8
    case .number(let literal): out += literal.utf8
    case .string(let text): Self.write(text, to: &out)
    case .array(let elements): Self.write(elements, to: &out)
    case .object(let object): Self.write(object, to: &out)
    }
  }

  private static func write(_ elements: [JSONValue], to out: inout [UInt8]) {
    out.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      element.write(to: &out)
    }
    out.append(UInt8(ascii: "]"))
  }

  private static func write(_ object: JSONObject, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "{"))
    for (index, member) in object.list.enumerated() {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      write(member.key, to: &out)
      out.append(UInt8(ascii: ":"))
      member.value.write(to: &out)
    }
    out.append(UInt8(ascii: "}"))
  }

  private static func write(_ text: String, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): out += #"\""#.utf8
      case UInt8(ascii: "\\"): out += #"\\"#.utf8
      case 0x08: out += #"\b"#.utf8
      case 0x0C: out += #"\f"#.utf8
      case 0x0A: out += #"\n"#.utf8
      case 0x0D: out += #"\r"#.utf8
      case 0x09: out += #"\t"#.utf8
      case 0x00..<0x20: out += escape(control: byte)
      default: out.append(byte)
      }
    }
    out.append(UInt8(ascii: "\""))
  }

  private static func escape(control byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return Array(#"\u00"#.utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}

import StrictJSON
import Testing

func read(_ text: String, limits: JSONLimits = .standard) throws(JSONError) -> JSONValue {
  try JSONReader.read(Array(text.utf8), limits: limits)
}

func refusal(_ bytes: [UInt8], limits: JSONLimits = .standard) -> JSONError.Code? {
  do {
    _ = try JSONReader.read(bytes, limits: limits)
    return nil
  } catch {
    return error.code
  }
}

@Suite struct `Reading strict JSON` {
  @Test func `every kind of value is read and written again`() throws {
    let text = #"{"a":[1,-2,true,false,null,"x",{}],"b":1.50,"c":[],"d":1e2}"#
    let value = try read(text)
    #expect(String(decoding: value.serialized(), as: UTF8.self) == text)
    #expect(value["b"] == .number("1.50"))
  }

  @Test func `members keep their order`() throws {
    guard case .object(let object) = try read(#"{"z":1,"a":2,"m":3}"#) else { throw JSONError(.invalid, path: "$", "") }
    #expect(object.members.map(\.key) == ["z", "a", "m"])
  }

  @Test(arguments: [
    ("0", JSONValue.integer(0)), ("-0", .integer(0)), ("9223372036854775807", .integer(.max)),
    ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .number("9223372036854775808")),
    ("1.0", .number("1.0")), ("1E+2", .number("1E+2")), ("0.5e-3", .number("0.5e-3")),
  ])
  func `only a whole number of 64 bits is an integer`(text: String, value: JSONValue) throws {
    #expect(try read(text) == value)
  }

  @Test(arguments: [
    (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u20AC""#, "é€"), (#""\ud83d\ude00""#, "😀"),
    ("\"é😀\"", "é😀"), (#""a\u0041b""#, "aAb"), ("\"\u{7F}\"", "\u{7F}"),
  ])
  func `escapes are understood`(text: String, value: String) throws {
    #expect(try read(text) == .string(value))
  }

  @Test(arguments: [
    ("", "empty"), ("  ", "empty"), ("{\"a\":1,\"a\":2}", "duplicate_key"), (#"{"a":1,"\u0061":2}"#, "duplicate_key"),
    ("[1,]", "trailing_comma"), ("{\"a\":1,}", "trailing_comma"), ("1 2", "trailing_bytes"), ("{}}", "trailing_bytes"),
    ("01", "bad_number"), ("-", "bad_number"), ("1.", "bad_number"), ("1e", "bad_number"), ("-01", "bad_number"),
    ("+1", "unexpected_byte"), (".5", "unexpected_byte"), ("NaN", "unexpected_byte"), ("nul", "unexpected_byte"),
    ("'a'", "unexpected_byte"), ("{a:1}", "unexpected_byte"), ("[1 2]", "unexpected_byte"), ("[,1]", "unexpected_byte"),
    ("// x\n1", "unexpected_byte"), ("/* x */1", "unexpected_byte"), ("\u{A0}1", "unexpected_byte"),
    ("[1", "unexpected_end"), ("{\"a\"", "unexpected_end"), ("\"abc", "unexpected_end"), (#""\u12"#, "unexpected_end"),
    ("\"a\nb\"", "bad_string"), ("\"\u{0}\"", "bad_string"), (#""\u0000""#, "bad_string"), (#""\x41""#, "bad_string"),
    (#""\ud800""#, "bad_string"), (#""\udc00""#, "bad_string"), (#""\ud800\u0041""#, "bad_string"),
    (#""\ud800x""#, "bad_string"), (#""\u12g4""#, "bad_string"),
  ])
  func `texts that two parsers could read differently are refused`(text: String, code: String) {
    #expect(refusal(Array(text.utf8))?.rawValue == code)
  }

  @Test(
    arguments: [
      [0xEF, 0xBB, 0xBF, 0x31], [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
      [0x22, 0xC3, 0x22], [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
    ] as [[UInt8]])
  func `invalid UTF-8 is refused`(bytes: [UInt8]) {
    #expect(refusal(bytes) == .badEncoding)
  }

  @Test func `a replacement character in the text is kept`() throws {
    #expect(try read("\"\u{FFFD}\"") == .string("\u{FFFD}"))
  }

  @Test func `keys are compared as bytes, so two encodings of one character are two keys`() throws {
    let value = try read("{\"\u{E9}\":1,\"e\u{301}\":2}")
    #expect(value["\u{E9}"] == 1 && value["e\u{301}"] == 2)
    #expect(refusal(Array("{\"e\u{301}\":1,\"e\\u0301\":2}".utf8)) == .duplicateKey)
    let many = (0..<20).map { "\"k\($0)\":0" }.joined(separator: ",")
    #expect(refusal(Array("{\(many),\"\u{E9}\":1,\"e\u{301}\":2}".utf8)) == nil)
    #expect(refusal(Array("{\(many),\"\u{E9}\":1,\"\\u00e9\":2}".utf8)) == .duplicateKey)
  }

  @Test func `thirty combining marks in a row are read, and one more is refused as key and as value`() throws {
    for marks in ["\u{301}", "\u{327}\u{301}"] {
      let scalars = Array(String(repeating: marks, count: 31).unicodeScalars)
      let (thirty, more) = (Self.text(scalars.prefix(30)), Self.text(scalars.prefix(31)))
      #expect(try read("\"a\(thirty)b\(thirty)\"") == .string("a\(thirty)b\(thirty)"))
      #expect(refusal(Array("\"a\(more)\"".utf8)) == .combiningMarks)
      #expect(refusal(Array("{\"a\(more)\":1}".utf8)) == .combiningMarks)
    }
    let (escaped, plain) = (String(repeating: #"\u0301"#, count: 15), String(repeating: "\u{327}", count: 15))
    #expect(refusal(Array("\"\(escaped)\(plain)\"".utf8)) == nil)
    #expect(refusal(Array("\"\(escaped)\(plain)\\u0301\"".utf8)) == .combiningMarks)
  }

  private static func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
    String(String.UnicodeScalarView(scalars))
  }

  @Test func `a key that comes again after many others is found`() throws {
    let many = (0..<20_000).map { "\"k\($0)\":0" }.joined(separator: ",")
    #expect(refusal(Array("{\(many)}".utf8)) == nil)
    #expect(refusal(Array("{\(many),\"k17\":1}".utf8)) == .duplicateKey)
  }

  @Test func `the error says where`() {
    do {
      _ = try read(#"{"a": 1, "a": 2}"#)
      Issue.record("accepted")
    } catch {
      #expect(error.offset == 9)
    }
  }
}

@Suite struct `Limits of reading JSON` {
  @Test func `32 levels are read and 33 are not`() {
    #expect(refusal(nested(32)) == nil)
    #expect(refusal(nested(33)) == .depth)
  }

  @Test func `a closed level does not count`() {
    #expect(refusal(Array("[[],[],[{}]]".utf8), limits: JSONLimits(depth: 3)) == nil)
    #expect(refusal(Array("[[],[],[{}]]".utf8), limits: JSONLimits(depth: 2)) == .depth)
  }

  @Test func `a hundred thousand levels are refused without a crash, whatever the limit says`() {
    #expect(refusal(nested(100_000), limits: JSONLimits(depth: .max)) == .depth)
  }

  @Test func `a text of exactly the limit is read and one byte more is not`() {
    let text = Array("\"\(String(repeating: "x", count: 98))\"".utf8)
    #expect(refusal(text, limits: JSONLimits(size: 100)) == nil)
    #expect(refusal(text, limits: JSONLimits(size: 99)) == .size)
    #expect(refusal(Array(repeating: 0x20, count: 1 << 20) + [0x31]) == .size)
  }

  private func nested(_ depth: Int) -> [UInt8] {
    Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
  }
}

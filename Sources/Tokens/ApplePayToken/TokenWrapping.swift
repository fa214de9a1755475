import Foundation
import StrictJSON
import TenderPayments

/// What a payment token was wrapped in on its way, or what came in its place: recognised by its form, so that the sender
/// learns how to send it right.
struct TokenWrapping: Sendable {
  /// With its article.
  let name: String
  /// Whether the payment token can be had back from it: true only where it was read; nil where that takes a program.
  var isWhole: Bool?
  /// A line of the sender's code, which takes `text` or `bytes`.
  let line: String

  var sentence: String {
    let loss =
      switch isWhole {
      case true?: ", and no byte of it is lost"
      case false?: ", and bytes of it are lost: ask the device for another, and look for what cuts it"
      case nil: ""
      }
    return "this looks like \(name)\(loss). Send it so: \(line)"
  }

  /// How many bytes a message shows: fewer than a card's number has.
  private static let shown = 8

  /// The first bytes, as text where they are readable.
  static func beginning(of bytes: [UInt8]) -> String {
    let first = bytes.prefix(shown)
    let more = bytes.count > shown ? " …" : ""
    guard first.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      return "it begins with the bytes " + first.map { Hex.encode([$0]) }.joined(separator: " ") + more
    }
    return "it begins with “\(String(decoding: first, as: UTF8.self))\(more)”"
  }
}

// Bytes and text.
extension TokenWrapping {
  /// - Parameter depth: how many wrappings within each other are looked into.
  static func find(in bytes: [UInt8], depth: Int = 3) -> TokenWrapping? {
    guard depth > 0, bytes.count <= TokenLimits.json else { return nil }
    if let found = binary(bytes, depth) { return found }
    let text = bytes.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
    return ofPrograms(Array(text)) ?? encoded(Array(text), depth)
  }

  private static let bytesOfApp = "request.httpBody = payment.token.paymentData"
  private static let stringified = "body: JSON.stringify(event.payment.token)"

  /// By their first bytes; the longer ones first. What is text has so many bytes to skip before it; nil for what is none.
  private static let magics: [(bytes: [UInt8], name: String, line: String, skipped: Int?)] = [
    ([0x1F, 0x8B], "gzip", "zlib.gunzipSync(bytes).toString()", nil),
    ([0x78, 0x01], "zlib's deflate", "zlib.inflateSync(bytes).toString()", nil),
    ([0x78, 0x5E], "zlib's deflate", "zlib.inflateSync(bytes).toString()", nil),
    ([0x78, 0x9C], "zlib's deflate", "zlib.inflateSync(bytes).toString()", nil),
    ([0x78, 0xDA], "zlib's deflate", "zlib.inflateSync(bytes).toString()", nil),
    ([0x28, 0xB5, 0x2F, 0xFD], "Zstandard", "zlib.zstdDecompressSync(bytes).toString()", nil),
    ([0xEF, 0xBB, 0xBF], "JSON behind a byte order mark", "new TextDecoder().decode(bytes)", 3),
    ([0xFF, 0xFE, 0, 0], "UTF-32", "bytes.decode(\"utf-32\") in Python", 4),
    ([0, 0, 0xFE, 0xFF], "UTF-32", "bytes.decode(\"utf-32\") in Python", 4),
    ([0xFF, 0xFE], "UTF-16, little-endian", "new TextDecoder(\"utf-16le\").decode(bytes)", 2),
    ([0xFE, 0xFF], "UTF-16, big-endian", "new TextDecoder(\"utf-16be\").decode(bytes)", 2),
    ([0x7B, 0, 0, 0], "UTF-32", "bytes.decode(\"utf-32-le\") in Python", 0),
    ([0, 0, 0, 0x7B], "UTF-32", "bytes.decode(\"utf-32-be\") in Python", 0),
    ([0x7B, 0], "UTF-16, little-endian", "new TextDecoder(\"utf-16le\").decode(bytes)", 0),
    ([0, 0x7B], "UTF-16, big-endian", "new TextDecoder(\"utf-16be\").decode(bytes)", 0),
    (Array("bplist".utf8), "a property list, as an archiver writes it", bytesOfApp, nil),
  ]

  /// U+FFFD, which stands for what was no UTF-8.
  private static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

  private static func binary(_ bytes: [UInt8], _ depth: Int) -> TokenWrapping? {
    if let magic = magics.first(where: { bytes.starts(with: $0.bytes) }) {
      guard let skipped = magic.skipped else { return TokenWrapping(name: magic.name, line: magic.line) }
      return undone(magic.name, bytes.dropFirst(skipped).filter { $0 != 0 }, magic.line, depth)
    }
    if bytes.starts(with: [0x30, 0x80]) || bytes.starts(with: [0x30, 0x82]) {
      return TokenWrapping(name: "DER, such as the signature alone", isWhole: false, line: stringified)
    }
    guard bytes.prefix(256).contains(replacement) else { return nil }
    return TokenWrapping(
      name: "binary data that was read as UTF-8 text", isWhole: false,
      line: "read the body as bytes (arrayBuffer(), req.raw, InputStream), and pass those on")
  }

  /// By how they begin: what programs print of an object that was meant to be sent.
  private static let prints: [(prefix: String, name: String, isWhole: Bool?, line: String)] = [
    ("[object ", "an object that JavaScript made a text of", false, stringified),
    ("<PKPayment", "the description of an object of PassKit", false, bytesOfApp),
    ("PKPayment", "the description of an object of PassKit", false, bytesOfApp),
    ("[B@", "the name of a Java array", false, "new String(bytes, StandardCharsets.UTF_8)"),
    ("System.Byte[]", "the name of a .NET array", false, "Encoding.UTF8.GetString(bytes)"),
    ("b'", "bytes as Python prints them", true, "data.decode(\"utf-8\")"),
    ("b\"", "bytes as Python prints them", true, "data.decode(\"utf-8\")"),
    ("{'", "a dictionary as Python prints it", true, "json.dumps(token)"),
    ("<Buffer ", "a Buffer as Node prints it", false, "buffer.toString(\"utf8\")"),
    ("<html", "a page of HTML", false, stringified), ("<!", "a page of HTML", false, stringified),
    ("<?xml", "XML", nil, stringified), ("<plist", "an XML property list", true, bytesOfApp),
    ("undefined", "JavaScript's undefined", false, stringified), ("(null)", "an empty pointer", false, bytesOfApp),
    ("{\\\"", "JSON whose quotation marks were escaped again", true, "leave out one JSON.stringify"),
    ("{&quot;", "JSON that was escaped for HTML", true, "body: JSON.stringify(token), and no template's escaping"),
    ("{&#34;", "JSON that was escaped for HTML", true, "body: JSON.stringify(token), and no template's escaping"),
    ("{“", "JSON in typographic quotation marks", true, "copy it as plain text"),
  ]

  private static func ofPrograms(_ bytes: [UInt8]) -> TokenWrapping? {
    let isPropertyList = bytes.prefix(512).contains(Array("<plist".utf8))
    let print = prints.first { bytes.starts(with: $0.prefix.utf8) || isPropertyList && $0.prefix == "<plist" }
    if let print {
      return TokenWrapping(name: print.name, isWhole: print.isWhole.map { $0 && !isCut(bytes) }, line: print.line)
    }
    let head = String(decoding: bytes.prefix(256), as: UTF8.self)
    if head.prefixMatch(of: /\{ ?length ?= ?[0-9]+, bytes ?= ?0x|<[0-9a-f]{8}/) != nil {
      let isWhole = hex(bytes.drop { $0 != UInt8(ascii: "x") && $0 != UInt8(ascii: "<") }).map(isObject)
      return TokenWrapping(name: "the description of an NSData", isWhole: isWhole ?? false, line: bytesOfApp)
    }
    if head.wholeMatch(of: /[0-9]+ bytes/) != nil {
      return TokenWrapping(name: "the description of a Swift Data", isWhole: false, line: bytesOfApp)
    }
    if bytes.starts(with: "--".utf8), head.lowercased().contains("content-disposition") {
      return TokenWrapping(name: "a multipart form", isWhole: bytes.suffix(2) == Array("--".utf8), line: stringified)
    }
    if head.prefixMatch(of: /\{\s*[A-Za-z]+\s*[:=]/) != nil {
      return TokenWrapping(name: "a dictionary as a program prints it", isWhole: !isCut(bytes), line: stringified)
    }
    return nil
  }

  /// Whether a print leaves something out, or has no end.
  private static func isCut(_ bytes: [UInt8]) -> Bool {
    let isEnded = bytes.last.map { "}'\">)]".utf8.contains($0) } ?? false
    return !isEnded || ["...", "…", "more characters", "more bytes"].contains { bytes.contains(Array($0.utf8)) }
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
  }

  private static func encoded(_ bytes: [UInt8], _ depth: Int) -> TokenWrapping? {
    let head = String(decoding: bytes.prefix(256), as: UTF8.self).lowercased()
    if head.hasPrefix("data:"), let comma = bytes.firstIndex(of: UInt8(ascii: ",")) {
      let rest = Array(bytes[(comma + 1)...])
      let part = "text.split(\",\")[1]"
      return head.prefix { $0 != "," }.contains(";base64")
        ? undone("a data: URL", base64(rest), "Buffer.from(\(part), \"base64\")", depth)
        : undone("a data: URL", percentDecoded(rest), "decodeURIComponent(\(part))", depth)
    }
    if head.prefixMatch(of: /[a-z_.\[\]]{1,40}=(?:[{%]|[^&=]*&)/) != nil {
      let values = bytes.split(separator: UInt8(ascii: "&"), maxSplits: 32).map { field in
        percentDecoded(Array(field.drop { $0 != UInt8(ascii: "=") }.dropFirst()))
      }
      let place = values.firstIndex { $0.flatMap { content($0, depth) } != nil } ?? 0
      return undone(
        "a form, or text that was encoded for a URL", values.isEmpty ? nil : values[place],
        "[...new URLSearchParams(text).values()][\(place)]", depth)
    }
    if head.contains("%7b") || head.contains("%22") {
      return undone(
        "a form, or text that was encoded for a URL", percentDecoded(bytes), "decodeURIComponent(text)", depth)
    }
    if head.prefixMatch(of: /eyj[a-z0-9_-]+\.[a-z0-9_-]*\./) != nil {
      return TokenWrapping(name: "a JSON web token", isWhole: false, line: stringified)
    }
    if let inner = hex(bytes[...]), let what = content(inner, depth) {
      let digits = bytes.allSatisfy(isHex) ? "text" : "text.replace(/0x|[^0-9a-f]/gi, \"\")"
      return what.within("hexadecimal", "Buffer.from(\(digits), \"hex\")")
    }
    if bytes.contains(UInt8(ascii: " ")), let inner = base64(bytes.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }),
      let what = content(inner, depth), what.isWhole != false
    {
      return what.within(
        "base64 whose “+” became spaces", "Buffer.from(text.replaceAll(\" \", \"+\"), \"base64\")")
    }
    guard let inner = base64(bytes), let what = content(inner, depth) else { return nil }
    return what.within("base64", "Buffer.from(text, \"base64\")")
  }

  /// A wrapping that is known by its form. What is in it decides whether bytes are lost.
  private static func undone(_ name: String, _ inner: [UInt8]?, _ code: String, _ depth: Int) -> TokenWrapping {
    guard let what = inner.flatMap({ content($0, depth) }) else {
      return TokenWrapping(name: name, line: code.contains("Buffer.from") ? code + ".toString()" : code)
    }
    let outer = what.within(name, code)
    return TokenWrapping(name: name, isWhole: outer.isWhole, line: outer.line)
  }

  /// The wrapping within an outer one, whose code gives bytes or text.
  private func within(_ name: String, _ code: String) -> TokenWrapping {
    let text = code.contains("Buffer.from") ? code + ".toString()" : code
    let inner =
      line.contains("bytes")
      ? line.replacing("bytes", with: code)
      : line.contains("text") ? line.replacing("text", with: text) : "\(text), and then \(line)"
    return TokenWrapping(name: "\(self.name) in \(name)", isWhole: isWhole, line: inner)
  }

  private static func percentDecoded(_ bytes: [UInt8]) -> [UInt8]? {
    let text = String(decoding: bytes, as: UTF8.self).replacing("+", with: " ")
    return text.removingPercentEncoding.map { Array($0.utf8) }
  }

  /// Digits after `0x`, or with `\x`, spaces, colons or commas between them. A digit too many, as a cut leaves it, is
  /// passed over.
  private static func hex(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    let digits = (bytes.starts(with: "0x".utf8) ? bytes.dropFirst(2) : bytes).filter {
      !" \r\n\t:,\\xX<>}".utf8.contains($0)
    }
    guard digits.count >= 16, digits.allSatisfy(isHex) else { return nil }
    return Hex.decode(String(decoding: digits.prefix(digits.count & ~1), as: UTF8.self))
  }

  /// Decodes base64 of either alphabet, with or without its padding. A character too many, as a cut leaves it, is passed
  /// over.
  private static func base64(_ bytes: [UInt8]) -> [UInt8]? {
    var digits = bytes.filter { !" \r\n=".utf8.contains($0) }.map { byte in
      byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? UInt8(ascii: "/") : byte
    }
    guard digits.count >= 16 else { return nil }
    if digits.count % 4 == 1 { digits.removeLast() }
    if digits.count % 4 == 2, let last = digits.popLast() { digits.append(cleared(last, 0xF0)) }
    if digits.count % 4 == 3, let last = digits.popLast() { digits.append(cleared(last, 0xFC)) }
    while !digits.count.isMultiple(of: 4) { digits.append(UInt8(ascii: "=")) }
    return Base64.decode(String(decoding: digits, as: UTF8.self))
  }

  /// The character of base64 without its lowest bits, which a cut leaves over.
  private static func cleared(_ digit: UInt8, _ bits: UInt8) -> UInt8 {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    guard let value = alphabet.firstIndex(of: digit) else { return digit }
    return alphabet[value & Int(bits)]
  }

  private static func content(_ bytes: [UInt8], _ depth: Int) -> TokenWrapping? {
    if isObject(bytes) { return TokenWrapping(name: "the JSON", isWhole: true, line: "text") }
    if let found = find(in: bytes, depth: depth - 1) { return found }
    guard bytes.first == UInt8(ascii: "{"), bytes.count > 1, bytes[1] == UInt8(ascii: "\"") || bytes[1] <= 0x20 else {
      return nil
    }
    return TokenWrapping(name: "JSON that was cut off", isWhole: false, line: "text")
  }

  private static func isObject(_ bytes: some Collection<UInt8>) -> Bool {
    if case .object? = try? JSONReader.read(Array(bytes), limits: JSONLimits(depth: 16, size: TokenLimits.json)) {
      true
    } else {
      false
    }
  }
}

// JSON.
extension TokenWrapping {
  /// Bytes as JSON writes them, or a payment token further down.
  static func find(in json: JSONValue) -> TokenWrapping? {
    if let bytes = bytes(json) {
      return undone("an array of bytes as JSON", bytes, "Buffer.from(JSON.parse(text))", 3)
    }
    guard case .object(let object) = json else { return nested(json) }
    if let data = object["data"], object["type"] != nil, let bytes = bytes(data) {
      return undone("a Node Buffer as JSON", bytes, "Buffer.from(JSON.parse(text).data)", 3)
    }
    if object["0"] != nil, object["1"] != nil, object["2"] != nil {
      return undone(
        "a Uint8Array as JSON.stringify writes it", bytes(.array(object.members.map(\.value))),
        "Buffer.from(Object.values(JSON.parse(text)))", 3)
    }
    return nested(json)
  }

  private static func bytes(_ json: JSONValue) -> [UInt8]? {
    guard case .array(let elements) = json, elements.count >= 8 else { return nil }
    let bytes = elements.compactMap { element in
      if case .integer(let byte) = element, (-128...255).contains(byte) { UInt8(truncatingIfNeeded: byte) } else { nil }
    }
    return bytes.count == elements.count ? bytes : nil
  }

  /// Names that documents around a payment token have. A reason repeats no other: the sender chooses it.
  private static let names = [
    "payment", "token", "paymentData", "data", "paymentToken", "applePayToken", "applePayPaymentToken", "applePay",
    "encryptedPaymentData", "mobilePaymentMethodSpecificInput", "paymentMethod", "event", "detail", "details", "body",
    "request", "payload", "value",
  ]

  /// A step on the way to a payment token in a document.
  private enum Step {
    /// Nil for a name that is not one of ``names``.
    case member(String?)
    case first
    /// A text of JSON.
    case text
  }

  private static func nested(_ json: JSONValue) -> TokenWrapping? {
    guard let path = path(in: json, depth: 5), !path.isEmpty else { return nil }
    var (name, code) = ("", "document")
    for step in path {
      switch step {
      case .member(let known?): (name, code) = (name + ".\(known)", code + ".\(known)")
      case .first: (name, code) = (name + "[0]", code + "[0]")
      case .text: code = "JSON.parse(\(code))"
      case .member(nil):
        return TokenWrapping(
          name: "a document around the payment token, which is a nested member", isWhole: true,
          line: "body: JSON.stringify(token), the payment token alone")
      }
    }
    let isText = path.contains { if case .text = $0 { true } else { false } }
    return TokenWrapping(
      name:
        "a document around the payment token, which is its member \(name.drop { $0 == "." })\(isText ? ", as text" : "")",
      isWhole: true, line: "body: JSON.stringify(\(code))")
  }

  /// Where a payment token's object is; empty at the top.
  private static func path(in json: JSONValue, depth: Int) -> [Step]? {
    switch json {
    case .object(let object):
      if isToken(object) { return [] }
      guard depth > 0 else { return nil }
      for (key, value) in object.members {
        guard let rest = path(in: value, depth: depth - 1) else { continue }
        return [.member(names.first { $0.utf8.elementsEqual(key.utf8) })] + rest
      }
      return nil
    case .array(let elements):
      guard depth > 0, let first = elements.first else { return nil }
      return path(in: first, depth: depth - 1).map { [.first] + $0 }
    case .string(let text):
      guard depth > 0, text.utf8.first == UInt8(ascii: "{"), text.utf8.count <= TokenLimits.json,
        let inner = try? JSONReader.read(Array(text.utf8), limits: JSONLimits(depth: 16, size: TokenLimits.json))
      else { return nil }
      return path(in: inner, depth: depth - 1).map { [.text] + $0 }
    case .integer, .number, .bool, .null: return nil
    }
  }

  private static func isToken(_ object: JSONObject) -> Bool {
    switch object["paymentData"] {
    case .object(let data)?: !data.isEmpty
    case .string(let text)?: !text.isEmpty
    default: object["header"] != nil && object["data"] != nil
    }
  }
}

import StrictJSON
import TenderPayments

/// What a payment token was wrapped in on its way, or what came in its place: recognised by its form, so that the sender
/// learns how to send it right.
struct TokenWrapping: Sendable {
  /// With its article.
  let name: String
  /// Whether the payment token can be had back from it.
  var isWhole = true
  /// A line of the sender's code.
  let line: String

  var sentence: String {
    let loss = isWhole ? "no byte of it is lost" : "bytes of it are lost: ask the device for another"
    return "this looks like \(name), and \(loss). Send it so: \(line)"
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
    if let found = binary(bytes) { return found }
    let text = bytes.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
    return ofPrograms(Array(text)) ?? encoded(Array(text), depth)
  }

  private static let gunzip = "gunzip it, or leave out `Content-Encoding`, and send the JSON"
  private static let utf8 = "Buffer.from(text, \"utf8\"), or text.encode(\"utf-8\")"
  private static let bytesOfApp = "request.httpBody = payment.token.paymentData"
  private static let stringified = "body: JSON.stringify(event.payment.token)"

  /// By their first bytes; the longer ones first.
  private static let magics: [(bytes: [UInt8], name: String, line: String)] = [
    ([0x1F, 0x8B], "gzip", gunzip), ([0x78, 0x01], "zlib's deflate", gunzip), ([0x78, 0x5E], "zlib's deflate", gunzip),
    ([0x78, 0x9C], "zlib's deflate", gunzip), ([0x78, 0xDA], "zlib's deflate", gunzip),
    ([0x28, 0xB5, 0x2F, 0xFD], "Zstandard", "decompress it, and send the JSON"),
    ([0xEF, 0xBB, 0xBF], "JSON behind a byte order mark", "read the file as utf-8-sig, and send it without the mark"),
    ([0xFF, 0xFE, 0, 0], "UTF-32", utf8), ([0, 0, 0xFE, 0xFF], "UTF-32", utf8), ([0xFF, 0xFE], "UTF-16", utf8),
    ([0xFE, 0xFF], "UTF-16", utf8), ([0x7B, 0, 0, 0], "UTF-32", utf8), ([0, 0, 0, 0x7B], "UTF-32", utf8),
    ([0x7B, 0], "UTF-16", utf8), ([0, 0x7B], "UTF-16", utf8),
    (Array("bplist".utf8), "a property list, as an archiver writes it", bytesOfApp),
  ]

  /// U+FFFD, which stands for what was no UTF-8.
  private static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

  private static func binary(_ bytes: [UInt8]) -> TokenWrapping? {
    if let magic = magics.first(where: { bytes.starts(with: $0.bytes) }) {
      return TokenWrapping(name: magic.name, line: magic.line)
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
  private static let prints: [(prefix: String, name: String, isWhole: Bool, line: String)] = [
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
    ("<?xml", "an XML property list", true, bytesOfApp), ("<plist", "an XML property list", true, bytesOfApp),
    ("undefined", "JavaScript's undefined", false, stringified), ("(null)", "an empty pointer", false, bytesOfApp),
    ("{\\\"", "JSON whose quotation marks were escaped again", true, "leave out one JSON.stringify"),
    ("{&quot;", "JSON that was escaped for HTML", true, "body: JSON.stringify(token), and no template's escaping"),
    ("{&#34;", "JSON that was escaped for HTML", true, "body: JSON.stringify(token), and no template's escaping"),
    ("{“", "JSON in typographic quotation marks", true, "copy it as plain text"),
  ]

  private static func ofPrograms(_ bytes: [UInt8]) -> TokenWrapping? {
    if let print = prints.first(where: { bytes.starts(with: $0.prefix.utf8) }) {
      return TokenWrapping(name: print.name, isWhole: print.isWhole, line: print.line)
    }
    let (head, end) = (String(decoding: bytes.prefix(256), as: UTF8.self), bytes.suffix(256))
    if head.prefixMatch(of: /\{ ?length ?= ?[0-9]+, bytes ?= ?0x/) != nil || isBracketedHex(bytes) {
      let isCut = bytes.contains(Array("...".utf8)) || bytes.contains(Array("…".utf8))
      return TokenWrapping(name: "the description of an NSData", isWhole: !isCut, line: bytesOfApp)
    }
    if head.wholeMatch(of: /[0-9]+ bytes/) != nil {
      return TokenWrapping(name: "the description of a Swift Data", isWhole: false, line: bytesOfApp)
    }
    if bytes.starts(with: "--".utf8), head.lowercased().contains("content-disposition") {
      return TokenWrapping(name: "a multipart form", line: stringified)
    }
    if end.last == UInt8(ascii: "}"), head.prefixMatch(of: /\{\s*[A-Za-z]+\s*[:=]/) != nil {
      return TokenWrapping(name: "a dictionary as a program prints it", line: stringified)
    }
    return nil
  }

  /// `<7b227665 7273…>`
  private static func isBracketedHex(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > 8, bytes.first == UInt8(ascii: "<"), bytes.last == UInt8(ascii: ">") else { return false }
    return bytes.dropFirst().dropLast().allSatisfy { isHex($0) || " .\u{2026}".utf8.contains($0) }
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
  }

  private static func encoded(_ bytes: [UInt8], _ depth: Int) -> TokenWrapping? {
    if bytes.starts(with: "data:".utf8) {
      return TokenWrapping(name: "a data: URL", line: "JSON.parse(atob(url.split(\",\")[1]))")
    }
    let head = String(decoding: bytes.prefix(256), as: UTF8.self).lowercased()
    if head.contains("%7b") || head.contains("%22") || head.prefixMatch(of: /[a-z_.\[\]]+=[{%]/) != nil {
      return TokenWrapping(
        name: "a form, or text that was encoded for a URL", line: "\(stringified), as application/json")
    }
    if head.prefixMatch(of: /eyj[a-z0-9_-]+\.[a-z0-9_-]*\./) != nil {
      return TokenWrapping(name: "a JSON web token", isWhole: false, line: stringified)
    }
    if let inner = hex(bytes), let what = content(inner, depth) {
      return TokenWrapping(
        name: "\(what.name) in hexadecimal", isWhole: what.isWhole, line: "Buffer.from(text, \"hex\").toString()")
    }
    guard let inner = base64(bytes), let what = content(inner, depth) else { return nil }
    return TokenWrapping(
      name: "\(what.name) in base64", isWhole: what.isWhole, line: "JSON.parse(Buffer.from(text, \"base64\"))")
  }

  /// Digits after `0x`, or with `\x`, spaces, colons or commas between them.
  private static func hex(_ bytes: [UInt8]) -> [UInt8]? {
    let digits = (bytes.starts(with: "0x".utf8) ? bytes.dropFirst(2) : bytes[...]).filter {
      !" \r\n\t:,\\xX".utf8.contains($0)
    }
    guard digits.count >= 16, digits.allSatisfy(isHex) else { return nil }
    return Hex.decode(String(decoding: digits, as: UTF8.self))
  }

  /// Decodes base64 of either alphabet, with or without its padding.
  private static func base64(_ bytes: [UInt8]) -> [UInt8]? {
    var digits = bytes.filter { !" \r\n=".utf8.contains($0) }.map { byte in
      byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? UInt8(ascii: "/") : byte
    }
    guard digits.count >= 16 else { return nil }
    while !digits.count.isMultiple(of: 4) { digits.append(UInt8(ascii: "=")) }
    return Base64.decode(String(decoding: digits, as: UTF8.self))
  }

  private static func content(_ bytes: [UInt8], _ depth: Int) -> (name: String, isWhole: Bool)? {
    if case .object? = try? JSONReader.read(bytes, limits: JSONLimits(depth: 16, size: TokenLimits.json)) {
      return ("the JSON", true)
    }
    return find(in: bytes, depth: depth - 1).map { ($0.name, $0.isWhole) }
  }
}

// JSON.
extension TokenWrapping {
  /// Bytes as JSON writes them, or a payment token further down.
  static func find(in json: JSONValue) -> TokenWrapping? {
    if isBytes(json) {
      return TokenWrapping(
        name: "an array of bytes as JSON", line: "JSON.parse(new TextDecoder().decode(new Uint8Array(bytes)))")
    }
    guard case .object(let object) = json else { return nested(json) }
    if let data = object["data"], object["type"] != nil, isBytes(data) {
      return TokenWrapping(name: "a Node Buffer as JSON", line: "JSON.parse(buffer.toString(\"utf8\"))")
    }
    if object["0"] != nil, object["1"] != nil, object["2"] != nil {
      return TokenWrapping(
        name: "a Uint8Array as JSON.stringify writes it", line: "JSON.parse(new TextDecoder().decode(bytes))")
    }
    return nested(json)
  }

  private static func isBytes(_ json: JSONValue) -> Bool {
    guard case .array(let elements) = json, elements.count >= 8 else { return false }
    return elements.allSatisfy { if case .integer(let byte) = $0 { (-128...255).contains(byte) } else { false } }
  }

  private static func nested(_ json: JSONValue) -> TokenWrapping? {
    guard let path = path(in: json, depth: 5), !path.isEmpty else { return nil }
    let dotted = path.hasPrefix(".") ? String(path.dropFirst()) : path
    return TokenWrapping(
      name: "a document around the payment token, which is its member \(dotted)",
      line: "body: JSON.stringify(document\(path))")
  }

  /// Where a payment token's object is: empty at the top, as `.payment.token` below it.
  private static func path(in json: JSONValue, depth: Int) -> String? {
    switch json {
    case .object(let object):
      if object["paymentData"] != nil || object["header"] != nil && object["data"] != nil { return "" }
      guard depth > 0 else { return nil }
      for (key, value) in object.members where key.utf8.count <= 40 {
        if let rest = path(in: value, depth: depth - 1) { return ".\(key)\(rest)" }
      }
      return nil
    case .array(let elements):
      guard depth > 0, let first = elements.first else { return nil }
      return path(in: first, depth: depth - 1).map { "[0]\($0)" }
    case .string, .integer, .number, .bool, .null: return nil
    }
  }
}

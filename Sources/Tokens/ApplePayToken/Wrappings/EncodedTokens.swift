import Foundation
import StrictJSON
import TenderPayments

// Encodings of bytes and of text.
extension TokenWrapping {
  /// By their first bytes; the longer ones first. What is text has so many bytes to skip before it; nil for what is none.
  private static let magics: [(bytes: [UInt8], name: String, remedy: Remedy, skipped: Int?)] = [
    ([0x1F, 0x8B, 0x08], "gzip", .code("zlib.gunzipSync(bytes).toString()"), nil),
    ([0x78, 0x01], "zlib's deflate", .code("zlib.inflateSync(bytes).toString()"), nil),
    ([0x78, 0x5E], "zlib's deflate", .code("zlib.inflateSync(bytes).toString()"), nil),
    ([0x78, 0x9C], "zlib's deflate", .code("zlib.inflateSync(bytes).toString()"), nil),
    ([0x78, 0xDA], "zlib's deflate", .code("zlib.inflateSync(bytes).toString()"), nil),
    ([0x28, 0xB5, 0x2F, 0xFD], "Zstandard", .code("zlib.zstdDecompressSync(bytes).toString()"), nil),
    ([0xEF, 0xBB, 0xBF], "JSON behind a byte order mark", .code("new TextDecoder().decode(bytes)"), 3),
    ([0xFF, 0xFE, 0, 0], "UTF-32", .decode("UTF-32"), 4),
    ([0, 0, 0xFE, 0xFF], "UTF-32", .decode("UTF-32"), 4),
    ([0xFF, 0xFE], "UTF-16, little-endian", .code("new TextDecoder(\"utf-16le\").decode(bytes)"), 2),
    ([0xFE, 0xFF], "UTF-16, big-endian", .code("new TextDecoder(\"utf-16be\").decode(bytes)"), 2),
    (
      [0xC3, 0xBF, 0xC3, 0xBE], "UTF-16 that was read as Latin-1",
      .code("new TextDecoder(\"utf-16le\").decode(Buffer.from(text, \"latin1\"))"), 4
    ),
    ([0x7B, 0, 0, 0], "UTF-32", .decode("UTF-32"), 0),
    ([0, 0, 0, 0x7B], "UTF-32", .decode("UTF-32"), 0),
    (Array("bplist".utf8), "a property list, as an archiver writes it", bytesOfApp, nil),
    (Array("PK\u{3}\u{4}".utf8), "a ZIP archive", .decode("the archive (unzip -p FILE)"), nil),
  ]

  static func binary(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    if let magic = magics.first(where: { bytes.starts(with: $0.bytes) }) {
      guard let skipped = magic.skipped else { return TokenWrapping(name: magic.name, remedy: magic.remedy) }
      return undone(magic.name, bytes.dropFirst(skipped).filter { $0 != 0 }, magic.remedy, &work)
    }
    if let order = wideText(bytes) {
      return undone(
        "UTF-16, \(order == 0 ? "little" : "big")-endian", bytes.filter { $0 != 0 },
        .code("new TextDecoder(\"utf-16\(order == 0 ? "le" : "be")\").decode(bytes)"), &work)
    }
    if (try? SignedData(ber: bytes[...])) != nil {
      return TokenWrapping(
        name: signatureAlone, remedy: stringified, condition: .known("data and header are not there"))
    }
    guard bytes.prefix(256).firstRange(of: Array("EC_v1".utf8)) != nil, String(validating: bytes, as: UTF8.self) == nil,
      bytes.first != UInt8(ascii: "{")
    else { return nil }
    return TokenWrapping(name: "a binary form of the payment token, such as CBOR or MessagePack", remedy: stringified)
  }

  /// Which byte of each two has the letters, where the other one is zero; nil for anything else.
  private static func wideText(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 32 else { return nil }
    let first = bytes.prefix(32).enumerated()
    return (0...1).first { order in first.allSatisfy { ($0.element != 0) == ($0.offset % 2 == order) } }
  }

  static func encoded(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    let head = String(decoding: bytes.prefix(256), as: UTF8.self).lowercased()
    if head.hasPrefix("data:"), let comma = bytes.firstIndex(of: UInt8(ascii: ",")) {
      let rest = Array(bytes[(comma + 1)...])
      let part = "text.slice(text.indexOf(\",\") + 1)"
      return head.prefix { $0 != "," }.contains(";base64")
        ? undone("a data: URL", base64(rest), .code("Buffer.from(\(part), \"base64\")"), &work)
        : undone("a data: URL", percentDecoded(rest), .code("decodeURIComponent(\(part))"), &work)
    }
    if head.hasPrefix("-----begin ") { return betweenLines(bytes, &work) }
    return form(bytes, head, &work) ?? digits(bytes, &work) ?? webToken(bytes, &work)
  }

  /// Base64 between the lines of PEM. Its dashes are letters of base64 for URLs, so the lines go first.
  private static func betweenLines(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    let text = String(decoding: bytes, as: UTF8.self).replacing(/-----(?:BEGIN|END) [^\-]*-----/, with: "")
    guard let inner = base64(Array(text.utf8)), let what = token(in: inner, &work) else { return nil }
    return what.within(
      "PEM", .code(#"Buffer.from(text.replace(/-----(?:BEGIN|END) [^-]*-----/g, ""), "base64")"#))
  }

  /// `application/x-www-form-urlencoded`, alone or behind a URL's question mark, and text that was encoded for either.
  private static func form(_ bytes: [UInt8], _ head: String, _ work: inout Int) -> TokenWrapping? {
    let name = "a form, or text that was encoded for a URL"
    if head.prefixMatch(of: /(?:[a-z]+ )?(?:https?:\/)?\/[^?\s]*\?/) != nil,
      let query = bytes.firstIndex(of: UInt8(ascii: "?")),
      let found = form(Array(bytes[(query + 1)...]), String(head.drop { $0 != "?" }.dropFirst()), &work)
    {
      return TokenWrapping(
        name: "a URL with \(found.name)",
        remedy: found.remedy.after(.code("text.slice(text.indexOf(\"?\") + 1)")), condition: found.condition)
    }
    if head.prefixMatch(of: /[a-z0-9_.\-\[\]%]{1,64}=(?!=*$)/) != nil {
      let fields = bytes.split(separator: UInt8(ascii: "&"), maxSplits: 32).map { field in
        Array(field.drop { $0 != UInt8(ascii: "=") }.dropFirst())
      }
      for (place, field) in fields.enumerated() where field.count >= 16 {
        // A “+” that was not encoded is read as a space: only the field itself still has it.
        for (isRaw, value) in [(false, percentDecoded(field, plus: " ")), (true, percentDecoded(field))] {
          guard let what = value.flatMap({ token(in: $0, &work) }), !what.remedy.cutsJSON else { continue }
          if !isRaw, field.contains(UInt8(ascii: "+")), what.isBroken { continue }
          if !isRaw, what.name.contains("became spaces") { continue }
          let code =
            isRaw
            ? "decodeURIComponent(text.split(\"&\")[\(place)].replace(/^[^=]*=/, \"\"))"
            : "[...new URLSearchParams(text).values()][\(place)]"
          let plus =
            isRaw && field.contains(UInt8(ascii: "+")) ? ", whose “+” are not encoded and are read as spaces" : ""
          return TokenWrapping(name: name + plus, remedy: what.remedy.after(.code(code)), condition: what.condition)
        }
      }
      let isForm = bytes.contains(UInt8(ascii: "&")) || head.contains("%7b")
      guard !isForm || bytes.contains(UInt8(ascii: "{")) else {
        return TokenWrapping(name: "a form without a payment token in one field", remedy: stringified)
      }
    }
    guard head.contains(/%(?:25)*(?:7b|22)|^(?:%[0-9a-f]{2}){8}/) else { return nil }
    return undone(name, percentDecoded(bytes), .code("decodeURIComponent(text)"), &work)
  }

  /// Hexadecimal, base64, and bytes as decimal numbers.
  private static func digits(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    if let inner = hex(bytes[...]), let what = content(inner, &work) {
      let digits = bytes.allSatisfy(isHex) ? "text" : "text.replace(/0x|[^0-9a-f]/gi, \"\")"
      return what.within("hexadecimal", .code("Buffer.from(\(digits), \"hex\")"))
    }
    if let inner = dumped(bytes) {
      return undone("a hex dump", inner, .decode("the hex dump"), &work)
    }
    if let inner = decimal(bytes), let what = content(inner, &work) {
      return what.within("decimal numbers", .code("Buffer.from(text.match(/-?\\d+/g).map(Number))"))
    }
    if bytes.contains(UInt8(ascii: " ")), let inner = base64(bytes.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }),
      let what = content(inner, &work), !what.isBroken
    {
      return what.within(
        "base64 whose “+” became spaces", .code("Buffer.from(text.replaceAll(\" \", \"+\"), \"base64\")"))
    }
    guard let inner = base64(bytes), let what = content(inner, &work) else {
      return shortened(bytes) ?? member(bytes)
    }
    return what.within("base64", .code("Buffer.from(text, \"base64\")"))
  }

  /// Base64 or hexadecimal of JSON, shortened by a program that shows it.
  private static func shortened(_ bytes: [UInt8]) -> TokenWrapping? {
    let isEncoded = ["eyJ", "ewo", "7b22", "7B22", "7b0a"].contains { bytes.starts(with: $0.utf8) }
    guard isEncoded, let reason = abridgement(of: bytes) else { return nil }
    return TokenWrapping(
      name: "JSON in base64 or hexadecimal, shortened", remedy: stringified, condition: .lost(reason))
  }

  /// The value of one member, which is base64 of bytes that are no text.
  private static func member(_ bytes: [UInt8]) -> TokenWrapping? {
    guard let inner = Base64.decode(String(decoding: bytes, as: UTF8.self)), inner.count >= 128,
      String(validating: inner, as: UTF8.self) == nil
    else { return nil }
    return TokenWrapping(
      name: "\(memberAlone), such as the value of data alone", remedy: stringified,
      condition: .known("the members beside it are not there"))
  }

  /// A JSON web token or the compact form of one that is encrypted (RFC 7515, RFC 7516).
  private static func webToken(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard bytes.starts(with: "eyJ".utf8), parts.count == 3 || parts.count == 5, !bytes.contains(0x20) else {
      return nil
    }
    guard parts.count == 3 else {
      return TokenWrapping(
        name: "an encrypted JSON web token", remedy: .sentence("Decrypt it first, then send what is in it"))
    }
    let inside = undone(
      "a JSON web token", base64(Array(parts[1])), .code("Buffer.from(text.split(\".\")[1], \"base64\")"), &work)
    guard !inside.isKnown else { return inside }
    return TokenWrapping(
      name: inside.name, remedy: stringified, condition: .known("nothing of the payment token is in it"))
  }

  private static func percentDecoded(_ bytes: [UInt8], plus: String = "+") -> [UInt8]? {
    let text = String(decoding: bytes, as: UTF8.self).replacing("+", with: plus)
    return text.removingPercentEncoding.map { Array($0.utf8) }
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
  }

  /// Digits after `0x`, or with `0x`, `\x`, spaces, colons or commas between them. A digit too many, as a cut leaves it,
  /// is passed over.
  static func hex(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var (digits, previous) = ([UInt8](), UInt8(0))
    for byte in bytes {
      if isHex(byte) {
        digits.append(byte)
      } else if byte | 0x20 == UInt8(ascii: "x") {
        if previous == UInt8(ascii: "0") { digits.removeLast() }
      } else if !" \r\n\t:,;\\<>{}[]()".utf8.contains(byte) {
        return nil
      }
      previous = byte
    }
    guard digits.count >= 16 else { return nil }
    return Hex.decode(String(decoding: digits.prefix(digits.count & ~1), as: UTF8.self))
  }

  /// What xxd, hexdump or od prints: an offset, the bytes, and mostly their text.
  private static func dumped(_ bytes: [UInt8]) -> [UInt8]? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.prefixMatch(of: /0{4,8}:?\s+[0-9a-f]{2}/) != nil else { return nil }
    let lines = text.split(separator: "\n").map { line -> Substring in
      let rest = line.drop { !$0.isWhitespace }.drop(while: \.isWhitespace)
      guard !rest.contains("|") else { return rest.prefix { $0 != "|" } }
      return rest.firstRange(of: "  ").map { rest[..<$0.lowerBound] } ?? rest
    }
    return hex(ArraySlice(lines.joined(separator: " ").utf8))
  }

  private static func decimal(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.allSatisfy({ (0x30...0x39).contains($0) || " \r\n\t,[](){}-".utf8.contains($0) }) else { return nil }
    let numbers = bytes.split { !(0x30...0x39).contains($0) && $0 != UInt8(ascii: "-") }.map { number in
      try? JSONReader.read(Array(number))
    }
    return Self.bytes(.array(numbers.map { $0 ?? .null }))
  }

  /// Decodes base64 of either alphabet, with or without its padding. A character too many, as a cut leaves it, is passed
  /// over.
  static func base64(_ bytes: [UInt8]) -> [UInt8]? {
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
}

import Foundation
import StrictJSON
import TenderPayments

// What programs print of an object that was meant to be sent, and texts around it.
extension TokenWrapping {
  /// By how they begin. They hold nothing of the payment token.
  private static let names: [(prefix: String, name: String, remedy: Remedy)] = [
    ("[object ", "an object that JavaScript made a text of", stringified),
    ("<PKPayment", "the description of an object of PassKit", bytesOfApp),
    ("PKPayment", "the description of an object of PassKit", bytesOfApp),
    ("[B@", "the name of a Java array", .sentence("Send new String(bytes, StandardCharsets.UTF_8)")),
    ("System.Byte[]", "the name of a .NET array", .sentence("Send Encoding.UTF8.GetString(bytes)")),
    ("undefined", "JavaScript's undefined", stringified), ("(null)", "an empty pointer", bytesOfApp),
  ]
  private static let nothing = Condition.known("nothing of the payment token is in it")

  /// By how they begin. They may hold the payment token, and reading them takes a program.
  private static let prints: [(prefix: String, name: String, remedy: Remedy)] = [
    ("array", "an array as PHP prints it", byPHP), ("stdclass object", "an object as PHP prints it", byPHP),
    ("object(stdclass)", "an object as PHP prints it", byPHP),
    ("a:", "an array of PHP's serialize", .decode("PHP's serialize")),
    ("o:8:\"stdclass\"", "an object of PHP's serialize", .decode("PHP's serialize")),
    ("map[", "a map as Go prints it", byGo), ("&{", "a struct as Go prints it", byGo),
    ("[anyhashable(", "a dictionary as Swift prints it", bytesOfApp),
    ("begin 6", "uuencoded text", .decode("uuencode")),
  ]
  private static let byPHP = Remedy.sentence("Send json_encode($token), and not what PHP prints")
  private static let byGo = Remedy.sentence("Send json.Marshal(token), and not what Go prints")

  private static let forHTML = "JSON that was escaped for HTML"
  private static let templated = Remedy.decode("HTML's character references")
  private static let references = [
    ("&quot;", "\""), ("&#34;", "\""), ("&#x22;", "\""), ("&#43;", "+"), ("&#x2B;", "+"), ("&#61;", "="),
    ("&#x3D;", "="), ("&#x2F;", "/"), ("&amp;", "&"),
  ]
  private static let straight = [("“", "\""), ("”", "\""), ("„", "\"")]
  private static let straightened = Remedy.code("text.replace(/[“”„]/g, '\"')")
  private static let byRuby = Remedy.sentence("Send token.to_json, and not what Ruby prints")

  /// By what stands in them, with what makes JSON of them.
  private static let quoted: [(mark: String, name: String, remedy: Remedy, replacing: [(old: String, new: String)])] = [
    (
      "{'", "a dictionary as Python prints it", .sentence("Send json.dumps(token), and not what Python prints"),
      [("'", "\""), ("None", "null"), ("True", "true"), ("False", "false")]
    ),
    ("\"=>", "a hash as Ruby prints it", byRuby, [("\"=>", "\":"), ("nil", "null")]),
    ("\" => ", "a hash as Ruby prints it", byRuby, [("\" => ", "\":"), ("nil", "null")]),
    ("&quot;", forHTML, templated, references), ("&#34;", forHTML, templated, references),
    ("&#x22;", forHTML, templated, references),
    ("“", "JSON in typographic quotation marks", straightened, straight),
    ("”", "JSON in typographic quotation marks", straightened, straight),
    ("{\"\"", "a cell of CSV", .decode("CSV"), [("\"\"", "\"")]),
    ("[\"", "a dictionary as Swift prints it", bytesOfApp, [("[", "{"), ("]", "}")]),
    ("\u{A0}", "JSON with no-break spaces", .code("text.replaceAll(\"\\u00a0\", \" \")"), [("\u{A0}", " ")]),
    ("\u{200B}", "JSON with zero-width spaces", .code("text.replaceAll(\"\\u200b\", \"\")"), [("\u{200B}", "")]),
    (
      "\u{FEFF}", "JSON with a byte order mark within", .code("text.replaceAll(\"\\ufeff\", \"\")"),
      [("\u{FEFF}", "")]
    ),
    (
      "\\n", "JSON with its line ends as “\\n”", .code("text.replace(/\\\\[rn]/g, \"\\n\")"),
      [("\\r", "\n"), ("\\n", "\n")]
    ),
  ]

  static func printed(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    if let name = names.first(where: { bytes.starts(with: $0.prefix.utf8) }) {
      return TokenWrapping(name: name.name, remedy: name.remedy, condition: nothing)
    }
    let head = String(decoding: bytes.prefix(512), as: UTF8.self)
    if let found = described(bytes, head, &work) { return found }
    for print in quoted where head.contains(print.mark) {
      let inner = replacing(print.replacing, in: bytes)
      if let what = token(in: inner, &work) ?? shortened(bytes) { return named(what, print.name, print.remedy, bytes) }
    }
    if head.hasPrefix("b'") || head.hasPrefix("b\"") {
      return undone(
        "bytes as Python prints them", Array(bytes.dropFirst(2).dropLast()),
        .sentence("Send data.decode(\"utf-8\"), and not what Python prints"), &work)
    }
    if head.prefixMatch(of: /\{\s*[A-Za-z]+\s*[:=]/) != nil {
      let pairs = String(decoding: bytes, as: UTF8.self).replacing("'", with: "\"")
        .replacing(/([{,]\s*)([A-Za-z]+)\s*:/) { "\($0.output.1)\"\($0.output.2)\":" }
      let what =
        token(in: Array(pairs.utf8), &work) ?? surrounded(bytes, &work) ?? TokenWrapping(name: "", remedy: stringified)
      return named(what, "a dictionary as a program prints it", stringified, bytes)
    }
    let lower = head.lowercased()
    guard let print = prints.first(where: { lower.hasPrefix($0.prefix) }) else { return nil }
    return surrounded(bytes, &work) ?? TokenWrapping(name: print.name, remedy: print.remedy)
  }

  private static func shortened(_ bytes: [UInt8]) -> TokenWrapping? {
    guard bytes.firstRange(of: Array("header".utf8)) != nil else { return nil }
    return abridgement(of: bytes).map { TokenWrapping(name: "", remedy: stringified, condition: .lost($0)) }
  }

  private static func named(
    _ what: TokenWrapping, _ name: String, _ remedy: Remedy, _ bytes: [UInt8]
  ) -> TokenWrapping {
    var (condition, remedy) = (what.condition, remedy)
    if case .code(let line) = remedy, line.hasPrefix("text.") { remedy = what.remedy.after(remedy) }
    if case .readable = condition {} else if let lost = abridgement(of: bytes) { condition = .lost(lost) }
    return TokenWrapping(name: name, remedy: remedy, condition: condition)
  }

  /// The descriptions of an NSData, a Data, and a Buffer.
  private static func described(_ bytes: [UInt8], _ head: String, _ work: inout Int) -> TokenWrapping? {
    if head.prefixMatch(of: /\{ ?length ?= ?[0-9]+, bytes ?= ?0x|<[0-9a-f]{8}/) != nil {
      let inner = hex(bytes.drop { $0 != UInt8(ascii: "x") && $0 != UInt8(ascii: "<") })
      let what = inner.flatMap { content($0, &work) } ?? TokenWrapping(name: "", remedy: bytesOfApp)
      return named(what, "the description of an NSData", bytesOfApp, bytes)
    }
    if head.hasPrefix("<Buffer ") {
      let what =
        hex(bytes.dropFirst(8)).flatMap { content($0, &work) } ?? TokenWrapping(name: "", remedy: stringified)
      return named(what, "a Buffer as Node prints it", .code("buffer.toString(\"utf8\")"), bytes)
    }
    guard head.wholeMatch(of: /[0-9]+ bytes/) != nil else { return nil }
    return TokenWrapping(name: "the description of a Swift Data", remedy: bytesOfApp, condition: nothing)
  }

  /// Text that something has escaped, put into quotation marks, or broken into lines.
  static func escaped(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    if let first = bytes.first, bytes.count > 2, first == bytes.last, "'\"".utf8.contains(first),
      let what = content(Array(bytes.dropFirst().dropLast()), &work)
    {
      return what.within("quotation marks", .code("text.slice(1, -1)"))
    }
    if bytes.contains(UInt8(ascii: "\\")), let inner = unescaped(bytes), inner != bytes,
      let what = content(inner, &work)
    {
      return what.within("text that was escaped again", .code("JSON.parse('\"' + text + '\"')"))
    }
    if let inner = unescapedHex(bytes), let what = token(in: inner, &work) {
      let replaced = "text.replace(/\\\\x([0-9a-f]{2})/gi, (_, x) => String.fromCharCode(parseInt(x, 16)))"
      return what.within("text with “\\x22” for its quotation marks", .code("Buffer.from(\(replaced), \"latin1\")"))
    }
    if let inner = unmailed(bytes), let what = token(in: inner, &work), what.isKnown {
      return what.within("quoted-printable, as mail is sent", .decode("quoted-printable"))
    }
    let line = bytes.filter { $0 != 0x0A && $0 != 0x0D }
    guard line.count < bytes.count, bytes.first == UInt8(ascii: "{"), let what = token(in: line, &work),
      what.remedy == .code("text"), case .readable = what.condition
    else { return nil }
    return what.within("lines that break its strings", .code("text.replace(/\\r?\\n/g, \"\")"))
  }

  private static func unescaped(_ bytes: [UInt8]) -> [UInt8]? {
    let marks: [UInt8] = [UInt8(ascii: "\"")]
    guard case .string(let text)? = try? JSONReader.read(marks + bytes + marks) else { return nil }
    return Array(text.utf8)
  }

  /// Undoes `\x22`, as nginx writes what is no printable ASCII into its log; nil for a text without it.
  private static func unescapedHex(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.firstRange(of: Array("\\x22".utf8)) != nil else { return nil }
    return decodingHex(bytes, after: Array("\\x".utf8))
  }

  /// Quoted-printable (RFC 2045 §6.7): by its header, or by a soft line break and an escaped byte.
  private static func unmailed(_ bytes: [UInt8]) -> [UInt8]? {
    let text = String(decoding: bytes, as: UTF8.self)
    let joined = replacing([("=\r\n", ""), ("=\n", "")], in: bytes)
    let isMarked = text.prefix(2048).lowercased().contains("content-transfer-encoding: quoted-printable")
    guard isMarked || joined.count < bytes.count && text.contains(/=[0-9A-F]{2}/) else { return nil }
    let decoded = decodingHex(joined, after: [UInt8(ascii: "=")])
    return decoded.count < bytes.count ? decoded : nil
  }

  /// Each mark with two digits behind it becomes their byte.
  private static func decodingHex(_ bytes: [UInt8], after mark: [UInt8]) -> [UInt8] {
    var (decoded, rest) = ([UInt8](), bytes[...])
    while let place = rest.firstRange(of: mark) {
      let digits = rest[place.upperBound...].prefix(2)
      let byte = Hex.decode(String(decoding: digits, as: UTF8.self)).flatMap { $0.count == 1 ? $0 : nil }
      decoded += rest[..<place.lowerBound] + (byte ?? mark)
      rest = rest[place.upperBound...].dropFirst(byte == nil ? 0 : 2)
    }
    return decoded + rest
  }
}

// Text before and behind the payment token.
extension TokenWrapping {
  /// By what stands in their first lines.
  private static let heads: [(mark: String, name: String)] = [
    (inBase64, "a message with a part in base64"),
    ("content-disposition:", "a multipart form"), ("http/1.", "an HTTP message with its head"),
    ("content-type:", "a message with its head"), ("content-transfer-encoding:", "a message with its head"),
  ]

  private static let inBase64 = "content-transfer-encoding: base64"

  /// By how they begin.
  private static let beginnings: [(mark: String, name: String)] = [
    ("optional(", "the description of a Swift optional"),
    ("s:", "a text of PHP's serialize"), ("//", "JavaScript"), ("/*", "JavaScript"),
    ("const ", "JavaScript"), ("let ", "JavaScript"), ("var ", "JavaScript"), ("curl ", "a shell's command"),
    ("---\n", "YAML"), ("version:", "YAML"), ("paymentdata:", "YAML"), ("token:", "YAML"), ("data:", "YAML"),
  ]

  /// JSON, or a long run of base64 or hexadecimal, with something around it.
  static func surrounded(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    let head = String(decoding: bytes.prefix(2048), as: UTF8.self).lowercased()
    let known =
      heads.first { head.contains($0.mark) } ?? beginnings.first { head.hasPrefix($0.mark) }
      ?? head.prefixMatch(of: /<[a-z?!]/).map { _ in ("<markup>", "XML or HTML") }
    if let found = body(of: bytes, known?.name, &work) ?? json(in: bytes, known?.name, &work)
      ?? run(in: bytes, known?.name, &work)
    {
      return found
    }
    guard let known, known.mark.utf8.count > 2 else { return nil }
    let remedy =
      known.name == "YAML" ? Remedy.decode("YAML") : known.mark == inBase64 ? .decode("base64") : stringified
    return TokenWrapping(name: known.name, remedy: remedy)
  }

  /// What stands behind the empty line after a message's head.
  private static func body(of bytes: [UInt8], _ name: String?, _ work: inout Int) -> TokenWrapping? {
    guard let name, let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)),
      let what = token(in: Array(bytes[head.upperBound...]), &work), !what.remedy.cutsJSON
    else { return nil }
    let remedy = what.remedy.after(.code("text.slice(text.indexOf(\"\\r\\n\\r\\n\") + 4)"))
    return TokenWrapping(name: name, remedy: remedy, condition: what.condition)
  }

  private static func json(in bytes: [UInt8], _ name: String?, _ work: inout Int) -> TokenWrapping? {
    let slice = "text.slice(text.indexOf(\"{\"), text.lastIndexOf(\"}\") + 1)"
    let starts = Array(bytes.indices.lazy.filter { bytes[$0] == UInt8(ascii: "{") }.prefix(4))
    for start in starts {
      let rest = Array(bytes[start...])
      let (inner, end) = object(rest)
      guard start > 0 || end < bytes.count, inner.count >= shortest, let what = token(in: inner, &work),
        !what.remedy.cutsJSON, what.isKnown
      else {
        continue
      }
      guard start == 0 else {
        let isFirst = start == starts.first && bytes.lastIndex(of: UInt8(ascii: "}")) == start + end - 1
        let before = String(decoding: bytes[..<start], as: UTF8.self).utf16.count
        let remedy = what.remedy.after(.code(isFirst ? slice : "text.slice(\(before), \(before + end))"))
        return TokenWrapping(name: name ?? "text around the payment token", remedy: remedy, condition: what.condition)
      }
      let first = what.remedy.after(.code("text.slice(0, \(String(decoding: inner, as: UTF8.self).utf16.count))"))
      let behind = bytes[end...].drop { $0 <= 0x20 }
      return behind.first == UInt8(ascii: "{")
        ? TokenWrapping(
          name: "several documents, one behind the other, of which one call takes one", remedy: first,
          condition: what.condition)
        : TokenWrapping(
          name: "JSON with something behind it, from byte \(end) on", remedy: first, condition: what.condition)
    }
    return nil
  }

  /// The object that these bytes begin with, and where it ends; up to the last bracket where it cannot be read.
  private static func object(_ bytes: [UInt8]) -> (inner: [UInt8], end: Int) {
    do throws(JSONError) {
      _ = try JSONReader.read(bytes, limits: JSONLimits(depth: 16, size: TokenLimits.json))
      return (bytes, bytes.count)
    } catch {
      if error.code == .trailingBytes, let end = error.offset {
        let inner = Array(bytes.prefix(end).reversed().drop { $0 <= 0x20 }.reversed())
        return (inner, inner.count)
      }
      guard error.code != .unexpectedEnd, let last = bytes.lastIndex(of: UInt8(ascii: "}")) else {
        return (bytes, bytes.count)
      }
      return (Array(bytes[...last]), last + 1)
    }
  }

  /// The shortest run that is taken for a payment token in base64 or hexadecimal.
  private static let shortestRun = 200

  private static func run(in bytes: [UInt8], _ name: String?, _ work: inout Int) -> TokenWrapping? {
    let runs = bytes.split { byte in !(byte < 0x80 && (isLetterOrDigit(byte) || "+/_-=".utf8.contains(byte))) }
    guard let longest = runs.max(by: { $0.count < $1.count }), longest.count >= shortestRun,
      longest.count < bytes.count,
      let what = token(in: Array(longest), &work)
    else { return nil }
    return what.within(name ?? "other text", .code("text.match(/[A-Za-z0-9+\\/_=-]{\(shortestRun),}/)[0]"))
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
  }
}

import Foundation
import StrictJSON
import TenderPayments

// What programs print of an object that was meant to be sent, and texts around it.
extension TokenWrapping {
  /// By how they begin. They hold nothing of the payment token.
  private static let names: [(prefix: String, name: String, line: String)] = [
    ("[object ", "an object that JavaScript made a text of", stringified),
    ("<PKPayment", "the description of an object of PassKit", bytesOfApp),
    ("PKPayment", "the description of an object of PassKit", bytesOfApp),
    ("[B@", "the name of a Java array", "new String(bytes, StandardCharsets.UTF_8)"),
    ("System.Byte[]", "the name of a .NET array", "Encoding.UTF8.GetString(bytes)"),
    ("undefined", "JavaScript's undefined", stringified), ("(null)", "an empty pointer", bytesOfApp),
  ]

  /// By how they begin. They may hold the payment token, and reading them takes a program.
  private static let prints: [(prefix: String, name: String, line: String)] = [
    ("array", "an array as PHP prints it", "echo json_encode($token);"),
    ("stdclass object", "an object as PHP prints it", "echo json_encode($token);"),
    ("object(stdclass)", "an object as PHP prints it", "echo json_encode($token);"),
    ("a:", "an array of PHP's serialize", "echo json_encode(unserialize($text));"),
    ("o:8:\"stdclass\"", "an object of PHP's serialize", "echo json_encode(unserialize($text));"),
    ("map[", "a map as Go prints it", "json.Marshal(token)"), ("&{", "a struct as Go prints it", "json.Marshal(token)"),
    ("[anyhashable(", "a dictionary as Swift prints it", bytesOfApp),
    ("begin 6", "uuencoded text", "uudecode"),
  ]

  private static let forHTML = "JSON that was escaped for HTML"
  private static let templated = "body: JSON.stringify(token), and no template's escaping"
  private static let references = [
    ("&quot;", "\""), ("&#34;", "\""), ("&#x22;", "\""), ("&#43;", "+"), ("&#x2B;", "+"), ("&#61;", "="),
    ("&#x3D;", "="), ("&#x2F;", "/"), ("&amp;", "&"),
  ]
  private static let straight = [("“", "\""), ("”", "\""), ("„", "\"")]

  /// By what stands in them, with what makes JSON of them. Reading the result decides whether it is whole.
  private static let quoted: [(mark: String, name: String, line: String, replacing: [(old: String, new: String)])] = [
    (
      "{'", "a dictionary as Python prints it", "json.dumps(token)",
      [("'", "\""), ("None", "null"), ("True", "true"), ("False", "false")]
    ),
    ("\"=>", "a hash as Ruby prints it", "token.to_json", [("\"=>", "\":"), ("nil", "null")]),
    ("\" => ", "a hash as Ruby prints it", "token.to_json", [("\" => ", "\":"), ("nil", "null")]),
    ("&quot;", forHTML, templated, references), ("&#34;", forHTML, templated, references),
    ("&#x22;", forHTML, templated, references),
    ("“", "JSON in typographic quotation marks", "copy it as plain text", straight),
    ("”", "JSON in typographic quotation marks", "copy it as plain text", straight),
    ("{\"\"", "a cell of CSV", "read it with a CSV parser", [("\"\"", "\"")]),
    ("[\"", "a dictionary as Swift prints it", bytesOfApp, [("[", "{"), ("]", "}")]),
    ("\u{A0}", "JSON with no-break spaces", "text.replaceAll(\"\\u00a0\", \" \")", [("\u{A0}", " ")]),
    ("\u{200B}", "JSON with zero-width spaces", "text.replaceAll(\"\\u200b\", \"\")", [("\u{200B}", "")]),
    ("\u{FEFF}", "JSON with a byte order mark within", "text.replaceAll(\"\\ufeff\", \"\")", [("\u{FEFF}", "")]),
    ("\\n", "JSON with its line ends as “\\n”", "text.replace(/\\\\[rn]/g, \"\\n\")", [("\\r", "\n"), ("\\n", "\n")]),
  ]

  static func printed(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    if let name = names.first(where: { bytes.starts(with: $0.prefix.utf8) }) {
      return TokenWrapping(
        name: name.name, line: name.line, condition: .damaged("nothing of the payment token is in it"))
    }
    let head = String(decoding: bytes.prefix(512), as: UTF8.self)
    if let found = described(bytes, head, &work) { return found }
    for print in quoted where head.contains(print.mark) {
      let inner = replacing(print.replacing, in: bytes)
      if let what = token(in: inner, &work) ?? shortened(bytes) { return named(what, print.name, print.line, bytes) }
    }
    if head.hasPrefix("b'") || head.hasPrefix("b\"") {
      return undone(
        "bytes as Python prints them", Array(bytes.dropFirst(2).dropLast()), "data.decode(\"utf-8\")", &work)
    }
    if head.prefixMatch(of: /\{\s*[A-Za-z]+\s*[:=]/) != nil {
      let pairs = String(decoding: bytes, as: UTF8.self).replacing("'", with: "\"")
        .replacing(/([{,]\s*)([A-Za-z]+)\s*:/) { "\($0.output.1)\"\($0.output.2)\":" }
      let what =
        token(in: Array(pairs.utf8), &work) ?? surrounded(bytes, &work) ?? TokenWrapping(name: "", line: stringified)
      return named(what, "a dictionary as a program prints it", stringified, bytes)
    }
    let lower = head.lowercased()
    guard let print = prints.first(where: { lower.hasPrefix($0.prefix) }) else { return nil }
    return surrounded(bytes, &work) ?? TokenWrapping(name: print.name, line: print.line)
  }

  private static func shortened(_ bytes: [UInt8]) -> TokenWrapping? {
    abridgement(of: bytes).map { TokenWrapping(name: "", line: stringified, condition: .damaged($0)) }
  }

  private static func named(
    _ what: TokenWrapping, _ name: String, _ line: String, _ bytes: [UInt8]
  ) -> TokenWrapping {
    let line = line.hasPrefix("text.") ? what.within("", line).line : line
    if case .whole = what.condition { return TokenWrapping(name: name, line: line, condition: .whole) }
    return TokenWrapping(
      name: name, line: line, condition: abridgement(of: bytes).map { .damaged($0) } ?? what.condition)
  }

  /// The descriptions of an NSData, a Data, and a Buffer.
  private static func described(_ bytes: [UInt8], _ head: String, _ work: inout Int) -> TokenWrapping? {
    if head.prefixMatch(of: /\{ ?length ?= ?[0-9]+, bytes ?= ?0x|<[0-9a-f]{8}/) != nil {
      let inner = hex(bytes.drop { $0 != UInt8(ascii: "x") && $0 != UInt8(ascii: "<") })
      let what = inner.flatMap { content($0, &work) } ?? TokenWrapping(name: "", line: bytesOfApp)
      return named(what, "the description of an NSData", bytesOfApp, bytes)
    }
    if head.hasPrefix("<Buffer ") {
      let what =
        hex(bytes.dropFirst(8)).flatMap { content($0, &work) } ?? TokenWrapping(name: "", line: stringified)
      return named(what, "a Buffer as Node prints it", "buffer.toString(\"utf8\")", bytes)
    }
    guard head.wholeMatch(of: /[0-9]+ bytes/) != nil else { return nil }
    return TokenWrapping(
      name: "the description of a Swift Data", line: bytesOfApp,
      condition: .damaged("nothing of the payment token is in it"))
  }

  /// Text that something has escaped, put into quotation marks, or broken into lines.
  static func escaped(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    if let first = bytes.first, bytes.count > 2, first == bytes.last, "'\"".utf8.contains(first),
      let what = content(Array(bytes.dropFirst().dropLast()), &work)
    {
      return what.within("quotation marks", "text.slice(1, -1)")
    }
    if bytes.contains(UInt8(ascii: "\\")), let inner = unescaped(bytes), inner != bytes,
      let what = content(inner, &work)
    {
      return what.within("text that was escaped again", "JSON.parse('\"' + text + '\"')")
    }
    if let inner = unmailed(bytes), let what = token(in: inner, &work) {
      return what.within("quoted-printable, as mail is sent", "quopri.decodestring(data) in Python")
    }
    let line = bytes.filter { $0 != 0x0A && $0 != 0x0D }
    guard line.count < bytes.count, bytes.first == UInt8(ascii: "{"), let what = token(in: line, &work),
      what.line == "text", case .whole = what.condition
    else { return nil }
    return what.within("lines that break its strings", "text.replace(/\\r?\\n/g, \"\")")
  }

  private static func unescaped(_ bytes: [UInt8]) -> [UInt8]? {
    let marks: [UInt8] = [UInt8(ascii: "\"")]
    guard case .string(let text)? = try? JSONReader.read(marks + bytes + marks) else { return nil }
    return Array(text.utf8)
  }

  /// Quoted-printable (RFC 2045 §6.7); nil for a text without a soft line break or an escaped equals sign.
  private static func unmailed(_ bytes: [UInt8]) -> [UInt8]? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.contains("=\n") || text.contains("=\r\n") || text.contains("=3D") else { return nil }
    let joined = text.replacing("=\r\n", with: "").replacing("=\n", with: "")
    return Array(
      joined.replacing(/=([0-9A-F]{2})/) { match in
        Hex.decode(match.output.1).map { String(decoding: $0, as: UTF8.self) } ?? String(match.output.0)
      }.utf8)
  }
}

// Text before and behind the payment token.
extension TokenWrapping {
  /// By what stands in their first lines.
  private static let heads: [(mark: String, name: String)] = [
    ("content-disposition:", "a multipart form"), ("http/1.", "an HTTP message with its head"),
    ("content-type:", "a message with its head"), ("content-transfer-encoding:", "a message with its head"),
  ]

  /// By how they begin.
  private static let beginnings: [(mark: String, name: String)] = [
    ("optional(", "the description of a Swift optional"),
    ("s:", "a text of PHP's serialize"), ("<", "XML or HTML"), ("//", "JavaScript"), ("/*", "JavaScript"),
    ("const ", "JavaScript"), ("let ", "JavaScript"), ("var ", "JavaScript"), ("curl ", "a shell's command"),
    ("---\n", "YAML"), ("version:", "YAML"), ("paymentdata:", "YAML"), ("token:", "YAML"), ("data:", "YAML"),
  ]

  /// JSON, or a long run of base64 or hexadecimal, with something around it.
  static func surrounded(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    let head = String(decoding: bytes.prefix(256), as: UTF8.self).lowercased()
    let known = heads.first { head.contains($0.mark) } ?? beginnings.first { head.hasPrefix($0.mark) }
    if let found = body(of: bytes, known?.name, &work) ?? json(in: bytes, known?.name, &work)
      ?? run(in: bytes, known?.name, &work)
    {
      return found
    }
    guard let known, known.mark.utf8.count > 2 || bytes.first == UInt8(ascii: "<") else { return nil }
    let line = known.name == "YAML" ? "JSON.stringify(YAML.parse(text))" : stringified
    return TokenWrapping(
      name: known.name, line: line, condition: abridgement(of: bytes).map { .damaged($0) } ?? .unknown)
  }

  /// What stands behind the empty line after a message's head.
  private static func body(of bytes: [UInt8], _ name: String?, _ work: inout Int) -> TokenWrapping? {
    guard let name, let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)),
      let what = token(in: Array(bytes[head.upperBound...]), &work), !what.line.contains(brace)
    else { return nil }
    let line = what.within(name, "text.slice(text.indexOf(\"\\r\\n\\r\\n\") + 4)").line
    return TokenWrapping(name: name, line: line, condition: what.condition)
  }

  /// How a line begins that cuts JSON out of a text.
  static let brace = ".indexOf(\"{\")"

  private static func json(in bytes: [UInt8], _ name: String?, _ work: inout Int) -> TokenWrapping? {
    let slice = "text.slice(text.indexOf(\"{\"), text.lastIndexOf(\"}\") + 1)"
    let starts = Array(bytes.indices.lazy.filter { bytes[$0] == UInt8(ascii: "{") }.prefix(4))
    for start in starts {
      let rest = Array(bytes[start...])
      let (inner, end) = object(rest)
      guard start > 0 || end < bytes.count, inner.count >= shortest, let what = token(in: inner, &work),
        !what.line.contains(brace)
      else {
        continue
      }
      if case .unknown = what.condition { continue }
      guard start == 0 else {
        let isFirst = start == starts.first && bytes.lastIndex(of: UInt8(ascii: "}")) == start + end - 1
        let before = String(decoding: bytes[..<start], as: UTF8.self).utf16.count
        let line = what.within("", isFirst ? slice : "text.slice(\(before), \(before + end))").line
        return TokenWrapping(name: name ?? "text around the payment token", line: line, condition: what.condition)
      }
      let first = what.within("", "text.slice(0, \(String(decoding: inner, as: UTF8.self).utf16.count))").line
      let behind = bytes[end...].drop { $0 <= 0x20 }
      return behind.first == UInt8(ascii: "{")
        ? TokenWrapping(
          name: "several documents, one behind the other", line: first + ", one payment token a call",
          condition: what.condition)
        : TokenWrapping(
          name: "JSON with something behind it, from byte \(end) on", line: first, condition: what.condition)
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
    let inner = what.within("", "text.match(/[A-Za-z0-9+\\/_=-]{\(shortestRun),}/)[0]")
    return TokenWrapping(name: "\(what.name) in \(name ?? "other text")", line: inner.line, condition: what.condition)
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
  }
}

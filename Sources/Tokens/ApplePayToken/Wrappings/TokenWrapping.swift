import Foundation
import StrictJSON
import TenderPayments

/// What a payment token was wrapped in on its way, or what came in its place: recognised by its form, so that the sender
/// learns how to send it right.
struct TokenWrapping: Sendable {
  /// What is known of the payment token inside.
  enum Condition: Sendable {
    /// Its members are what they must be. Only verification says whether they are as they were signed.
    case readable
    /// Why bytes of it are lost for certain.
    case lost(String)
    /// What else is wrong, as a clause.
    case known(String)
    /// It was not found, or reading it takes a program.
    case unknown
  }

  enum Remedy: Sendable, Equatable {
    /// A line of the sender's code, which takes `text` or `bytes`; `text` alone where there is nothing to undo.
    case code(String)
    /// Where another program undoes it.
    case sentence(String)

    static func decode(_ what: String) -> Remedy { .sentence("Decode \(what) first, then send what is in it") }
  }

  /// With its article.
  let name: String
  let remedy: Remedy
  var condition = Condition.unknown

  var sentence: String {
    let state =
      switch condition {
      case .readable: ", and the payment token in it can be read"
      case .known(let clause): ", and \(clause)"
      case .lost(let reason):
        ", and bytes of it are lost or changed: \(reason). Ask the device for another, and look for what cuts or changes it"
      case .unknown: ""
      }
    let advice =
      switch remedy {
      case .code("text"): ""
      case .code(let line): ". Send \(isLost ? "the next one" : "it") so: \(line)"
      case .sentence(let sentence): ". \(sentence)"
      }
    return "this looks like \(name)\(state)\(advice)"
  }

  var isBroken: Bool {
    switch condition {
    case .lost, .known: true
    case .readable, .unknown: false
    }
  }
  private var isLost: Bool { if case .lost = condition { true } else { false } }
  var isKnown: Bool { if case .unknown = condition { false } else { true } }

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

extension TokenWrapping {
  static let bytesOfApp = Remedy.code("request.httpBody = payment.token.paymentData")
  static let stringified = Remedy.code("body: JSON.stringify(event.payment.token)")

  /// How much work one document is worth, in bytes that are looked through: wrappings may be within each other.
  static let work = 1 << 20
  /// What looking into a wrapping costs beside its bytes.
  private static let step = 8 << 10
  /// The longest document that is looked into: a payment token as an array of bytes, in lines, has a third of it.
  private static let longest = 128 << 10

  static func find(in bytes: [UInt8]) -> TokenWrapping? {
    var work = Self.work
    return find(in: bytes, &work)
  }

  static func find(in bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    work -= bytes.count + step
    guard work > 0, bytes.count <= longest else { return nil }
    if let found = binary(bytes, &work) { return found }
    guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
    let text = Array(bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    return printed(text, &work) ?? encoded(text, &work) ?? escaped(text, &work) ?? surrounded(text, &work)
      ?? replaced(text)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { " \t\r\n".utf8.contains(byte) }

  private static let noToken = "JSON without a payment token"
  private static let withError = "JSON with an error"
  static let signatureAlone = "the signature alone"
  static let memberAlone = "base64 of bytes"

  /// A payment token in a wrapping, or what is left of it. In text around it many things look like something.
  static func token(in bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    content(bytes, &work).flatMap { found in
      [noToken, withError, signatureAlone, memberAlone].contains(where: found.name.hasPrefix) ? nil : found
    }
  }

  /// What the bytes in a wrapping are; nil for nothing that is known.
  static func content(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    do throws(JSONError) {
      let json = try JSONReader.read(bytes, limits: JSONLimits(depth: 16, size: TokenLimits.json))
      if let found = find(in: json, "JSON.parse(text)", &work) { return found }
      switch json {
      case .object, .array: return TokenWrapping(name: noToken, remedy: .code("text"))
      case .string, .integer, .number, .bool, .null: return nil
      }
    } catch {
      return cut(bytes, error) ?? find(in: bytes, &work) ?? malformed(bytes, error)
    }
  }

  /// JSON that ends before its end.
  static func cut(_ bytes: [UInt8], _ error: JSONError) -> TokenWrapping? {
    guard error.code == .unexpectedEnd, bytes.first == UInt8(ascii: "{") else { return nil }
    return TokenWrapping(
      name: "JSON that was cut off", remedy: .code("text"), condition: .lost("it is cut off at \(error)"))
  }

  private static func malformed(_ bytes: [UInt8], _ error: JSONError) -> TokenWrapping? {
    guard bytes.first == UInt8(ascii: "{"), bytes.count > 1, bytes[1] == UInt8(ascii: "\"") || bytes[1] <= 0x20 else {
      return nil
    }
    return TokenWrapping(name: withError, remedy: .code("text"), condition: .known("it cannot be read: \(error)"))
  }

  /// A wrapping that is known by its form, with what is known of its content.
  static func undone(_ name: String, _ inner: [UInt8]?, _ remedy: Remedy, _ work: inout Int) -> TokenWrapping {
    let what = inner.flatMap { content($0, &work) } ?? TokenWrapping(name: "", remedy: .code("text"))
    return TokenWrapping(name: name, remedy: what.remedy.after(remedy), condition: what.condition)
  }

  func within(_ name: String, _ outer: Remedy) -> TokenWrapping {
    TokenWrapping(name: "\(self.name) in \(name)", remedy: remedy.after(outer), condition: condition)
  }

  /// What programs put where they leave bytes out.
  private static let ellipses = ["...", "…", "more characters", "more bytes", "more item", "[Object]"]

  /// Why a text is not whole, if a program has shortened it.
  static func abridgement(of bytes: [UInt8]) -> String? {
    ellipses.first { bytes.firstRange(of: Array($0.utf8)) != nil }.map {
      "“\($0)” stands where a program left bytes out"
    }
  }

  /// U+FFFD, which stands for what was no UTF-8.
  private static func replaced(_ bytes: [UInt8]) -> TokenWrapping? {
    guard bytes.prefix(256).firstRange(of: Array("\u{FFFD}".utf8)) != nil else { return nil }
    return TokenWrapping(
      name: "bytes that were read as UTF-8 text",
      remedy: .sentence("Read the body as bytes (arrayBuffer(), req.raw, InputStream), and pass those on"),
      condition: .lost("U+FFFD stands where bytes were"))
  }

  static func replacing(_ replacements: [(old: String, new: String)], in bytes: [UInt8]) -> [UInt8] {
    Array(replacements.reduce(String(decoding: bytes, as: UTF8.self)) { $0.replacing($1.old, with: $1.new) }.utf8)
  }
}

extension TokenWrapping.Remedy {
  /// What undoes an outer wrapping, and then this one. Code that takes neither `text` nor `bytes` is the sender's own, and
  /// is enough; so is a sentence.
  func after(_ outer: Self) -> Self {
    guard case .code(let code) = outer, case .code(let line) = self else {
      if case .sentence = outer { return outer } else { return self }
    }
    guard !line.contains("bytes") else { return .code(line.replacing("bytes", with: code)) }
    return .code(line.replacing("text", with: code.hasPrefix("Buffer.from") ? code + ".toString()" : code))
  }

  /// Whether it cuts JSON out of a text.
  var cutsJSON: Bool { if case .code(let line) = self { line.contains(".indexOf(\"{\")") } else { false } }
}

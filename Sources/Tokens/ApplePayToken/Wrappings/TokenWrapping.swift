import Foundation
import StrictJSON
import TenderPayments

/// What a payment token was wrapped in on its way, or what came in its place: recognised by its form, so that the sender
/// learns how to send it right.
struct TokenWrapping: Sendable {
  /// What is known of the payment token inside.
  enum Condition: Sendable {
    /// It was read, and it is what was signed.
    case whole
    /// Why it cannot be had back.
    case damaged(String)
    /// It was not found, or reading it takes a program.
    case unknown
  }

  /// With its article.
  let name: String
  /// A line of the sender's code, which takes `text` or `bytes`; `text` alone where there is nothing to undo.
  let line: String
  var condition = Condition.unknown

  var sentence: String {
    let state =
      switch condition {
      case .whole: ", and no byte of it is lost"
      case .damaged(let reason):
        ", and bytes of it are lost or changed: \(reason). Ask the device for another, and look for what cuts or changes it"
      case .unknown: ""
      }
    return "this looks like \(name)\(state)" + (line == "text" ? "" : ". Send it so: \(line)")
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

extension TokenWrapping {
  static let bytesOfApp = "request.httpBody = payment.token.paymentData"
  static let stringified = "body: JSON.stringify(event.payment.token)"

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
  }

  private static func isSpace(_ byte: UInt8) -> Bool { " \t\r\n".utf8.contains(byte) }

  private static let noToken = "JSON without a payment token"
  private static let withError = "JSON with an error"
  static let signatureAlone = "the signature alone"

  /// A payment token in a wrapping, or what is left of it. In text around it many things look like something.
  static func token(in bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    content(bytes, &work).flatMap { found in
      [noToken, withError, signatureAlone].contains(where: found.name.hasPrefix) ? nil : found
    }
  }

  /// What the bytes in a wrapping are; nil for nothing that is known.
  static func content(_ bytes: [UInt8], _ work: inout Int) -> TokenWrapping? {
    do throws(JSONError) {
      let json = try JSONReader.read(bytes, limits: JSONLimits(depth: 16, size: TokenLimits.json))
      if let found = find(in: json, "JSON.parse(text)", &work) { return found }
      switch json {
      case .object, .array: return TokenWrapping(name: noToken, line: "text")
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
      name: "JSON that was cut off", line: "text", condition: .damaged("it is cut off at \(error)"))
  }

  private static func malformed(_ bytes: [UInt8], _ error: JSONError) -> TokenWrapping? {
    guard bytes.first == UInt8(ascii: "{"), bytes.count > 1, bytes[1] == UInt8(ascii: "\"") || bytes[1] <= 0x20 else {
      return nil
    }
    return TokenWrapping(name: withError, line: "text", condition: .damaged("\(error)"))
  }

  /// A wrapping that is known by its form. What is in it decides whether bytes are lost.
  static func undone(_ name: String, _ inner: [UInt8]?, _ code: String, _ work: inout Int) -> TokenWrapping {
    guard let what = inner.flatMap({ content($0, &work) }) else {
      return TokenWrapping(name: name, line: code.hasPrefix("Buffer.from") ? code + ".toString()" : code)
    }
    let outer = what.within(name, code)
    return TokenWrapping(name: name, line: outer.line, condition: outer.condition)
  }

  /// The wrapping within an outer one, whose code gives bytes or text. A line that takes neither is the sender's own, and
  /// is enough.
  func within(_ name: String, _ code: String) -> TokenWrapping {
    let text = code.hasPrefix("Buffer.from") ? code + ".toString()" : code
    let inner = line.contains("bytes") ? line.replacing("bytes", with: code) : line.replacing("text", with: text)
    return TokenWrapping(name: "\(self.name) in \(name)", line: inner, condition: condition)
  }

  /// What programs put where they leave bytes out.
  private static let ellipses = ["...", "…", "more characters", "more bytes", "more item", "[Object]"]

  /// Why a text is not whole, if a program has shortened it.
  static func abridgement(of bytes: [UInt8]) -> String? {
    ellipses.first { bytes.firstRange(of: Array($0.utf8)) != nil }.map {
      "“\($0)” stands where a program left bytes out"
    }
  }

  static func replacing(_ replacements: [(old: String, new: String)], in bytes: [UInt8]) -> [UInt8] {
    Array(replacements.reduce(String(decoding: bytes, as: UTF8.self)) { $0.replacing($1.old, with: $1.new) }.utf8)
  }
}

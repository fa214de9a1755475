import Acquiring
import Foundation
import StrictJSON
import TenderPayments

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// An element of Braintree's XML: either a text or elements, never both.
struct BraintreeXML: Sendable, Hashable {
  let name: String
  /// Braintree's notes on the value: `type`, `nil`.
  private(set) var attributes: [String: String] = [:]
  fileprivate(set) var text = ""
  fileprivate(set) var children: [BraintreeXML] = []

  init(_ name: String, _ text: String, type: String? = nil) {
    self.name = name
    self.text = text
    if let type { attributes["type"] = type }
  }

  init(_ name: String, type: String? = nil, _ children: [BraintreeXML]) {
    self.name = name
    self.children = children
    if let type { attributes["type"] = type }
  }

  /// A Boolean value, as Braintree marks it.
  init(_ name: String, _ value: Bool) {
    self.name = name
    text = value ? "true" : "false"
    attributes["type"] = "boolean"
  }

  /// The text of the only child of this name; nil when there is none, or when it is empty or marked as nil.
  ///
  /// - Throws: when there are several, or when it has children of its own.
  func textIfPresent(_ name: String) throws(BraintreeXMLError) -> String? {
    guard let child = try childIfPresent(name), child.attributes["nil"] != "true" else { return nil }
    guard child.children.isEmpty else { throw BraintreeXMLError("\(name) is not a text") }
    return child.text.isEmpty ? nil : child.text
  }

  func text(_ name: String) throws(BraintreeXMLError) -> String {
    guard let text = try textIfPresent(name) else { throw BraintreeXMLError("\(name) is missing") }
    return text
  }

  func child(_ name: String) throws(BraintreeXMLError) -> BraintreeXML {
    guard let child = try childIfPresent(name) else { throw BraintreeXMLError("\(name) is missing") }
    return child
  }

  func childIfPresent(_ name: String) throws(BraintreeXMLError) -> BraintreeXML? {
    let found = children.filter { $0.name == name }
    guard found.count <= 1 else { throw BraintreeXMLError("\(name) occurs \(found.count) times") }
    return found.first
  }

  /// The elements of a list; none when it is missing.
  func list(_ name: String) throws(BraintreeXMLError) -> [BraintreeXML] { try childIfPresent(name)?.children ?? [] }
}

/// Why a document cannot be read. For the operator; never a value from the document.
struct BraintreeXMLError: Error, Sendable, Hashable {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}

extension BraintreeXML {
  /// As Braintree's own libraries write it: without an XML declaration, what is not ASCII as character references.
  func serialized() -> [UInt8] {
    var out = ""
    write(to: &out)
    return Array(out.utf8)
  }

  private func write(to out: inout String) {
    out += "<\(name)"
    for (key, value) in attributes.sorted(by: { $0.key < $1.key }) { out += " \(key)=\"\(Self.escaped(value))\"" }
    out += ">"
    out += Self.escaped(text)
    for child in children { child.write(to: &out) }
    out += "</\(name)>"
  }

  private static let marks: Escapes = ["<": "&lt;", ">": "&gt;", "&": "&amp;", "\"": "&quot;", "'": "&apos;"]

  private static func escaped(_ text: String) -> String {
    text.escaped(marks).unicodeScalars.reduce(into: "") { out, scalar in
      switch scalar {
      case "\t", "\n", " "..."~": out.unicodeScalars.append(scalar)
      // XML has no way to write the other control characters.
      case "\u{0}"..." ", "\u{7F}", "\u{FFFE}", "\u{FFFF}": break
      default: out += "&#\(scalar.value);"
      }
    }
  }
}

extension BraintreeXML {
  private static let maximumBytes = 1_048_576

  /// Reads a document of at most 1 MiB, 16 levels and 20,000 elements.
  ///
  /// Document types, entities, comments and CDATA sections are refused before the parser sees them: Braintree sends
  /// none, and attacks on XML readers use them. So is any encoding other than UTF-8, which could hide them.
  static func read(_ bytes: [UInt8]) throws(BraintreeXMLError) -> BraintreeXML {
    guard bytes.count <= maximumBytes else { throw BraintreeXMLError("longer than 1 MiB") }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw BraintreeXMLError("not UTF-8") }
    guard StreamSafeText.accepts(text) else { throw BraintreeXMLError("combining marks are heaped up") }
    try refuseDeclarations(bytes, text)
    let builder = BraintreeXMLBuilder()
    let parser = XMLParser(data: Data(bytes))
    parser.shouldResolveExternalEntities = false
    parser.delegate = builder
    guard parser.parse(), builder.fault == nil, let root = builder.root else {
      throw BraintreeXMLError(builder.fault ?? "not well-formed XML")
    }
    return root
  }

  private static func refuseDeclarations(_ bytes: [UInt8], _ text: String) throws(BraintreeXMLError) {
    let isDeclaring = zip(bytes, bytes.dropFirst()).contains { $0 == UInt8(ascii: "<") && $1 == UInt8(ascii: "!") }
    guard !isDeclaring, !bytes.contains(0) else { throw BraintreeXMLError("declarations are not accepted") }
    guard text.hasPrefix("<?xml"), let end = text.range(of: "?>") else { return }
    let head = text[..<end.lowerBound].lowercased()
    guard !head.contains("encoding") || head.contains("\"utf-8\"") || head.contains("'utf-8'") else {
      throw BraintreeXMLError("not declared as UTF-8")
    }
  }
}

/// Builds the elements as the parser reports them, and stops at the limits.
private final class BraintreeXMLBuilder: NSObject, XMLParserDelegate {
  private var open: [BraintreeXML] = []
  private var count = 0
  private(set) var root: BraintreeXML?
  private(set) var fault: String?

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    count += 1
    guard open.count < 16, count <= 20_000 else { return stop(parser, "too deep or too many elements") }
    open.append(BraintreeXML(name, attributes))
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    if let last = open.indices.last { open[last].text += text }
  }

  func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
    guard var element = open.popLast() else { return stop(parser, "not well-formed XML") }
    if !element.children.isEmpty || element.text.allSatisfy(\.isWhitespace) {
      guard element.text.allSatisfy(\.isWhitespace) else { return stop(parser, "text beside elements") }
      element.text = ""
    }
    if let last = open.indices.last { open[last].children.append(element) } else { root = element }
  }

  private func stop(_ parser: XMLParser, _ reason: String) {
    fault = fault ?? reason
    parser.abortParsing()
  }
}

extension BraintreeXML {
  fileprivate init(_ name: String, _ attributes: [String: String]) {
    self.name = name
    self.attributes = attributes
  }
}

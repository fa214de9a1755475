import Foundation
import TenderPayments

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// An element of the emulated Braintree's XML. A name with underscores is read as one with hyphens: Braintree's
/// libraries send either.
struct BraintreeElement: Sendable, Hashable {
  let name: String
  var type: String?
  var text = ""
  var children: [BraintreeElement] = []

  init(_ name: String, _ text: String, type: String? = nil) {
    (self.name, self.text, self.type) = (name, text, type)
  }

  init(_ name: String, type: String? = nil, _ children: [BraintreeElement]) {
    (self.name, self.children, self.type) = (name, children, type)
  }

  subscript(_ name: String) -> BraintreeElement? { children.first { $0.name == name } }

  /// The text of a child; nil when it is missing or empty.
  func value(_ name: String) -> String? { self[name].flatMap { $0.text.isEmpty ? nil : $0.text } }

  /// A document as Braintree sends it: declared, indented.
  var document: String { "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + written(indent: "") }

  private func written(indent: String) -> String {
    let mark = type.map { " type=\"\($0)\"" } ?? ""
    guard !children.isEmpty else {
      return text.isEmpty
        ? "\(indent)<\(name)\(mark)/>\n" : "\(indent)<\(name)\(mark)>\(text.escaped(.markup))</\(name)>\n"
    }
    return "\(indent)<\(name)\(mark)>\n" + children.map { $0.written(indent: indent + "  ") }.joined()
      + "\(indent)</\(name)>\n"
  }
}

extension BraintreeElement {
  /// Reads a request; nil for what is not well-formed, or declares a document type.
  static func read(_ bytes: [UInt8]) -> BraintreeElement? {
    guard let text = String(validating: bytes, as: UTF8.self), !text.contains("<!") else { return nil }
    let reader = BraintreeReader()
    let parser = XMLParser(data: Data(bytes))
    parser.delegate = reader
    return parser.parse() ? reader.root : nil
  }
}

private final class BraintreeReader: NSObject, XMLParserDelegate {
  private var path: [BraintreeElement] = []
  private(set) var root: BraintreeElement?

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    guard path.count < 12 else { return parser.abortParsing() }
    path.append(BraintreeElement(name.replacing("_", with: "-"), "", type: attributes["type"]))
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    if let last = path.indices.last { path[last].text += text }
  }

  func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
    guard var element = path.popLast() else { return }
    if !element.children.isEmpty { element.text = "" }
    if let last = path.indices.last { path[last].children.append(element) } else { root = element }
  }
}

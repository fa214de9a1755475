/// The signed attributes (RFC 5652 §11), each at most once and with one value.
struct SignedAttributes {
  private let attributes: [(identifier: ArraySlice<UInt8>, value: BERElement)]

  /// The signature covers the DER of a SET OF. Apple sends DER, so the received bytes are used. Attributes out of DER's
  /// order are refused: reordering them would check other bytes than those received.
  init(_ element: BERElement) throws(BERError) {
    var reader = element.children(.der)
    var attributes: [(identifier: ArraySlice<UInt8>, value: BERElement)] = []
    var previous: ArraySlice<UInt8> = []
    while !reader.isAtEnd {
      let attribute = try reader.next(BERTag.sequence, "an attribute")
      guard previous.lexicographicallyPrecedes(attribute.encoding) else {
        throw BERError("the attributes are not in DER's order")
      }
      previous = attribute.encoding
      let (identifier, value) = try Self.parts(attribute)
      guard !attributes.contains(where: { $0.identifier == identifier }) else { throw BERError("an attribute twice") }
      attributes.append((identifier, value))
    }
    self.attributes = attributes
  }

  var count: Int { attributes.count }

  /// The types in their order, in dotted form.
  var names: String { attributes.map { ObjectIdentifier.dotted($0.identifier) }.joined(separator: " ") }

  func value(_ identifier: [UInt8]) -> BERElement? {
    attributes.first { $0.identifier.elementsEqual(identifier) }?.value
  }

  private static func parts(_ attribute: BERElement) throws(BERError) -> (ArraySlice<UInt8>, BERElement) {
    var fields = attribute.children(.der)
    let identifier = try fields.next(BERTag.objectIdentifier, "an attribute's type").content
    var values = try fields.next(BERTag.set, "an attribute's values").children(.der)
    try fields.end("an attribute")
    let value = try values.next()
    try values.end("an attribute's values: there must be one")
    return (identifier, value)
  }
}

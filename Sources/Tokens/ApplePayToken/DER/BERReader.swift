/// One element of ASN.1 in BER or DER (X.690): a view of the bytes it was found in.
struct BERElement {
  let tag: UInt8
  /// The bytes in which it was found. Its own are slices of them, made where they are needed: making one counts a
  /// reference, and a payment token has some fifty elements.
  private let bytes: ArraySlice<UInt8>
  private let range: Range<Int>
  private let contentRange: Range<Int>

  fileprivate init(_ tag: UInt8, _ bytes: ArraySlice<UInt8>, _ range: Range<Int>, content: Range<Int>) {
    self.tag = tag
    self.bytes = bytes
    self.range = range
    self.contentRange = content
  }

  /// With tag and length, as received.
  var encoding: ArraySlice<UInt8> { bytes[range] }
  var content: ArraySlice<UInt8> { bytes[contentRange] }

  /// The elements inside, in the same rules.
  func children(_ rules: BERReader.Rules) -> BERReader { BERReader(bytes, contentRange, rules) }

  /// Compares the last bytes first, in which identifiers of one family differ.
  func isObject(_ identifier: [UInt8]) -> Bool {
    guard tag == BERTag.objectIdentifier, let last = identifier.last, contentRange.count == identifier.count else {
      return false
    }
    return bytes[contentRange.upperBound - 1] == last && content.isSame(as: identifier)
  }
}

/// The tags that occur in a signature and in its certificates.
enum BERTag {
  static let boolean: UInt8 = 0x01
  static let integer: UInt8 = 0x02
  static let bitString: UInt8 = 0x03
  static let octetString: UInt8 = 0x04
  static let null: UInt8 = 0x05
  static let objectIdentifier: UInt8 = 0x06
  static let utcTime: UInt8 = 0x17
  static let generalizedTime: UInt8 = 0x18
  static let sequence: UInt8 = 0x30
  static let set: UInt8 = 0x31
  /// Context-specific and constructed.
  static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }
}

/// What is wrong with the ASN.1.
struct BERError: Error {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}

/// Reads elements one after another, without copying and without recursion.
///
/// It accepts one of BER's options, the indefinite length, which Apple uses. Lengths must be minimal, strings must not
/// be split, tags must fit one byte, so each input has one reading. It never allocates by a length that the input
/// claims.
struct BERReader {
  enum Rules {
    case ber
    /// No indefinite length.
    case der
  }

  /// Apple nests four indefinite lengths; more than this limit is an error.
  static let indefiniteDepth = 8
  /// How many bytes the end-of-contents marker has.
  private static let markerCount = 2

  private let bytes: ArraySlice<UInt8>
  /// Where the next element begins.
  private var position: Int
  private let end: Int
  private let rules: Rules

  init(_ bytes: ArraySlice<UInt8>, _ rules: Rules) { self.init(bytes, bytes.indices, rules) }

  fileprivate init(_ bytes: ArraySlice<UInt8>, _ range: Range<Int>, _ rules: Rules) {
    self.bytes = bytes
    self.position = range.lowerBound
    self.end = range.upperBound
    self.rules = rules
  }

  var isAtEnd: Bool { position == end }
  var nextTag: UInt8? { isAtEnd ? nil : bytes[position] }

  mutating func next() throws(BERError) -> BERElement {
    let start = position
    let header = try Header(bytes, start..<end, rules)
    let contentStart = start + header.count
    let contentEnd =
      if let length = header.length { contentStart + length } else {
        try Self.endOfIndefinite(bytes, contentStart..<end, rules)
      }
    position = header.length == nil ? contentEnd + Self.markerCount : contentEnd
    return BERElement(header.tag, bytes, start..<position, content: contentStart..<contentEnd)
  }

  /// The next element, which must have this tag.
  ///
  /// - Parameter what: its name, for an error.
  mutating func next(_ tag: UInt8, _ what: @autoclosure () -> String) throws(BERError) -> BERElement {
    guard let found = nextTag else { throw BERError("\(what()) is missing") }
    guard found == tag else { throw BERError("\(what()) has another tag") }
    return try next()
  }

  /// The next element if it has this tag.
  mutating func nextIf(_ tag: UInt8) throws(BERError) -> BERElement? { nextTag == tag ? try next() : nil }

  func end(_ what: @autoclosure () -> String) throws(BERError) {
    guard isAtEnd else { throw BERError("something follows in \(what())") }
  }

  /// The one element that these bytes are.
  static func only(
    _ bytes: ArraySlice<UInt8>, _ tag: UInt8, _ rules: Rules, _ what: String
  ) throws(BERError) -> BERElement {
    var reader = BERReader(bytes, rules)
    let element = try reader.next(tag, what)
    try reader.end(what)
    return element
  }

  /// The position of the end-of-contents marker that closes the element opened before the range.
  private static func endOfIndefinite(
    _ bytes: ArraySlice<UInt8>, _ range: Range<Int>, _ rules: Rules
  ) throws(BERError) -> Int {
    var position = range.lowerBound
    var open = 1
    while true {
      let header = try Header(bytes, position..<range.upperBound, rules)
      if header.isEndOfContents {
        open -= 1
        if open == 0 { return position }
      }
      if header.length == nil { open += 1 }
      guard open <= indefiniteDepth else { throw BERError("too many indefinite lengths inside one another") }
      position += header.count + (header.length ?? 0)
    }
  }
}

/// Tag and length.
private struct Header {
  let tag: UInt8
  /// How many bytes tag and length take.
  let count: Int
  /// Nil when it is indefinite.
  let length: Int?
  var isEndOfContents: Bool { tag == 0 }

  /// - Parameter range: from the element's first byte to the end of what it must fit into.
  init(_ bytes: ArraySlice<UInt8>, _ range: Range<Int>, _ rules: BERReader.Rules) throws(BERError) {
    guard range.count >= 2 else { throw BERError("an element is cut off") }
    let first = bytes[range.lowerBound + 1]
    tag = bytes[range.lowerBound]
    guard tag & 0x1F != 0x1F else { throw BERError("a tag of more than one byte") }
    switch first {
    case 0..<0x80: (count, length) = (2, Int(first))
    case 0x80:
      guard rules == .ber, tag & 0x20 != 0 else { throw BERError("an indefinite length where none may be") }
      (count, length) = (2, nil)
    default: (count, length) = try Self.longLength(bytes, range.dropFirst(2), octets: Int(first & 0x7F))
    }
    guard count + (length ?? 0) <= range.count else { throw BERError("a length beyond the end") }
    guard tag != 0 || length == 0 else { throw BERError("an end-of-contents marker with contents") }
  }

  /// Three bytes are enough for every input within the limits, so no length can overflow.
  private static func longLength(
    _ bytes: ArraySlice<UInt8>, _ range: Range<Int>, octets: Int
  ) throws(BERError) -> (Int, Int?) {
    guard octets <= 3 else { throw BERError("a length of more than three bytes") }
    guard range.count >= octets else { throw BERError("an element is cut off") }
    let length = range.prefix(octets).reduce(0) { $0 << 8 | Int(bytes[$1]) }
    guard length >= 0x80, bytes[range.lowerBound] != 0 else { throw BERError("a length longer than needed") }
    return (2 + octets, length)
  }
}

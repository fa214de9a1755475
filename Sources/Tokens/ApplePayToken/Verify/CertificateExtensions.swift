/// The extensions of a certificate, each at most once.
struct CertificateExtensions {
  private struct Entry {
    let identifier: ArraySlice<UInt8>
    let isCritical: Bool
    let value: ArraySlice<UInt8>
  }

  private static let limit = 32
  private let entries: [Entry]
  let keyUsage: KeyUsage?
  let basicConstraints: BasicConstraints?
  /// 1.2.840.113635.100.6.29, whatever its value.
  let hasSignerMarker: Bool
  /// 1.2.840.113635.100.6.2.14, whatever its value.
  let hasIntermediateMarker: Bool
  /// RFC 5280 §4.2: a certificate with a critical extension that is not understood must be refused.
  let hasUnknownCritical: Bool

  /// - Parameter element: the `[3]` of a certificate's body, if it has one.
  init(_ element: BERElement?) throws(BERError) {
    let entries = if let element { try Self.read(element) } else { [Entry]() }
    self.entries = entries
    keyUsage = try Self.find(ObjectIdentifier.keyUsage, entries).map(KeyUsage.init)
    basicConstraints = try Self.find(ObjectIdentifier.basicConstraints, entries).map(BasicConstraints.init)
    hasSignerMarker = Self.find(ObjectIdentifier.signerMarker, entries) != nil
    hasIntermediateMarker = Self.find(ObjectIdentifier.intermediateMarker, entries) != nil
    hasUnknownCritical = entries.contains { $0.isCritical && !Self.understood.contains($0.identifier) }
  }

  private static func read(_ element: BERElement) throws(BERError) -> [Entry] {
    var list = try BERReader.only(element.content, BERTag.sequence, .der, "the extensions").children(.der)
    var entries: [Entry] = []
    while !list.isAtEnd {
      let entry = try entry(list.next(BERTag.sequence, "an extension"))
      guard entries.count < limit, !entries.contains(where: { $0.identifier == entry.identifier }) else {
        throw BERError("an extension twice, or too many of them")
      }
      entries.append(entry)
    }
    return entries
  }

  /// The contents of the extension's OCTET STRING; nil when the certificate lacks it.
  func value(_ identifier: [UInt8]) -> ArraySlice<UInt8>? { Self.find(identifier, entries) }

  private static let understood = [ObjectIdentifier.keyUsage[...], ObjectIdentifier.basicConstraints[...]]

  private static func find(_ identifier: [UInt8], _ entries: [Entry]) -> ArraySlice<UInt8>? {
    entries.first { $0.identifier.elementsEqual(identifier) }?.value
  }

  private static func entry(_ element: BERElement) throws(BERError) -> Entry {
    var fields = element.children(.der)
    let identifier = try fields.next(BERTag.objectIdentifier, "an extension's identifier")
    let critical = try fields.nextIf(BERTag.boolean)
    guard critical?.content.elementsEqual([0xFF]) ?? true else { throw BERError("a malformed critical flag") }
    let value = try fields.next(BERTag.octetString, "an extension's value")
    try fields.end("an extension")
    return Entry(identifier: identifier.content, isCritical: critical != nil, value: value.content)
  }
}

/// RFC 5280 §4.2.1.3, the two bits that matter here.
struct KeyUsage {
  let digitalSignature: Bool
  let certificateSigning: Bool

  init(_ value: ArraySlice<UInt8>) throws(BERError) {
    let bits = try BERReader.only(value, BERTag.bitString, .der, "the key usage").content
    guard bits.count >= 2 else { throw BERError("an empty key usage") }
    let first = bits[bits.startIndex + 1]
    digitalSignature = first & 0x80 != 0
    certificateSigning = first & 0x04 != 0
  }
}

/// RFC 5280 §4.2.1.9.
struct BasicConstraints {
  let isAuthority: Bool
  /// How many certificate authorities may follow; nil for no limit.
  let pathLength: Int?

  init(_ value: ArraySlice<UInt8>) throws(BERError) {
    var fields = try BERReader.only(value, BERTag.sequence, .der, "the basic constraints").children(.der)
    let authority = try fields.nextIf(BERTag.boolean)
    guard authority?.content.elementsEqual([0xFF]) ?? true else { throw BERError("a malformed authority flag") }
    isAuthority = authority != nil
    let length = try fields.nextIf(BERTag.integer)
    guard length.map({ $0.content.count == 1 && $0.content[$0.content.startIndex] < 0x80 }) ?? true else {
      throw BERError("a malformed path length")
    }
    pathLength = length.flatMap { $0.content.first }.map(Int.init)
    try fields.end("the basic constraints")
  }
}

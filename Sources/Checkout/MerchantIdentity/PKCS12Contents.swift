import SwiftASN1

/// What a PKCS #12 file holds, as far as it says so without its passphrase (RFC 7292 §4): the reader of the file ends the
/// process where certificate or key is missing, so it is asked before.
struct PKCS12Contents {
  private var keys = 0
  private var certificates = 0
  /// Parts whose content the passphrase hides: by custom the certificates.
  private var hidden = 0

  var hasKey: Bool { keys > 0 }
  var mayHaveCertificate: Bool { certificates > 0 || hidden > 0 }

  private enum Identifier {
    static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    static let keyBags: [ASN1ObjectIdentifier] = [
      [1, 2, 840, 113_549, 1, 12, 10, 1, 1], [1, 2, 840, 113_549, 1, 12, 10, 1, 2],
    ]
    static let certificateBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 3]
  }

  /// - Throws: when the file is no PKCS #12.
  init(_ bytes: [UInt8]) throws {
    let safe = try BER.sequence(try BER.parse(bytes), identifier: .sequence) { fields in
      _ = try Int(berEncoded: &fields)
      guard let content = fields.next() else { throw Self.malformed }
      // The seal of the whole, which the reader checks.
      while fields.next() != nil {}
      return try Self.data(content)
    }
    guard let safe else { throw Self.malformed }
    try BER.sequence(try BER.parse(safe), identifier: .sequence) { parts in
      while let part = parts.next() { try read(part) }
    }
  }

  private mutating func read(_ part: ASN1Node) throws {
    guard let bags = try Self.data(part) else {
      hidden += 1
      return
    }
    try BER.sequence(try BER.parse(bags), identifier: .sequence) { nodes in
      while let node = nodes.next() { try count(node) }
    }
  }

  private mutating func count(_ bag: ASN1Node) throws {
    let type = try BER.sequence(bag, identifier: .sequence) { fields in
      let type = try ASN1ObjectIdentifier(berEncoded: &fields)
      while fields.next() != nil {}
      return type
    }
    if Identifier.keyBags.contains(type) { keys += 1 }
    if type == Identifier.certificateBag { certificates += 1 }
  }

  /// The bytes of a ContentInfo of the type `data`; nil for another type.
  private static func data(_ content: ASN1Node) throws -> [UInt8]? {
    try BER.sequence(content, identifier: .sequence) { fields in
      let type = try ASN1ObjectIdentifier(berEncoded: &fields)
      guard type == Identifier.data else {
        while fields.next() != nil {}
        return nil
      }
      return try BER.explicitlyTagged(&fields, tagNumber: 0, tagClass: .contextSpecific) { node in
        Array(try ASN1OctetString(berEncoded: node).bytes)
      }
    }
  }

  private static let malformed = ASN1Error.invalidASN1Object(reason: "no PKCS #12")
}

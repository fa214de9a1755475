import SwiftASN1

/// The parts of a PKCS #12 file that can be told apart without its passphrase (RFC 7292 §4).
package struct PKCS12Contents {
  /// What the seal covers: the parts, one after the other.
  let sealed: [UInt8]
  /// Nil for a file without one.
  let seal: PKCS12Seal?
  /// Parts with certificates that anyone can read, and parts that the passphrase hides: by custom the certificates.
  package private(set) var certificateParts: [[UInt8]] = []
  /// The private keys, each in PKCS #8, behind the passphrase or not.
  private(set) var keys: [Key] = []

  struct Key {
    let isEncrypted: Bool
    /// DER of a PrivateKeyInfo, or of an EncryptedPrivateKeyInfo.
    let bytes: [UInt8]
  }

  enum Identifier {
    static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    static let keyBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 1]
    static let encryptedKeyBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 2]
    static let certificateBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 3]
    static let certificate: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 22, 1]
  }

  /// - Throws: when the file is no PKCS #12.
  package init(_ bytes: [UInt8]) throws {
    (sealed, seal) = try BER.sequence(try BER.parse(bytes), identifier: .sequence) { fields in
      _ = try Int(berEncoded: &fields)
      guard let content = fields.next(), let sealed = try Self.data(content) else { throw Self.malformed }
      return (sealed, try fields.next().map { try PKCS12Seal($0) })
    }
    try BER.sequence(try BER.parse(sealed), identifier: .sequence) { parts in
      while let part = parts.next() { try read(part) }
    }
  }

  private mutating func read(_ part: ASN1Node) throws {
    guard let bags = try Self.data(part) else { return certificateParts.append(Array(part.encodedBytes)) }
    try BER.sequence(try BER.parse(bags), identifier: .sequence) { nodes in
      while let node = nodes.next() { try read(bag: node) }
    }
  }

  private mutating func read(bag: ASN1Node) throws {
    let (type, value) = try BER.sequence(bag, identifier: .sequence) { fields in
      let type = try ASN1ObjectIdentifier(berEncoded: &fields)
      let value = try BER.explicitlyTagged(&fields, tagNumber: 0, tagClass: .contextSpecific) { Array($0.encodedBytes) }
      while fields.next() != nil {}
      return (type, value)
    }
    switch type {
    case Identifier.certificateBag: certificateParts.append(try PKCS12Writer.part(of: Array(bag.encodedBytes)))
    case Identifier.keyBag: keys.append(Key(isEncrypted: false, bytes: value))
    case Identifier.encryptedKeyBag: keys.append(Key(isEncrypted: true, bytes: value))
    default: break
    }
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

import SwiftASN1

/// Writes PKCS #12 of parts that exist already.
package enum PKCS12Writer {
  private typealias Identifier = PKCS12Contents.Identifier

  /// A file of parts.
  ///
  /// - Parameter password: in UTF-16, big-endian, with a zero at the end; empty for none.
  package static func file(of parts: [[UInt8]], password: [UInt8]) throws -> [UInt8] {
    let sealed = sequence(of: parts)
    let seal = PKCS12Seal(sealed, password: password, salt: [UInt8]("companion".utf8))
    var file = DER.Serializer()
    try file.appendConstructedNode(identifier: .sequence) { file in
      try file.serialize(3)
      file.serializeRawBytes(try data(sealed))
      try file.appendConstructedNode(identifier: .sequence) { try write(seal, to: &$0) }
    }
    return file.serializedBytes
  }

  private static func write(_ seal: PKCS12Seal, to file: inout DER.Serializer) throws {
    try file.appendConstructedNode(identifier: .sequence) { file in
      try file.appendConstructedNode(identifier: .sequence) { file in
        try file.serialize(seal.digest.identifier)
        try file.serialize(ASN1Null())
      }
      try file.serialize(ASN1OctetString(contentBytes: seal.code[...]))
    }
    try file.serialize(ASN1OctetString(contentBytes: seal.salt[...]))
    try file.serialize(seal.iterations)
  }

  /// A part with one bag that anyone can read.
  static func part(of bag: [UInt8]) throws -> [UInt8] { try data(sequence(of: [bag])) }

  /// - Parameter key: PKCS #8.
  package static func part(key: [UInt8]) throws -> [UInt8] {
    try part(of: bag(Identifier.keyBag) { $0.serializeRawBytes(key) })
  }

  /// - Parameter certificate: DER.
  package static func part(certificate: [UInt8]) throws -> [UInt8] {
    try part(
      of: bag(Identifier.certificateBag) { bag in
        try bag.appendConstructedNode(identifier: .sequence) { fields in
          try fields.serialize(Identifier.certificate)
          try fields.serialize(ASN1OctetString(contentBytes: certificate[...]), explicitlyTaggedWithIdentifier: tag)
        }
      })
  }

  private static let tag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)

  private static func bag(
    _ type: ASN1ObjectIdentifier, _ write: (inout DER.Serializer) throws -> Void
  ) throws -> [UInt8] {
    var bag = DER.Serializer()
    try bag.appendConstructedNode(identifier: .sequence) { bag in
      try bag.serialize(type)
      try bag.appendConstructedNode(identifier: tag, write)
    }
    return bag.serializedBytes
  }

  /// A ContentInfo of the type `data`.
  private static func data(_ bytes: [UInt8]) throws -> [UInt8] {
    var part = DER.Serializer()
    try part.appendConstructedNode(identifier: .sequence) { part in
      try part.serialize(Identifier.data)
      try part.serialize(ASN1OctetString(contentBytes: bytes[...]), explicitlyTaggedWithIdentifier: tag)
    }
    return part.serializedBytes
  }

  private static func sequence(of elements: [[UInt8]]) -> [UInt8] {
    var sequence = DER.Serializer()
    sequence.appendConstructedNode(identifier: .sequence) { sequence in
      for element in elements { sequence.serializeRawBytes(element) }
    }
    return sequence.serializedBytes
  }
}

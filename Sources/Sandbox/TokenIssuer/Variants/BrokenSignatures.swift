import ApplePayToken
import StrictJSON
import TenderPayments

/// Signatures whose outer form is not Apple's.
extension TokenVariant {
  static let brokenCMS: [TokenVariant] = wrongStructures + bombs

  private static let wrongStructures: [TokenVariant] = [
    .refused("cms-words", .malformedSignature, "Words in base64.") {
      $0.signature { $0.edit = { _ in Array("signed".utf8) } }
    },
    .refused("cms-empty-sequence", .malformedSignature, "An empty SEQUENCE.") {
      $0.signature { $0.edit = { _ in [0x30, 0] } }
    },
    .refused("cms-not-signed-data", .malformedSignature, "The content type is id-data.") {
      $0.signature { $0.contentType = DEROID.idData }
    },
    .refused("cms-trailing-byte", .malformedSignature, "A byte follows.") { $0.signature { $0.edit = { $0 + [0] } } },
    .refused("cms-cut-off", .malformedSignature, "The last byte is missing.") {
      $0.signature { $0.edit = { Array($0.dropLast()) } }
    },
    .refused("cms-set", .malformedSignature, "A SET where the SEQUENCE should be.") {
      $0.signature { $0.edit = { [0x31] + $0.dropFirst() } }
    },
    .refused("cms-bad-end", .malformedSignature, "The end of an indefinite length is not two zero bytes.") {
      $0.signature { $0.edit = { $0.dropLast() + [1] } }
    },
    .refused("cms-attached-content", .malformedSignature, "Content inside: which of the two was signed?") {
      $0.signature { $0.encapsulatedContent = BERWriter.definite(0xA0, BERWriter.definite(0x04, [1, 2, 3])) }
    },
    .refused("cms-empty-content", .malformedSignature, "Empty content inside.") {
      $0.signature { $0.encapsulatedContent = BERWriter.definite(0xA0, [0x04, 0]) }
    },
    .refused("cms-other-content", .malformedSignature, "The encapsulated content is of type signedData.") {
      $0.signature { $0.encapsulatedType = DEROID.idSignedData }
    },
    .refused("cms-revocation-lists", .malformedSignature, "A field for revocation lists, which Apple never sends.") {
      $0.signature { $0.afterCertificates = [0xA1, 0] }
    },
    .refused("cms-version-3", .malformedSignature, "SignedData of version 3.") {
      $0.signature { $0.version = [0x02, 0x01, 0x03] }
    },
    .refused("cms-signer-version-3", .malformedSignature, "A SignerInfo of version 3.") {
      $0.signature { $0.signerVersion = [0x02, 0x01, 0x03] }
    },
    .refused("cms-no-unsigned-attributes", .malformedSignature, "A set of unsigned attributes with nothing in it.") {
      $0.signature { $0.afterValue = BERWriter.definite(0xA1, []) }
    },
    .refused("cms-without-attributes", .malformedSignature, "No signed attributes: the signature is over the content.")
    {
      $0.content { _ in }
      $0.signature {
        $0.hasAttributes = false
        $0.signs = [0x30]
      }
    },
    .refused("cms-signer-in-octets", .malformedSignature, "An element too many in the signer.") {
      $0.signature { $0.afterValue = DEROID.null }
    },
    .refused("cms-long-length", .malformedSignature, "A length in two bytes where one is enough.") {
      $0.signature { $0.version = [0x02, 0x81, 0x01, 0x01] }
    },
    .refused("cms-length-leading-zero", .malformedSignature, "A length with a zero before it.") {
      $0.signature { $0.version = [0x02, 0x82, 0x00, 0x01, 0x01] }
    },
    .refused("cms-primitive-indefinite", .malformedSignature, "An INTEGER of indefinite length.") {
      $0.signature { $0.version = [0x02, 0x80, 0x01, 0x00, 0x00] }
    },
    .refused("cms-long-tag", .malformedSignature, "A tag of two bytes.") {
      $0.signature { $0.version = [0x1F, 0x02, 0x01, 0x01] }
    },
    .refused("cms-value-constructed", .malformedSignature, "The signature's value in pieces.") {
      $0.signature { $0.valueTag = 0x24 }
    },
    .refused("cms-value-bit-string", .malformedSignature, "The signature's value as a BIT STRING.") {
      $0.signature { $0.valueTag = 0x03 }
    },
    .refused("cms-signer-not-a-sequence", .wrongSigner, "A SET where the SignerInfo should be.") {
      $0.signature { $0.editSigners = { [0x31] + $0.dropFirst() } }
    },
  ]

  /// Small texts that ask a careless reader for much.
  private static let bombs: [TokenVariant] = [
    .refused("bomb-nested-indefinite", .malformedSignature, "8,000 indefinite lengths inside one another.") {
      $0.signature { $0.edit = { _ in [UInt8](repeating: 0, count: 8_000).flatMap { _ in [0x30, 0x80] as [UInt8] } } }
    },
    .refused("bomb-nested-definite", .malformedSignature, "4,000 definite lengths inside one another.") {
      $0.signature { $0.edit = { _ in Self.nested(4_000) } }
    },
    .refused("bomb-length-31-bits", .malformedSignature, "An element that claims two gigabytes.") {
      $0.signature { $0.edit = { _ in [0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF, 0x06] } }
    },
    .refused("bomb-length-32-bits", .malformedSignature, "An element that claims four gigabytes.") {
      $0.signature { $0.edit = { _ in [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0x06] } }
    },
    .refused("bomb-length-63-bits", .malformedSignature, "An element that claims all of memory.") {
      $0.signature { $0.edit = { _ in [0x30, 0x88, 0x7F] + [UInt8](repeating: 0xFF, count: 7) + [0x06] } }
    },
    .refused("bomb-length-of-length", .malformedSignature, "A length of 126 bytes.") {
      $0.signature { $0.edit = { _ in [0x30, 0xFE] + [UInt8](repeating: 0xFF, count: 126) } }
    },
    .refused("bomb-empty-certificates", .malformedSignature, "6,000 empty certificates.") {
      $0.signature { $0.certificates = Array(repeating: [0x30, 0x00], count: 6_000) }
    },
    .refused("bomb-empty-signers", .malformedSignature, "6,000 empty signers.") {
      $0.signature {
        $0.editSigners = { _ in [UInt8](repeating: 0, count: 6_000).flatMap { _ in [0x30, 0] as [UInt8] } }
      }
    },
    .refused("bomb-digest-algorithms", .malformedSignature, "6,000 digest algorithms.") {
      $0.signature { $0.digestAlgorithms = Array(repeating: [0x30, 0x00], count: 6_000) }
    },
    .refused("bomb-long-object-identifier", .malformedSignature, "An object identifier of 12 kB.") {
      $0.signature { $0.contentType = BERWriter.definite(0x06, [UInt8](repeating: 0xFF, count: 12_000)) }
    },
    .refused("bomb-value-in-pieces", .malformedSignature, "A value in 5,000 pieces.") {
      $0.signature {
        $0.valueTag = 0x24
        $0.editValue = { _ in [UInt8](repeating: 0, count: 5_000).flatMap { _ in [0x04, 0x00] as [UInt8] } }
      }
    },
    .refused("bomb-attributes", .malformedAttributes, "1,500 signed attributes, all alike.") {
      $0.signature { $0.attributes = Array(repeating: .init(type: DEROID.null, values: []), count: 1_500) }
    },
    .refused("bomb-many-attributes", .malformedAttributes, "800 signed attributes in order, and unreadable.") {
      $0.signature {
        $0.attributes = (0..<800).map { .init(type: [0x04, 2, UInt8($0 >> 8), UInt8($0 & 255)], values: []) }
      }
    },
    .refused("bomb-extensions", .malformedCertificate, "A certificate with 600 extensions.") {
      $0.signer {
        $0.extensions += (0..<600).map {
          .init(identifier: [0x06, 3, 0x2A, UInt8($0 >> 7) | 0x80, UInt8($0 & 0x7F)], isCritical: false, value: [])
        }
      }
    },
  ]

  private static func nested(_ depth: Int) -> [UInt8] {
    var text: [UInt8] = []
    for _ in 0..<depth { text = BERWriter.definite(0x30, text) }
    return text
  }
}

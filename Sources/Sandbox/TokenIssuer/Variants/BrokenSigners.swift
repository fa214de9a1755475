import ApplePayToken
import Crypto
import StrictJSON
import TenderPayments

/// Signatures by another signer, with other algorithms, over other attributes, or with another value.
extension TokenVariant {
  static let brokenSigners: [TokenVariant] = [
    .refused(
      "stranger-signs", .invalidSignature, "An untrusted key signs, and Apple's genuine certificates are enclosed."
    ) {
      let key = $0.untrustedKey()
      $0.signature { $0.key = key }
    },
    .refused("intermediate-signs", .wrongSigner, "The intermediate signs, and says so.") {
      let authority = $0.authority
      $0.signature {
        $0.key = authority.intermediateKey
        ($0.issuer, $0.serialNumber) = (authority.rootName, authority.intermediateSerialNumber)
      }
    },
    .refused("intermediate-signs-in-signers-name", .invalidSignature, "The intermediate signs in the signer's name.") {
      let key = $0.authority.intermediateKey
      $0.signature { $0.key = key }
    },
    .refused("signer-names-another-serial", .wrongSigner, "The signature names another serial number.") {
      $0.signature { $0.serialNumber = [0x02, 0x01, 0x07] }
    },
    .refused("signer-names-another-issuer", .wrongSigner, "The signature names another issuer.") {
      let name = $0.authority.rootName
      $0.signature { $0.issuer = name }
    },
    .refused("two-signers", .wrongSigner, "The same signer twice.") { $0.signature { $0.editSigners = { $0 + $0 } } },
    .refused("two-signers-one-empty", .wrongSigner, "An empty signer beside the good one.") {
      $0.signature { $0.editSigners = { [0x30, 0] + $0 } }
    },
    .refused("two-signers-stranger-first", .wrongSigner, "An untrusted signature before the good one.") {
      try Self.addUntrustedSigner(&$0) { untrusted, good in untrusted + good }
    },
    .refused("two-signers-stranger-last", .wrongSigner, "An untrusted signature after the good one.") {
      try Self.addUntrustedSigner(&$0) { untrusted, good in good + untrusted }
    },
    .refused("no-signers", .wrongSigner, "No signer.") { $0.signature { $0.editSigners = { _ in [] } } },
    .refused("digest-sha1", .forbiddenAlgorithm, "The signer names SHA-1.") {
      $0.signature { $0.signerDigestAlgorithm = BERWriter.definite(0x30, DEROID.sha1) }
    },
    .refused("digests-sha1", .forbiddenAlgorithm, "The list of digests names SHA-1.") {
      $0.signature { $0.digestAlgorithms = [BERWriter.definite(0x30, DEROID.sha1)] }
    },
    .refused("digests-none", .forbiddenAlgorithm, "The list of digests is empty.") {
      $0.signature { $0.digestAlgorithms = [] }
    },
    .refused("digests-two", .forbiddenAlgorithm, "The list of digests has SHA-256 twice.") {
      $0.signature { $0.digestAlgorithms += $0.digestAlgorithms }
    },
    .refused("digest-with-parameters", .forbiddenAlgorithm, "SHA-256 with parameters other than NULL.") {
      $0.signature { $0.signerDigestAlgorithm = BERWriter.definite(0x30, DEROID.sha256, [0x02, 0x01, 0x00]) }
    },
    .refused("algorithm-sha384", .forbiddenAlgorithm, "ECDSA with SHA-384 is named.") {
      $0.signature { $0.signatureAlgorithm = BERWriter.definite(0x30, DEROID.ecdsaWithSHA384) }
    },
    .refused("algorithm-with-null", .forbiddenAlgorithm, "ECDSA's identifier with NULL (RFC 5758 §3.2 has none).") {
      $0.signature { $0.signatureAlgorithm = BERWriter.definite(0x30, DEROID.ecdsaWithSHA256, DEROID.null) }
    },
    .refused("algorithm-rsa", .forbiddenAlgorithm, "RSA is named for an elliptic key.") {
      $0.signature { $0.signatureAlgorithm = BERWriter.definite(0x30, DEROID.sha256WithRSAEncryption, DEROID.null) }
    },
    .refused("rsa-signer-for-ec", .wrongKeyMaterial, "A whole RSA_v1 token under the name of EC_v1.") {
      $0.document {
        $0["version"] = "EC_v1"
        $0.header { $0["wrappedKey"] = $0["wrappedKey"] }
      }
    },
    .refused("ec-token-by-rsa-signer", .forbiddenAlgorithm, "EC_v1, signed by the signer of RSA_v1.") {
      let signer = try $0.authority.signer(isRSA: true, $0.random)
      $0.signature {
        $0.certificates[0] = signer.certificate
        ($0.key, $0.serialNumber) = (signer.key, signer.serialNumber)
      }
    },
    .refused("rsa-token-by-ec-signer", .forbiddenAlgorithm, "RSA_v1, signed by the signer of EC_v1.") {
      let signer = try $0.authority.signer(isRSA: false, $0.random)
      $0.signature {
        $0.certificates[0] = signer.certificate
        ($0.key, $0.serialNumber) = (signer.key, signer.serialNumber)
      }
    },
  ]

  private static func addUntrustedSigner(
    _ builder: inout PaymentTokenBuilder, _ join: @escaping ([UInt8], [UInt8]) -> [UInt8]
  ) throws {
    let key = builder.untrustedKey()
    builder.signature { signature in
      var forged = signature
      forged.key = key
      let untrusted = try forged.signerInfo()
      signature.editSigners = { join(untrusted, $0) }
    }
  }

  static let brokenAttributes: [TokenVariant] = [
    .refused("attributes-unsorted", .malformedAttributes, "Not in DER's order: what is signed is not what is read.") {
      $0.signature { $0.attributes.reverse() }
    },
    .refused("attribute-twice", .malformedAttributes, "The content type twice.") {
      $0.signature { $0.attributes.insert($0.attributes[0], at: 0) }
    },
    .refused("signing-time-twice", .malformedAttributes, "Two signing times, of which a reader would take one.") {
      let later = $0.signingTime.adding(.seconds(60)).asn1
      $0.signature {
        $0.attributes.append(.init(type: DEROID.signingTime, values: [later]))
        $0.sort()
      }
    },
    .refused("digest-twice", .malformedAttributes, "Two digests.") {
      let other = BERWriter.definite(0x04, $0.random.next(32))
      $0.signature {
        $0.attributes.append(.init(type: DEROID.messageDigest, values: [other]))
        $0.sort()
      }
    },
    .refused("attribute-two-values", .malformedAttributes, "A signing time with two values.") {
      let later = $0.signingTime.adding(.seconds(60)).asn1
      $0.signature {
        let time = $0.attributes[1].values
        $0.set(DEROID.signingTime, time + [later])
        $0.sort()
      }
    },
    .refused("attribute-without-value", .malformedAttributes, "A signing time without a value.") {
      $0.signature {
        $0.set(DEROID.signingTime, [])
        $0.sort()
      }
    },
    .refused("content-type-missing", .wrongContentType, "No content type.") {
      $0.signature { $0.remove(DEROID.contentType) }
    },
    .refused("content-type-other", .wrongContentType, "The signed content type is signedData.") {
      $0.signature { $0.set(DEROID.contentType, [DEROID.idSignedData]) }
    },
    .refused("digest-missing", .wrongDigest, "No digest: the attributes would say nothing about the token.") {
      $0.signature { $0.remove(DEROID.messageDigest) }
    },
    .refused("digest-of-something-else", .wrongDigest, "The digest of nothing.") {
      let digest = Array(SHA256.hash(data: [UInt8]()))
      $0.signature { $0.set(DEROID.messageDigest, [BERWriter.definite(0x04, digest)]) }
    },
    .refused("digest-cut-off", .wrongDigest, "The first 20 bytes of the digest.") {
      $0.signature {
        let digest = $0.attributes[$0.attributes.count - 1].values[0]
        $0.set(DEROID.messageDigest, [BERWriter.definite(0x04, Array(digest[2..<22]))])
        $0.sort()
      }
    },
    .refused("digest-empty", .wrongDigest, "An empty digest, the beginning of every other.") {
      $0.signature {
        $0.set(DEROID.messageDigest, [[0x04, 0x00]])
        $0.sort()
      }
    },
    .refused("protection-other-digest", .algorithmProtection, "cmsAlgorithmProtection names SHA-1.") {
      $0.signature {
        let algorithms = BERWriter.definite(0xA1, DEROID.ecdsaWithSHA256)
        $0.set(
          DEROID.algorithmProtection, [BERWriter.definite(0x30, BERWriter.definite(0x30, DEROID.sha1), algorithms)])
        $0.sort()
      }
    },
    .refused("protection-other-signature", .algorithmProtection, "cmsAlgorithmProtection names RSA.") {
      $0.signature {
        let algorithms = BERWriter.definite(0xA1, DEROID.sha256WithRSAEncryption, DEROID.null)
        $0.set(DEROID.algorithmProtection, [BERWriter.definite(0x30, $0.signerDigestAlgorithm, algorithms)])
        $0.sort()
      }
    },
    .refused("protection-without-signature", .algorithmProtection, "cmsAlgorithmProtection names a digest alone.") {
      $0.signature {
        $0.set(DEROID.algorithmProtection, [BERWriter.definite(0x30, $0.signerDigestAlgorithm)])
        $0.sort()
      }
    },
  ]

  static let brokenSignatureValues: [TokenVariant] = [
    .refused(
      "signs-the-sent-tag", .invalidSignature, "Over the attributes with the tag they travel with, not that of a SET."
    ) {
      $0.signature { $0.signs = BERWriter.definite(0xA0, $0.attributes.flatMap(\.encoded)) }
    },
    .refused("signs-something-else", .invalidSignature, "Over other bytes than the attributes.") {
      $0.signature { $0.signs = [] }
    },
    .refused("value-empty", .invalidSignature, "No value.") { $0.signature { $0.editValue = { _ in [] } } },
    .refused("value-trailing-byte", .invalidSignature, "A byte follows the value.") {
      $0.signature { $0.editValue = { $0 + [0] } }
    },
    .refused("value-raw", .invalidSignature, "r and s one after the other, as JWS writes them.") {
      $0.signature { $0.editValue = { ECDSAValue($0).fixedWidth } }
    },
    .refused("value-bit-flipped", .invalidSignature, "The last bit of s differs.") {
      $0.signature { $0.editValue = { $0.dropLast() + [$0[$0.count - 1] ^ 1] } }
    },
    .refused("value-zeros", .invalidSignature, "r and s are 0.") {
      $0.signature { $0.editValue = { _ in [0x30, 6, 2, 1, 0, 2, 1, 0] } }
    },
    .refused("value-ones", .invalidSignature, "r and s are 1.") {
      $0.signature { $0.editValue = { _ in [0x30, 6, 2, 1, 1, 2, 1, 1] } }
    },
    .refused("value-r-zero", .invalidSignature, "r is 0.") { $0.editECDSA { $0.r = [0] } },
    .refused("value-s-zero", .invalidSignature, "s is 0.") { $0.editECDSA { $0.s = [0] } },
    .refused("value-r-is-order", .invalidSignature, "r is the order of the group.") {
      $0.editECDSA { $0.r = ECDSAValue.order }
    },
    .refused("value-s-is-order", .invalidSignature, "s is the order of the group.") {
      $0.editECDSA { $0.s = ECDSAValue.order }
    },
    .refused("value-r-padded", .invalidSignature, "A zero too many before r.") {
      $0.editECDSA { $0.r = [0, 0] + $0.r }
    },
    .refused("value-s-padded", .invalidSignature, "A zero too many before s.") {
      $0.editECDSA { $0.s = [0, 0] + $0.s }
    },
    .refused("value-r-negative", .invalidSignature, "r begins with a set bit, which makes it negative.") {
      $0.editECDSA { $0.r = [0x80] + $0.r.suffix(31) }
    },
    .refused("value-swapped", .invalidSignature, "s before r.") { $0.editECDSA { ($0.r, $0.s) = ($0.s, $0.r) } },
    .refused("value-indefinite", .invalidSignature, "The value in BER's indefinite length.") {
      $0.signature { $0.editValue = { BERWriter.indefinite(0x30, Array($0.dropFirst(2))) } }
    },
    .refused("value-three-numbers", .invalidSignature, "A third number.") {
      $0.signature { $0.editValue = { BERWriter.definite(0x30, Array($0.dropFirst(2)), [2, 1, 1]) } }
    },
  ]
}

extension PaymentTokenBuilder {
  mutating func editECDSA(_ edit: @escaping (inout ECDSAValue) -> Void) {
    signature {
      $0.editValue = { der in
        var value = ECDSAValue(der)
        edit(&value)
        return value.encoded
      }
    }
  }
}

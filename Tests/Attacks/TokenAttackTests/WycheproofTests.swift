import ApplePayToken
import Crypto
import CryptoExtras
import Foundation
import TenderPayments
import TenderTesting
import Testing

/// Project Wycheproof's vectors, from the copy that swift-crypto carries, through the parsers that a token meets.
///
/// The counts are asserted, so that a file that is not read fails.
@Suite struct `Wycheproof` {
  @Test(arguments: [
    ("Test Vectors/ecdsa_secp256r1_sha256_test.json", 471, 170),
    ("Test Vectors/ecdsa_secp384r1_sha384_test.json", 491, 190),
  ])
  func `ECDSA signatures in DER, of P-256 and of P-384`(file: String, count: Int, valid: Int) throws {
    let isSHA384 = file.contains("384")
    var (seen, good) = (0, 0)
    for group in try WycheproofFile<SignatureGroup>(file).testGroups {
      for test in group.tests {
        let (key, message, signature) = try (bytes(group.publicKeyDer), bytes(test.msg), bytes(test.sig))
        let authority = TokenPrimitives.authorityVerifies(
          publicKeyInfo: key, message: message, signature: signature, isSHA384: isSHA384)
        #expect(authority == (test.result == "valid"), "\(file) \(test.tcId): \(test.comment)")
        if !isSHA384 {
          let signer = TokenPrimitives.signerVerifies(publicKeyInfo: key, message: message, signature: signature)
          #expect(signer == authority, "\(file) \(test.tcId): \(test.comment)")
        }
        (seen, good) = (seen + 1, good + (authority ? 1 : 0))
      }
    }
    #expect((seen, good) == (count, valid))
  }

  /// Three are “acceptable”, and named below. The one without the NULL of SHA-256's identifier is refused. The two of a
  /// key with the public exponent 3 say nothing about a reader of payment tokens, so what becomes of them is no bar:
  /// Apple's keys have 65537, and which keys there are is decided by the chain to Apple's root. Their numbers are right,
  /// and BoringSSL takes them.
  @Test func `RSA signatures of PKCS 1 version 1.5`() throws {
    var (seen, good, skipped) = (0, 0, [Int: String]())
    for group in try WycheproofFile<RSASignatureGroup>("CryptoExtrasVectors/rsa_signature_2048_sha256_test.json")
      .testGroups
    {
      for test in group.tests {
        let isGood = try TokenPrimitives.signerVerifies(
          publicKeyInfo: bytes(group.keyDer), message: bytes(test.msg), signature: bytes(test.sig))
        seen += 1
        guard Self.exponentThree[test.tcId] == nil else {
          skipped[test.tcId] = test.comment
          continue
        }
        #expect(isGood == (test.result == "valid"), "\(test.tcId): \(test.comment)")
        good += isGood ? 1 : 0
      }
    }
    #expect((seen, good) == (240, 7))
    #expect(skipped == Self.exponentThree)
  }

  /// The form that Apple writes is the only one that is read, so what is “acceptable” is refused or comes out equal.
  @Test func `ECDH with a public key in SubjectPublicKeyInfo`() throws {
    var outcomes: [String: Int] = [:]
    for group in try WycheproofFile<AgreementGroup>("Test Vectors/ecdh_secp256r1_test.json").testGroups {
      for test in group.tests {
        let found = try contentKey(test, bytes(test.public))
        let expected = try Self.derived(bytes(test.shared))
        if test.result == "valid" { #expect(found == expected, "\(test.tcId): \(test.comment)") }
        if test.result == "invalid" { #expect(found == nil, "\(test.tcId): \(test.comment)") }
        #expect(found == nil || found == expected, "\(test.tcId): \(test.comment)")
        outcomes["\(test.result) \(found == nil ? "refused" : "equal")", default: 0] += 1
      }
    }
    #expect(outcomes["valid equal"] == 330 && outcomes["invalid refused"] == 52)
    #expect((outcomes["acceptable refused"] ?? 0) + (outcomes["acceptable equal"] ?? 0) == 230)
  }

  /// The one “acceptable” vector is a compressed point, which is refused.
  @Test func `ECDH with a bare point`() throws {
    let prefix = try bytes("3059301306072a8648ce3d020106082a8648ce3d030107034200")
    var (seen, good) = (0, 0)
    for group in try WycheproofFile<AgreementGroup>("Test Vectors/ecdh_secp256r1_ecpoint_test.json").testGroups {
      for test in group.tests {
        let found = try contentKey(test, prefix + bytes(test.public))
        let expected = try Self.derived(bytes(test.shared))
        #expect(found == (test.result == "valid" ? expected : nil), "\(test.tcId): \(test.comment)")
        (seen, good) = (seen + 1, good + (found == nil ? 0 : 1))
      }
    }
    #expect((seen, good) == (355, 330))
  }

  /// Skipped are the vectors with a label, which Apple does not use: they are named below.
  @Test func `RSA-OAEP with SHA-256`() throws {
    var (seen, good, skipped) = (0, 0, [Int]())
    for group in try WycheproofFile<WrappingGroup>("CryptoExtrasVectors/rsa_oaep_2048_sha256_mgf1sha256_test.json")
      .testGroups
    {
      let key = try _RSA.Encryption.PrivateKey(pemRepresentation: group.privateKeyPem)
      let processing = try ProcessingKey(privateKeyPEM: group.privateKeyPem, merchantIdentifier: "merchant")
      for test in group.tests {
        seen += 1
        guard test.label.isEmpty else {
          skipped.append(test.tcId)
          continue
        }
        let (ciphertext, message) = try (bytes(test.ct), bytes(test.msg))
        let found = try? Array(key.decrypt(ciphertext, padding: .PKCS1_OAEP_SHA256))
        #expect(found == (test.result == "valid" ? message : nil), "\(test.tcId): \(test.comment)")
        // Of what can be unwrapped, only 16 bytes are a key.
        let contentKey = TokenPrimitives.contentKey(.wrappedKey(ciphertext), processing)
        #expect(contentKey == (found?.count == 16 ? found : nil), "\(test.tcId): \(test.comment)")
        good += found == nil ? 0 : 1
      }
    }
    #expect(seen == 35 && good == 10)
    #expect(skipped == Self.labelled, "the vectors with a label")
  }

  private static let exponentThree = [239: "short signature", 240: "signature is close to n"]
  private static let labelled = [8, 9, 10, 31, 32, 33, 34, 35]

  @Test func `RSA-OAEP with SHA-1 is refused`() throws {
    var seen = 0
    for group in try WycheproofFile<WrappingGroup>("CryptoExtrasVectors/rsa_oaep_2048_sha1_mgf1sha1_test.json")
      .testGroups
    {
      let key = try ProcessingKey(privateKeyPEM: group.privateKeyPem, merchantIdentifier: "merchant")
      for test in group.tests {
        #expect(try TokenPrimitives.contentKey(.wrappedKey(bytes(test.ct)), key) == nil)
        seen += 1
      }
    }
    #expect(seen == 34)
  }

  /// 58 vectors, all valid. The 19 of AES-192 have a key that no token has; of the others, those with Apple's zero
  /// vector go through the reader, and each of their tags' 128 bits is flipped.
  @Test func `AES-GCM with an initialization vector of 128 bits`() throws {
    var (seen, ours, flips) = (0, 0, 0)
    for group in try WycheproofFile<CipherGroup>("Test Vectors/aes_gcm_test.json").testGroups where group.ivSize == 128
    {
      for test in group.tests {
        let (key, vector, message) = try (bytes(test.key), bytes(test.iv), bytes(test.msg))
        let box = try AES.GCM.SealedBox(
          nonce: AES.GCM.Nonce(data: vector), ciphertext: bytes(test.ct), tag: bytes(test.tag))
        let opened = try AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: bytes(test.aad))
        #expect(Array(opened) == message, "\(test.tcId)")
        seen += 1
        guard vector.allSatisfy({ $0 == 0 }), test.aad.isEmpty, !message.isEmpty, key.count != 24 else { continue }
        let data = try bytes(test.ct) + bytes(test.tag)
        #expect(TokenPrimitives.opened(data, with: key) == message, "\(test.tcId)")
        ours += 1
      }
    }
    #expect(seen == 58)
    for size in [16, 32] {
      let key = [UInt8](repeating: 7, count: size)
      let nonce = try AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16))
      let box = try AES.GCM.seal([1, 2, 3], using: SymmetricKey(data: key), nonce: nonce)
      let data = Array(box.ciphertext) + Array(box.tag)
      #expect(TokenPrimitives.opened(data, with: key) == [1, 2, 3])
      for bit in 0..<128 {
        var changed = data
        changed[3 + bit / 8] ^= 1 << (bit % 8)
        #expect(TokenPrimitives.opened(changed, with: key) == nil)
        flips += 1
      }
    }
    #expect(flips == 256)
  }

  private func contentKey(_ test: AgreementTest, _ publicKeyInfo: [UInt8]) throws -> [UInt8]? {
    let digits = Array(try bytes(test.private).drop { $0 == 0 })
    let key = try P256.KeyAgreement.PrivateKey(
      rawRepresentation: [UInt8](repeating: 0, count: 32 - digits.count) + digits)
    let processing = try ProcessingKey(privateKeyPEM: key.pemRepresentation, merchantIdentifier: "merchant")
    return TokenPrimitives.contentKey(.ephemeralPublicKey(publicKeyInfo), processing)
  }

  /// The AES key that Apple derives from a shared secret, written out once more.
  private static func derived(_ secret: [UInt8]) -> [UInt8] {
    let text: [UInt8] = [0, 0, 0, 1] + secret + [13] + Array("id-aes256-GCMApple".utf8)
    return Array(SHA256.hash(data: text + Array(SHA256.hash(data: Array("merchant".utf8)))))
  }

  private func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex.count % 2 == 0 ? hex : "0" + hex)) }
}

private struct WycheproofFile<Group: Decodable>: Decodable {
  let testGroups: [Group]

  init(_ name: String) throws {
    let path = Repository.url(".build/checkouts/swift-crypto/Tests/\(name)").path
    self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(filePath: path)))
  }
}

private struct SignatureGroup: Decodable {
  let publicKeyDer: String
  let tests: [SignatureTest]
}

private struct RSASignatureGroup: Decodable {
  let keyDer: String
  let tests: [SignatureTest]
}

private struct SignatureTest: Decodable {
  let tcId: Int
  let comment, msg, sig, result: String
}

private struct AgreementGroup: Decodable { let tests: [AgreementTest] }

private struct AgreementTest: Decodable {
  let tcId: Int
  let comment, `public`, `private`, shared, result: String
}

private struct WrappingGroup: Decodable {
  let privateKeyPem: String
  let tests: [WrappingTest]
}

private struct WrappingTest: Decodable {
  let tcId: Int
  let comment, msg, ct, label, result: String
}

private struct CipherGroup: Decodable {
  let ivSize: Int
  let tests: [CipherTest]
}

private struct CipherTest: Decodable {
  let tcId: Int
  let key, iv, aad, msg, ct, tag: String
}

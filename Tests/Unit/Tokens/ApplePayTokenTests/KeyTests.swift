import ApplePayToken
import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import TenderPayments
import TenderTesting
import Testing
import X509

@Suite(.everyKeyHolder) struct `Processing keys` {
  private let key = Shared.merchantKey

  /// A certificate for the merchant's key in the form of Apple's portal.
  private func certificate(
    name: String = "Apple Pay Payment Processing:merchant.test.tender", hash: String? = nil, extended: Bool = true
  ) throws -> String {
    let issuer = P256.Signing.PrivateKey()
    let digest = Hex.encode(SHA256.hash(data: Array(TestTokenBuilder.merchantIdentifier.utf8))).uppercased()
    let value = [0x0C, 0x40] + Array((hash ?? digest).utf8)
    let marker = Certificate.Extension(
      oid: try ASN1ObjectIdentifier(dotRepresentation: "1.2.840.113635.100.6.32"), critical: false, value: value[...])
    let certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(),
      publicKey: Certificate.PublicKey(P256.Signing.PublicKey(rawRepresentation: key.publicKey.rawRepresentation)),
      notValidBefore: .now, notValidAfter: .now, issuer: try DistinguishedName { CommonName("NOT APPLE WWDR") },
      subject: try DistinguishedName { CommonName(name) }, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions(extended ? [marker] : []), issuerPrivateKey: .init(issuer))
    return try certificate.serializeAsPEM().pemString
  }

  @Test func `the certificate's hash of the merchant identifier serves as well as the identifier`() throws {
    let processing = try ProcessingKey(privateKeyPEM: key.pemRepresentation, certificatePEM: try certificate())
    let trust = try TokenTrust.simulated(rootPEM: try Shared.issued.get().rootPEM)
    let opener = TokenOpener(
      verifier: TokenVerifier(trust: trust),
      keys: ProcessingKeyRing([TestTokenBuilder.merchant: [try KeyHolding.held(processing)]]))
    #expect(try refusal { try TestTokenBuilder().build().open(with: opener) } == nil)
    #expect(processing.publicKeyHash == Array(SHA256.hash(data: key.publicKey.derRepresentation)))
  }

  @Test func `each wrong key or certificate file gets its own code`() throws {
    func code(_ pem: String, _ certificate: String) throws -> PaymentTokenError.Code? {
      try refusal { try ProcessingKey(privateKeyPEM: pem, certificatePEM: certificate) }
    }
    let pem = key.pemRepresentation
    #expect(
      try code(pem, certificate(name: "Apple Pay Merchant Identity:merchant.test.tender")) == .identityCertificate)
    #expect(try code(pem, certificate(extended: false)) == .noMerchantIdentifier)
    #expect(try code(pem, certificate(hash: String(repeating: "X", count: 64))) == .noMerchantIdentifier)
    #expect(try code(pem, certificate(hash: "AB")) == .noMerchantIdentifier)
    #expect(try code(P256.KeyAgreement.PrivateKey().pemRepresentation, certificate()) == .keyCertificateMismatch)
    #expect(try code(pem, pem) == .unreadableCertificate)
    #expect(try code(certificate(), certificate()) == .notAPrivateKey)
    #expect(
      try code("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----", certificate())
        == .encryptedKey)
    #expect(try code(P384.KeyAgreement.PrivateKey().pemRepresentation, certificate()) == .unreadableKey)
    #expect(try refusal { try ProcessingKey(privateKeyPEM: pem, merchantIdentifier: "") } == .noMerchantIdentifier)
  }

  @Test func `a private key among other blocks of a file is found`() throws {
    let text = "Bag Attributes\n    friendlyName: x\n" + (try certificate()) + "\r\n" + key.pemRepresentation + "\n"
    #expect(try refusal { try testOpener(key: text) } == nil)
  }

  @Test func `a key as JSON and settings write it opens`() throws {
    let line = key.pemRepresentation.replacing("\n", with: "\\n")
    for text in [line, "APPLE_PAY_KEY='\(line)'", "{\"key\":\"\(line)\"}", line.replacing("\\n", with: "\\\\n")] {
      #expect(try refusal { try testOpener(key: text) } == nil)
    }
  }

  private func block(of der: [UInt8]) -> [UInt8] {
    Array("-----BEGIN PRIVATE KEY-----\n\(Base64.encode(der))\n-----END PRIVATE KEY-----\n".utf8)
  }

  @Test func `a file without one certificate is named for what it holds`() throws {
    func reason(_ text: String) -> String? {
      do throws(PaymentTokenError) {
        _ = try ProcessingCertificate(pem: text)
        return nil
      } catch { return error.reason }
    }
    let pem = try certificate()
    #expect(reason(pem + pem)?.contains("2 certificates") == true)
    #expect(reason(key.pemRepresentation)?.contains("a private key, and no certificate") == true)
    #expect(reason(key.publicKey.pemRepresentation)?.contains("a public key, and no certificate") == true)
    let request = pem.replacing("CERTIFICATE", with: "CERTIFICATE REQUEST")
    #expect(reason(request)?.contains("a certificate request, and no certificate") == true)
    #expect(reason(String(pem.prefix(200)))?.contains("cut off") == true)
    #expect(reason(pem.replacing("CERTIFICATE", with: "TRUSTED CERTIFICATE"))?.contains("openssl x509 -in") == true)
    #expect(reason(pem.replacing("\n-----END", with: "A\n-----END"))?.contains("no base64") == true)
    #expect(
      reason(P256.Signing.PrivateKey().pemRepresentation.replacing("PRIVATE", with: "EC PRIVATE"))
        == reason(key.pemRepresentation))
    #expect(reason("0\u{1}")?.contains("openssl x509 -inform der") == true)
    #expect(reason(pem.replacing("CERTIFICATE", with: "MY SECRET"))?.contains("secret") == false)
  }

  @Test func `what stands for a key in PEM is named, with what makes a key of it, and not repeated`() throws {
    let (pem, der, number) = (key.pemRepresentation, Array(key.derRepresentation), Array(key.rawRepresentation))
    let p384 = P384.KeyAgreement.PrivateKey().pemRepresentation
    let files: [(bytes: [UInt8], words: [String])] = [
      (Array(Base64.encode(Array(pem.utf8)).utf8), ["PEM in base64", "base64 -d key > key.pem"]),
      (Array(Base64.encode(der).utf8), ["DER in base64", "openssl pkey -inform der"]),
      (Array(Hex.encode(der).utf8), ["DER in hexadecimal", "xxd -r -p key", "openssl pkey -inform der"]),
      (Array(Hex.encode(number).utf8), ["number alone, in hexadecimal", "xxd -r -p key", "openssl ec -inform der"]),
      (Array(Base64.encode(number).utf8), ["number alone, in base64", "openssl ec -inform der"]),
      (number, ["number alone, raw", "openssl ec -inform der"]),
      (Array(key.x963Representation), ["behind its public key", "raw", "tail -c 32"]),
      (
        Array(Base64.encode(Array(key.x963Representation)).utf8),
        ["behind its public key", "base64 -d key | tail -c 32"]
      ),
      (Array(Hex.encode(Array(key.x963Representation)).utf8), ["behind its public key", "xxd -r -p key | tail -c 32"]),
      (Array("{\"keys\":[{\"kty\":\"EC\"}]}".utf8), ["set of JSON Web Keys", "key.json\").keys[0]"]),
      ([0x1F, 0x8B, 8, 0, 0, 0, 0, 0] + number, ["gzip", "gunzip -c < key > key.pem"]),
      (block(of: der.dropLast() + [der[der.count - 1] ^ 1]), ["does not fit the public key in its own file"]),
      (Array("{\"kty\":\"EC\",\"d\":\"\(Base64.encode(number))\"}".utf8), ["JSON Web Key", "createPrivateKey"]),
      ([0xFF, 0xFE] + pem.utf8.flatMap { [$0, 0] }, ["UTF-16", "iconv -f UTF-16"]),
      (Array(p384.utf8), ["P-384"]), (Array(pem.prefix(120).utf8), ["cut off"]),
      (Array(pem.replacing("-----", with: "—").utf8), ["five hyphens"]),
      (Array(pem.replacing("\n-----END", with: "A\n-----END").utf8), ["no base64"]),
      (Array(key.publicKey.derRepresentation), ["public key"]),
    ]
    for file in files {
      let refusal = try #require(
        throws: PaymentTokenError.self,
        performing: {
          if let mistake = KeyFileMistakes.find(in: file.bytes) { throw mistake }
          _ = try ProcessingKey(
            privateKeyPEM: String(decoding: file.bytes, as: UTF8.self), merchantIdentifier: "merchant.x")
        })
      let reason = refusal.reason
      for word in file.words { #expect(reason.contains(word), "\(reason)") }
      #expect(!reason.contains(Hex.encode(number).prefix(8)) && !reason.contains(Base64.encode(number).prefix(8)))
    }
  }

  @Test func `a wrong merchant identifier shows as a tag that does not match`() throws {
    let opener = try testOpener(identifier: "merchant.test.another")
    #expect(try refusal { try TestTokenBuilder().build().open(with: opener) } == .tagMismatch)
  }

  @Test func `a token made for one merchant does not open for another`() throws {
    #expect(try refusal { try TestTokenBuilder().build().open(for: MerchantID("M2")) } == .unknownKey)
  }

  @Test func `a merchant who has only keys of the other kind gets wrong_kind_of_key`() throws {
    let opener = try testOpener(key: Shared.rsaMerchantPEM.get())
    #expect(try refusal { try TestTokenBuilder().build().open(with: opener) } == .wrongKindOfKey)
  }

  @Test func `the key before the last still opens`() throws {
    let old = try ProcessingKey(
      privateKeyPEM: key.pemRepresentation, merchantIdentifier: TestTokenBuilder.merchantIdentifier)
    let new = try ProcessingKey(
      privateKeyPEM: P256.KeyAgreement.PrivateKey().pemRepresentation,
      merchantIdentifier: TestTokenBuilder.merchantIdentifier)
    let trust = try TokenTrust.simulated(rootPEM: try Shared.issued.get().rootPEM)
    let opener = TokenOpener(
      verifier: TokenVerifier(trust: trust),
      keys: ProcessingKeyRing([TestTokenBuilder.merchant: try [new, old].map(KeyHolding.held)]))
    #expect(try refusal { try TestTokenBuilder().build().open(with: opener) } == nil)
  }

  @Test func `the identifier's hash in place of the identifier is recognised`() throws {
    let hash = Hex.encode(SHA256.hash(data: Array(TestTokenBuilder.merchantIdentifier.utf8)))
    for text in [hash, hash.uppercased()] {
      #expect(
        try refusal { try ProcessingKey(privateKeyPEM: key.pemRepresentation, merchantIdentifier: text) }
          == .merchantIdentifierIsHash)
    }
  }

  @Test func `its description holds no data`() throws {
    let processing = try ProcessingKey(privateKeyPEM: key.pemRepresentation, merchantIdentifier: "merchant.x")
    var dumped = ""
    dump(processing, to: &dumped)
    #expect("\(processing)" == "ProcessingKey(•••)")
    #expect(dumped.contains("ProcessingKey(•••)") && dumped.split(separator: "\n").count == 1)
  }
}

@Suite(.everyKeyHolder) struct `Key material` {
  private func code(_ info: [UInt8]) throws -> PaymentTokenError.Code? {
    try refusal {
      try ephemeral(info)
    }
  }

  /// Builds a token whose signature covers another ephemeral key, so that only the unwrapping can refuse it.
  private func ephemeral(_ info: [UInt8]) throws -> OpenedPaymentToken {
    var builder = try TestTokenBuilder()
    let honest = try builder.build()
    let content = info + honest.data + honest.transactionID
    let digest = attribute([9, 4], der(0x04, Array(SHA256.hash(data: content))))
    builder.editAttributes = { $0.dropLast() + [digest] }
    var parts = try builder.build()
    (parts.data, parts.keyMaterial) = (honest.data, info)
    return try parts.open()
  }

  @Test func `is a point of P-256 in Apple's form or is refused`() throws {
    let key = P256.KeyAgreement.PrivateKey().publicKey
    let good = Array(key.derRepresentation)
    #expect(try code(good) == .tagMismatch, "another good key only makes another AES key")
    var offCurve = good
    offCurve[90] ^= 1
    #expect(try code(offCurve) == .badEphemeralKey)
    #expect(try code(good + [0]) == .badEphemeralKey)
    #expect(try code(Array(good.dropLast())) == .badEphemeralKey)
    var hybrid = good
    hybrid[26] = 0x06 | (good[90] & 1)
    #expect(try code(hybrid) == .badEphemeralKey)
    let compressed = der(0x30, Array(good[2..<23]) + der(0x03, [0] + Array(key.compressedRepresentation)))
    #expect(try code(compressed) == .badEphemeralKey)
    #expect(try code(Array(P384.KeyAgreement.PrivateKey().publicKey.derRepresentation)) == .badEphemeralKey)
    #expect(try code(Array(good[0..<26]) + [UInt8](repeating: 0, count: 65)) == .badEphemeralKey)
  }

  @Test func `that OpenSSL derives is the same`() throws {
    var state: UInt64 = 1
    for index in 0..<20 {
      let secret = (0..<32).map { _ -> UInt8 in
        state = state &* 6_364_136_223_846_793_005 &+ 1
        return UInt8(truncatingIfNeeded: state >> 56)
      }
      let party = PartyInfo(merchantIdentifier: "merchant.test.\(index)")
      let ours = secret.withUnsafeBytes { KeyDerivation.contentKey(coordinate: $0, party: party) }
      let info = [13] + Array("id-aes256-GCMApple".utf8) + party.bytes
      let theirs = try openSSL([
        "kdf", "-keylen", "32", "-kdfopt", "digest:SHA256", "-kdfopt", "hexkey:\(Hex.encode(secret))", "-kdfopt",
        "hexinfo:\(Hex.encode(info))", "SSKDF",
      ])
      #expect(Hex.encode(ours.withUnsafeBytes { Array($0) }) == theirs.filter(\.isHexDigit).lowercased())
    }
  }

  /// One-step key derivation of NIST SP 800-56C, computed by OpenSSL.
  private func openSSL(_ arguments: [String]) throws -> String {
    let (status, answer) = try ChildProcess.run(["openssl"] + arguments)
    #expect(status == 0)
    return String(decoding: answer, as: UTF8.self)
  }

  @Test func `of the merchant identifier is what Apple's example says`() {
    let party = PartyInfo(merchantIdentifier: "merchant.com.testbed.applepay")
    #expect(Hex.encode(party.bytes) == "12953b72a8db15cf4a079b49a87ddd5eed1b0ba2eb249c7907265a7b04cff6ce")
  }

  @Test func `that is wrapped to another key, or is no AES key, is refused`() throws {
    var builder = try TestTokenBuilder(Shared.rsaIssued.get())
    builder.version = "RSA_v1"
    let merchantKey = try _RSA.Encryption.PrivateKey(pemRepresentation: Shared.rsaMerchantPEM.get())
    let opener = try testOpener(builder.issued, key: Shared.rsaMerchantPEM.get())
    let long = try merchantKey.publicKey.encrypt(Data(count: 32), padding: .PKCS1_OAEP_SHA256)
    let sha1 = try merchantKey.publicKey.encrypt(Data(count: 16), padding: .PKCS1_OAEP)
    for wrapped in [Array(long), Array(sha1), Array(repeating: 1, count: 256)] {
      let honest = try builder.build()
      let digest = attribute([9, 4], der(0x04, Array(SHA256.hash(data: wrapped + honest.data + honest.transactionID))))
      var forged = builder
      forged.editAttributes = { $0.dropLast() + [digest] }
      var parts = try forged.build()
      (parts.data, parts.keyMaterial) = (honest.data, wrapped)
      #expect(try refusal { try parts.open(with: opener) } == .badWrappedKey)
    }
  }
}

import ApplePayToken
import Crypto
import CryptoExtras
import SwiftASN1
import TenderPayments
import Testing
import X509

@Suite(.everyKeyHolder) struct `Certificates and chain` {
  private func code(_ change: (inout TestAuthority) throws -> Void) throws -> PaymentTokenError.Code? {
    var authority = TestAuthority()
    try change(&authority)
    let issued = try authority.issue()
    return try refusal { try TestTokenBuilder(issued).build().open(with: try testOpener(issued)) }
  }

  @Test func `an authority without a fault is accepted`() throws {
    #expect(try code { _ in } == nil)
  }

  @Test func `the markers must stand on the right certificates, once each`() throws {
    #expect(try code { $0.signerMarkers = [] } == .signerNotFound)
    #expect(try code { $0.signerMarkers = ["1.2.840.113635.100.6.291"] } == .signerNotFound)
    #expect(try code { $0.intermediateMarkers = [] } == .intermediateNotFound)
    #expect(try code { $0.intermediateMarkers = ["1.2.840.113635.100.6.2.140"] } == .intermediateNotFound)
    #expect(try code { $0.intermediateMarkers.append("1.2.840.113635.100.6.29") } == .signerNotFound)
    #expect(try code { $0.signerMarkers.append("1.2.840.113635.100.6.2.14") } == .intermediateNotFound)
    #expect(
      try code { swap(&$0.signerMarkers, &$0.intermediateMarkers) } == .unfitCertificate,
      "the marked intermediate as signer is an authority, which signs no data")
  }

  @Test func `each certificate must have the key usage of its role`() throws {
    #expect(try code { $0.signerUsage = KeyUsage(keyAgreement: true) } == .unfitCertificate)
    #expect(try code { $0.signerConstraints = .isCertificateAuthority(maxPathLength: nil) } == .unfitCertificate)
    #expect(try code { $0.intermediateConstraints = .notCertificateAuthority } == .unfitCertificate)
    #expect(try code { $0.intermediateUsage = KeyUsage(digitalSignature: true) } == .unfitCertificate)
    #expect(try code { $0.intermediateConstraints = .isCertificateAuthority(maxPathLength: 0) } == nil)
    #expect(try code { $0.rootConstraints = .isCertificateAuthority(maxPathLength: 0) } == .unfitCertificate)
    #expect(try code { $0.rootConstraints = .isCertificateAuthority(maxPathLength: 1) } == nil)
  }

  @Test func `an unknown critical extension is refused`() throws {
    let oid = try ASN1ObjectIdentifier(dotRepresentation: "1.2.3.4")
    #expect(
      try code { $0.signerExtensions = [Certificate.Extension(oid: oid, critical: true, value: [5, 0])] }
        == .unfitCertificate)
    #expect(
      try code { $0.signerExtensions = [Certificate.Extension(oid: oid, critical: false, value: [5, 0])] } == nil)
  }

  @Test func `dates are checked at the signing time, to the second`() throws {
    let signed = Timestamp(seconds: 1_750_000_000)
    let (second, far) = (Duration.seconds(1), Timestamp(seconds: 1_900_000_000))
    #expect(try code { $0.signerDates = (signed, signed) } == nil)
    #expect(try code { $0.signerDates = (signed.adding(second), far) } == .certificateNotValidThen)
    #expect(try code { $0.signerDates.to = signed.adding(.zero - second) } == .certificateNotValidThen)
    #expect(try code { $0.intermediateDates = (signed.adding(second), far) } == .certificateNotValidThen)
    #expect(try code { $0.intermediateDates.to = signed.adding(.zero - second) } == .certificateNotValidThen)
  }

  @Test func `a signer whom the intermediate did not issue is refused`() throws {
    #expect(try code { $0.forger = Certificate.PrivateKey(P256.Signing.PrivateKey()) } == .brokenChain)
  }

  @Test func `a root of the same name is not the root`() throws {
    let issued = try TestAuthority().issue()
    #expect(try refusal { try TestTokenBuilder(issued).build().open() } == .untrustedRoot)
    let other = try TestAuthority(rootName: "another name").issue()
    #expect(try refusal { try TestTokenBuilder(other).build().open() } == .untrustedRoot)
  }

  @Test func `the trusted root may come along, byte for byte`() throws {
    var builder = try TestTokenBuilder()
    let (signer, intermediate) = (builder.issued.signer, builder.issued.intermediate)
    let root = try Self.root(of: builder.issued)
    let opener = try testOpener()
    for certificates in [[signer, intermediate, root], [root, intermediate, signer], [signer, root, intermediate]] {
      builder.certificates = certificates
      for _ in 0..<2 { #expect(try refusal { try builder.build().open(with: opener) } == nil) }
    }
    let other = try Self.root(of: TestAuthority().issue())
    let altered = Array(root.dropLast()) + [root[root.count - 1] ^ 1]
    for certificates in [[signer, intermediate, other], [signer, intermediate, altered], [signer, root, root]] {
      builder.certificates = certificates
      #expect(try refusal { try builder.build().open(with: opener) } == .certificateCount)
    }
  }

  private static func root(of issued: TestAuthority.Issued) throws -> [UInt8] {
    try #require(Base64.decode(issued.rootPEM.split(separator: "\n").dropFirst().dropLast().joined()))
  }

  @Test func `there are two certificates, or two and the root`() throws {
    var builder = try TestTokenBuilder()
    let (signer, intermediate) = (builder.issued.signer, builder.issued.intermediate)
    let root = try Self.root(of: builder.issued)
    let wrong = [[signer], [signer, intermediate, root, root], [signer, signer, intermediate], []]
    for certificates in wrong {
      builder.certificates = certificates
      #expect(try refusal { try builder.build().open() } == .certificateCount)
    }
    builder.certificates = Array(repeating: signer, count: 17)
    #expect(try refusal { try builder.build().open() } == .malformedSignature)
    builder.certificates = [signer, signer]
    #expect(try refusal { try builder.build().open() } == .signerNotFound)
    builder.certificates = [signer, root]
    #expect(try refusal { try builder.build().open() } == .intermediateNotFound)
    builder.certificates = [signer, der(0x30, [5, 0])]
    #expect(try refusal { try builder.build().open() } == .malformedCertificate)
  }
}

@Suite(.everyKeyHolder) struct `The signature` {
  private func code(_ change: (inout TestTokenBuilder) throws -> Void) throws -> PaymentTokenError.Code? {
    var builder = try TestTokenBuilder()
    try change(&builder)
    return try refusal { try builder.build().open() }
  }

  @Test func `must be made by the signer`() throws {
    #expect(try code { $0.impostor = .p256(P256.Signing.PrivateKey()) } == .invalidSignature)
    #expect(try code { $0.serial = [1] } == .wrongSigner)
    #expect(try code { $0.editSigners = { _ in [] } } == .wrongSigner)
    #expect(try code { $0.editSigners = { $0 + $0 } } == .wrongSigner)
    #expect(try code { $0.editSigners = { _ in der(0x30, [2, 1, 1]) } } == .malformedSignature)
  }

  @Test func `by the intermediate is refused even when the names fit`() throws {
    let key = P256.Signing.PrivateKey()
    var authority = TestAuthority()
    authority.intermediateKey = Certificate.PrivateKey(key)
    let issued = try authority.issue()
    var builder = try TestTokenBuilder(issued)
    builder.impostor = .p256(key)
    #expect(try refusal { try builder.build().open(with: try testOpener(issued)) } == .invalidSignature)
  }

  @Test func `uses the algorithms of its version and no others`() throws {
    let sha1 = der(0x30, [6, 5, 0x2B, 0x0E, 3, 2, 0x1A])
    #expect(try code { $0.digestAlgorithm = sha1 } == .forbiddenAlgorithm)
    #expect(try code { $0.digestAlgorithm = [] } == .forbiddenAlgorithm)
    #expect(try code { $0.digestAlgorithm = $0.sha256 + $0.sha256 } == .forbiddenAlgorithm)
    #expect(
      try code { $0.signatureAlgorithm = der(0x30, [6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 3]) }
        == .forbiddenAlgorithm)
    #expect(
      try code { $0.signatureAlgorithm = der(0x30, [6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2, 5, 0]) }
        == .forbiddenAlgorithm)
  }

  @Test func `of an RSA signer does not serve EC_v1, nor the reverse`() throws {
    let rsa = try Shared.rsaIssued.get()
    #expect(try refusal { try TestTokenBuilder(rsa).build().open(with: try testOpener(rsa)) } == .forbiddenAlgorithm)
    #expect(try code { $0.version = "RSA_v1" } == .forbiddenAlgorithm)
  }

  @Test func `of a signer on another curve is refused`() throws {
    var authority = TestAuthority()
    authority.signerKey = .p384(P384.Signing.PrivateKey())
    let issued = try authority.issue()
    #expect(
      try refusal { try TestTokenBuilder(issued).build().open(with: try testOpener(issued)) } == .unfitCertificate)
  }

  @Test func `covers attributes in DER's order, each once and with one value`() throws {
    #expect(try code { $0.editAttributes = { $0.reversed() } } == .malformedAttributes)
    #expect(try code { $0.editAttributes = { [$0[0]] + $0 } } == .malformedAttributes)
    let second = attribute([9, 5], der(0x17, Array("250615150641Z".utf8)))
    #expect(try code { $0.editAttributes = { [$0[0], $0[1], second] + $0.dropFirst(2) } } == .malformedAttributes)
    let twoValues = der(0x30, oid([9, 5]) + der(0x31, der(0x17, Array("250615150640Z".utf8)) + [5, 0]))
    #expect(
      try code {
        $0.editAttributes = { ([$0[0], twoValues] + $0.dropFirst(2)).sorted { $0.lexicographicallyPrecedes($1) } }
      } == .malformedAttributes)
    let unknown = attribute([9, 16], [5, 0])
    #expect(
      try code { $0.editAttributes = { [unknown] + $0 } } == nil, "Apple may add an unknown attribute")
  }

  @Test func `needs content type, digest and signing time`() throws {
    #expect(try code { $0.editAttributes = { Array($0.dropFirst()) } } == .wrongContentType)
    #expect(
      try code { $0.editAttributes = { [attribute([9, 3], oid([7, 2]))] + $0.dropFirst() } } == .wrongContentType)
    #expect(try code { $0.editAttributes = { $0.dropLast() } } == .wrongDigest)
    let other = attribute([9, 4], der(0x04, Array(repeating: 1, count: 32)))
    #expect(try code { $0.editAttributes = { $0.dropLast() + [other] } } == .wrongDigest)
    #expect(try code { $0.editAttributes = { [$0[0]] + $0.dropFirst(2) } } == .malformedSigningTime)
  }

  @Test func `has its time in UTCTime before 2050 and in GeneralizedTime after`() throws {
    #expect(try code { $0.timeValue = der(0x17, Array("250615150640Z".utf8)) } == nil)
    #expect(try code { $0.timeValue = der(0x18, Array("20250615150640Z".utf8)) } == .malformedSigningTime)
    #expect(try code { $0.timeValue = der(0x18, Array("20491231235959Z".utf8)) } == .malformedSigningTime)
    #expect(try code { $0.timeValue = der(0x18, Array("20500101000000Z".utf8)) } == .certificateNotValidThen)
  }

  @Test func `may have unsigned attributes, which are not read`() throws {
    func unsigned(_ content: [UInt8]) -> ([UInt8]) -> [UInt8] {
      { der(0x30, Array($0.dropFirst(4)) + der(0xA1, content)) }
    }
    #expect(try code { $0.editSigners = unsigned(attribute([9, 16], [5, 0])) } == nil)
    #expect(try code { $0.editSigners = unsigned([]) } == .malformedSignature)
    #expect(
      try code { $0.editSigners = { der(0x30, Array($0.dropFirst(4)) + der(0xA2, [5, 0])) } } == .malformedSignature)
  }

  @Test func `must not contradict its own algorithm protection`() throws {
    let sha1 = der(0x30, [6, 5, 0x2B, 0x0E, 3, 2, 0x1A])
    let ecdsa: [UInt8] = [6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2]
    func protection(_ value: [UInt8]) -> ([[UInt8]]) -> [[UInt8]] {
      { ($0.filter { $0.count != 44 } + [attribute([9, 52], value)]).sorted { $0.lexicographicallyPrecedes($1) } }
    }
    #expect(try code { $0.editAttributes = protection(der(0x30, $0.sha256 + der(0xA1, ecdsa))) } == nil)
    #expect(try code { $0.editAttributes = protection(der(0x30, sha1 + der(0xA1, ecdsa))) } == .algorithmProtection)
    #expect(
      try code { $0.editAttributes = protection(der(0x30, $0.sha256 + der(0xA1, oid([1, 11]) + [5, 0]))) }
        == .algorithmProtection)
    #expect(try code { $0.editAttributes = protection(der(0x30, $0.sha256)) } == .algorithmProtection)
  }

  @Test func `must be whole DER`() throws {
    #expect(try code { $0.editSignatureValue = { $0 + [0] } } == .invalidSignature)
    #expect(try code { $0.editSignatureValue = { _ in [] } } == .invalidSignature)
    #expect(try code { $0.editSignatureValue = { _ in der(0x30, [2, 1, 0, 2, 1, 0]) } } == .invalidSignature)
    #expect(try code { $0.editSignatureValue = { _ in der(0x30, [2, 1, 1, 2, 1, 1]) } } == .invalidSignature)
    let zero = [UInt8](repeating: 0, count: 40)
    #expect(try code { $0.editSignatureValue = { _ in der(0x30, der(2, zero) + der(2, zero)) } } == .invalidSignature)
  }

  @Test func `is detached and stands alone`() throws {
    #expect(try code { $0.afterContentType = der(0xA0, der(0x04, [1])) } == .malformedSignature)
    #expect(try code { $0.editSigners = { der(0x30, Array($0.dropFirst(4)) + der(0xA1, [])) } } == .malformedSignature)
    var parts = try TestTokenBuilder().build()
    parts.signature += [0]
    #expect(try refusal { try parts.open() } == .malformedSignature)
  }

  @Test func `of another token is refused`() throws {
    var parts = try TestTokenBuilder().build()
    parts.signature = try TestTokenBuilder().build().signature
    #expect(try refusal { try parts.open() } == .wrongDigest)
  }
}

@Suite(.everyKeyHolder) struct `A token that was changed` {
  @Test func `in any byte that is signed is refused`() throws {
    var builder = try TestTokenBuilder()
    builder.applicationData = Array(repeating: 7, count: 32)
    let parts = try builder.build()
    let opener = try testOpener()
    let regions: [WritableKeyPath<TestTokenBuilder.Parts, [UInt8]>] = [\.keyMaterial, \.data, \.transactionID]
    for region in regions {
      for index in parts[keyPath: region].indices {
        var changed = parts
        changed[keyPath: region][index] ^= UInt8(1 << (index % 8))
        #expect(try refusal { try changed.open(with: opener) } == .wrongDigest)
      }
    }
    for index in 0..<32 {
      var changed = parts
      changed.applicationData?[index] ^= UInt8(1 << (index % 8))
      #expect(try refusal { try changed.open(with: opener) } == .wrongDigest)
    }
  }

  @Test func `in any byte of its signature is refused`() throws {
    let parts = try TestTokenBuilder().build()
    let opener = try testOpener()
    #expect(try refusal { try parts.open(with: opener) } == nil)
    var accepted: [Int] = []
    for index in parts.signature.indices {
      var changed = parts
      changed.signature[index] ^= UInt8(1 << (index % 8))
      if try refusal({ try changed.open(with: opener) }) == nil { accepted.append(index) }
    }
    #expect(accepted.isEmpty)
  }

  @Test func `in its key's hash finds no key`() throws {
    var parts = try TestTokenBuilder().build()
    parts.publicKeyHash[31] ^= 1
    #expect(try refusal { try parts.open() } == .unknownKey)
  }
}

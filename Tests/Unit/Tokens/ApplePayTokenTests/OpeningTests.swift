import ApplePayToken
import Crypto
import StrictJSON
import TenderPayments
import Testing

@Suite(.everyKeyHolder) struct `Opening a payment token` {
  @Test func `an EC_v1 token opens and says what the shopper agreed to`() throws {
    let opened = try TestTokenBuilder().build().open()
    let euro = try #require(Currency(code: "EUR"))
    #expect(opened.paymentData.amount == Amount(minorUnits: 1250, currency: euro))
    let token = try opened.paymentData.networkToken
    #expect(token.dpan.revealed == "4817499130011223")
    #expect(token.expiry.yymm == "2912")
    #expect(token.cryptogram.revealed == "AgAAAAAAAIR8CQrXcIhbQAAAAAA=")
    #expect(token.eci == "07")
    #expect(opened.verified.signingTime == Timestamp(seconds: 1_750_000_000))
    #expect(opened.verified.environment == .simulated)
    #expect(opened.applicationDataHash == nil)
  }

  @Test func `an RSA_v1 token opens`() throws {
    var builder = try TestTokenBuilder(Shared.rsaIssued.get())
    builder.version = "RSA_v1"
    let opener = try testOpener(builder.issued, key: Shared.rsaMerchantPEM.get())
    #expect(try builder.build().open(with: opener).paymentData.amount.minorUnits == 1250)
  }

  @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
  func `every form that Apple has written opens`(hasProtection: Bool, hasNull: Bool) throws {
    var builder = try TestTokenBuilder()
    builder.hasProtection = hasProtection
    builder.digestHasNull = hasNull
    #expect(try builder.build().open().paymentData.amount.minorUnits == 1250)
  }

  @Test func `definite lengths open as well as indefinite ones`() throws {
    var builder = try TestTokenBuilder()
    builder.usesIndefiniteLengths = false
    #expect(try refusal { try builder.build().open() } == nil)
  }

  @Test func `the certificates may come in either order`() throws {
    var builder = try TestTokenBuilder()
    builder.certificates = [builder.issued.intermediate, builder.issued.signer]
    #expect(try refusal { try builder.build().open() } == nil)
  }

  @Test func `application data is part of what was signed`() throws {
    var builder = try TestTokenBuilder()
    builder.applicationData = Array(repeating: 0xAB, count: 32)
    var parts = try builder.build()
    #expect(try parts.open().applicationDataHash == builder.applicationData)
    parts.applicationData = Array(repeating: 0xAC, count: 32)
    #expect(try refusal { try parts.open() } == .wrongDigest)
    parts.applicationData = nil
    #expect(try refusal { try parts.open() } == .wrongDigest)
  }

  @Test func `a shared secret that begins with zero opens`() throws {
    var builder = try TestTokenBuilder()
    for _ in 0..<10_000 {
      let secret = try builder.ephemeralKey.sharedSecretFromKeyAgreement(with: builder.merchantKey.publicKey)
      if secret.withUnsafeBytes({ $0[0] == 0 }) { break }
      builder.ephemeralKey = P256.KeyAgreement.PrivateKey()
    }
    let secret = try builder.ephemeralKey.sharedSecretFromKeyAgreement(with: builder.merchantKey.publicKey)
    try #require(secret.withUnsafeBytes { $0[0] } == 0)
    #expect(try refusal { try builder.build().open() } == nil)
  }

  @Test func `the same token in another encoding has the same fingerprints`() throws {
    let parts = try TestTokenBuilder().build()
    let first = try parts.open().verified.use
    var header = try #require(parts.paymentData["header"].flatMap { JSONField($0) }).object
    header["transactionId"] = .string(Hex.encode(parts.transactionID).uppercased())
    var object = parts.paymentData
    object["header"] = .object(header)
    let token = try EncryptedPaymentToken(json: .object(object))
    let second = try testOpener().open(token, for: TestTokenBuilder.merchant, at: TestTokenBuilder.Parts.arrival)
      .verified.use
    #expect(first == second)
    #expect(first.transactionID == Hex.encode(parts.transactionID))
    #expect(first.payloadHash == Hex.encode(SHA256.hash(data: parts.keyMaterial + parts.data)))
  }

  @Test func `a verifier with a cached chain checks the next token as strictly`() throws {
    let opener = try testOpener()
    let builder = try TestTokenBuilder()
    #expect(try refusal { try builder.build().open(with: opener) } == nil)
    var late = builder
    late.signingTime = Timestamp(seconds: 1_800_000_001)
    #expect(
      try refusal { try late.build().open(at: Timestamp(seconds: 1_800_000_001), with: opener) }
        == .certificateNotValidThen)
    var forged = builder
    forged.impostor = .p256(P256.Signing.PrivateKey())
    #expect(try refusal { try forged.build().open(with: opener) } == .invalidSignature)
  }
}

@Suite(.everyKeyHolder) struct `The signing time` {
  @Test(
    arguments: [(-301, "in_the_future"), (-300, nil), (0, nil), (300, nil), (301, "too_old")] as [(Int64, String?)])
  func `may differ from arrival by five minutes and not a second more`(age: Int64, code: String?) throws {
    let arrival = Timestamp(seconds: 1_750_000_000 + age)
    #expect(try refusal { try TestTokenBuilder().build().open(at: arrival) }?.rawValue == code)
  }

  @Test func `is compared to the microsecond`() throws {
    let arrival = Timestamp(microseconds: 1_750_000_300_000_001)
    #expect(try refusal { try TestTokenBuilder().build().open(at: arrival) } == .tooOld)
  }

  @Test(arguments: [
    "250615150640", "250615150640+0000", "2506151506Z", "251315150640Z", "250615150660Z", "250615150640.5Z", "",
  ])
  func `in another form is refused`(text: String) throws {
    var builder = try TestTokenBuilder()
    builder.timeValue = der(0x17, Array(text.utf8))
    #expect(try refusal { try builder.build().open() } == .malformedSigningTime)
  }

  @Test func `with a year from 50 is in the twentieth century`() throws {
    var builder = try TestTokenBuilder()
    builder.timeValue = der(0x17, Array("500615150640Z".utf8))
    #expect(try refusal { try builder.build().open() } == .certificateNotValidThen)
  }
}

@Suite(.everyKeyHolder) struct `Environments` {
  private func open(signer: String, production: Bool, sandbox: Bool) throws -> Environment {
    var authority = TestAuthority()
    authority.signerName = signer
    let issued = try authority.issue()
    let trust = try TokenTrust.apple(standIn: issued.rootPEM, production: production, sandbox: sandbox)
    let token = try TestTokenBuilder(issued).build().token()
    return try TokenVerifier(trust: trust).verify(token, at: TestTokenBuilder.Parts.arrival).environment
  }

  @Test func `a signer of Apple's sandbox is refused in production, and the reverse`() throws {
    #expect(try open(signer: "x_UC4-SANDBOX", production: true, sandbox: true) == .appleSandbox)
    #expect(try open(signer: "x_UC4-PROD", production: true, sandbox: true) == .production)
    #expect(try refusal { try open(signer: "x_UC4-SANDBOX", production: true, sandbox: false) } == .wrongEnvironment)
    #expect(try refusal { try open(signer: "x_UC4-PROD", production: false, sandbox: true) } == .wrongEnvironment)
  }

  @Test func `a verifier that trusts Apple refuses a simulated token`() throws {
    let token = try TestTokenBuilder().build().token()
    let verifier = TokenVerifier(trust: .apple())
    #expect(try refusal { try verifier.verify(token, at: TestTokenBuilder.Parts.arrival) } == .untrustedRoot)
  }

  @Test func `Apple's root cannot be a sandbox's, but may be named as a root`() throws {
    #expect(try refusal { try TokenTrust.simulated(rootPEM: AppleRoot.pem) } == .unreadableRoot)
    #expect(try refusal { try TokenTrust.roots([AppleRoot.pem]) } == nil)
  }

  @Test func `the embedded root is the one that Apple publishes`() throws {
    let body = AppleRoot.pem.split(separator: "\n").dropFirst().dropLast().joined()
    let der = try #require(Base64.decode(body))
    #expect(Hex.encode(SHA256.hash(data: der)) == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
  }
}

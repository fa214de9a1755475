import ApplePayToken
import TenderPayments
import Testing

/// Properties of a token that a provider decrypts: its signature covers bytes, not the boundaries between members.
@Suite struct `A token that stays sealed` {
  private func verify(_ parts: TestTokenBuilder.Parts) throws -> VerifiedPaymentToken {
    let issued = parts.version == "RSA_v1" ? try Shared.rsaIssued.get() : try Shared.issued.get()
    return try TokenVerifier(trust: .simulated(rootPEM: issued.rootPEM))
      .verify(parts.token(), at: TestTokenBuilder.Parts.arrival)
  }

  private func builder(_ version: String, applicationData: [UInt8]? = nil) throws -> TestTokenBuilder.Parts {
    var builder = try TestTokenBuilder(version == "RSA_v1" ? Shared.rsaIssued.get() : Shared.issued.get())
    (builder.version, builder.applicationData) = (version, applicationData)
    return try builder.build()
  }

  @Test(arguments: [("EC_v1", PaymentTokenError.Code.badEphemeralKey), ("RSA_v1", .badWrappedKey)])
  func `has one boundary between key material and data`(version: String, code: PaymentTokenError.Code) throws {
    let good = try builder(version)
    _ = try verify(good)
    let all = good.keyMaterial + good.data
    for boundary in [-32, -1, 1, 32].map({ good.keyMaterial.count + $0 }) {
      var moved = good
      (moved.keyMaterial, moved.data) = (Array(all[..<boundary]), Array(all[boundary...]))
      #expect(try refusal { try verify(moved) } == code)
    }
  }

  @Test func `has hashes of full length`() throws {
    let good = try builder("EC_v1").token()
    let all = good.data + good.transactionID
    let moved = EncryptedPaymentToken(
      version: .ecV1, data: Array(all.dropLast(31)), signature: good.signature, keyMaterial: good.keyMaterial,
      publicKeyHash: good.publicKeyHash, transactionID: Array(all.suffix(31)), applicationDataHash: nil)
    let verifier = TokenVerifier(trust: try .simulated(rootPEM: Shared.issued.get().rootPEM))
    #expect(try refusal { try verifier.verify(moved, at: TestTokenBuilder.Parts.arrival) } == .wrongLength)
  }

  /// All that is left: 32 bytes from the end of the data, or to it. Neither spelling can be decrypted, and neither has
  /// the application data that its order asks for.
  @Test func `pays nothing when its application data is taken for its transaction identifier, or the reverse`() throws {
    let hash = [UInt8](repeating: 7, count: 32)
    var without = try builder("EC_v1", applicationData: hash)
    (without.data, without.transactionID) = (without.data + without.transactionID, hash)
    without.applicationData = nil
    #expect(try refusal { try verify(without).confirm(applicationDataHash: hash) } == .applicationDataMissing)
    #expect(try refusal { try without.open() } == .tagMismatch)

    var with = try builder("EC_v1")
    with.applicationData = with.transactionID
    with.transactionID = Array(with.data.suffix(32))
    with.data.removeLast(32)
    #expect(try refusal { try verify(with).confirm(applicationDataHash: hash) } == .applicationDataMismatch)
    #expect(try refusal { try with.open() } == .tagMismatch)
  }
}

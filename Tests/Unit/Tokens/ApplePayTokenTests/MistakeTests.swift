import ApplePayToken
import Crypto
import TenderPayments
import Testing

@Suite(.everyKeyHolder) struct `A mistake in the key derivation is recognised` {
  private func refused(_ change: (inout TestTokenBuilder) throws -> Void) throws -> PaymentTokenError? {
    var builder = try TestTokenBuilder()
    try change(&builder)
    do {
      _ = try builder.build().open()
      return nil
    } catch let error as PaymentTokenError {
      return error
    }
  }

  @Test func `the merchant identifier as text`() throws {
    let error = try refused { $0.partyInfo = Array(TestTokenBuilder.merchantIdentifier.utf8) }
    #expect(error?.code == .wrongKeyDerivation)
    #expect(error?.reason == KeyDerivationMistake.identifierNotHashed.reason)
  }

  @Test(arguments: [false, true]) func `its hash as text`(capitals: Bool) throws {
    let hash = Hex.encode(SHA256.hash(data: Array(TestTokenBuilder.merchantIdentifier.utf8)))
    let error = try refused { $0.partyInfo = Array((capitals ? hash.uppercased() : hash).utf8) }
    #expect(error?.code == .wrongKeyDerivation)
    #expect(error?.reason == KeyDerivationMistake.hashAsText.reason)
  }

  @Test func `a secret that lost its leading zero`() throws {
    let error = try refused { builder in
      builder.dropsLeadingZeros = true
      repeat { builder.ephemeralKey = .init() } while try !beginsWithZero(builder)
    }
    #expect(error?.code == .wrongKeyDerivation)
    #expect(error?.reason == KeyDerivationMistake.secretWithoutLeadingZeros.reason)
  }

  @Test func `a secret with a leading zero opens`() throws {
    let error = try refused { builder in
      repeat { builder.ephemeralKey = .init() } while try !beginsWithZero(builder)
    }
    #expect(error == nil)
  }

  @Test func `anything else stays a tag that does not match`() throws {
    #expect(try refused { $0.partyInfo = [1, 2, 3] }?.code == .tagMismatch)
  }

  private func beginsWithZero(_ builder: TestTokenBuilder) throws -> Bool {
    try builder.ephemeralKey.sharedSecretFromKeyAgreement(with: builder.merchantKey.publicKey).withUnsafeBytes {
      $0.first == 0
    }
  }
}

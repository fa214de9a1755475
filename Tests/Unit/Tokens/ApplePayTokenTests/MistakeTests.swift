import ApplePayToken
import Crypto
import TenderPayments
import Testing

@Suite(.everyKeyHolder) struct `A mistake in the key derivation is recognised` {
  private func refused(_ change: (inout TestMint) throws -> Void) throws -> PaymentTokenError? {
    var mint = try TestMint()
    try change(&mint)
    do {
      _ = try mint.mint().open()
      return nil
    } catch let error as PaymentTokenError {
      return error
    }
  }

  @Test func `the merchant identifier as text`() throws {
    let error = try refused { $0.partyInfo = Array(TestMint.merchantIdentifier.utf8) }
    #expect(error?.code == .wrongKeyDerivation)
    #expect(error?.reason == KeyDerivationMistake.identifierNotHashed.reason)
  }

  @Test(arguments: [false, true]) func `its hash as text`(capitals: Bool) throws {
    let hash = Hex.encode(SHA256.hash(data: Array(TestMint.merchantIdentifier.utf8)))
    let error = try refused { $0.partyInfo = Array((capitals ? hash.uppercased() : hash).utf8) }
    #expect(error?.code == .wrongKeyDerivation)
    #expect(error?.reason == KeyDerivationMistake.hashAsText.reason)
  }

  @Test func `a secret that lost its leading zero`() throws {
    let error = try refused { mint in
      mint.dropsLeadingZeros = true
      repeat { mint.ephemeralKey = .init() } while try !beginsWithZero(mint)
    }
    #expect(error?.code == .wrongKeyDerivation)
    #expect(error?.reason == KeyDerivationMistake.secretWithoutLeadingZeros.reason)
  }

  @Test func `a secret with a leading zero opens`() throws {
    let error = try refused { mint in
      repeat { mint.ephemeralKey = .init() } while try !beginsWithZero(mint)
    }
    #expect(error == nil)
  }

  @Test func `anything else stays a tag that does not match`() throws {
    #expect(try refused { $0.partyInfo = [1, 2, 3] }?.code == .tagMismatch)
  }

  private func beginsWithZero(_ mint: TestMint) throws -> Bool {
    try mint.ephemeralKey.sharedSecretFromKeyAgreement(with: mint.merchantKey.publicKey).withUnsafeBytes {
      $0.first == 0
    }
  }
}

import ApplePayToken
import Crypto
import Foundation
import TenderPayments
import Testing
import TokenIssuer

/// Payment tokens issued for this run, each with keys of its own, to find faults that show once in 256 tokens.
///
/// For 15 seconds, or `TENDER_FRESH_TOKENS` of them (`make fresh-tokens`: 100,000). Every fourth with a key that an
/// agent holds.
@Suite struct `Freshly issued tokens` {
  @Test func `open, all of them, also those whose secret begins with zero bytes`() throws {
    let setup = try AttackSetup(.ellipticCurve)
    let (openers, issuer) = (try KeyLocation.allCases.map(setup.opener), setup.issuer())
    let key = try P256.KeyAgreement.PrivateKey(pemRepresentation: setup.key)
    var order = try setup.order()
    let limit = Effort.number("TENDER_FRESH_TOKENS")
    let end = ContinuousClock.now + .seconds(Effort.seconds)
    var (count, zeros, twoZeros) = (0, 0, 0)
    while limit.map({ count < $0 }) ?? (ContinuousClock.now < end) {
      order.applicationData = count.isMultiple(of: 2) ? nil : Array("\(count)".utf8)
      order.form = SignatureForm.allCases[count % 3]
      let issued = try issuer.issue(order)
      let token = try EncryptedPaymentToken(bytes: Array(issued.text.utf8))
      let refusal = openers[count % 4 / 3].refusal(of: token)
      #expect(refusal == nil, "token \(count)")
      let secret = try Self.secret(token, key)
      zeros += secret[0] == 0 ? 1 : 0
      twoZeros += secret.starts(with: [0, 0]) ? 1 : 0
      count += 1
    }
    if let limit {
      print(
        "fresh-tokens: \(count) runs, 0 violations (\(zeros) secrets with a leading zero byte, \(twoZeros) with two)")
      #expect(count == limit)
    }
    if count > 5_000 { #expect(zeros > 0, "one in 256 of \(count)") }
  }

  private static func secret(_ token: EncryptedPaymentToken, _ key: P256.KeyAgreement.PrivateKey) throws -> [UInt8] {
    let device = try P256.KeyAgreement.PublicKey(derRepresentation: token.keyMaterial.bytes)
    return try key.sharedSecretFromKeyAgreement(with: device).withUnsafeBytes { Array($0) }
  }
}

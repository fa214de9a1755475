import ApplePayToken
import Crypto
import Foundation
import TenderPayments
import Testing

// README: begin
func networkToken(
  in body: [UInt8], paying total: Amount, of basketHash: [UInt8], for shop: MerchantID, with keys: ProcessingKeyRing,
  trusting trust: TokenTrust = .apple(production: true, sandbox: false), at now: Timestamp = WallClock.system.now()
) throws -> NetworkToken {
  let opener = TokenOpener(verifier: TokenVerifier(trust: trust), keys: keys)
  let opened = try opener.open(EncryptedPaymentToken(bytes: body), for: shop, at: now)
  try opened.confirm(ExpectedPayment(merchant: shop, amount: total, applicationDataHash: basketHash))
  return try opened.paymentData.networkToken
}
// README: end

@Suite struct `The library's README` {
  @Test func `shows code that opens a payment token`() throws {
    var mint = try TestMint()
    mint.applicationData = [UInt8](repeating: 7, count: 32)
    let key = try ProcessingKey(
      privateKeyPEM: mint.merchantKey.pemRepresentation, merchantIdentifier: TestMint.merchantIdentifier)
    let total = Amount(minorUnits: 1250, currency: try #require(Currency(code: "EUR")))
    let token = try networkToken(
      in: mint.mint().bytes, paying: total, of: [UInt8](repeating: 7, count: 32), for: TestMint.merchant,
      with: ProcessingKeyRing([TestMint.merchant: [key]]),
      trusting: .simulated(rootPEM: try Shared.issued.get().rootPEM), at: TestMint.Minted.arrival)
    #expect(token.dpan.revealed == "4817499130011223")
  }

  @Test func `shows exactly the code that is compiled here`() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let here = try String(contentsOf: tests.appending(path: "ReadmeTests.swift"), encoding: .utf8)
    let compiled = try #require(here.firstMatch(of: /\/\/ README: begin\n((?s).*?)\/\/ README: end/)).output.1
    let readme = try String(
      contentsOf: tests.appending(path: "../../Sources/ApplePayToken/README.md"), encoding: .utf8)
    #expect(readme.contains(compiled))
  }
}

import ApplePayToken
import CryptoExtras
import Sandbox
import TenderPayments
import TenderTesting
import Testing

/// Device and merchant were written apart; here they meet.
@Suite struct `A minted payment token at the merchant` {
  let pki: SandboxPKI
  let mint: TokenMint
  let order: TokenOrder
  let opener: TokenOpener
  let merchant = MerchantID("store")

  init() throws {
    let keys = try Merchant()
    pki = try SandboxPKI()
    mint = TokenMint(pki: pki)
    let certificate = try pki.certificate(.processing, for: Merchant.identifier, csr: keys.processingCSR)
    order = TokenOrder(
      card: try #require(SandboxCards.card(id: "visa-credit")),
      amount: Amount(minorUnits: 1250, currency: try #require(Currency(code: "EUR"))),
      recipient: try TokenRecipient(certificatePEM: certificate), applicationData: Array("basket 7".utf8))
    let key = try ProcessingKey(
      privateKeyPEM: keys.processingKey.pemRepresentation, certificatePEM: certificate)
    opener = TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: pki.rootPEM)), keys: ProcessingKeyRing([merchant: [key]]))
  }

  private func open(_ token: MintedPaymentToken) throws -> OpenedPaymentToken {
    try opener.open(EncryptedPaymentToken(bytes: Array(token.text.utf8)), for: merchant, at: WallClock.system.now())
  }

  @Test(arguments: SignatureForm.allCases)
  func `is opened, whatever the form of its signature`(form: SignatureForm) throws {
    var order = order
    order.form = form
    let opened = try open(mint.mint(order))
    #expect(opened.paymentData.amount == order.amount)
    let networkToken = try opened.paymentData.networkToken
    #expect(networkToken.dpan == order.card.dpan && networkToken.eci == "05")
  }

  @Test(arguments: TokenVariant.all.filter { $0.format == .ellipticCurve })
  func `is judged as its variant says`(variant: TokenVariant) throws {
    let now = Timestamp(seconds: WallClock.system.now().seconds)
    let mint = TokenMint(pki: pki, clock: WallClock { now })
    var order = order
    order.applicationData = nil
    let text = try mint.mint(order, variant)
    var found = TokenVariant.Expectation.opens
    do {
      _ = try opener.open(EncryptedPaymentToken(bytes: text), for: merchant, at: now.adding(variant.delay))
    } catch {
      found = .refused(error.code)
    }
    #expect(found == variant.expectation, "\(variant.name)")
  }
}

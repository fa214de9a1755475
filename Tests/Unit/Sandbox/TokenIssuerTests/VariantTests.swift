import ApplePayToken
import CryptoExtras
import SandboxTesting
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

@Suite struct `An issued payment token at the merchant` {
  let pki: SandboxPKI
  let issuer: PaymentTokenIssuer
  let order: PaymentTokenRequest
  let opener: TokenOpener
  let merchant = MerchantID("store")

  init() throws {
    let keys = try Merchant()
    pki = try SandboxPKI()
    issuer = PaymentTokenIssuer(pki: pki)
    let certificate = try pki.certificate(.processing, for: Merchant.identifier, csr: keys.processingCSR)
    order = PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: "visa-credit")),
      amount: Amount(minorUnits: 1250, currency: try #require(Currency(code: "EUR"))),
      recipient: try TokenRecipient(certificatePEM: certificate), applicationData: Array("basket 7".utf8))
    let key = try ProcessingKey(
      privateKeyPEM: keys.processingKey.pemRepresentation, certificatePEM: certificate)
    opener = TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: pki.rootPEM)), keys: ProcessingKeyRing([merchant: [key]]))
  }

  private func open(_ token: IssuedPaymentToken) throws -> OpenedPaymentToken {
    try opener.open(EncryptedPaymentToken(bytes: Array(token.text.utf8)), for: merchant, at: WallClock.system.now())
  }

  @Test(arguments: SignatureForm.allCases)
  func `is opened, whatever the form of its signature`(form: SignatureForm) throws {
    var order = order
    order.form = form
    let opened = try open(issuer.issue(order))
    #expect(opened.paymentData.amount == order.amount)
    let networkToken = try opened.paymentData.networkToken
    #expect(networkToken.dpan == order.card.dpan && networkToken.eci == "05")
  }

  @Test(arguments: TokenVariant.all.filter { $0.format == .ellipticCurve })
  func `has the result that its variant expects`(variant: TokenVariant) throws {
    let now = Timestamp(seconds: WallClock.system.now().seconds)
    let issuer = PaymentTokenIssuer(pki: pki, clock: WallClock { now })
    var order = order
    order.applicationData = nil
    let text = try issuer.issue(order, variant)
    var found = TokenVariant.Expectation.opens
    do {
      _ = try opener.open(EncryptedPaymentToken(bytes: text), for: merchant, at: now.adding(variant.delay))
    } catch {
      found = .refused(error.code)
    }
    #expect(found == variant.expectation, "\(variant.name)")
  }
}

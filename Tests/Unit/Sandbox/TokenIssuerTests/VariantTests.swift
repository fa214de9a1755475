import ApplePayToken
import Crypto
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
}

@Suite struct `A token variant` {
  /// One for all variants, because RSA keys take long to make.
  private static let authorities = Result { try SandboxPKI() }
  private static let merchant = MerchantID("store")

  @Test(arguments: TokenVariant.all)
  func `has the result that it expects`(variant: TokenVariant) throws {
    let (pki, keys) = (try Self.authorities.get(), try Merchant())
    let isRSA = variant.format == .rsa
    let now = Timestamp(seconds: WallClock.system.now().seconds)
    let request = PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: "visa-credit")),
      amount: Amount(minorUnits: 1250, currency: try #require(Currency(code: "EUR"))),
      recipient: try TokenRecipient(
        publicKeyPEM: isRSA
          ? keys.identityKey.publicKey.pemRepresentation : keys.processingKey.publicKey.pemRepresentation,
        merchantIdentifier: Merchant.identifier))
    let key = try ProcessingKey(
      privateKeyPEM: isRSA ? keys.identityKey.pemRepresentation : keys.processingKey.pemRepresentation,
      merchantIdentifier: Merchant.identifier)
    let opener = TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: pki.rootPEM)),
      keys: ProcessingKeyRing([Self.merchant: [key]]))

    let text = try PaymentTokenIssuer(pki: pki, clock: WallClock { now }).issue(request, variant)
    var result = TokenVariant.Expectation.opens
    do {
      _ = try opener.open(EncryptedPaymentToken(bytes: text), for: Self.merchant, at: now.adding(variant.delay))
    } catch {
      result = .refused(error.code)
    }
    #expect(result == variant.expectation, "\(variant.name)")
  }

  @Test func `that decides about application data refuses that of a request, and no other does`() throws {
    let keys = try Merchant()
    let request = PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: "visa-credit")),
      amount: Amount(minorUnits: 1250, currency: try #require(Currency(code: "EUR"))),
      recipient: try TokenRecipient(
        publicKeyPEM: keys.processingKey.publicKey.pemRepresentation, merchantIdentifier: Merchant.identifier),
      applicationData: Array("basket 7".utf8))
    let issuer = PaymentTokenIssuer(pki: try Self.authorities.get())
    let refused = TokenVariant.all.filter { $0.format == .ellipticCurve }.filter { variant in
      do { _ = try issuer.issue(request, variant) } catch { return true }
      return false
    }
    #expect(refused.map(\.name).allSatisfy { $0.contains("application-data") } && refused.count == 9)
  }
}

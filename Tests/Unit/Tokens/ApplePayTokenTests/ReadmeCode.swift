import ApplePayToken
import TenderPayments

#if canImport(TenderTesting)
  // In this package's tests, an extension of this module reads a literal as a merchant's id.
  import TenderTesting
#endif

// What the pages show, compiled: each Swift block of a page stands between such marks, in this file or in the manifest of
// Tests/Packages/TokenHost, which is a package that compiles this file too.

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

func keyRing(of shop: MerchantID, _ keyPEM: String, _ certificatePEM: String) throws -> ProcessingKeyRing {
  // README: begin
  let key = try ProcessingKey(privateKeyPEM: keyPEM, certificatePEM: certificatePEM)
  let keys = ProcessingKeyRing([shop: [key]])
  // README: end
  return keys
}

/// Of the README at the top of the repository.
func everyStep(
  _ body: [UInt8], _ key: String, _ certificate: String, _ total: Amount, _ basketHash: [UInt8]
) throws -> Amount {
  // README: begin
  let opener = TokenOpener(
    verifier: TokenVerifier(trust: .apple(production: true, sandbox: false)),
    keys: ProcessingKeyRing([
      MerchantID("my-shop"): [try ProcessingKey(privateKeyPEM: key, certificatePEM: certificate)]
    ]))
  let window = ReplayWindow()

  let now = WallClock.system.now()
  let opened = try opener.open(EncryptedPaymentToken(bytes: body), for: MerchantID("my-shop"), at: now)
  try window.spend(opened.verified, at: now)
  try opened.confirm(
    ExpectedPayment(merchant: MerchantID("my-shop"), amount: total, applicationDataHash: basketHash))
  // README: end
  return opened.paymentData.amount
}

/// Of *Opening a payment token*.
func fourLines(
  _ body: [UInt8], _ opener: TokenOpener, _ window: ReplayWindow, _ merchant: MerchantID, _ arrival: Timestamp,
  _ total: Amount, _ basketHash: [UInt8]
) throws -> Amount {
  // README: begin
  let token = try EncryptedPaymentToken(bytes: body)
  let opened = try opener.open(token, for: merchant, at: arrival)
  try window.spend(opened.verified, at: arrival)
  try opened.confirm(ExpectedPayment(merchant: merchant, amount: total, applicationDataHash: basketHash))
  // README: end
  return opened.paymentData.amount
}

func withoutAKey(_ token: EncryptedPaymentToken, _ arrival: Timestamp, _ basketHash: [UInt8]) throws {
  // README: begin
  let sealed = try TokenVerifier(trust: .apple()).verify(token, at: arrival)
  try sealed.confirm(applicationDataHash: basketHash)
  // README: end
}

/// Of *Rotating keys without losing a payment*.
func recordedRing(
  _ merchant: MerchantID, _ oldKey: ProcessingKey, _ verifier: TokenVerifier,
  _ remember: @escaping @Sendable (ProcessingKeyRing.Entry) -> Void
) -> TokenOpener {
  // README: begin
  let ring = ProcessingKeyRing([merchant: [oldKey]]) { entry in remember(entry) }
  let opener = TokenOpener(verifier: verifier, keys: ring)
  // README: end
  return opener
}

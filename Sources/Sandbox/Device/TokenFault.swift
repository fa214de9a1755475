import Crypto
import TenderPayments
import X509

/// One fault, planted into a payment token that is otherwise as good as any: what a verifier has to find.
public enum TokenFault: String, Sendable, Hashable, CaseIterable {
  /// One bit of the ciphertext changed after signing.
  case alteredData = "altered-data"
  /// One bit of the transaction identifier changed after signing.
  case alteredTransactionIdentifier = "altered-transaction-id"
  /// The hash of other application data than was signed.
  case alteredApplicationData = "altered-application-data"
  /// The last byte of the signature's value changed.
  case alteredSignature = "altered-signature"
  /// Signed ten minutes ago.
  case signedLongAgo = "signed-long-ago"
  /// Signed ten minutes from now.
  case signedInTheFuture = "signed-in-the-future"
  /// Signed under another sandbox's root.
  case foreignRoot = "foreign-root"
  /// Signed by a certificate of the right issuer that lacks Apple's marker.
  case unmarkedSigner = "unmarked-signer"
  /// Signed by a merchant with a certificate that leads to the same root.
  case merchantSigner = "merchant-signer"
  /// Encrypted to a key that is not the merchant's.
  case unknownKey = "unknown-key"
  /// Encrypted to the merchant's key under another merchant's identifier.
  case otherMerchant = "other-merchant"
}

extension TokenMint {
  /// A payment token with one fault.
  public func mint(_ order: TokenOrder, with fault: TokenFault) throws -> MintedPaymentToken {
    var order = order
    switch fault {
    case .signedLongAgo: order.signingTime = clock.now().adding(.seconds(-600))
    case .signedInTheFuture: order.signingTime = clock.now().adding(.seconds(600))
    case .unknownKey: order.recipient.publicKey = P256.KeyAgreement.PrivateKey().publicKey
    case .otherMerchant: order.recipient.merchantHash = MerchantHash(merchantIdentifier: "merchant.of.somebody.else")
    default: break
    }
    var token = try seal(PaymentDataText(card: order.card, amount: order.amount, random: random).bytes, for: order)
    try sign(&token, by: signer(with: fault), order)
    fault.alter(&token)
    return token
  }

  private func signer(with fault: TokenFault) throws -> BrokerSignature {
    switch fault {
    case .foreignRoot: try SandboxPKI(clock: clock, random: random).broker
    case .unmarkedSigner: try pki.impostor(under: pki.tokenIntermediate, at: clock.now(), random: random)
    case .merchantSigner: try pki.impostor(under: pki.developerRelations, at: clock.now(), random: random)
    default: pki.broker
    }
  }
}

extension TokenFault {
  fileprivate func alter(_ token: inout MintedPaymentToken) {
    switch self {
    case .alteredData: token.data[0] ^= 1
    case .alteredTransactionIdentifier: token.transactionID[0] ^= 1
    case .alteredApplicationData: token.applicationDataHash = Array(SHA256.hash(data: Array("other".utf8)))
    // The value ends before the end-of-contents bytes of three indefinite lengths.
    case .alteredSignature: token.signature[token.signature.count - 7] ^= 1
    default: break
    }
  }
}

extension SandboxPKI {
  /// A signer that may not sign payment tokens, though its certificate is genuine.
  fileprivate func impostor(
    under issuer: CertifiedKey, at now: Timestamp, random: RandomBytes
  ) throws -> BrokerSignature {
    let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
    let form = CertificateRequestForm(
      subject: try SandboxName.make(SandboxName.tokenSigner), publicKey: key.publicKey,
      notBefore: now.adding(months: -1), notAfter: now.adding(months: 24),
      extensions: try CertificateExtensions.leaf(KeyUsage(digitalSignature: true)))
    let certified = CertifiedKey(certificate: try issuer.issue(form, random: random), key: key)
    return BrokerSignature(signer: certified, intermediate: issuer)
  }
}

import Crypto
public import TenderPayments

/// Apple's step 1: is this payment token signed by Apple Pay, whole, and of now?
///
/// Source: Apple, *Payment token format reference*, "Verify the signature". Every check is made for every token; no
/// switch leaves one out.
public struct TokenVerifier: Sendable {
  /// How far the signing time may lie from the moment of arrival, on both sides.
  public static let window: Duration = .seconds(300)

  private let trust: TokenTrust
  private let canary: TokenCanary?
  private let chains = ChainCache()

  /// - Parameters:
  ///   - trust: whose signatures are believed.
  ///   - canary: told about what Apple was never seen to do before. Such a token passes; somebody should look.
  public init(trust: TokenTrust, canary: TokenCanary? = nil) {
    self.trust = trust
    self.canary = canary
  }

  /// - Parameters:
  ///   - token: as it arrived.
  ///   - time: when it did.
  /// - Throws: stages `format` (the signature's grammar), `certificates`, `chain`, `signature`, `signingTime`; of stage
  ///   `unwrap` what shows without a key.
  public func verify(_ token: EncryptedPaymentToken, at time: Timestamp) throws(PaymentTokenError)
    -> VerifiedPaymentToken
  {
    let digests = SignedContent(token).digests
    let signed = try read(token)
    let chain = try chain(signed.certificates.map(\.encoding))
    let signature = try SignatureCheck(signed, by: chain, token.version)
    let signingTime = try signature.signingTime(over: digests.content)
    try chain.check(at: signingTime)
    try checkWindow(signingTime, time)
    try checkBoundaries(token)
    canary?.sees(signature.wireForm)
    let use = TokenUse(transactionID: Hex.encode(token.transactionID), payloadHash: Hex.encode(digests.payload))
    return VerifiedPaymentToken(token: token, signingTime: signingTime, environment: chain.environment, use: use)
  }

  private func read(_ token: EncryptedPaymentToken) throws(PaymentTokenError) -> SignedData {
    guard token.signature.count <= TokenLimits.signature else {
      throw PaymentTokenError(.wrongLength, "must be at most \(TokenLimits.signature) bytes", field: "signature")
    }
    do {
      return try SignedData(ber: token.signature[...])
    } catch {
      throw PaymentTokenError(.malformedSignature, error.reason, field: "signature")
    }
  }

  private func chain(_ certificates: [ArraySlice<UInt8>]) throws(PaymentTokenError) -> SignerChain {
    let chain = try SignerChain(certificates, trust, chains)
    if chain.isNew { canary?.sees(chain) }
    return chain
  }

  /// Step 1.e: a token that was signed long before it arrives may be a replay; one from the future is no token.
  private func checkWindow(_ signingTime: Timestamp, _ time: Timestamp) throws(PaymentTokenError) {
    let age = time.since(signingTime)
    guard age <= Self.window else {
      throw PaymentTokenError(.tooOld, "signed at \(signingTime), more than five minutes before \(time)")
    }
    guard age >= .zero - Self.window else {
      throw PaymentTokenError(.inTheFuture, "signed at \(signingTime), more than five minutes after \(time)")
    }
  }
  /// The signature covers one member after another and does not say where one ends and the next begins. Every member
  /// but the data has one length; with those lengths the bytes that were signed can be cut in one way only, also for a
  /// token that nobody here decrypts.
  ///
  /// Source: *Payment token format reference*, step 1.d; a P-256 key in SubjectPublicKeyInfo, a block of RSA-2048, and
  /// SHA-256 twice.
  private func checkBoundaries(_ token: EncryptedPaymentToken) throws(PaymentTokenError) {
    switch (token.version, token.keyMaterial) {
    case (.ecV1, .ephemeralPublicKey(let info)):
      guard info.count == TokenLimits.ephemeralPublicKey else {
        throw PaymentTokenError(
          .badEphemeralKey, "not a point of P-256 in Apple's form", field: "header.ephemeralPublicKey")
      }
    case (.rsaV1, .wrappedKey(let wrapped)):
      guard wrapped.count == TokenLimits.wrappedKey else {
        throw PaymentTokenError(.badWrappedKey, "not a block of RSA with 2048 bits", field: "header.wrappedKey")
      }
    default:
      throw PaymentTokenError(.wrongKeyMaterial, "\(token.version.rawValue) has other key material", field: "header")
    }
    guard token.transactionID.count == 32, token.applicationDataHash.map({ $0.count == 32 }) ?? true else {
      throw PaymentTokenError(.wrongLength, "the hashes of the header must have 32 bytes", field: "header")
    }
  }
}

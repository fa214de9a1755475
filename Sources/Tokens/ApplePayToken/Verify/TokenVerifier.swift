import Crypto
public import TenderPayments

/// Apple's step 1: verifies that a payment token is signed by Apple Pay, unchanged, and recent.
///
/// Source: Apple, *Payment token format reference*, "Verify the signature". Every check runs for every token; no option
/// disables one.
public struct TokenVerifier: Sendable {
  /// How far the signing time may be before or after the time of arrival.
  public static let window: Duration = .seconds(300)

  private let trust: TokenTrust
  private let monitor: SignerMonitor?
  private let chains = ChainCache()

  /// - Parameters:
  ///   - trust: whose signatures are accepted.
  ///   - monitor: reports signers and signature forms not seen before; their tokens are accepted.
  public init(trust: TokenTrust, monitor: SignerMonitor? = nil) {
    self.trust = trust
    self.monitor = monitor
  }

  /// - Parameters:
  ///   - token: as it arrived.
  ///   - time: when it did.
  /// - Throws: stages `format` (the signature's grammar), `certificates`, `chain`, `signature`, `signingTime`; of stage
  ///   `unwrap`, what can be seen without a key.
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
    monitor?.check(signature.wireForm)
    let use = TokenUse(token, payload: digests.payload)
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
    if chain.isNew { monitor?.check(chain) }
    return chain
  }

  /// Step 1.e: a token signed long before it arrives may be a replay; one signed in the future is invalid.
  private func checkWindow(_ signingTime: Timestamp, _ time: Timestamp) throws(PaymentTokenError) {
    let age = time.since(signingTime)
    guard age <= Self.window else {
      throw PaymentTokenError(.tooOld, "signed at \(signingTime), more than five minutes before \(time)")
    }
    guard age >= .zero - Self.window else {
      throw PaymentTokenError(.inTheFuture, "signed at \(signingTime), more than five minutes after \(time)")
    }
  }
  /// The signature covers the concatenated members without their boundaries. Every member but the data has a fixed
  /// length, and checking these lengths makes the boundaries unambiguous, also for a sealed token.
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

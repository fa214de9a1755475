package import ApplePayToken
import StrictJSON
package import TenderPayments

/// The keys of one merchant, the root that their payment tokens must lead to, and the replay window: what a program in
/// another language opens once, at its start.
package final class TokenKeys: Sendable {
  private let opener: TokenOpener
  private let window: ReplayWindow

  /// - Parameters:
  ///   - keys: none for a program that verifies alone.
  ///   - capacity: of the replay window.
  package init(_ keys: [ProcessingKey], trusting trust: TokenTrust, capacity: Int? = nil) {
    opener = TokenOpener(verifier: TokenVerifier(trust: trust), keys: ProcessingKeyRing([Self.merchant: keys]))
    window = capacity.map(ReplayWindow.init(capacity:)) ?? ReplayWindow()
  }

  /// All keys are the caller's own, so there is one merchant.
  private static let merchant = MerchantID("caller")

  /// Verifies a payment token, as it arrived.
  package func verify(_ token: [UInt8], at time: Timestamp) throws(PaymentTokenError) -> CheckedToken {
    let verified = try opener.verifier.verify(EncryptedPaymentToken(bytes: token), at: time)
    return CheckedToken(verified: verified, paymentData: nil, arrival: time)
  }

  /// Verifies and decrypts a payment token, as it arrived.
  package func decrypt(_ token: [UInt8], at time: Timestamp) throws(PaymentTokenError) -> CheckedToken {
    let opened = try opener.open(EncryptedPaymentToken(bytes: token), for: Self.merchant, at: time)
    return CheckedToken(verified: opened.verified, paymentData: opened.paymentData, arrival: time)
  }

  /// Accepts each payment token once.
  ///
  /// - Throws: stage `replay`; stage `signingTime` for a payment token that arrived longer ago than it may.
  package func spend(_ token: CheckedToken) throws(PaymentTokenError) {
    try window.spend(token.verified, at: token.arrival)
  }
}

/// A payment token that was verified, and decrypted unless it is sealed for somebody else.
package struct CheckedToken: Sendable {
  package let verified: VerifiedPaymentToken
  package let paymentData: PaymentData?
  /// When it arrived.
  let arrival: Timestamp
}

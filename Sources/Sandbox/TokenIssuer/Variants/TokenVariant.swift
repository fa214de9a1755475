package import ApplePayToken
import StrictJSON
import TenderPayments

/// One named way in which a payment token can be, good or broken: what `tender-sandbox token create --variant` makes.
package struct TokenVariant: Sendable {
  package enum Expectation: Sendable, Hashable {
    case opens
    case refused(PaymentTokenError.Code)
  }

  /// The payment token's format, which the recipient's key decides.
  package enum Format: String, Sendable, Hashable {
    case ellipticCurve = "EC_v1"
    case rsa = "RSA_v1"
  }

  package let name: String
  package let format: Format
  package let expectation: Expectation
  /// What the variant is and why it matters, in a sentence.
  package let summary: String
  /// How long after the signing time the token arrives.
  package var delay: Duration = TokenVariant.ordinaryDelay
  /// Whether a reader's result depends on when the token arrives.
  package var isTimed: Bool { delay != Self.ordinaryDelay }
  private static let ordinaryDelay: Duration = .seconds(10)

  /// The variant of which this is another spelling: using one uses up the other.
  package var spelling: String?
  /// Whether it decides about application data itself, or is about a token without any.
  package var decidesApplicationData = false
  let change: @Sendable (inout PaymentTokenBuilder) throws -> Void

  static func opens(
    _ name: String, _ summary: String, as spelling: String? = nil,
    _ change: @escaping @Sendable (inout PaymentTokenBuilder) throws -> Void = { _ in }
  ) -> TokenVariant {
    TokenVariant(
      name: name, format: format(name), expectation: .opens, summary: summary, spelling: spelling, change: change)
  }

  static func refused(
    _ name: String, _ code: PaymentTokenError.Code, _ summary: String,
    _ change: @escaping @Sendable (inout PaymentTokenBuilder) throws -> Void
  ) -> TokenVariant {
    TokenVariant(name: name, format: format(name), expectation: .refused(code), summary: summary, change: change)
  }

  private static func format(_ name: String) -> Format { name.hasPrefix("rsa-") ? .rsa : .ellipticCurve }

  func arriving(_ delay: Duration) -> TokenVariant {
    var copy = self
    copy.delay = delay
    return copy
  }

  func decidingApplicationData() -> TokenVariant {
    var copy = self
    copy.decidesApplicationData = true
    return copy
  }
}

extension TokenVariant {
  /// All of them, good ones first; the names are unique.
  package static let all: [TokenVariant] =
    goodElliptic + goodRSA + spellings + brokenText + brokenFields + brokenCMS + brokenCertificates + brokenChains
    + brokenSigners + brokenAttributes + brokenSignatureValues + alteredTokens + brokenTimes + brokenKeys + brokenRSA
    + brokenData + brokenPayloads

  package static func named(_ name: String) -> TokenVariant? { all.first { $0.name == name } }
}

extension PaymentTokenIssuer {
  /// A payment token of this variant, as the text that leaves the device.
  ///
  /// - Parameter request: its recipient must have a key of the variant's format.
  package func issue(_ request: PaymentTokenRequest, _ variant: TokenVariant) throws -> [UInt8] {
    guard request.recipient.isRSA == (variant.format == .rsa) else {
      throw TokenIssuerError(
        code: "wrong_kind_of_key",
        message:
          "The variant \(variant.name) is \(variant.format.rawValue) and the recipient's key is of the other kind."
      )
    }
    guard request.applicationData == nil || !variant.decidesApplicationData else {
      throw TokenIssuerError(
        code: "contradictory_application_data",
        message: "The variant \(variant.name) decides about application data itself; leave out that of the request.")
    }
    var builder = try PaymentTokenBuilder(request, by: TokenAuthority(pki), at: clock.now(), random: random)
    try variant.change(&builder)
    return try builder.issue()
  }
}

extension TokenRecipient {
  package var format: TokenVariant.Format { isRSA ? .rsa : .ellipticCurve }
}

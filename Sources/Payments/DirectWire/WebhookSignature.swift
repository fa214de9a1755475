import Crypto
import TenderPayments

/// Verifies a webhook the way Worldline Direct's SDKs do: for a merchant's server that receives it.
package struct WebhookSignature: Sendable {
  package static let header = "X-GCS-Signature"

  private let key: SymmetricKey

  /// - Parameter secret: taken as the text it is, not as base64.
  package init(secret: String) { key = SymmetricKey(data: Array(secret.utf8)) }

  /// Whether `signature` is base64 of the HMAC-SHA256 of the body's bytes as they arrived. Takes the same time for every
  /// wrong one.
  package func isValid(_ signature: String, for body: [UInt8]) -> Bool {
    guard let code = Base64.decode(signature) else { return false }
    return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: body, using: key)
  }
}

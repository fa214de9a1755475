import Crypto
import TenderPayments

/// Signs and verifies webhooks the way Worldline Direct's SDKs do: base64 of the HMAC-SHA256 of the body's bytes.
package struct WebhookSignature: Sendable {
  package static let header = "X-GCS-Signature"
  /// Names the key, so that keys can be replaced.
  package static let keyHeader = "X-GCS-KeyId"

  private let key: SymmetricKey

  /// - Parameter secret: taken as the text it is, not as base64.
  package init(secret: String) { key = SymmetricKey(data: Array(secret.utf8)) }

  /// The header's value for a body, over the bytes as they are sent.
  package func signature(of body: [UInt8]) -> String {
    Base64.encode(Array(HMAC<SHA256>.authenticationCode(for: body, using: key)))
  }

  /// Whether `signature` is the header's value for the bytes as they arrived. Takes the same time for every wrong one.
  package func isValid(_ signature: String, for body: [UInt8]) -> Bool {
    guard let code = Base64.decode(signature) else { return false }
    return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: body, using: key)
  }
}

import Crypto
import HTTPTransport
import TenderPayments

/// Signs webhooks as the specification Standard Webhooks says, so that its libraries verify them unmodified: `v1` and the
/// HMAC-SHA256 of id, time and body, with dots between them.
struct StandardSignature: Sendable {
  private let key: SymmetricKey

  /// The libraries write it before a secret; it is no part of the base64.
  private static let prefix = "whsec_"
  /// The specification's, in bytes.
  private static let lengths = 24...64

  /// - Parameter secret: base64, as the libraries take it. Nil for another text, or one of another length.
  init?(secret: String) {
    let text = secret.hasPrefix(Self.prefix) ? String(secret.dropFirst(Self.prefix.count)) : secret
    guard let bytes = Base64.decode(text), Self.lengths.contains(bytes.count) else { return nil }
    key = SymmetricKey(data: bytes)
  }

  /// - Parameters:
  ///   - event: stays the same at every try.
  ///   - now: of this try: receivers refuse an old one.
  func headers(of body: [UInt8], _ event: String, at now: Timestamp) -> [HTTPField] {
    let signed = Array("\(event).\(now.seconds).".utf8) + body
    let code = HMAC<SHA256>.authenticationCode(for: signed, using: key)
    return [
      HTTPField("webhook-id", event), HTTPField("webhook-timestamp", "\(now.seconds)"),
      HTTPField("webhook-signature", "v1," + Base64.encode(Array(code))),
    ]
  }
}

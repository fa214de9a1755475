import Crypto
import TenderPayments

/// The header by which a v1HMAC signature covers the body, which it does not by itself: the caller sends the body's
/// SHA-256, and signs it like every header whose name begins with `X-GCS`.
package enum ContentDigest {
  /// `X-GCS-Content-SHA256`
  package static let header = "X-GCS-Content-SHA256"

  /// The header's value: base64 of the SHA-256 of the bytes as they are sent; of no bytes where there is no body.
  package static func text(of body: [UInt8]) -> String { Base64.encode(Array(SHA256.hash(data: body))) }
}

/// Why a body is not the one that the caller signed.
package enum ContentDigestRefusal: String, Error, Sendable, Hashable, CaseIterable {
  /// The API key requires a digest of every body, and the request has none.
  case missing = "content_digest_missing"
  /// The digest is of another body, or it is not base64 of a SHA-256.
  case mismatch = "content_digest_mismatch"

  /// Stable; what callers compare.
  package var code: String { rawValue }
}

extension AuthenticatedCaller {
  /// Checks that the body is the one that the caller signed, as far as the caller signed it.
  ///
  /// Without the header nothing is known of the body. The comparison takes the same time wherever the digests differ.
  ///
  /// - Parameters:
  ///   - body: the bytes as they arrived.
  ///   - isDigestRequired: whether a body without a digest is refused. A request without a body needs none.
  package func check(body: [UInt8], isDigestRequired: Bool) throws(ContentDigestRefusal) {
    guard let contentDigest else {
      guard body.isEmpty || !isDigestRequired else { throw .missing }
      return
    }
    guard let digest = Base64.decode(contentDigest), SHA256.hash(data: body) == digest else { throw .mismatch }
  }
}

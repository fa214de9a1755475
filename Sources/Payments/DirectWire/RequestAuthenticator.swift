import Crypto
package import TenderPayments

/// Authenticates signed requests: who calls, and whether the caller knows the secret.
package struct RequestAuthenticator: Sendable {
  /// How far the caller's clock may be off.
  package static let window = Duration.seconds(300)

  package init() {}

  /// Accepts the request if any of the strings that the official SDKs would have signed for it carries its signature.
  ///
  /// The SDKs differ in the content type of a GET and in whether path and query are percent-decoded before signing,
  /// so there are several. All are computed and compared in constant time, and an unknown key takes as long as a
  /// known one.
  ///
  /// - Parameter secret: the secret of ``SignedRequest/apiKeyID``; nil when the key is unknown.
  package func authenticate(
    _ request: SignedRequest, secret: String?, at now: Timestamp
  ) throws(SignatureRefusal) -> AuthenticatedCaller {
    let key = SymmetricKey(data: Array((secret ?? "no such key").utf8))
    let matches = request.candidates().map { candidate in
      HMAC<SHA256>.isValidAuthenticationCode(request.signature, authenticating: Array(candidate.text.utf8), using: key)
    }
    guard secret != nil else { throw .keyUnknown }
    guard matches.contains(true) else { throw .signatureMismatch }
    let distance = now.since(request.date)
    guard distance >= .zero - Self.window, distance <= Self.window else { throw .dateOutOfWindow }
    return AuthenticatedCaller(request)
  }
}

/// Who called, and what the caller signed of the call. Only ``RequestAuthenticator`` makes one; which merchants the key
/// may act for is the server's to know, and the body still has to be checked.
package struct AuthenticatedCaller: Sendable, Hashable {
  package let apiKeyID: String
  /// The 32 bytes of the signature that was verified: the same for every copy of the request.
  package let signature: [UInt8]
  /// `X-GCS-Idempotence-Key`; nil when the caller sent none.
  package let idempotencyKey: String?
  let contentDigest: String?

  init(_ request: SignedRequest) {
    apiKeyID = request.apiKeyID
    signature = request.signature
    idempotencyKey = request.gcsHeader("x-gcs-idempotence-key")
    contentDigest = request.gcsHeader(ContentDigest.header.lowercased())
  }
}

/// Why a request is not authentic. The caller does not learn the reason: every case is the same 403.
package enum SignatureRefusal: String, Error, Sendable, Hashable, CaseIterable {
  case authorizationMissing = "authorization_missing"
  case authorizationMalformed = "authorization_malformed"
  case dateMissing = "date_missing"
  case dateMalformed = "date_malformed"
  /// More than five minutes from our clock.
  case dateOutOfWindow = "date_out_of_window"
  /// A signed header is repeated, and it is unknown which one was signed.
  case headerRepeated = "header_repeated"
  case keyUnknown = "key_unknown"
  case signatureMismatch = "signature_mismatch"

  /// Stable, for the operator's log.
  package var code: String { rawValue }
}

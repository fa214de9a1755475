/// Why the answer of a browser about a passkey is not taken. The codes are stable; the audit chain has them.
package enum PasskeyRefusal: String, Error, Sendable, Hashable, CaseIterable {
  case unreadable = "passkey_unreadable"
  /// The challenge is none of ours, was used, is over, or is another browser's.
  case challenge = "passkey_challenge"
  /// The answer is to another question, or was given inside a page of another site.
  case ceremony = "passkey_ceremony"
  case origin = "passkey_origin"
  case relyingParty = "passkey_relying_party"
  case presence = "passkey_presence"
  case verification = "passkey_verification"
  case algorithm = "passkey_algorithm"
  case attestation = "passkey_attestation"
  case unknown = "passkey_unknown"
  case signature = "passkey_signature"
  case counter = "passkey_counter"
}

extension PasskeyRefusal {
  /// For the person at the browser.
  package var words: String {
    switch self {
    case .unreadable: "The browser’s answer cannot be read. Try again, or with another browser."
    case .challenge: "This took too long, or was sent twice. Try again."
    case .ceremony: "The browser has answered another question. Load the page again."
    case .origin: "The browser was at another address than the office’s own. Open the office at its own address."
    case .relyingParty: "This passkey is for another address."
    case .presence: "The passkey was used without anybody being asked. Use it again."
    case .verification: "The passkey did not ask who you are. Set a PIN, a fingerprint or a face for it."
    case .algorithm: "This passkey signs in another way than ES256. Use another one."
    case .attestation: "The passkey says by whom it was made, which was not asked. Use another browser."
    case .unknown: "This passkey is not known here. Sign in with password and code, and add it on your account’s page."
    case .signature: "The passkey’s signature is wrong."
    case .counter:
      "This passkey may have been copied: its counter has gone back. Sign in with password and code, and remove it."
    }
  }
}

/// Why a sign-in at the provider is not taken. The codes are stable; the audit chain has them.
package enum OpenIDRefusal: String, Error, Sendable, Hashable, CaseIterable {
  /// The sign-in was begun in another browser, was taken before, or is over.
  case state = "openid_state"
  /// The provider did not sign the person in.
  case denied = "openid_denied"
  /// The answer is of another provider.
  case mixed = "openid_mixed"
  case unreachable = "openid_unreachable"
  /// The provider's description of itself, or its keys, cannot be used.
  case discovery = "openid_discovery"
  /// The provider does not give a token for the code.
  case exchange = "openid_exchange"
  case throttled = "openid_throttled"
  case unreadable = "id_token_unreadable"
  case algorithm = "id_token_algorithm"
  case key = "id_token_key"
  case signature = "id_token_signature"
  case issuer = "id_token_issuer"
  case audience = "id_token_audience"
  case expired = "id_token_expired"
  case issuedAt = "id_token_issued_at"
  case nonce = "id_token_nonce"
  case subject = "id_token_subject"
  case age = "id_token_age"
  case role = "openid_role"
  case disabled = "openid_disabled"
}

extension OpenIDRefusal {
  /// For the person at the browser.
  package var words: String {
    switch self {
    case .state: "This sign-in was begun in another browser, or more than ten minutes ago. Begin it again."
    case .denied: "The provider did not sign you in."
    case .mixed: "The answer is of another provider than the one that was asked. Begin the sign-in again."
    case .unreachable: "The provider does not answer. Sign in with password and code, or later."
    case .discovery: "The provider describes itself in a way that cannot be used; `tender doctor` says more."
    case .exchange:
      "The provider refuses this office: its client id, its secret or its redirect address is not the one there."
    case .throttled: "Too many sign-ins were begun at your address. Wait some minutes before the next one."
    case .role: "Your account at the provider has no role here. Ask who manages its groups there."
    case .disabled: "An administrator of this office has disabled you."
    case .age: "Your sign-in at the provider is too old. Sign in there again."
    case .expired, .issuedAt:
      "The provider’s word is not of now. If this happens again, the clock here or there is wrong."
    case .unreadable, .algorithm, .key, .signature, .issuer, .audience, .nonce, .subject:
      "The provider’s word about you cannot be trusted. Begin the sign-in again; if this happens again, tell the operator of the server."
    }
  }
}

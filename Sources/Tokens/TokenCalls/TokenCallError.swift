/// A mistake in a call, and not in a payment token: a member that is missing, a handle of another kind.
///
/// It never repeats what the call carried, which may be a private key.
package struct TokenCallError: Error, Sendable, Hashable {
  /// Stable names. Each has a paragraph in `docs/errors.md`.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case malformedSettings = "malformed_settings"
    case malformedRequest = "malformed_request"
    case unknownCall = "unknown_call"
    case wrongHandle = "wrong_handle"
  }

  package let code: Code
  package let field: String?
  package let reason: String

  package init(_ code: Code, _ reason: String, field: String? = nil) {
    (self.code, self.reason, self.field) = (code, reason, field)
  }

  /// What to do about it, for the integrator.
  package var advice: String {
    switch code {
    case .malformedSettings: "Correct the settings. The program's log may show them only without the private keys."
    case .malformedRequest: "Correct the call. The payment token was not looked at, or not spent."
    case .unknownCall: "Call version, inspect, verify or decrypt."
    case .wrongHandle: "Pass the keys where keys are asked for, and a verified or decrypted token where a token is."
    }
  }
}

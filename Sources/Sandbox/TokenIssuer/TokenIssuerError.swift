/// Why a certificate or a payment token cannot be issued: the caller's input is not usable.
package struct TokenIssuerError: Error, Sendable, Hashable {
  /// Stable, for programs: `invalid_csr`.
  package let code: String
  /// For people: what is wrong and what to do.
  package let message: String
}

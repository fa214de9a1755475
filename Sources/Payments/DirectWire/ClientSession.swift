/// The body of `POST /v2/{merchantId}/sessions`: Worldline's `SessionRequest`. All of it may be absent.
package struct SessionRequest: Sendable, Hashable, Codable {
  /// Tokens of stored cards.
  package var tokens: [String]?

  package init(tokens: [String]? = nil) { self.tokens = tokens }
}

/// Worldline's `SessionResponse`.
package struct SessionAnswer: Sendable, Hashable, Codable {
  package var clientSessionId: String
  package var customerId: String
  /// What kits add `v1/{customerId}/…` to.
  package var clientApiUrl: String
  /// What the logos of payment products are relative to.
  package var assetUrl: String
  /// Those of the request that are no stored cards of the merchant's.
  package var invalidTokens: [String]

  package init(
    clientSessionId: String, customerId: String, clientApiUrl: String, assetUrl: String, invalidTokens: [String]
  ) {
    (self.clientSessionId, self.customerId) = (clientSessionId, customerId)
    (self.clientApiUrl, self.assetUrl, self.invalidTokens) = (clientApiUrl, assetUrl, invalidTokens)
  }
}

/// Worldline's `PublicKeyResponse`.
package struct PublicKeyAnswer: Sendable, Hashable, Codable {
  /// The `kid` of what is encrypted to the key.
  package var keyId: String
  /// Base64 of its SubjectPublicKeyInfo.
  package var publicKey: String

  package init(keyId: String, publicKey: String) { (self.keyId, self.publicKey) = (keyId, publicKey) }
}

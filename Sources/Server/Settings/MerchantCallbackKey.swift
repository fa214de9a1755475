import DirectWire

/// The key that calls to a merchant's `quoteURL` and `basketSource` are signed with: `callback-keys/<key id>.secret`.
///
/// Not one of the merchant's API keys: a key that signs calls to the merchant's server with an API key signs calls that
/// the platform API accepts.
enum MerchantCallbackKey {
  /// Nil where nothing is called.
  ///
  /// - Parameters:
  ///   - keys: secret by key id.
  ///   - newest: the id of the newest of them, where that is known.
  ///   - folder: for messages.
  ///   - isNeeded: whether the merchant's server is called, so that a key is required.
  ///   - apiKeys: secret by key id.
  static func signer(
    _ keys: [String: String], newest: String? = nil, in folder: String, isNeeded: Bool, apiKeys: [String: String]
  ) throws -> RequestSigner? {
    guard let key = SharedSecrets.signing(keys, newest: newest) else {
      guard !isNeeded else { throw missing(folder) }
      return nil
    }
    guard apiKeys[key.key] == nil, !apiKeys.values.contains(key.value) else {
      throw ConfigurationError(
        "\(folder)/\(key.key).secret", "the key is also an API key; callbacks need a key of their own")
    }
    return RequestSigner(apiKeyId: key.key, secret: key.value)
  }

  private static func missing(_ folder: String) -> ConfigurationError {
    ConfigurationError(
      folder,
      """
      callbackHosts or basketSource is set, and there is no key to sign callbacks with. Make one: \
      install -d -m 700 \(folder) && (umask 077; openssl rand -hex 32 > \(folder)/callback-1.secret)
      """)
  }
}

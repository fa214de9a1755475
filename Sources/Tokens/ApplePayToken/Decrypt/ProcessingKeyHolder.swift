public import TenderPayments

/// Holds the private key of a payment processing certificate and performs the operation that needs it.
///
/// Two implementations come with Tender: a key in this process's memory, and one that an agent holds (`tender
/// key-agent`, module `KeyAgent`), so that a server on the Internet has no private key. A hardware module is a third.
public protocol ProcessingKeyHolder: Sendable {
  /// Apple's step 3: restores the AES key of one payment token.
  ///
  /// - Parameters:
  ///   - material: the token's `ephemeralPublicKey` or `wrappedKey`.
  ///   - timeout: how long the answer may take.
  /// - Throws: stage `unwrap`, or `key_agent_unavailable`.
  func contentKey(
    from material: EncryptedPaymentToken.KeyMaterial, within timeout: Duration
  ) throws(PaymentTokenError) -> ContentKey

  /// The AES keys that result from the known mistakes of token generators. Called only when the right key does not open
  /// the token, to name the cause; these keys never open a payment token.
  func keysOfMistakes(
    in material: EncryptedPaymentToken.KeyMaterial, within timeout: Duration
  ) throws(PaymentTokenError) -> [(mistake: KeyDerivationMistake, key: ContentKey)]

  /// False when an answer may block: an asynchronous caller then uses a separate thread.
  var answersAtOnce: Bool { get }
}

extension ProcessingKeyHolder {
  /// Empty: support for the known mistakes is optional.
  public func keysOfMistakes(
    in material: EncryptedPaymentToken.KeyMaterial, within timeout: Duration
  ) throws(PaymentTokenError) -> [(mistake: KeyDerivationMistake, key: ContentKey)] { [] }

  public var answersAtOnce: Bool { true }
}

/// Known mistakes of token generators in the key derivation of `EC_v1`. The raw value is the key agent's wire format.
public enum KeyDerivationMistake: UInt8, Sendable, Hashable, CaseIterable {
  /// PartyVInfo is the merchant identifier itself, in place of its SHA-256.
  case identifierNotHashed = 1
  /// PartyVInfo is the hash as 64 hexadecimal digits, in place of its 32 bytes.
  case hashAsText = 2
  /// The shared secret lost its leading zero bytes, as from a library for large numbers.
  case secretWithoutLeadingZeros = 3

  /// For the operator.
  public var reason: String {
    switch self {
    case .identifierNotHashed:
      "the token's maker put the merchant identifier into the key derivation in place of its SHA-256"
    case .hashAsText:
      "the token's maker put the merchant identifier's hash into the key derivation as text in place of its 32 bytes"
    case .secretWithoutLeadingZeros:
      "the token's maker dropped the leading zero bytes of the shared secret, which has always 32"
    }
  }
}

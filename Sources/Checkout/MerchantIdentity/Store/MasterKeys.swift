import Crypto
package import TenderPayments

/// The keys that seal the secrets in the store: the first seals, all of them open.
///
/// They are never in the store, so that the database alone gives up no secret. A row is sealed with AES-256-GCM under a
/// nonce of its own; merchant, kind and name are authenticated with it, so that a row put in the place of another does
/// not open.
package struct MasterKeys: Sendable {
  private struct Key: Sendable {
    let id: String
    let key: SymmetricKey
  }

  static let keyBytes = 32

  private let keys: [Key]

  /// - Parameter text: one key a line, each 32 bytes in hexadecimal. The first seals.
  /// - Throws: ``MerchantStoreError`` with `store_key_invalid`.
  package init(_ text: String) throws(MerchantStoreError) {
    var keys: [Key] = []
    for line in text.split(whereSeparator: \.isWhitespace) {
      guard let bytes = Hex.decode(line), bytes.count == Self.keyBytes else { throw Self.invalid }
      keys.append(Key(id: Self.id(bytes), key: SymmetricKey(data: bytes)))
    }
    guard !keys.isEmpty, Set(keys.map(\.id)).count == keys.count else { throw Self.invalid }
    self.keys = keys
  }

  private static let invalid = MerchantStoreError(
    .storeKeyInvalid,
    "The store's key is 32 bytes in hexadecimal, and each key stands on a line of its own; make one: openssl rand -hex 32"
  )

  /// The name of the key that seals.
  package var current: String { keys[0].id }
  /// The names of all keys; a name says nothing of its key.
  package var ids: [String] { keys.map(\.id) }

  private static func id(_ bytes: [UInt8]) -> String {
    Hex.encode(SHA256.hash(data: Array("tender store key ".utf8) + bytes).prefix(8))
  }

  func seal(_ secret: String, as name: SecretName) throws -> SealedText { try seal(secret, of: name.row) }

  /// - Throws: ``MerchantStoreError``: the key is not here, or the row is not what was sealed.
  func open(_ secret: SealedText, as name: SecretName) throws(MerchantStoreError) -> String {
    try open(secret, of: name.row, called: "\(name)")
  }

  /// Seals a text for one row of any table.
  ///
  /// - Parameter row: the table, and what names the row in it. Only there the text opens.
  package func seal(_ text: String, of row: [String]) throws -> SealedText {
    let box = try AES.GCM.seal(Array(text.utf8), using: keys[0].key, authenticating: Self.authenticated(row))
    return SealedText(keyID: keys[0].id, nonce: Array(box.nonce), sealed: Array(box.ciphertext) + Array(box.tag))
  }

  /// - Parameter name: for the error.
  /// - Throws: ``MerchantStoreError``: the key is not here, or the row is not what was sealed.
  package func open(
    _ secret: SealedText, of row: [String], called name: String = "row"
  ) throws(MerchantStoreError) -> String {
    guard let key = keys.first(where: { $0.id == secret.keyID })?.key else { throw Self.missing(secret.keyID) }
    guard secret.sealed.count >= 16, let nonce = try? AES.GCM.Nonce(data: secret.nonce),
      let box = try? AES.GCM.SealedBox(
        nonce: nonce, ciphertext: secret.sealed.dropLast(16), tag: secret.sealed.suffix(16)),
      var bytes = try? AES.GCM.open(box, using: key, authenticating: Self.authenticated(row))
    else {
      throw MerchantStoreError(
        .secretNotOpened, "The \(name) does not open under its key: the row was altered. Restore it from a backup.")
    }
    defer { bytes.wipe() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Each part with its length before it, so that no two rows have the same bytes.
  private static func authenticated(_ row: [String]) -> [UInt8] {
    row.flatMap { part in
      let bytes = Array(part.utf8)
      return withUnsafeBytes(of: UInt32(bytes.count).bigEndian, Array.init) + bytes
    }
  }

  package static func missing(_ id: String) -> MerchantStoreError {
    MerchantStoreError(
      .storeKeyMissing,
      "Secrets in the store are sealed under the key \(id), which is not among those of secrets.keyFile; add its line.")
  }
}

extension MasterKeys: CustomStringConvertible, CustomReflectable {
  package var description: String { "keys of the store \(ids.joined(separator: ", "))" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a secret is and whose: the identity of its row.
package struct SecretName: Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
    /// The private key of a certificate, by the certificate's id.
    case certificateKey = "certificate-key"
    case apiKey = "api-key"
    case webhookKey = "webhook-key"
    case callbackKey = "callback-key"
    /// The platform's private key that opens `encryptedCustomerInput`.
    case customerInputKey = "customer-input-key"
    /// What an operator of the back office computes one-time codes from, by the operator's name; of no merchant.
    case oneTimeCode = "one-time-code"

    /// What a merchant shares with the platform, so that both may bring a secret along.
    package static let shared: [Kind] = [.apiKey, .webhookKey, .callbackKey]

    /// Whether secrets of this kind belong to no merchant.
    var isPlatforms: Bool {
      switch self {
      case .customerInputKey, .oneTimeCode: true
      case .certificateKey, .apiKey, .webhookKey, .callbackKey: false
      }
    }
  }

  /// Whose secrets those are that belong to no merchant.
  package static let platform = MerchantID("")

  package let merchant: MerchantID
  package let kind: Kind
  package let name: String

  package init(_ merchant: MerchantID, _ kind: Kind, _ name: String) {
    (self.merchant, self.kind, self.name) = (merchant, kind, name)
  }

  package var description: String { "\(kind.rawValue) \(name) of \(merchant)" }

  fileprivate var row: [String] { ["tender merchant_secrets 1", merchant.rawValue, kind.rawValue, name] }
}

/// A secret as its row holds it.
package struct SealedText: Sendable, Hashable {
  /// The id of the key that sealed it.
  package let keyID: String
  package let nonce: [UInt8]
  /// The ciphertext and the tag of 16 bytes.
  package let sealed: [UInt8]

  package init(keyID: String, nonce: [UInt8], sealed: [UInt8]) {
    (self.keyID, self.nonce, self.sealed) = (keyID, nonce, sealed)
  }
}

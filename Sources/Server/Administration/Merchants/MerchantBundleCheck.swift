import MerchantIdentity
import Settings
import TenderPayments

// A bundle comes from outside: from another server's export, or from who has edited one. Its names become rows, and later
// the names of files.
extension MerchantBundle {
  private static let maximumTextBytes = 65_536
  private static let maximumEntries = 1_000

  /// Refuses what no export writes.
  func check() throws {
    guard MerchantProvisioning.NewMerchant.isFolderName(id) else {
      throw ConfigurationError(
        "id", "“\(id.prefix(40))” is no merchant's id; write 1 to 40 letters, digits and hyphens")
    }
    try MerchantFolder.requireFree(MerchantID(id), "id")
    try Self.require("settings", settings)
    for (list, count) in [
      ("domains", domains.count), ("certificates", certificates.count), ("secrets", secrets.count),
    ] where count > Self.maximumEntries {
      throw ConfigurationError(list, "has \(count) entries; a merchant has at most \(Self.maximumEntries)")
    }
    for entry in domains { try entry.check() }
    for entry in certificates {
      try Self.require("certificates", entry.certificatePEM)
      if let key = entry.privateKeyPEM { try Self.require("certificates", key) }
    }
    for entry in secrets { try entry.check() }
    guard Set(secrets.map { [$0.kind.rawValue, $0.id] }).count == secrets.count else {
      throw ConfigurationError("secrets", "an id is there twice; name each once")
    }
  }

  private static func require(_ key: String, _ text: String) throws {
    guard (1...maximumTextBytes).contains(text.utf8.count) else {
      throw ConfigurationError(key, "a text has \(text.utf8.count) bytes; write 1 to \(maximumTextBytes)")
    }
  }
}

extension MerchantBundle.DomainEntry {
  fileprivate func check() throws {
    _ = try Domain(domain)
    guard let associationBase64 else { return }
    guard let bytes = Base64.decode(associationBase64) else {
      throw ConfigurationError("domains", "the association file of \(domain) is not in base64")
    }
    _ = try DomainAssociation(bytes: bytes)
  }
}

extension MerchantBundle.SecretEntry {
  private static let maximumBytes = 1_024

  fileprivate func check() throws {
    guard SecretName.Kind.shared.contains(kind) else {
      throw ConfigurationError("secrets", "a merchant brings no \(kind.rawValue) along")
    }
    guard SharedSecrets.isID(id) else {
      throw ConfigurationError(
        "secrets", "“\(id.prefix(64))” is no id of a key; write 1 to 64 letters, digits and . _ -, no dot first")
    }
    guard (SharedSecrets.minimumBytes...Self.maximumBytes).contains(secret.utf8.count),
      secret.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }), secret.utf8.first != 0x20,
      secret.utf8.last != 0x20
    else {
      throw ConfigurationError(
        "secrets",
        "the secret of the \(kind.rawValue) \(id) has \(secret.utf8.count) bytes; it needs \(SharedSecrets.minimumBytes) "
          + "to \(Self.maximumBytes), without control characters, and no space at an end")
    }
    guard kind == .apiKey || scopes == nil else {
      throw ConfigurationError("secrets", "the \(kind.rawValue) \(id) has scopes, which only API keys have")
    }
    _ = try limits
  }

  var limits: APIKeyLimits {
    get throws {
      guard let expires else { return APIKeyLimits(scopes: scopes) }
      guard let end = Timestamp(rfc3339: expires) else {
        throw ConfigurationError("secrets", "the end of the \(kind.rawValue) \(id) is no moment")
      }
      return APIKeyLimits(scopes: scopes, expiresAt: end)
    }
  }
}

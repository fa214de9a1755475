package import MerchantIdentity
package import TenderPayments

/// What an API key of a merchant's folder may be used for: `7f3ac0de baskets read until=2027-01-31T00:00:00Z`.
package struct NamedKeyLimits: Sendable, Hashable {
  package let id: String
  /// Those that the key which takes its place has too.
  package let own: APIKeyLimits
  /// When it ends because another key has taken its place, which is no limit of others: `replaced=…`. Nil for one in place.
  package let replacedUntil: Timestamp?

  package init(id: String, own: APIKeyLimits, replacedUntil: Timestamp? = nil) {
    (self.id, self.own, self.replacedUntil) = (id, own, replacedUntil)
  }

  /// What it may be used for: its own limits, and the end that a rotation gave it.
  package var limits: APIKeyLimits { own.both(APIKeyLimits(expiresAt: replacedUntil)) }

  /// - Returns: nil for a text without a limit, and for a word that is neither a scope nor an end.
  init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count > 1 else { return nil }
    var own = APIKeyLimits.none
    var replacedUntil: Timestamp?
    for word in words.dropFirst() {
      if word.hasPrefix(Self.replaced), replacedUntil == nil {
        guard let end = Timestamp(rfc3339: String(word.dropFirst(Self.replaced.count))) else { return nil }
        replacedUntil = end
      } else if word.hasPrefix(Self.until), own.expiresAt == nil {
        guard let end = Timestamp(rfc3339: String(word.dropFirst(Self.until.count))) else { return nil }
        own.expiresAt = end
      } else {
        guard let scope = APIKeyScope(rawValue: word) else { return nil }
        own.scopes = (own.scopes ?? []).union([scope])
      }
    }
    (id, self.own, self.replacedUntil) = (words[0], own, replacedUntil)
  }

  package var text: String {
    let scopes = (own.scopes ?? []).map(\.rawValue).sorted()
    // A key that may do nothing has ended.
    let end = own.scopes?.isEmpty == true ? Timestamp(seconds: 0) : own.expiresAt
    let ends = [end.map { Self.until + $0.description }, replacedUntil.map { Self.replaced + $0.description }]
    return ([id] + scopes + ends.compactMap(\.self)).joined(separator: " ")
  }

  private static let until = "until="
  private static let replaced = "replaced="
}

extension SettingType<NamedKeyLimits> {
  static let apiKeyLimits = one(
    "a key's id with its scopes (\(APIKeyScope.allCases.map(\.rawValue).joined(separator: ", "))) or its end, as in "
      + "“7f3ac0de baskets read until=2027-01-31T00:00:00Z”",
    as: "7f3ac0de baskets read until=2027-01-31T00:00:00Z", read: { NamedKeyLimits($0) }, text: { $0.text })
}

extension APIKeyLimits {
  /// Those of the merchant's settings, and those that the store keeps with a key. A key with both has both.
  ///
  /// - Parameter file: for messages.
  static func joined(
    _ named: [NamedKeyLimits], _ stored: [String: APIKeyLimits], _ file: String
  ) throws -> [String: APIKeyLimits] {
    let limits: [String: APIKeyLimits] = try named.reduce(into: [:]) { limits, next in
      guard limits.updateValue(next.limits, forKey: next.id) == nil else {
        throw ConfigurationError(file, "apiKeyLimits: the key \(next.id) has limits already")
      }
    }
    return limits.merging(stored) { $0.both($1) }
  }
}

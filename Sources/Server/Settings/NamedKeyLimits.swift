package import MerchantIdentity
import TenderPayments

/// What an API key of a merchant's folder may be used for: `7f3ac0de baskets read until=2027-01-31T00:00:00Z`.
package struct NamedKeyLimits: Sendable, Hashable {
  package let id: String
  package let limits: APIKeyLimits
  /// Whether another key has taken its place and given it its end, which is no limit of others: `replaced`.
  package let isReplaced: Bool

  package init(id: String, limits: APIKeyLimits, isReplaced: Bool = false) {
    (self.id, self.limits, self.isReplaced) = (id, limits, isReplaced)
  }

  /// - Returns: nil for a text without a limit, and for a word that is neither a scope nor the end.
  init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count > 1 else { return nil }
    var limits = APIKeyLimits.none
    var isReplaced = false
    for word in words.dropFirst() {
      if word.utf8.elementsEqual(Self.replaced.utf8) {
        isReplaced = true
      } else if word.hasPrefix(Self.until), limits.expiresAt == nil {
        guard let end = Timestamp(rfc3339: String(word.dropFirst(Self.until.count))) else { return nil }
        limits.expiresAt = end
      } else {
        guard let scope = APIKeyScope(rawValue: word) else { return nil }
        limits.scopes = (limits.scopes ?? []).union([scope])
      }
    }
    guard limits != .none else { return nil }
    (id, self.limits, self.isReplaced) = (words[0], limits, isReplaced)
  }

  package var text: String {
    let scopes = (limits.scopes ?? []).map(\.rawValue).sorted()
    // A key that may do nothing has ended.
    let end = limits.scopes?.isEmpty == true ? Timestamp(seconds: 0) : limits.expiresAt
    let words = [end.map { Self.until + $0.description }, isReplaced ? Self.replaced : nil].compactMap(\.self)
    return ([id] + scopes + words).joined(separator: " ")
  }

  private static let until = "until="
  private static let replaced = "replaced"
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

package import TenderPayments

/// What an API key may be used for.
package enum APIKeyScope: String, Sendable, Hashable, CaseIterable, Codable {
  /// Baskets and guests.
  case baskets
  /// Payments, captures, cancels, sessions and hosted checkouts.
  case payments
  case refunds
  /// Reading alone.
  case read
}

/// What an API key may be used for, and until when.
package struct APIKeyLimits: Sendable, Hashable {
  /// Nil for everything.
  package var scopes: Set<APIKeyScope>?
  /// The key is refused from this moment; nil for never.
  package var expiresAt: Timestamp?

  package init(scopes: Set<APIKeyScope>? = nil, expiresAt: Timestamp? = nil) {
    self.scopes = scopes
    self.expiresAt = expiresAt
  }

  package static let none = APIKeyLimits()

  /// Whether the key may make a call that needs one of these.
  package func allows(oneOf needed: Set<APIKeyScope>) -> Bool {
    guard let scopes else { return true }
    return needed.isEmpty || !scopes.isDisjoint(with: needed)
  }

  /// What one of them allows, where their scopes are the same; otherwise every scope, until the first of their ends.
  package static func union(_ all: [APIKeyLimits]) -> APIKeyLimits {
    let (scopes, ends) = (all.compactMap(\.scopes), all.compactMap(\.expiresAt))
    let last = Set(all.map(\.scopes)).count > 1 ? ends.min() : ends.count == all.count ? ends.max() : nil
    return APIKeyLimits(
      scopes: scopes.count == all.count && !all.isEmpty ? scopes.reduce([]) { $0.union($1) } : nil, expiresAt: last)
  }

  /// What these and the others allow.
  package func both(_ other: APIKeyLimits) -> APIKeyLimits {
    APIKeyLimits(
      scopes: scopes.map { $0.intersection(other.scopes ?? $0) } ?? other.scopes,
      expiresAt: [expiresAt, other.expiresAt].compactMap(\.self).min())
  }

  /// What these and `bound` allow.
  ///
  /// - Throws: ``MerchantStoreError`` with `key_limits_invalid` where these allow more.
  package func within(_ bound: APIKeyLimits) throws -> APIKeyLimits {
    if let most = bound.scopes, let scopes, !scopes.isSubset(of: most) {
      throw MerchantStoreError(
        .keyLimitsInvalid,
        "The operator allows this merchant's keys only: \(most.map(\.rawValue).sorted().joined(separator: ", ")).")
    }
    if let last = bound.expiresAt, let expiresAt, expiresAt > last {
      throw MerchantStoreError(.keyLimitsInvalid, "The operator lets this merchant's keys end at \(last).")
    }
    return both(bound)
  }

  package func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

extension APIKeyLimits {
  /// As the store has the scopes: their names in order, with commas between them; nil for all.
  var text: String? { scopes.map { $0.map(\.rawValue).sorted().joined(separator: ",") } }

  /// - Returns: nil for a name that is no scope.
  static func scopes(_ text: String) -> Set<APIKeyScope>? {
    let names = text.split(separator: ",").map { APIKeyScope(rawValue: String($0)) }
    return names.contains(nil) ? nil : Set(names.compactMap(\.self))
  }
}

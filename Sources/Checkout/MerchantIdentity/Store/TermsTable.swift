import Storage
package import TenderPayments

/// A version of the terms that merchants accept for Apple Pay on this platform.
package struct PublishedTerms: Sendable, Hashable {
  package let version: String
  package let wording: String
  package let publishedAt: Timestamp
  /// From when on a merchant must have accepted it: the end of the grace period.
  package let requiredAt: Timestamp
}

/// What a merchant has said about the terms.
package struct TermsEvent: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, Codable { case accepted, unsubscribed }

  package let kind: Kind
  /// Nil for the end of the subscription.
  package let version: String?
  /// Who said so.
  package let actor: String
  package let happenedAt: Timestamp
}

/// Whether a merchant may offer Apple Pay, as far as the terms say.
package struct TermsStanding: Sendable, Hashable {
  /// The oldest first.
  package let published: [PublishedTerms]
  /// The newest that the merchant accepted.
  package let accepted: PublishedTerms?
  package let isUnsubscribed: Bool

  /// Where no terms are published.
  package static let none = TermsStanding([], [])

  /// - Parameters:
  ///   - published: the oldest first.
  ///   - events: of one merchant, the oldest first.
  package init(_ published: [PublishedTerms], _ events: [TermsEvent]) {
    let accepted = Set(events.filter { $0.kind == .accepted }.compactMap(\.version))
    self.published = published
    self.accepted = published.last { accepted.contains($0.version) }
    isUnsubscribed = events.last?.kind == .unsubscribed
  }

  /// The terms that apply.
  package var current: PublishedTerms? { published.last }

  /// Whether payments may be taken: not unsubscribed, and the newest terms whose grace period has ended, or newer ones,
  /// are accepted.
  package func allowsPayments(at now: Timestamp) -> Bool {
    guard !isUnsubscribed else { return false }
    guard let required = published.last(where: { $0.requiredAt <= now }) else { return true }
    return accepted.map { $0.publishedAt >= required.publishedAt } ?? false
  }
}

extension MerchantTables {
  private static let longestVersion = 200

  /// Publishes a version, which every merchant has to accept by `requiredAt`.
  package func publish(_ version: String, wording: String, requiredAt: Timestamp) throws {
    guard (1...Self.longestVersion).contains(version.utf8.count) else {
      throw MerchantStoreError(.termsUnknown, "A version of the terms has 1 to \(Self.longestVersion) bytes.")
    }
    let inserted = try store.changes(
      """
      INSERT INTO terms (version, wording, published_at, required_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
      """, .text(version), .text(wording), .time(now), .time(requiredAt))
    guard inserted == 1 else {
      throw MerchantStoreError(.termsUnknown, "The terms \(version) are published already; name a new version.")
    }
  }

  /// Every version, the oldest first.
  package func publishedTerms() throws -> [PublishedTerms] {
    try store.rows("SELECT * FROM terms ORDER BY published_at, version").map {
      PublishedTerms(
        version: try $0.text("version"), wording: try $0.text("wording"), publishedAt: try $0.time("published_at"),
        requiredAt: try $0.time("required_at"))
    }
  }

  /// Appends what the merchant said, unless it said so last.
  ///
  /// - Throws: ``MerchantStoreError`` with `terms_unknown` for a version that is not the current one.
  package func note(_ kind: TermsEvent.Kind, version: String?, of id: MerchantID, by actor: String) throws {
    if kind == .accepted { try requireCurrent(version) }
    let last = try store.row(
      "SELECT * FROM terms_events WHERE merchant = $1 ORDER BY seq DESC LIMIT 1", .text(id.rawValue))
    if let said = try last.map(TermsEvent.init), said.kind == kind, said.version == version { return }
    try store.run(
      """
      INSERT INTO terms_events (merchant, seq, event, version, actor, happened_at) VALUES ($1, $2, $3, $4, $5, $6)
      """, .text(id.rawValue), .integer((try last?.integerOrNil("seq") ?? 0) + 1), .text(kind.rawValue),
      .text(optional: version), .text(actor), .time(now))
  }

  private func requireCurrent(_ version: String?) throws {
    let current = try publishedTerms().last?.version
    guard let version, let current, Array(version.utf8) == Array(current.utf8) else {
      throw MerchantStoreError(
        .termsUnknown,
        "These are not the current terms\(current.map { ", which are \($0)" } ?? "; none are published").")
    }
  }

  /// What the merchant has said, the oldest first.
  package func termsEvents(of id: MerchantID) throws -> [TermsEvent] {
    try store.rows("SELECT * FROM terms_events WHERE merchant = $1 ORDER BY seq", .text(id.rawValue))
      .map(TermsEvent.init)
  }

  /// What every merchant has said, the oldest first.
  package func termsEvents() throws -> [MerchantID: [TermsEvent]] {
    try store.rows("SELECT * FROM terms_events ORDER BY merchant, seq").reduce(into: [:]) { events, row in
      events[MerchantID(try row.text("merchant")), default: []].append(try TermsEvent(row))
    }
  }

  package func termsStanding(of id: MerchantID) throws -> TermsStanding {
    TermsStanding(try publishedTerms(), try termsEvents(of: id))
  }
}

extension TermsEvent {
  fileprivate init(_ row: Row) throws {
    guard let kind = Kind(rawValue: try row.text("event")) else { throw StorageError.column("event") }
    self.init(
      kind: kind, version: try row.textOrNil("version"), actor: try row.text("actor"),
      happenedAt: try row.time("happened_at"))
  }
}

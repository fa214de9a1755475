package import Storage
package import TenderPayments

// The life cycle of merchant tokens at Apple. A notification says only that there is news; what it is comes from Apple, is
// applied once, and may come late, twice and in another order.

extension Journal {
  /// How long Apple tells what a notification is about.
  package static let merchantTokenNewsLife = Duration.seconds(7 * 86_400)
  /// How many notifications of a merchant may wait for Apple.
  package static let mostMerchantTokenEvents: Int64 = 10_000
  /// An event can come before the payment whose payment token had the merchant token.
  private static let waitForAgreement = Duration.seconds(3_600)
  /// How long a taken row is its taker's. Longer than any call to Apple.
  private static let askingLease = Duration.seconds(60)
  /// After a first payment that was declined the shopper may pay with the same card at once.
  private static let waitAfterRefusal = Duration.seconds(3_600)
  private static let unlinkLife = Duration.seconds(30 * 86_400)

  /// Keeps a notification. The same again changes nothing.
  ///
  /// - Returns: false where too many of the merchant wait.
  package static func keepMerchantTokenEvent(
    _ id: String, of merchant: MerchantID, in store: Transaction
  ) throws -> Bool {
    let known = try store.row(
      "SELECT state FROM merchant_token_events WHERE merchant = $1 AND event = $2", .text(merchant.rawValue), .text(id))
    guard known == nil else { return true }
    let waiting = try store.row(
      """
      SELECT COUNT(*) AS waiting FROM (SELECT 1 FROM merchant_token_events WHERE merchant = $1 AND state = 'received'
        LIMIT $2) AS some_rows
      """, .text(merchant.rawValue), .integer(mostMerchantTokenEvents))
    guard try waiting?.integer("waiting") ?? 0 < mostMerchantTokenEvents else { return false }
    try store.run(
      """
      INSERT INTO merchant_token_events (merchant, event, state, tries, next_try, arrived_at)
      VALUES ($1, $2, 'received', 0, $3, $3) ON CONFLICT DO NOTHING
      """, .text(merchant.rawValue), .text(id), .time(store.now))
    return true
  }

  /// Whether Apple is to be asked or told something.
  package static func hasMerchantTokenWork(in store: Transaction) throws -> Bool {
    try store.row(
      """
      SELECT 1 AS due WHERE EXISTS (SELECT 1 FROM merchant_token_events WHERE state = 'received' AND next_try <= $1)
        OR EXISTS (SELECT 1 FROM merchant_tokens WHERE unlinking = 'due' AND next_try <= $1)
      """, .time(store.now)) != nil
  }

  /// Takes notifications that Apple is to be asked about, so that no other node does at the same time.
  package static func takeMerchantTokenEvents(atMost limit: Int, in store: Transaction) throws -> [MerchantTokenEvent] {
    let events = try store.unclaimedRows(
      """
      SELECT * FROM merchant_token_events WHERE state = 'received' AND next_try <= $1 ORDER BY next_try LIMIT $2
      """, .time(store.now), .integer(Int64(limit))
    ).map(MerchantTokenEvent.init)
    for event in events {
      try store.run(
        "UPDATE merchant_token_events SET tries = tries + 1, next_try = $3 WHERE merchant = $1 AND event = $2",
        .text(event.merchant.rawValue), .text(event.id), .time(store.now.adding(askingLease)))
    }
    return events
  }

  /// Asks again later; after seven days no more.
  ///
  /// - Parameter words: why, for people.
  package static func postpone(
    _ event: MerchantTokenEvent, because words: String, in store: Transaction
  ) throws -> MerchantTokenEventState {
    guard try lock(event, in: store) == .received else { return .received }
    guard store.now < event.arrivedAt.adding(merchantTokenNewsLife) else {
      return try settle(event, as: .expired, type: nil, detail: words, in: store)
    }
    try wait(event, detail: words, in: store)
    return .received
  }

  /// Apple has no such event of the merchant.
  package static func refuse(
    _ event: MerchantTokenEvent, because words: String, in store: Transaction
  ) throws -> MerchantTokenEventState {
    guard try lock(event, in: store) == .received else { return .received }
    return try settle(event, as: .refused, type: nil, detail: words, in: store)
  }

  /// Changes the agreements as Apple says. Of several nodes that have asked, one does.
  package func apply(
    _ news: MerchantTokenNews, of event: MerchantTokenEvent, in store: Transaction
  ) throws -> MerchantTokenEventState {
    guard try Self.lock(event, in: store) == .received else { return .received }
    let agreements = try AgreementRows.list(of: event.merchant, with: news.token, in: store)
    guard !agreements.isEmpty else {
      guard store.now >= event.arrivedAt.adding(Self.waitForAgreement) else {
        try Self.wait(event, detail: "no agreement has this token", in: store)
        return .received
      }
      return try Self.settle(event, as: .unknown, type: news.type, detail: news.reason, in: store)
    }
    switch news.kind {
    case .unlinked:
      for id in agreements {
        _ = try change(
          id, of: event.merchant, by: .ended, news.party, because: "Apple unlinked it: \(news.reason)", in: store)
      }
      try MerchantTokenRows.noteUnlinked(news.token, of: event.merchant, in: store)
    case .cardChanged, .cardArtChanged:
      if let card = news.card,
        try MerchantTokenRows.describe(news.token, of: event.merchant, card, as: event.arrivedAt, in: store)
      {
        for id in agreements where try AgreementRows.lock(id, in: store).status != .ended {
          let what = news.kind == .cardChanged ? "the card was replaced" : "the card looks different"
          _ = try change(
            id, of: event.merchant, by: .cardUpdated, news.party, because: "Apple says \(what): \(news.reason)",
            in: store)
        }
      }
    case .publicKeyChanged, .other: break
    }
    return try Self.settle(event, as: .applied, type: news.type, detail: news.reason, in: store)
  }

  /// Removes notifications that were settled before a time.
  package static func forgetMerchantTokenEvents(before end: Timestamp, atMost limit: Int, in store: Transaction) throws
    -> Int
  {
    let rows = try store.unclaimedRows(
      "SELECT merchant, event FROM merchant_token_events WHERE settled_at < $1 ORDER BY settled_at LIMIT $2",
      .time(end), .integer(Int64(limit)))
    for row in rows {
      try store.run(
        "DELETE FROM merchant_token_events WHERE merchant = $1 AND event = $2", .text(try row.text("merchant")),
        .text(try row.text("event")))
    }
    return rows.count
  }

  /// The notifications of a merchant, the newest first.
  package static func merchantTokenEvents(
    of merchant: MerchantID, limit: Int64 = 100, in store: Transaction
  ) throws -> [(id: String, state: MerchantTokenEventState, type: String?, detail: String?)] {
    try store.rows(
      "SELECT * FROM merchant_token_events WHERE merchant = $1 ORDER BY arrived_at DESC, event LIMIT $2",
      .text(merchant.rawValue), .integer(limit)
    ).map { row in
      (
        id: try row.text("event"), state: try row.value("state"), type: try row.textOrNil("type"),
        detail: try row.textOrNil("detail")
      )
    }
  }

  /// Notifications that were settled since a time without news: Apple knew no such event, or never told. Each merchant's, at
  /// most a thousand in all, with the words for the newest.
  package static func lostMerchantTokenEvents(
    since start: Timestamp, in store: Transaction
  ) throws -> [(merchant: MerchantID, count: Int, newest: String, detail: String)] {
    let rows = try store.rows(
      """
      SELECT merchant, event, detail FROM merchant_token_events
      WHERE settled_at >= $1 AND state IN ('refused', 'expired') ORDER BY settled_at DESC, event LIMIT 1000
      """, .time(start)
    ).map {
      (
        merchant: try $0.value("merchant") as MerchantID, event: try $0.text("event"),
        detail: try $0.textOrNil("detail")
      )
    }
    return Dictionary(grouping: rows, by: { $0.merchant }).values.map { lost in
      (merchant: lost[0].merchant, count: lost.count, newest: lost[0].event, detail: lost[0].detail ?? "")
    }.sorted { $0.merchant.rawValue < $1.merchant.rawValue }
  }

  private static func lock(_ event: MerchantTokenEvent, in store: Transaction) throws -> MerchantTokenEventState? {
    try store.lockedRow(
      "SELECT state FROM merchant_token_events WHERE merchant = $1 AND event = $2", .text(event.merchant.rawValue),
      .text(event.id)
    ).map { try $0.value("state") }
  }

  private static func wait(_ event: MerchantTokenEvent, detail: String, in store: Transaction) throws {
    try store.run(
      "UPDATE merchant_token_events SET next_try = $3, detail = $4 WHERE merchant = $1 AND event = $2",
      .text(event.merchant.rawValue), .text(event.id), .time(store.now.adding(pause(after: event.tries))),
      .text(String(detail.prefix(300))))
  }

  private static func settle(
    _ event: MerchantTokenEvent, as state: MerchantTokenEventState, type: String?, detail: String,
    in store: Transaction
  ) throws -> MerchantTokenEventState {
    try store.run(
      """
      UPDATE merchant_token_events SET state = $3, type = $4, detail = $5, settled_at = $6
      WHERE merchant = $1 AND event = $2
      """,
      .text(event.merchant.rawValue), .text(event.id), .text(state.rawValue), .text(optional: type),
      .text(String(detail.prefix(300))), .time(store.now))
    return state
  }

  /// 5, 10, 20 seconds … at most an hour.
  private static func pause(after tries: Int64) -> Duration { .seconds(min(3_600, 5 << min(tries, 10))) }
}

// Unlinking at Apple.
extension Journal {
  /// Takes merchant tokens that Apple is to be told the merchant charges no more. One that an agreement still needs is
  /// left alone.
  package static func takeUnneededMerchantTokens(
    atMost limit: Int, in store: Transaction
  ) throws -> [UnneededMerchantToken] {
    try store.unclaimedRows(
      "SELECT * FROM merchant_tokens WHERE unlinking = 'due' AND next_try <= $1 ORDER BY next_try LIMIT $2",
      .time(store.now), .integer(Int64(limit))
    ).compactMap { row in
      let token = UnneededMerchantToken(
        merchant: try row.value("merchant"), token: try row.text("token"), tries: try row.integer("tries"))
      guard try !AgreementRows.needs(token.token, of: token.merchant, in: store) else {
        try MerchantTokenRows.end(token, as: nil, detail: nil, in: store)
        return nil
      }
      try store.run(
        "UPDATE merchant_tokens SET tries = tries + 1, next_try = $3 WHERE merchant = $1 AND token = $2",
        .text(token.merchant.rawValue), .text(token.token), .time(store.now.adding(askingLease)))
      return token
    }
  }

  /// Apple unlinked the token, or says why it does not.
  package static func endUnlinking(
    _ token: UnneededMerchantToken, refused words: String? = nil, in store: Transaction
  ) throws {
    try MerchantTokenRows.end(token, as: words == nil ? .done : .refused, detail: words, in: store)
  }

  /// Tells Apple again later; after thirty days no more.
  package static func postpone(_ token: UnneededMerchantToken, because words: String, in store: Transaction) throws {
    let row = try store.lockedRow(
      "SELECT changed_at FROM merchant_tokens WHERE merchant = $1 AND token = $2 AND unlinking = 'due'",
      .text(token.merchant.rawValue), .text(token.token))
    guard let row else { return }
    guard store.now < (try row.time("changed_at")).adding(unlinkLife) else {
      return try MerchantTokenRows.end(token, as: .refused, detail: words, in: store)
    }
    try store.run(
      "UPDATE merchant_tokens SET next_try = $3, detail = $4 WHERE merchant = $1 AND token = $2",
      .text(token.merchant.rawValue), .text(token.token), .time(store.now.adding(pause(after: token.tries))),
      .text(String(words.prefix(300))))
  }

  /// What is known of the agreement's merchant token; nil where it has none, or nothing is known.
  package static func merchantTokenFacts(of agreement: Agreement, in store: Transaction) throws -> MerchantTokenFacts? {
    guard let token = agreement.merchantToken else { return nil }
    return try store.row(
      "SELECT * FROM merchant_tokens WHERE merchant = $1 AND token = $2", .text(agreement.merchant.rawValue),
      .text(token)
    ).map(MerchantTokenFacts.init)
  }

  /// Writes down that Apple is to be told, in the commit that ends an agreement.
  static func noteUnneeded(_ agreement: Agreement, after event: AgreementEvent, in store: Transaction) throws {
    guard let token = agreement.merchantToken else { return }
    let pause = event == .refused ? waitAfterRefusal : .zero
    try store.run(
      """
      INSERT INTO merchant_tokens (merchant, token, unlinking, tries, next_try, changed_at)
      VALUES ($1, $2, 'due', 0, $3, $4)
      ON CONFLICT (merchant, token) DO UPDATE SET unlinking = 'due', detail = NULL, tries = 0, next_try = $3,
        changed_at = $4
      """,
      .text(agreement.merchant.rawValue), .text(token), .time(store.now.adding(pause)), .time(store.now))
  }
}

/// The table `merchant_tokens`.
enum MerchantTokenRows {
  /// Keeps how Apple describes the card, unless a notification that arrived later has described it.
  ///
  /// - Returns: whether it was kept.
  static func describe(
    _ token: String, of merchant: MerchantID, _ card: MerchantTokenCard, as arrivedAt: Timestamp,
    in store: Transaction
  ) throws -> Bool {
    try store.changes(
      """
      INSERT INTO merchant_tokens (merchant, token, card_suffix, card_expiry, card_name, card_country, described_at, tries,
        changed_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8)
      ON CONFLICT (merchant, token) DO UPDATE SET card_suffix = $3, card_expiry = $4, card_name = $5, card_country = $6,
        described_at = $7
        WHERE merchant_tokens.described_at IS NULL OR merchant_tokens.described_at <= $7
      """,
      .text(merchant.rawValue), .text(token), .text(optional: card.suffix), .text(optional: card.expiry),
      .text(optional: card.name), .text(optional: card.country), .time(arrivedAt), .time(store.now)) > 0
  }

  /// Apple unlinked it by itself: there is nothing to tell.
  static func noteUnlinked(_ token: String, of merchant: MerchantID, in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO merchant_tokens (merchant, token, unlinking, tries, changed_at) VALUES ($1, $2, 'done', 0, $3)
      ON CONFLICT (merchant, token) DO UPDATE SET unlinking = 'done', detail = NULL, next_try = NULL, changed_at = $3
      """,
      .text(merchant.rawValue), .text(token), .time(store.now))
    try forget(token, of: merchant, in: store)
  }

  static func end(
    _ token: UnneededMerchantToken, as unlinking: MerchantTokenFacts.Unlinking?, detail: String?, in store: Transaction
  ) throws {
    try store.run(
      """
      UPDATE merchant_tokens SET unlinking = $3, detail = $4, next_try = NULL, changed_at = $5
      WHERE merchant = $1 AND token = $2 AND unlinking = 'due'
      """,
      .text(token.merchant.rawValue), .text(token.token), .text(optional: unlinking?.rawValue),
      .text(optional: detail.map { String($0.prefix(300)) }), .time(store.now))
    try forget(token.token, of: token.merchant, in: store)
  }

  /// Removes what no agreement names any more, and Apple need not be told.
  static func forget(_ token: String, of merchant: MerchantID, in store: Transaction) throws {
    try store.run(
      """
      DELETE FROM merchant_tokens WHERE merchant = $1 AND token = $2 AND (unlinking IS NULL OR unlinking <> 'due')
        AND NOT EXISTS (SELECT 1 FROM agreements WHERE merchant = $1 AND merchant_token = $2)
      """,
      .text(merchant.rawValue), .text(token))
  }
}

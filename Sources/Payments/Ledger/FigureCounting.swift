package import Storage
import TenderPayments

/// Counts the payments for charts, beside the payments, so that a page reads a row for each day and kind of payment, and
/// not every payment.
///
/// Payments are counted by stretches: ids that share their first seven digits, and so began within 2²⁰ ms, 17 minutes.
/// Every change of a payment has an audit entry, and a chain has no gaps; what was entered since the last time names the
/// stretches to count again. A stretch is counted anew as a whole, so that counting it twice, on two nodes or after an
/// interruption changes nothing. A payment pays nothing for it.
package struct FigureCounting: Sendable {
  /// How many stretches are counted at once.
  private static let batch = 8
  /// How many audit entries are looked at in one commit.
  private static let reach: Int64 = 20_000

  private let database: Database
  private let page: Int

  /// - Parameter page: how many payments are counted at once: a few milliseconds' work.
  package init(_ database: Database, page: Int = 1_000) { (self.database, self.page) = (database, page) }

  /// What a step found.
  package enum Step: Sendable {
    /// Everything is counted.
    case nothingNew
    /// It counted one stretch, as it does again and again while payments are made.
    case stretch
    /// There may be more that was never counted, or not for long.
    case backlog
  }

  /// Counts some of what is to be counted, the newest first.
  ///
  /// - Parameter rest: called after every few milliseconds of work, so that payments come first.
  package func step(resting rest: () async throws -> Void = {}) async throws -> Step {
    if try await database.read({ try Self.hasNews(in: $0) }) { try await database.write { try Self.look(in: $0) } }
    let counted = try await count(resting: rest)
    guard counted.isEmpty else {
      try await database.write { try Self.replace(counted, in: $0) }
      return counted.count == 1 ? .stretch : .backlog
    }
    guard try await database.read({ try Self.countedFrom(in: $0) }) != "" else { return .nothingNew }
    try await database.write { try Self.goBack(in: $0) }
    return .backlog
  }
}

extension FigureCounting {
  /// Gives out a mark for nothing: see ``CountingTurn/mustRenew(at:)``.
  package func renewTurn() async throws { _ = try await database.write { try Self.newMark(in: $0) } }

  /// The last mark that was given out, by whichever process; 0 before the first. It rises with every piece of work that a
  /// process begins.
  package func lastMark() async throws -> Int64 {
    try await database.read { try $0.row("SELECT last_mark FROM figures_state")?.integer("last_mark") ?? 0 }
  }
}

// Which stretches are to be counted.
extension FigureCounting {
  private static let news = """
    SELECT audit_heads.chain AS chain, audit_heads.seq AS last, COALESCE(figures_places.seq, 0) AS seen
    FROM audit_heads LEFT JOIN figures_places ON figures_places.chain = audit_heads.chain
    WHERE audit_heads.seq > COALESCE(figures_places.seq, 0)
    """

  private static func hasNews(in store: Transaction) throws -> Bool {
    try countedFrom(in: store) == nil || store.row(news) != nil
  }

  /// Nil before anything was counted.
  static func countedFrom(in store: Transaction) throws -> String? {
    try store.row("SELECT counted_from FROM figures_state")?.text("counted_from")
  }

  /// Marks the stretches of what changed since the last time.
  private static func look(in store: Transaction) throws {
    guard try !begin(in: store) else { return }
    let mark = try newMark(in: store)
    for row in try store.rows(news) {
      let (chain, seen) = (try row.text("chain"), try row.integer("seen"))
      let end = min(try row.integer("last"), seen + reach)
      try store.run(
        """
        INSERT INTO figures_stale (stretch, mark) SELECT DISTINCT SUBSTR(payment, 1, 7), CAST($4 AS BIGINT)
        FROM audit WHERE chain = $1 AND seq > $2 AND seq <= $3
        ON CONFLICT (stretch) DO UPDATE SET mark = excluded.mark
        """, .text(chain), .integer(seen), .integer(end), .integer(mark))
      try store.run(
        "INSERT INTO figures_places (chain, seq) VALUES ($1, $2) ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq",
        .text(chain), .integer(end))
    }
  }

  /// In a store where nothing was counted: all that there is will be, and what comes is looked at from here on.
  ///
  /// - Returns: false where that was done before.
  private static func begin(in store: Transaction) throws -> Bool {
    let isNew = try store.changes(
      """
      INSERT INTO figures_state (id, last_mark, marked_from, counted_from) VALUES (1, 0, '~', '~')
      ON CONFLICT DO NOTHING
      """)
    guard isNew == 1 else { return false }
    try store.run("INSERT INTO figures_places (chain, seq) SELECT chain, seq FROM audit_heads")
    return true
  }

  /// Locks the figures until the transaction ends. A mark is never used twice: by its mark a stretch that was marked again
  /// while it was counted is told from one that was not.
  private static func newMark(in store: Transaction) throws -> Int64 {
    let mark = (try store.lockedRow("SELECT last_mark FROM figures_state")?.integer("last_mark") ?? 0) + 1
    try store.run("UPDATE figures_state SET last_mark = $1", .integer(mark))
    return mark
  }

  /// Marks the newest stretches that were never counted, once those before are.
  private static func goBack(in store: Transaction) throws {
    let mark = try newMark(in: store)
    guard try store.row("SELECT mark FROM figures_stale LIMIT 1") == nil else { return }
    let counted = try store.row("SELECT marked_from FROM figures_state")?.text("marked_from") ?? ""
    var end = counted
    for _ in 0..<batch where !end.isEmpty {
      let older = try store.row("SELECT id FROM payments WHERE id < $1 ORDER BY id DESC LIMIT 1", .text(end))
      end = String(try older?.text("id").prefix(7) ?? "")
      guard !end.isEmpty else { break }
      try store.run(
        "INSERT INTO figures_stale (stretch, mark) VALUES ($1, $2) ON CONFLICT (stretch) DO UPDATE SET mark = $2",
        .text(end), .integer(mark))
    }
    try store.run("UPDATE figures_state SET counted_from = $1, marked_from = $2", .text(counted), .text(end))
  }
}

// Counting.
extension FigureCounting {
  private struct Counted: Sendable {
    let stretch: String
    let mark: Int64
    let rows: [CountedRow]
    let days: DayFigures
  }

  /// Reads alone, so that no payment waits for it. Pages of a stretch may be of different moments: what changes meanwhile
  /// marks the stretch again.
  private func count(resting rest: () async throws -> Void) async throws -> [Counted] {
    var counted: [Counted] = []
    for (stretch, mark) in try await database.read({ try Self.stale(in: $0) }) {
      let rows = try await rows(of: stretch, resting: rest)
      counted.append(Counted(stretch: stretch, mark: mark, rows: rows, days: DayFigures(rows)))
    }
    return counted
  }

  private func rows(of stretch: String, resting rest: () async throws -> Void) async throws -> [CountedRow] {
    var (rows, first) = ([CountedRow](), Optional(stretch))
    while let begin = first {
      let found = try await database.read { [page] in
        try CountedRow.page(of: stretch, from: begin, size: page, in: $0)
      }
      (rows, first) = (rows + found.rows, found.next)
      if first != nil { try await rest() }
    }
    return CountedRow.merged(rows)
  }

  private static func stale(in store: Transaction) throws -> [(stretch: String, mark: Int64)] {
    try store.rows("SELECT * FROM figures_stale ORDER BY stretch DESC LIMIT \(batch)").map {
      (try $0.text("stretch"), try $0.integer("mark"))
    }
  }

  /// Writes what was counted, but for stretches that were marked again meanwhile; the days change by the difference.
  private static func replace(_ counted: [Counted], in store: Transaction) throws {
    _ = try store.lockedRow("SELECT last_mark FROM figures_state")
    var change = DayFigures([])
    for one in counted {
      let isCurrent = try store.changes(
        "DELETE FROM figures_stale WHERE stretch = $1 AND mark = $2", .text(one.stretch), .integer(one.mark))
      guard isCurrent == 1 else { continue }
      change.add(one.days, times: 1)
      change.add(DayFigures(try CountedRow.read(one.stretch, in: store)), times: -1)
      try store.run("DELETE FROM figures_by_stretch WHERE stretch = $1", .text(one.stretch))
      for row in one.rows { try row.insert(in: store) }
    }
    try change.write(in: store)
  }
}

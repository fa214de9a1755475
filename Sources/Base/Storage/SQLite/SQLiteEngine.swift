import Foundation
import GRDB
import Synchronization
import TenderPayments

/// The parts specific to SQLite: opening the file and translating the common SQL dialect.
enum SQLiteEngine {
  static func open(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = true
    configuration.busyMode = .timeout(5)
    configuration.maximumReaderCount = GroupRead.readerCount
    // Keeps savepoint journals in memory; by default, those above 64 KiB go to a file.
    // Writes zeros over what is deleted, so that no page of the file keeps it.
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON") }
    try makePrivate(path)
    return try StorageError.translating { try DatabasePool(path: path, configuration: configuration) }
  }

  /// Creates a new file with mode 0600, because it holds shoppers' contacts. SQLite gives its side files the same mode.
  /// An existing file keeps its mode.
  ///
  /// An existing file is not opened: closing it would drop SQLite's locks, which belong to the process.
  private static func makePrivate(_ path: String) throws {
    let descriptor = Foundation.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor < 0 else {
      close(descriptor)
      return
    }
    guard errno == EEXIST else { throw StorageError.connection("cannot make \(path): errno \(errno)") }
    var status = stat()
    // SQLite would make the file where the link leads, for everybody to read.
    guard stat(path, &status) == 0 || errno != ENOENT else {
      throw StorageError.connection("\(path) is a link to a file that is not there")
    }
  }

  /// What the writer's connection keeps of the file, in KiB. SQLite's own 2 MB do not hold the inner pages of the indexes
  /// of some million payments, so that each write would read dozens of pages again. Readers drop what they keep at
  /// each commit.
  private static let writerCache = 65_536

  /// Sets full durability on the writer, reads it back, and sets the size of its cache.
  ///
  /// After opening, not in the preparation hook: the pool resets `synchronous` to NORMAL behind that hook, and NORMAL
  /// loses acknowledged commits when the power fails.
  static func prepareWriter(_ pool: DatabasePool) async throws {
    try await pool.writeWithoutTransaction { connection in
      try connection.execute(sql: "PRAGMA synchronous = FULL")
      try connection.execute(sql: "PRAGMA wal_autocheckpoint = \(Checkpoints.limit)")
      try connection.execute(sql: "PRAGMA cache_size = -\(writerCache)")
      let synchronous = try Int.fetchOne(connection, sql: "PRAGMA synchronous")
      let journal = try String.fetchOne(connection, sql: "PRAGMA journal_mode")
      guard synchronous == 2, journal == "wal" else {
        throw StorageError.connection("not durable: synchronous=\(synchronous ?? -1), journal_mode=\(journal ?? "?")")
      }
    }
  }

  static func migrate(_ pool: DatabasePool, _ migrator: Migrator, _ now: Timestamp) async throws {
    try await StorageError.translating {
      try await pool.write { try migrator.run(in: Transaction(SQLiteSession($0), now: now)) }
    }
  }

  /// Translates a statement: `$1` to `?1`, because in SQLite a number after `$` would be a name, and lists to comparisons.
  ///
  /// Each text is translated once. There are a few hundred, and the same text is then found by where it is in memory.
  static func text(_ sql: String) -> String {
    let key = StatementText(sql)
    if let known = translated.withLock({ $0[key] }) { return known }
    let text = comparisons(numbered(sql))
    translated.withLock { $0[key] = text }
    return text
  }

  private static let translated = Mutex<[StatementText: String]>([:])

  private static func numbered(_ sql: String) -> String {
    var sql = sql
    return sql.withUTF8 { common in
      String(unsafeUninitializedCapacity: common.count) { text in
        for place in common.indices {
          text[place] = common[place] == UInt8(ascii: "$") ? UInt8(ascii: "?") : common[place]
        }
        return common.count
      }
    }
  }

  /// `a IN ('x', 'y')` as `(a = 'x' OR a = 'y')`. SQLite builds a table for each evaluation of a list: in a check and in
  /// the condition of an index at every row that is written. A query must have an index's condition in the same words.
  private static func comparisons(_ sql: String) -> String {
    guard sql.contains(" IN (") else { return sql }
    return sql.replacing(#/\b([a-z_][\w.]*) IN \(((?:'[^']*'|\d+)(?:,\s*(?:'[^']*'|\d+))*)\)/#) { list in
      let cases = list.2.matches(of: #/'[^']*'|\d+/#).map { "\(list.1) = \($0.output)" }
      return "(\(cases.joined(separator: " OR ")))"
    }
  }

  /// Translates a definition: SQLite's names of the three types; STRICT, without which SQLite does not check types; and
  /// lists to comparisons.
  static func definition(_ sql: String) -> String {
    let named = sql.replacingOccurrences(of: "BIGINT", with: "INTEGER").replacingOccurrences(of: "BYTEA", with: "BLOB")
    let text = comparisons(named)
    return text.contains("CREATE TABLE") ? text + " STRICT" : text
  }
}

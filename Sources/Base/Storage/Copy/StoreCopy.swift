import Crypto
import TenderPayments

/// Copies a store into an empty one, of the same engine or the other, and proves that both are equal.
///
/// Rows are written in the order of their primary keys, so that a copy that was killed continues after the last row
/// that the target has. Until ``finish()`` a row of `migrations` makes every server refuse the target. The source must
/// not be served meanwhile.
package struct StoreCopy: Sendable {
  private let source: Database
  private let target: Database
  private let tables: [TableShape]
  private static let batch = 512
  /// Rows of one statement; a batch is a multiple of it.
  private static let rowsPerStatement = 32

  /// - Parameters:
  ///   - source: opened unchanged.
  ///   - target: opened with ``Database``'s migrations empty, and migrated before with the source's migrations.
  /// - Throws: ``CopyRefusal`` when the target is not empty and no copy of this source, or has other tables.
  package init(from source: Database, to target: Database) async throws {
    let tables = try await source.read { try $0.tables() }
    guard !tables.isEmpty else { throw CopyRefusal.noStore }
    guard try await target.read({ try $0.tables() }) == tables else { throw CopyRefusal.otherTables }
    self.tables = try TableShape.ordered(tables.filter { $0.name != "migrations" })
    (self.source, self.target) = (source, target)
    let names = self.tables.map(\.name)
    let identity = try await Self.identity(of: source)
    try await target.write { try CopyMark.begin(identity, tables: names, in: $0) }
  }

  /// What distinguishes one store from every other: when each of its migrations ran, to the microsecond.
  private static func identity(of store: Database) async throws -> String {
    let rows = try await store.read { store in
      if try CopyMark.isSet(in: store) { throw CopyRefusal.unfinishedSource }
      return try store.rows("SELECT name, sql, applied_at FROM migrations ORDER BY name")
    }
    var hash = RowsHash()
    for row in rows { hash.add(row.all) }
    return hash.text
  }

  /// Copies what the target lacks.
  ///
  /// - Parameter batches: after how many batches it stops; tests stop it so.
  /// - Returns: whether everything is copied.
  @discardableResult
  package func run(atMost batches: Int = .max) async throws -> Bool {
    var left = batches
    for table in tables {
      var last = try await target.read { try $0.lastKey(of: table) }
      while true {
        let rows = try await source.read { [last] in try $0.rows(of: table, after: last, atMost: Self.batch) }
        guard let end = rows.last else { break }
        guard left > 0 else { return false }
        try await target.write { try Self.insert(rows, into: table, $0) }
        (last, left) = (try end.values(table.key), left - 1)
      }
    }
    return true
  }

  private static func insert(_ rows: [Row], into table: TableShape, _ store: Transaction) throws {
    var rest = rows[...]
    while !rest.isEmpty {
      let count = rest.count < rowsPerStatement ? 1 : rowsPerStatement
      try store.run(table.insertion(of: count), rest.prefix(count).flatMap { try $0.values(typedAs: table) })
      rest = rest.dropFirst(count)
    }
  }

  /// Counts and hashes every row on both sides.
  package func compare() async throws -> [TableComparison] {
    var comparisons: [TableComparison] = []
    for table in tables {
      comparisons.append(
        TableComparison(
          table: table.name, source: try await Self.contents(of: table, in: source),
          target: try await Self.contents(of: table, in: target)))
    }
    return comparisons.sorted { $0.table < $1.table }
  }

  private static func contents(of table: TableShape, in store: Database) async throws -> TableComparison.Contents {
    var (hash, last, count): (RowsHash, [SQLValue]?, Int) = (RowsHash(), nil, 0)
    while true {
      let rows = try await store.read { [last] in try $0.rows(of: table, after: last, atMost: Self.batch) }
      guard let end = rows.last else { return TableComparison.Contents(rows: count, hash: hash.text) }
      for row in rows { hash.add(row.all) }
      (last, count) = (try end.values(table.key), count + rows.count)
    }
  }

  /// Lets servers open the target. Call it when ``compare()`` has found everything equal.
  package func finish() async throws { try await target.write { try CopyMark.end(in: $0) } }
}

/// The contents of one table on both sides.
package struct TableComparison: Sendable, Codable {
  package struct Contents: Sendable, Hashable, Codable {
    package let rows: Int
    /// SHA-256 over all rows in the order of the primary key, in hexadecimal.
    package let hash: String
  }

  package let table: String
  package let source: Contents
  package let target: Contents
  package var isEqual: Bool { source == target }
}

/// Why a copy does not begin.
package enum CopyRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  case noStore, otherTables, notEmpty, otherSource, unfinishedSource

  package var description: String {
    switch self {
    case .noStore: "the source has no tables of Tender"
    case .otherTables: "source and target have different tables; run `tender store migrate` on the source first"
    case .notEmpty: "the target is not empty; name an empty database or a new file"
    case .otherSource: "the target holds an unfinished copy of another store"
    case .unfinishedSource: "the source is itself an unfinished copy"
    }
  }
}

/// The row of `migrations` that marks an unfinished copy. Every version refuses a store with it.
enum CopyMark {
  static func isSet(in store: Transaction) throws -> Bool { try source(in: store) != nil }

  /// The identity of the source.
  private static func source(in store: Transaction) throws -> String? {
    try store.row("SELECT sql FROM migrations WHERE name = $1", .text(Migration.unfinishedCopy))?.text("sql")
  }

  static func begin(_ identity: String, tables: [String], in store: Transaction) throws {
    if let source = try source(in: store) {
      guard source == identity else { throw CopyRefusal.otherSource }
      return
    }
    for table in tables where try store.row("SELECT 1 AS found FROM \(table) LIMIT 1") != nil {
      throw CopyRefusal.notEmpty
    }
    try store.run(
      "INSERT INTO migrations (name, sql, applied_at) VALUES ($1, $2, $3)", .text(Migration.unfinishedCopy),
      .text(identity),
      .time(store.now))
  }

  static func end(in store: Transaction) throws {
    try store.run("DELETE FROM migrations WHERE name = $1", .text(Migration.unfinishedCopy))
  }
}

/// A hash over rows that tells types, NULL and empty values apart.
struct RowsHash {
  private var hash = SHA256()

  mutating func add(_ values: [SQLValue]) {
    add(number: Int64(values.count))
    for value in values { add(value) }
  }

  private mutating func add(_ value: SQLValue) {
    switch value {
    case .absent: add(tag: 0)
    case .integer(let integer):
      add(tag: 1)
      add(number: integer)
    case .text(let text): add(tag: 2, Array(text.utf8))
    case .blob(let bytes): add(tag: 3, bytes)
    }
  }

  private mutating func add(tag: UInt8, _ bytes: [UInt8]) {
    add(tag: tag)
    add(number: Int64(bytes.count))
    hash.update(data: bytes)
  }

  private mutating func add(tag: UInt8) { hash.update(data: [tag]) }

  private mutating func add(number: Int64) { withUnsafeBytes(of: number.bigEndian) { hash.update(bufferPointer: $0) } }

  var text: String { Hex.encode(hash.finalize()) }
}

extension TableShape {
  private static func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }

  fileprivate var keyList: String { Self.list(key) }
  fileprivate var columnList: String { Self.list(columns.map(\.name)) }

  fileprivate func insertion(of rows: Int) -> String {
    let places = (0..<rows).map { row in
      "(" + columns.indices.map { "$\(row * columns.count + $0 + 1)" }.joined(separator: ", ") + ")"
    }
    return "INSERT INTO \(name) (\(columnList)) VALUES " + places.joined(separator: ", ")
  }
}

extension Transaction {
  fileprivate func rows(of table: TableShape, after last: [SQLValue]?, atMost count: Int) throws -> [Row] {
    let places = (1...table.key.count).map { "$\($0)" }.joined(separator: ", ")
    let rest = last == nil ? "" : "WHERE (\(table.keyList)) > (\(places))"
    return try rows(
      "SELECT \(table.columnList) FROM \(table.name) \(rest) ORDER BY \(table.keyList) LIMIT \(count)", last ?? [])
  }

  /// The greatest primary key; nil for an empty table.
  fileprivate func lastKey(of table: TableShape) throws -> [SQLValue]? {
    let order = table.key.map { "\"\($0)\" DESC" }.joined(separator: ", ")
    return try row("SELECT \(table.keyList) FROM \(table.name) ORDER BY \(order) LIMIT 1")?.values(table.key)
  }
}

extension Row {
  fileprivate func values(_ columns: [String]) throws -> [SQLValue] {
    try columns.map { name in
      guard let value = value(of: name) else { throw StorageError.column(name) }
      return value
    }
  }

  /// NULL gets its column's type, so that PostgreSQL prepares one statement and not one for every pattern of NULLs.
  fileprivate func values(typedAs table: TableShape) throws -> [SQLValue] {
    try zip(table.columns, values(table.columns.map(\.name))).map { column, value in
      if case .absent = value { .absent(column.type) } else { value }
    }
  }
}

extension Database {
  /// How many connections of other processes the database has whose application name begins with `prefix`. 0 in
  /// SQLite, whose file has one process.
  package func connections(named prefix: String) async throws -> Int {
    try await read { try $0.connections(named: prefix) }
  }

  /// Opens the target of a copy: migrated, or as an unfinished copy has left it.
  ///
  /// - Parameter open: opens it with these migrations.
  package static func targetOfCopy(
    _ migrations: [Migration], open: ([Migration]) async throws -> Database
  ) async throws -> Database {
    do { return try await open(migrations) } catch StorageError.copyUnfinished { return try await open([]) }
  }
}

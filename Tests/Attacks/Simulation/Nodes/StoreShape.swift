import Storage
import TenderPayments

/// The columns, references and unique keys of the tables.
struct StoreShape {
  private struct Reference {
    let column: String
    let table: String
    let key: String
  }

  private let columns: [String: [String]]
  private let references: [String: [Reference]]
  /// Those with a unique key beside the primary key.
  private let keyed: Set<String>

  init(_ tables: MemoryTables) throws {
    let names = try tables.rows("SELECT name FROM sqlite_schema WHERE type = 'table'").map { try $0.text("name") }
    func grouped<Value>(_ sql: String, _ value: (Row) throws -> Value) throws -> [String: [Value]] {
      try names.reduce(into: [:]) { all, name in all[name] = try tables.rows(sql, [.text(name)]).map(value) }
    }
    columns = try grouped("SELECT name FROM pragma_table_info($1) ORDER BY cid") { try $0.text("name") }
    references = try grouped(
      "SELECT \"from\" AS own, \"table\" AS parent, \"to\" AS key FROM pragma_foreign_key_list($1)"
    ) { Reference(column: try $0.text("own"), table: try $0.text("parent"), key: try $0.text("key")) }
    keyed = Set(
      try grouped("SELECT name FROM pragma_index_list($1) WHERE \"unique\" = 1 AND origin <> 'pk'") { _ in () }
        .filter { !$0.value.isEmpty }.keys)
  }

  /// The table in which a statement may meet a unique key.
  func table(whoseKeysTakes sql: String) -> String? {
    let words = sql.split(maxSplits: 3, omittingEmptySubsequences: true, whereSeparator: \.isWhitespace)
    guard words.count > 2 else { return nil }
    switch words[0] {
    case "INSERT": return String(words[2])
    case "UPDATE" where keyed.contains(String(words[1])): return String(words[1])
    default: return nil
    }
  }

  func row(_ name: RowName, in tables: MemoryTables) throws -> Row? {
    try tables.rows("SELECT * FROM \(name.table) WHERE rowid = $1", [.integer(name.number)]).first
  }

  /// The rows that a row references.
  func parents(of name: RowName, in tables: MemoryTables) throws -> [RowName] {
    try (references[name.table] ?? []).flatMap { reference in
      try tables.rows(
        """
        SELECT parent.rowid AS number FROM \(reference.table) AS parent
        JOIN \(name.table) AS own ON own.\(reference.column) = parent.\(reference.key) WHERE own.rowid = $1
        """, [.integer(name.number)]
      ).map { RowName(table: reference.table, number: try $0.integer("number")) }
    }
  }

  /// Makes the change to a row once more.
  ///
  /// - Returns: the name of the row.
  func apply(
    _ saved: SharedTransaction.SavedRow, to tables: MemoryTables, keepingNumbers: Bool
  ) throws -> RowName {
    let (table, number) = (saved.name.table, SQLValue.integer(saved.name.number))
    guard let row = saved.row else {
      try tables.run("DELETE FROM \(table) WHERE rowid = $1", [number])
      return saved.name
    }
    var names = columns[table] ?? []
    var values = names.map { row.value(of: $0) ?? .null }
    guard saved.kind == .inserted else {
      let places = names.enumerated().map { "\"\($1)\" = $\($0 + 1)" }.joined(separator: ", ")
      try tables.run("UPDATE \(table) SET \(places) WHERE rowid = $\(names.count + 1)", values + [number])
      return saved.name
    }
    if keepingNumbers { (names, values) = (["rowid"] + names, [number] + values) }
    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
    let places = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    try tables.run("INSERT INTO \(table) (\(list)) VALUES (\(places))", values)
    return RowName(table: table, number: tables.lastRow)
  }
}

extension [SharedTransaction.SavedRow] {
  /// Keys are given up before they are taken.
  var inOrderOfReplay: [SharedTransaction.SavedRow] {
    filter { $0.kind == .deleted } + filter { $0.kind == .updated } + filter { $0.kind == .inserted }
  }
}

/// A `SELECT … FOR UPDATE`: with the number of each row that it locks.
struct LockingSelect {
  private static let number = "locked_row"
  private let table: String
  /// As it stands.
  let limited: String
  /// Rows that are skipped do not count.
  let unlimited: String
  /// How many rows there may be, or the place of the value that says so.
  private let limit: (count: Int?, place: Int?)

  init(_ sql: String) throws {
    guard let from = sql.firstMatch(of: #/\bFROM\s+(\w+)(?:\s+AS\s+(\w+))?/#), sql.hasPrefix("SELECT ") else {
      throw StorageError.other("no table is locked by: \(sql)")
    }
    table = String(from.1)
    limited = "SELECT \(from.2 ?? from.1).rowid AS \(Self.number), " + sql.dropFirst("SELECT ".count)
    let end = sql.firstMatch(of: #/LIMIT\s+(\$?)(\d+)\s*$/#)
    limit = end.map { $0.1.isEmpty ? (Int($0.2), nil) : (nil, Int($0.2)) } ?? (nil, nil)
    unlimited = end == nil ? limited : limited + " + 1000000"
  }

  func limit(_ values: [SQLValue]) -> Int {
    guard let place = limit.place, case .integer(let count) = values[place - 1] else { return limit.count ?? .max }
    return Int(count)
  }

  func name(of row: Row) throws -> RowName { RowName(table: table, number: try row.integer(Self.number)) }
}

/// A copy that follows the commits of the store, and lags behind.
final class Standby {
  let tables: MemoryTables
  private let shape: StoreShape
  /// Delays a commit.
  var later: (@escaping () -> Void) -> Void = { $0() }

  init(_ migrations: [Migration], at time: Timestamp) throws {
    tables = try MemoryTables()
    try tables.migrate(migrations, at: time)
    try tables.run("PRAGMA foreign_keys = OFF")
    shape = try StoreShape(tables)
  }

  func follow(_ rows: [SharedTransaction.SavedRow]) {
    later { [self] in
      for row in rows.inOrderOfReplay { _ = try? shape.apply(row, to: tables, keepingNumbers: true) }
    }
  }
}

/// Reads what is committed.
struct SnapshotSession: StoreSession {
  let source: MemoryTables
  let dialect: (String) -> String

  func rows(_ sql: String, _ values: [SQLValue], locking: RowLock) throws -> [Row] {
    try source.rows(dialect(sql), values)
  }

  func firstRow(_ sql: String, _ values: [SQLValue]) throws -> Row? { try rows(sql, values, locking: .none).first }
  func run(_ sql: String, _ values: [SQLValue]) throws { _ = try changes(sql, values) }
  func changes(_ sql: String, _ values: [SQLValue]) throws -> Int { throw StorageError.other("a read writes") }
  func define(_ sql: String) throws { throw StorageError.other("a read defines") }
  func tables() throws -> [TableShape] { try source.tables() }
  func connections(named prefix: String, without suffix: String?) throws -> Int { 0 }
  func serverFacts() throws -> DatabaseFacts? { nil }
}

import Storage
import TenderPayments

/// A database that several processes share, as PostgreSQL under READ COMMITTED: a statement sees what is committed and
/// what its own transaction has changed, a row that another transaction has changed or locked is waited for or
/// skipped, and a unique key that another transaction is about to take is waited for.
///
/// There is one SQLite connection. The changes of a transaction that has not its turn are put aside, row by row, and
/// made again when it goes on. A statement that had to wait is run again as a whole, where PostgreSQL looks again at
/// the rows it waited for.
final class SharedStore {
  private let tables: MemoryTables
  /// Where reads go if a standby is believed.
  let standby: Standby?
  private let shape: StoreShape
  private let dialect: @Sendable (String) -> String
  private let locking: @Sendable (RowLock, String) -> RowLock
  private var active: SharedTransaction?
  private var defersReferences = false
  private(set) var open: [SharedTransaction] = []
  private var holders: [RowName: [SharedTransaction]] = [:]
  private var selects: [String: LockingSelect] = [:]
  /// How often a transaction met another.
  var met: (Meeting) -> Void = { _ in }

  /// - Parameters:
  ///   - dialect: rewrites the SQL of transactions, so that mutants can be injected.
  ///   - locking: what becomes of the row lock of a statement, for the same reason.
  init(
    _ migrations: [Migration], at time: Timestamp, dialect: @escaping @Sendable (String) -> String,
    locking: @escaping @Sendable (RowLock, String) -> RowLock, hasStandby: Bool
  ) throws {
    tables = try MemoryTables()
    try tables.migrate(migrations, at: time)
    standby = hasStandby ? try Standby(migrations, at: time) : nil
    shape = try StoreShape(tables)
    (self.dialect, self.locking) = (dialect, locking)
  }

  func close() {
    tables.close()
    standby?.tables.close()
  }

  func begin(_ process: SimulatedProcess?) -> SharedTransaction {
    let transaction = SharedTransaction(process)
    open.append(transaction)
    return transaction
  }

  /// Reads a snapshot of what is committed.
  func read<R>(at time: Timestamp, _ body: (Transaction) throws -> R) throws -> R {
    try activate(nil)
    let place = standby?.tables ?? tables
    return try body(Transaction(SnapshotSession(source: place, dialect: dialect), now: time))
  }

  func commit(_ transaction: SharedTransaction) throws {
    guard !transaction.order.isEmpty else { return try rollBack(transaction) }
    try activate(transaction)
    if let standby { standby.follow(try saved(transaction)) }
    try tables.run("COMMIT")
    active = nil
    end(transaction)
  }

  func rollBack(_ transaction: SharedTransaction) throws {
    guard !transaction.isOver else { return }
    if active === transaction {
      try tables.run("ROLLBACK")
      active = nil
    }
    end(transaction)
  }

  private func end(_ transaction: SharedTransaction) {
    transaction.isOver = true
    open.removeAll { $0 === transaction }
    for name in transaction.held.keys {
      holders[name]?.removeAll { $0 === transaction }
      if holders[name]?.isEmpty == true { holders[name] = nil }
    }
    let waiters = transaction.waiters
    transaction.waiters = []
    for waiter in waiters { waiter() }
  }
}

// Statements.
extension SharedStore {
  /// What came of a statement.
  enum Attempt<Value> {
    case done(Value)
    /// It has to wait for this transaction, and to be run again.
    case blocked(SharedTransaction)
  }

  func run(_ sql: String, _ values: [SQLValue], in transaction: SharedTransaction) throws -> Attempt<Written> {
    let text = dialect(sql)
    try activate(transaction)
    try tables.run("SAVEPOINT statement")
    let outcome = execute(text, values)
    if let holder = holder(of: outcome.changes, beside: transaction) {
      try undo()
      met(.waitedForRow)
      return .blocked(holder)
    }
    if let rival = try rival(of: outcome, text, values, transaction) {
      met(.waitedForKey)
      return .blocked(rival)
    }
    let written = try outcome.result.get()
    if let holder = try references(of: outcome.changes, transaction) {
      try undo()
      met(.waitedForRow)
      return .blocked(holder)
    }
    try tables.run("RELEASE statement")
    for change in outcome.changes { hold(change, transaction) }
    return .done(written)
  }

  func rows(
    _ sql: String, _ values: [SQLValue], _ lock: RowLock, in transaction: SharedTransaction
  ) throws -> Attempt<[Row]> {
    // INSERT … RETURNING and its like.
    guard sql.hasPrefix("SELECT") || sql.hasPrefix("WITH") else {
      switch try run(sql, values, in: transaction) {
      case .done(let written): return .done(written.rows)
      case .blocked(let holder): return .blocked(holder)
      }
    }
    let text = dialect(sql)
    try activate(transaction)
    switch locking(lock, text) {
    case .none: return .done(try tables.rows(text, values))
    case .waiting: return try lockedRows(select(text), values, transaction)
    case .skipping: return .done(try freeRows(select(text), values, transaction))
    }
  }

  private func select(_ sql: String) throws -> LockingSelect {
    if let known = selects[sql] { return known }
    let select = try LockingSelect(sql)
    selects[sql] = select
    return select
  }

  private func lockedRows(
    _ select: LockingSelect, _ values: [SQLValue], _ transaction: SharedTransaction
  ) throws -> Attempt<[Row]> {
    let rows = try tables.rows(select.limited, values)
    for row in rows {
      guard let holder = holder(of: try select.name(of: row), .taken, beside: transaction) else { continue }
      met(.waitedForRow)
      return .blocked(holder)
    }
    for row in rows { hold(try select.name(of: row), .taken, transaction) }
    return .done(rows)
  }

  private func freeRows(
    _ select: LockingSelect, _ values: [SQLValue], _ transaction: SharedTransaction
  ) throws -> [Row] {
    let found = try tables.rows(select.unlimited, values)
    let free = try found.filter { holder(of: try select.name(of: $0), .taken, beside: transaction) == nil }
    if free.count < found.count { met(.skippedRow) }
    let taken = Array(free.prefix(select.limit(values)))
    for row in taken { hold(try select.name(of: row), .taken, transaction) }
    return taken
  }

  /// What a statement that writes has returned, and how many rows it changed.
  struct Written {
    let rows: [Row]
    let count: Int
  }

  fileprivate struct Outcome {
    let result: Result<Written, any Error>
    let changes: [RowChange]
  }

  private func execute(_ sql: String, _ values: [SQLValue]) -> Outcome {
    _ = tables.takeChanges()
    let result = Result { try write(sql, values) }
    return Outcome(result: result, changes: tables.takeChanges())
  }

  private func write(_ sql: String, _ values: [SQLValue]) throws -> Written {
    guard sql.contains("RETURNING") else { return Written(rows: [], count: try tables.changes(sql, values)) }
    let rows = try tables.rows(sql, values)
    return Written(rows: rows, count: rows.count)
  }

  /// Undoes the statement.
  private func undo() throws {
    try tables.run("ROLLBACK TO statement")
    try tables.run("RELEASE statement")
  }

  /// The transaction on whose end it depends whether the statement meets a unique key. Afterwards the statement is
  /// undone if there is one, and done otherwise.
  private func rival(
    of outcome: Outcome, _ sql: String, _ values: [SQLValue], _ transaction: SharedTransaction
  ) throws -> SharedTransaction? {
    guard let table = shape.table(whoseKeysTakes: sql) else { return nil }
    let others = open.filter { $0 !== transaction && $0.tables.contains(table) }
    guard !others.isEmpty else { return nil }
    let rival = try others.first { other in
      try tables.run("ROLLBACK TO statement")
      // One that contradicts what this transaction has written changes nothing here.
      for row in other.saved where row.name.table == table { _ = try? apply(row) }
      return !execute(sql, values).agrees(with: outcome)
    }
    try tables.run("ROLLBACK TO statement")
    try checkReferences()
    if rival == nil { _ = execute(sql, values) } else { try tables.run("RELEASE statement") }
    return rival
  }
}

// Row locks.
extension SharedStore {
  private func holder(
    of name: RowName, _ hold: RowHold, beside transaction: SharedTransaction
  ) -> SharedTransaction? {
    guard !transaction.isOwn(name) else { return nil }
    return holders[name]?.first { $0 !== transaction && $0.held[name]?.excludes(hold) == true }
  }

  private func holder(of changes: [RowChange], beside transaction: SharedTransaction) -> SharedTransaction? {
    for change in changes where change.kind != .inserted {
      if let holder = holder(of: change.name, change.hold, beside: transaction) { return holder }
    }
    return nil
  }

  /// A new row keeps those that it references from being deleted, and waits for who has locked them.
  private func references(
    of changes: [RowChange], _ transaction: SharedTransaction
  ) throws -> SharedTransaction? {
    let parents = try changes.filter { $0.kind == .inserted }.flatMap { try shape.parents(of: $0.name, in: tables) }
    for parent in parents {
      if let holder = holder(of: parent, .referenced, beside: transaction) { return holder }
    }
    for parent in parents { hold(parent, .referenced, transaction) }
    return nil
  }

  private func hold(_ change: RowChange, _ transaction: SharedTransaction) {
    if change.kind != .inserted { hold(change.name, change.hold, transaction) }
    transaction.note(change)
  }

  private func hold(_ name: RowName, _ hold: RowHold, _ transaction: SharedTransaction) {
    guard !transaction.isOwn(name) else { return }
    if let before = transaction.held[name] {
      if hold.excludes(before) { transaction.held[name] = before == .taken ? .taken : hold }
      return
    }
    transaction.held[name] = hold
    holders[name, default: []].append(transaction)
  }
}

// Whose changes the connection shows.
extension SharedStore {
  private func activate(_ next: SharedTransaction?) throws {
    guard active !== next else { return }
    if let active {
      active.saved = try saved(active)
      try tables.run("ROLLBACK")
    }
    active = next
    guard let next else { return }
    try tables.run("BEGIN")
    var names: [RowName: RowName] = [:]
    for row in next.saved.inOrderOfReplay {
      let name = try apply(row)
      if row.kind == .inserted { names[row.name] = name }
    }
    try checkReferences()
    next.rename(names)
  }

  private func saved(_ transaction: SharedTransaction) throws -> [SharedTransaction.SavedRow] {
    try transaction.order.map { name in
      let kind = transaction.kinds[name] ?? .updated
      return SharedTransaction.SavedRow(
        name: name, kind: kind, row: kind == .deleted ? nil : try shape.row(name, in: tables))
    }
  }

  /// A row that was changed may name one that was inserted before it and is written after it here. Then its reference is
  /// not checked until ``checkReferences()``. Not always so: after the pragma SQLite prepares every statement again.
  @discardableResult
  private func apply(_ saved: SharedTransaction.SavedRow) throws -> RowName {
    do { return try shape.apply(saved, to: tables, keepingNumbers: false) } catch StorageError.foreignKey {
      guard !defersReferences else { throw StorageError.foreignKey }
      try tables.run("PRAGMA defer_foreign_keys = ON")
      defersReferences = true
      return try shape.apply(saved, to: tables, keepingNumbers: false)
    }
  }

  private func checkReferences() throws {
    guard defersReferences else { return }
    try tables.run("PRAGMA defer_foreign_keys = OFF")
    defersReferences = false
  }
}

/// How transactions of several processes met.
enum Meeting: String, CaseIterable {
  case waitedForRow = "a row was waited for"
  case waitedForKey = "a unique key was waited for"
  case skippedRow = "a locked row was skipped"
  case deadlock = "a deadlock"
  case lockTimeout = "a lock was waited for too long"
  case interleaved = "a transaction stopped between two statements"
  case lostBefore = "a connection was lost before the commit"
  case unknownDone = "an unknown commit that was done"
  case unknownNotDone = "an unknown commit that was not done"
  case unknownLater = "an unknown commit that was done later"
  case overloaded = "no connection became free"
  case leftLocks = "a dead process left locks for a while"
  case idleEnded = "the server ended a stopped process's transaction"
  case pausedLong = "a process was stopped beyond its lease"
  case diedBesideOthers = "a process died while another worked"
}

extension RowChange {
  var name: RowName { RowName(table: table, number: row) }
  fileprivate var hold: RowHold { kind == .deleted ? .taken : .updated }
}

extension SharedStore.Outcome {
  /// Whether both were refused, or changed equally many rows.
  fileprivate func agrees(with other: Self) -> Bool { (try? result.get().count) == (try? other.result.get().count) }
}

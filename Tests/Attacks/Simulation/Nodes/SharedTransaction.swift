import Storage

/// A row of a table, by the number that SQLite gave it.
struct RowName: Hashable {
  let table: String
  let number: Int64
}

/// The strengths of PostgreSQL's row locks that the product takes.
enum RowHold {
  /// A row that references it was inserted: `FOR KEY SHARE`.
  case referenced
  /// It was updated: `FOR NO KEY UPDATE`.
  case updated
  /// It was deleted, or selected `FOR UPDATE`.
  case taken

  func excludes(_ other: RowHold) -> Bool {
    switch (self, other) {
    case (.referenced, .referenced), (.referenced, .updated), (.updated, .referenced): false
    default: true
    }
  }
}

/// Why a transaction goes on no further.
enum DatabaseFailure: Error {
  case died, connectionLost, deadlock, lockTimeout

  /// As PostgreSQL's errors after which the engine runs a transaction again.
  var invitesRepetition: Bool { self == .connectionLost || self == .deadlock }

  var translated: StorageError {
    switch self {
    case .died, .connectionLost: .connection("lost")
    case .deadlock, .lockTimeout: .busy
    }
  }
}

/// A transaction at the server: what it has changed and nobody else sees, and the rows that it holds.
final class SharedTransaction {
  /// Where the work of a transaction stops.
  enum Place {
    case betweenStatements
    case lock(SharedTransaction)
  }

  /// A row as the transaction left it.
  struct SavedRow {
    let name: RowName
    let kind: RowChange.Kind
    /// Nil for a deleted one.
    let row: Row?
  }

  /// Nil for who only looks at the store.
  let process: SimulatedProcess?
  /// What it has done to each row since its beginning, in order.
  private(set) var kinds: [RowName: RowChange.Kind] = [:]
  private(set) var order: [RowName] = []
  /// The rows as they were when another transaction had its turn.
  var saved: [SavedRow] = []
  var held: [RowName: RowHold] = [:]
  var waitsFor: SharedTransaction?
  /// Told when it ends.
  var waiters: [() -> Void] = []
  var isOver = false
  /// All its statements are done.
  var isCommitting = false
  /// The process has sent `COMMIT`, or given the connection up.
  var isLeft = false
  var interruption: DatabaseFailure?
  var coroutine: Coroutine<Place>?

  init(_ process: SimulatedProcess?) { self.process = process }

  var tables: Set<String> { Set(order.map(\.table)) }

  func isOwn(_ name: RowName) -> Bool { kinds[name] == .inserted }

  func note(_ change: RowChange) {
    let name = RowName(table: change.table, number: change.row)
    switch (kinds[name], change.kind) {
    case (nil, let kind):
      kinds[name] = kind
      order.append(name)
    case (.inserted, .deleted):
      kinds[name] = nil
      order.removeAll { $0 == name }
    case (.inserted, _): break
    case (.deleted, .inserted): kinds[name] = .updated
    case (_, let kind): kinds[name] = kind
    }
  }

  /// New rows have other numbers now, because another transaction's new rows have those that they had.
  func rename(_ names: [RowName: RowName]) {
    let renamed = order.map { (name: names[$0] ?? $0, kind: kinds[$0] ?? .updated) }
    // A new row may have the number of one that this transaction has deleted.
    kinds = Dictionary(renamed.map { ($0.name, $0.kind) }) { _, _ in .updated }
    order = renamed.map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Whether waiting for `holder` would make a circle.
  func wouldDeadlock(waitingFor holder: SharedTransaction) -> Bool {
    var next: SharedTransaction? = holder
    while let one = next {
      if one === self { return true }
      next = one.waitsFor
    }
    return false
  }
}

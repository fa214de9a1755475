import Synchronization
import TenderPayments

/// The store: one SQL dialect, reads and durable writes.
///
/// The dialect is the part of SQL that SQLite and PostgreSQL share: `$n` parameters, the column types BIGINT, TEXT and
/// BYTEA, `INSERT … ON CONFLICT DO NOTHING` before any SELECT. Times are BIGINT microseconds.
package struct Database: Sendable {
  let engine: any StoreEngine
  /// The keys that seal texts in it; nil for a store that has none.
  package let rowKeys: RowKeys?

  /// A store on an engine of another module, as simulations have one.
  package init(engine: any StoreEngine) { self.init(engine, nil) }

  init(_ engine: any StoreEngine, _ rowKeys: RowKeys?) { (self.engine, self.rowKeys) = (engine, rowKeys) }

  /// This store with keys that seal texts in it from now on.
  package func sealed(under keys: RowKeys?) -> Database { Database(engine, keys) }

  /// Runs `body` on one consistent snapshot.
  package func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await engine.read(withKeys(body))
  }

  private func withKeys<R>(
    _ body: @escaping @Sendable (Transaction) throws -> R
  ) -> @Sendable (Transaction) throws -> R {
    guard let rowKeys else { return body }
    return { transaction in
      transaction.rowKeys = rowKeys
      return try body(transaction)
    }
  }

  /// What each query finds first, or nil: one consistent snapshot, in one trip to the database.
  package func first<each Found>(_ query: repeat Query<each Found>) async throws -> (repeat (each Found)?) {
    try await firstRows(of: [SQLStatement](repeat each query)).read(by: repeat each query)
  }

  /// The first row of each query of a list, or nil, as ``first(_:)`` asks them.
  package func firstRows(of queries: [SQLStatement]) async throws -> [Row?] {
    try await engine.read { try $0.lastRows(of: queries) }
  }

  /// Runs `body` in a transaction and returns when its effects are on disk. An error rolls all of it back.
  ///
  /// In SQLite concurrent writes share one commit, so durable throughput grows with load. `body` may run more than once
  /// and must not have effects outside the transaction.
  ///
  /// - Throws: ``StorageError/outcomeUnknown`` when PostgreSQL did not say whether the commit happened: read the row
  ///   again by its id. What `body` threw; ``StorageError`` otherwise.
  @discardableResult
  package func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try await engine.write(withKeys(body))
  }

  /// Runs `body` as ``write(_:)`` does, and once more after each commit whose outcome is unknown, so that the caller
  /// learns what became of it.
  ///
  /// - Parameter body: is handed what it returned before a commit in doubt; nil at first. It looks whether that is in
  ///   the store, when it has waited for a lock or a unique key that it took then, and returns it; otherwise it begins
  ///   anew.
  /// - Throws: ``StorageError/outcomeUnknown`` when the store cannot say either. Every other error means that nothing
  ///   is written.
  package func writeOnce<R: Sendable>(
    _ body: @escaping @Sendable (Transaction, _ inDoubt: R?) throws -> R
  ) async throws -> R {
    let returned = Mutex<R?>(nil)
    var (isInDoubt, inDoubt): (Bool, R?) = (false, nil)
    for _ in 0..<3 {
      do {
        return try await write { [inDoubt] store in
          let result = try body(store, inDoubt)
          returned.withLock { $0 = result }
          return result
        }
      } catch StorageError.outcomeUnknown {
        (isInDoubt, inDoubt) = (true, returned.withLock(\.self))
      } catch is StorageError where isInDoubt {
        break
      }
    }
    throw StorageError.outcomeUnknown
  }

  /// Takes what was deleted out of the write-ahead log too, as far as no reader needs it: moves all of it into the
  /// file, and cuts it off. In PostgreSQL the server keeps its log, and this does nothing.
  ///
  /// - Returns: whether the log is empty.
  @discardableResult
  package func emptyLog() async -> Bool { await engine.emptyLog() }

  /// Commits since the store was opened, each one flush of the disk: under load far fewer than writes.
  package var commits: Int { engine.commits }

  /// Whether other processes may use the same store. Then transactions commit beside one another, and what one process
  /// changes the others read later.
  package var isShared: Bool { engine.isShared }

  /// Writes that wait for the next commit.
  package var waiting: Int { engine.waiting }

  /// Why the store refuses writes; nil when it does not. After a failed commit the contents of the disk are unknown,
  /// and only a new process that reads them again may continue.
  package var failure: StorageError? { engine.failure }

  /// Waits for ``failure``; one caller at a time. Nil when the task is cancelled first, and at once in PostgreSQL,
  /// which has none.
  package func awaitFailure() async -> StorageError? { await engine.awaitFailure() }

  /// What the connections to the database have done; nil in SQLite.
  package var pool: PoolFigures? { engine.pool }

  package func close() async { await engine.close() }
}

/// The operations of a storage engine.
package protocol StoreEngine: Sendable {
  func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R
  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R
  func close() async
  func emptyLog() async -> Bool
  var isShared: Bool { get }
  var commits: Int { get }
  var waiting: Int { get }
  var failure: StorageError? { get }
  func awaitFailure() async -> StorageError?
  var pool: PoolFigures? { get }
}

extension StoreEngine {
  package func awaitFailure() async -> StorageError? { nil }
  package func emptyLog() async -> Bool { true }
  package var pool: PoolFigures? { nil }
}

import Storage
import TenderPayments

/// One process's way to the store that it shares: what the PostgreSQL engine does with its connections.
struct SharedEngine: StoreEngine, @unchecked Sendable {
  let store: SharedStore
  let process: SimulatedProcess
  let thread: SimulatedThread
  let network: DatabaseNetwork
  /// The database's.
  let clock: WallClock

  func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    await process.stop("before a read")
    try network.connect()
    return try store.read(at: clock.now(), body)
  }

  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    await process.stop("before a write")
    try network.connect()
    let end = thread.uptime + PostgresSettings(address: "").timeout
    while true {
      do { return try await attempt(body) } catch let error as DatabaseFailure {
        guard error.invitesRepetition, thread.uptime < end else { throw error.translated }
        let pause = thread.choices.milliseconds(5...50)
        await thread.suspended(of: process) { reply in thread.after(pause, "a transaction runs again") { reply(()) } }
      }
    }
  }

  private func attempt<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    let transaction = store.begin(process)
    do {
      let result = try await perform(body, in: transaction)
      try await commit(transaction)
      return result
    } catch {
      if !transaction.isLeft { try store.rollBack(transaction) }
      throw error
    }
  }

  /// The statements. While no other transaction is open, they may run in one go.
  private func perform<R: Sendable>(
    _ body: @escaping @Sendable (Transaction) throws -> R, in transaction: SharedTransaction
  ) async throws -> R {
    let session = SharedSession(store: store, transaction: transaction, network: network)
    let (now, result) = (clock.now(), Box<R>())
    let work = {
      result.value = Result {
        let statements = Transaction(session, now: now)
        let value = try body(statements)
        if let failure = statements.failure { throw failure }
        return value
      }
    }
    if store.open.count == 1, !network.interleaves() { work() } else { await interleaved(transaction, work) }
    guard let result = result.value else { throw DatabaseFailure.died }
    // A body may answer an error of its own for the one that ended its transaction.
    if let interruption = transaction.interruption { throw interruption }
    return try result.get()
  }

  private func interleaved(_ transaction: SharedTransaction, _ work: @escaping () -> Void) async {
    let coroutine = Coroutine<SharedTransaction.Place> { _ in work() }
    transaction.coroutine = coroutine
    while let place = coroutine.resume() {
      switch place {
      case .betweenStatements:
        store.met(.interleaved)
        await process.stop("between two statements")
        if network.loses(transaction) { transaction.interruption = transaction.interruption ?? .connectionLost }
      case .lock(let holder): await wait(transaction, holder)
      }
    }
    transaction.coroutine = nil
  }

  private func wait(_ transaction: SharedTransaction, _ holder: SharedTransaction) async {
    guard !holder.isOver else { return }
    guard !transaction.wouldDeadlock(waitingFor: holder) else {
      store.met(.deadlock)
      transaction.interruption = .deadlock
      return
    }
    transaction.waitsFor = holder
    let isFree: Bool = await thread.suspended(of: process) { reply in
      var isTold = false
      func tell(_ isFree: Bool) {
        guard !isTold else { return }
        isTold = true
        reply(isFree)
      }
      holder.waiters.append { tell(true) }
      thread.after(PostgresSettings(address: "").lockLimit, "a lock is not waited for any longer") { tell(false) }
    }
    transaction.waitsFor = nil
    if !isFree {
      store.met(.lockTimeout)
      transaction.interruption = transaction.interruption ?? .lockTimeout
    }
    await process.stop("after a lock")
  }

  /// The commit, and what becomes of it on the way.
  private func commit(_ transaction: SharedTransaction) async throws {
    let wrote = transaction.tables.sorted().joined(separator: " ")
    transaction.isCommitting = true
    await process.stop("before a commit")
    // The server has ended it. The engine cannot know what became of a commit that was not answered.
    guard transaction.interruption == nil else { throw StorageError.outcomeUnknown }
    transaction.isLeft = true
    try await network.commit(transaction, in: store)
    if !wrote.isEmpty { await process.stop("after \(wrote)") }
  }

  func close() async {}
  var isShared: Bool { true }
  var commits: Int { 0 }
  var waiting: Int { 0 }
  var failure: StorageError? { nil }

  private final class Box<Value>: @unchecked Sendable {
    var value: Result<Value, any Error>?
  }
}

/// The way of who only looks at the store, while no process works on it.
struct QuietEngine: StoreEngine, @unchecked Sendable {
  let store: SharedStore
  let clock: WallClock

  func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    try store.read(at: clock.now(), body)
  }

  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    let transaction = store.begin(nil)
    do {
      let session = SharedSession(store: store, transaction: transaction, network: nil)
      let statements = Transaction(session, now: clock.now())
      let value = try body(statements)
      if let failure = statements.failure { throw failure }
      try store.commit(transaction)
      return value
    } catch {
      try store.rollBack(transaction)
      throw error
    }
  }

  func close() async {}
  var isShared: Bool { true }
  var commits: Int { 0 }
  var waiting: Int { 0 }
  var failure: StorageError? { nil }
}

/// The statements of one transaction.
struct SharedSession: StoreSession {
  let store: SharedStore
  let transaction: SharedTransaction
  /// Nil where nothing goes wrong.
  let network: DatabaseNetwork?

  func rows(_ sql: String, _ values: [SQLValue], locking: RowLock) throws -> [Row] {
    try done { try store.rows(sql, values, locking, in: transaction) }
  }

  func firstRow(_ sql: String, _ values: [SQLValue]) throws -> Row? { try rows(sql, values, locking: .none).first }

  func run(_ sql: String, _ values: [SQLValue]) throws { _ = try changes(sql, values) }

  func changes(_ sql: String, _ values: [SQLValue]) throws -> Int {
    try done { try store.run(sql, values, in: transaction) }.count
  }

  func define(_ sql: String) throws { throw StorageError.other("no table is made here") }
  func tables() throws -> [TableShape] { [] }
  func connections(named prefix: String, without suffix: String?) throws -> Int { 0 }
  func serverFacts() throws -> DatabaseFacts? { nil }

  private func done<Value>(_ statement: () throws -> SharedStore.Attempt<Value>) throws -> Value {
    if network?.interleaves() == true { try stop(at: .betweenStatements) }
    while true {
      if let interruption = transaction.interruption { throw interruption.translated }
      switch try statement() {
      case .done(let value): return value
      case .blocked(let holder): try stop(at: .lock(holder))
      }
    }
  }

  /// Work that cannot stop has no other transaction beside it.
  private func stop(at place: SharedTransaction.Place) throws {
    if let interruption = transaction.interruption { throw interruption.translated }
    guard let coroutine = transaction.coroutine else {
      if case .lock = place { throw StorageError.busy }
      return
    }
    coroutine.stop(at: place)
    if let interruption = transaction.interruption { throw interruption.translated }
  }
}

import Storage
import TenderPayments

/// What goes wrong between the processes and their database.
final class DatabaseNetwork: @unchecked Sendable {
  private let thread: SimulatedThread
  /// How many of a thousand statements are followed by another transaction's.
  private let restlessness: Int
  /// How many of a thousand connections, statements and commits go wrong.
  var trouble = 0
  /// A defect: what a commit counts as whose outcome is unknown.
  private let defect: Mutant.Defect?
  /// Whether the server refuses writes.
  var isFull: () -> Bool = { false }

  init(_ thread: SimulatedThread, restlessness: Int, defect: Mutant.Defect?) {
    (self.thread, self.restlessness, self.defect) = (thread, restlessness, defect)
  }

  /// Called when the store is ready.
  var met: (Meeting) -> Void = { _ in }

  func interleaves() -> Bool { restlessness > 0 && thread.choices.chance(restlessness) }

  func connect() throws {
    guard trouble > 0, thread.choices.chance(trouble / 4) else { return }
    met(.overloaded)
    throw StorageError.overloaded
  }

  /// Whether the connection of a transaction is lost here.
  func loses(_ transaction: SharedTransaction) -> Bool { trouble > 0 && thread.choices.chance(trouble / 4) }

  private enum Fate: CaseIterable { case lostBefore, unknownDone, unknownNotDone, unknownLater }

  func commit(_ transaction: SharedTransaction, in store: SharedStore) async throws {
    guard !isFull() || transaction.order.isEmpty else {
      try store.rollBack(transaction)
      throw StorageError.full
    }
    guard trouble > 0, thread.choices.chance(trouble) else { return Self.mustSucceed { try store.commit(transaction) } }
    switch Fate.allCases[thread.choices.pick(Fate.allCases.count)] {
    case .lostBefore:
      met(.lostBefore)
      try store.rollBack(transaction)
      throw DatabaseFailure.connectionLost
    case .unknownDone:
      met(.unknownDone)
      Self.mustSucceed { try store.commit(transaction) }
    case .unknownNotDone:
      met(.unknownNotDone)
      try store.rollBack(transaction)
    case .unknownLater:
      met(.unknownLater)
      // As while a standby is waited for: until then it holds its rows.
      thread.after(thread.choices.milliseconds(50...6_000), "an unknown commit is done") {
        Self.mustSucceed { try store.commit(transaction) }
      }
    }
    if defect == .believesLosses { throw StorageError.connection("lost") }
    if defect != .believesCommits { throw StorageError.outcomeUnknown }
  }

  /// The process of these transactions is gone; its server learns it sooner or later.
  func abandon(_ transactions: [SharedTransaction], in store: SharedStore) {
    for transaction in transactions where !transaction.isLeft {
      transaction.interruption = .died
      // What the process had in memory is gone.
      while transaction.coroutine?.resume() != nil {}
      (transaction.coroutine, transaction.waitsFor, transaction.isLeft) = (nil, nil, true)
      let isLate = thread.choices.chance(200)
      if isLate { met(.leftLocks) }
      let delay = isLate ? thread.choices.milliseconds(500...9_000) : .zero
      // The server may have received the commit, although nobody hears of it any more.
      let isReceived = transaction.isCommitting && thread.choices.chance(500)
      thread.after(delay, "the database misses a process") {
        Self.mustSucceed { if isReceived { try store.commit(transaction) } else { try store.rollBack(transaction) } }
      }
    }
  }

  /// A process was stopped with these transactions open: the server ends them, so that they hold no locks.
  func endIdle(_ transactions: [SharedTransaction], in store: SharedStore) {
    thread.after(PostgresSettings(address: "").idleLimit, "the database ends what is idle") { [self] in
      for transaction in transactions where transaction.process?.isPaused == true {
        guard !transaction.isLeft, !transaction.isOver else { continue }
        met(.idleEnded)
        transaction.interruption = .connectionLost
        Self.mustSucceed { try store.rollBack(transaction) }
      }
    }
  }

  /// The simulator's own defect otherwise: what was written would be lost without a word.
  private static func mustSucceed(_ work: () throws -> Void) {
    do { try work() } catch { fatalError("the shared store: \(error)") }
  }
}

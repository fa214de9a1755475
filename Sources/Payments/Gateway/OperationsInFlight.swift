import Ledger
import Synchronization
import TenderPayments

/// The operations that this process is working on, and the answers that its store has not recorded yet.
///
/// Recovery leaves them alone: whatever the clock says, a process does not acquire its own leases again.
final class OperationsInFlight: Sendable {
  private struct State {
    var running: [AttemptReference: Int] = [:]
    var unrecorded: [AttemptReference: ReceivedAnswer] = [:]
  }

  private let state = Mutex(State())

  func references() -> Set<AttemptReference> {
    state.withLock { Set($0.running.keys).union($0.unrecorded.keys) }
  }

  /// Answers that wait for the store, oldest first.
  var unrecorded: [ReceivedAnswer] {
    state.withLock { $0.unrecorded.values.sorted { $0.attempt.reference.rawValue < $1.attempt.reference.rawValue } }
  }

  /// A call, or a round of recovery, that begins operations or acquires their leases. It has to be ended.
  func newCall() -> CallInFlight { CallInFlight(self) }

  func keep(_ answer: ReceivedAnswer) { state.withLock { $0.unrecorded[answer.attempt.reference] = answer } }
  func forget(_ reference: AttemptReference) { state.withLock { _ = $0.unrecorded.removeValue(forKey: reference) } }

  fileprivate func begin(_ reference: AttemptReference) { state.withLock { $0.running[reference, default: 0] += 1 } }

  fileprivate func end(_ reference: AttemptReference) {
    state.withLock { state in
      let count = (state.running[reference] ?? 1) - 1
      state.running[reference] = count > 0 ? count : nil
    }
  }
}

/// One call with the operations that it works on.
final class CallInFlight: Sendable {
  private let operations: OperationsInFlight
  private let references = Mutex<Set<AttemptReference>>([])

  fileprivate init(_ operations: OperationsInFlight) { self.operations = operations }

  /// Called inside the transaction that begins the operation or acquires its lease, so that another call of this
  /// process cannot lease it in between. After a rollback the reference stays here until the call ends, which is
  /// harmless.
  func note(_ reference: AttemptReference) {
    if references.withLock({ $0.insert(reference).inserted }) { operations.begin(reference) }
  }

  /// What this call works on.
  var noted: Set<AttemptReference> { references.withLock { $0 } }

  func end() {
    let ended = references.withLock { references in
      defer { references = [] }
      return references
    }
    for reference in ended { operations.end(reference) }
  }
}

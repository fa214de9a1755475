import Synchronization

extension Database {
  /// This store for callers of whose transactions at most so many are under way at once, so that the other callers
  /// find connections that are free.
  ///
  /// - Parameter steps: of SQLite's virtual machine that one statement of a read may take, some ten seconds by default.
  ///   Beyond them it fails as ``StorageError/busy``. PostgreSQL has a limit of time for every statement.
  package func limited(to maximum: Int, steps: Int32 = 1_000_000_000) -> Database {
    Database(LimitedEngine(whole: engine, places: Places(maximum), steps: steps), rowKeys)
  }
}

/// An engine with some of the places of another.
private struct LimitedEngine: StoreEngine {
  let whole: any StoreEngine
  let places: Places
  let steps: Int32

  func read<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    await places.take()
    defer { places.free() }
    return try await whole.read { [steps] store in try store.limiting(steps) { try body(store) } }
  }

  func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
    await places.take()
    defer { places.free() }
    return try await whole.write(body)
  }

  func close() async { await whole.close() }
  func emptyLog() async -> Bool { await whole.emptyLog() }

  var isShared: Bool { whole.isShared }
  var commits: Int { whole.commits }
  var waiting: Int { whole.waiting }
  var failure: StorageError? { whole.failure }
  func awaitFailure() async -> StorageError? { await whole.awaitFailure() }
  var pool: PoolFigures? { whole.pool }
}

/// Places that callers wait for in the order in which they came.
private final class Places: Sendable {
  private let state: Mutex<(free: Int, waiting: [CheckedContinuation<Void, Never>])>

  init(_ count: Int) { state = Mutex((count, [])) }

  func take() async {
    await withCheckedContinuation { continuation in
      let isTaken = state.withLock { state in
        guard state.free > 0 else {
          state.waiting.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if isTaken { continuation.resume() }
    }
  }

  /// The next caller gets the place without a moment in between.
  func free() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}

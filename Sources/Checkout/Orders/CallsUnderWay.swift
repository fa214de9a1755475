import Synchronization

/// How many calls of one kind are under way: to merchants' own servers, or for a route. Pages and operators cause them, so
/// one that asks for much must not occupy the other server, nor this one.
package final class CallsUnderWay<Key: Hashable & Sendable>: Sendable {
  private let most: Int
  private let mostOfOne: Int
  private let counts = Mutex<[Key: Int]>([:])

  /// - Parameters:
  ///   - most: of all merchants or routes together; at least one is let through.
  ///   - share: each of them may have one of so many parts.
  package init(_ most: Int, ofEach share: Int) {
    (self.most, mostOfOne) = (max(1, most), max(1, most / share))
  }

  /// - Parameter refusal: of one too many.
  package func admit<Value: Sendable>(
    _ key: Key, orElse refusal: any Error, _ work: () async throws -> Value
  ) async throws -> Value {
    let isAdmitted = counts.withLock { counts in
      guard counts.values.reduce(0, +) < most, counts[key, default: 0] < mostOfOne else { return false }
      counts[key, default: 0] += 1
      return true
    }
    guard isAdmitted else { throw refusal }
    defer {
      counts.withLock { counts in
        let count = counts[key, default: 1] - 1
        counts[key] = count > 0 ? count : nil
      }
    }
    return try await work()
  }
}

extension OrderError {
  static func tooManyCalls(_ code: Code) -> OrderError {
    OrderError(code, "too many calls to the merchant's server are under way")
  }
}

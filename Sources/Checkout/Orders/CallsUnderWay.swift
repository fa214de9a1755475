import Synchronization
package import TenderPayments

/// How many calls of one kind to merchants' own servers are under way. Pages and operators cause them, so one that asks for
/// much must not occupy the merchant's server, nor this one.
package final class CallsUnderWay: Sendable {
  private let most: Int
  private let mostOfMerchant: Int
  private let counts = Mutex<[MerchantID: Int]>([:])

  /// - Parameters:
  ///   - most: of all merchants together; at least one is let through.
  ///   - share: a merchant may have one of so many parts of them.
  package init(_ most: Int, ofMerchant share: Int) {
    (self.most, mostOfMerchant) = (max(1, most), max(1, most / share))
  }

  /// - Parameter refusal: of one too many.
  package func admit<Value: Sendable>(
    _ merchant: MerchantID, orElse refusal: any Error, _ work: () async throws -> Value
  ) async throws -> Value {
    let isAdmitted = counts.withLock { counts in
      guard counts.values.reduce(0, +) < most, counts[merchant, default: 0] < mostOfMerchant else { return false }
      counts[merchant, default: 0] += 1
      return true
    }
    guard isAdmitted else { throw refusal }
    defer {
      counts.withLock { counts in
        let count = counts[merchant, default: 1] - 1
        counts[merchant] = count > 0 ? count : nil
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

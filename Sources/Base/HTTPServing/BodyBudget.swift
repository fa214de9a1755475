import Synchronization

/// Limits how many bytes of long bodies are in memory at once, in all and of each caller.
package final class BodyBudget: Sendable {
  private let limit: Int
  private let limitOfCaller: Int
  private let taken = Mutex<[String: Int]>([:])

  /// - Parameters:
  ///   - limit: bytes of all bodies.
  ///   - limitOfCaller: bytes of all bodies of one caller.
  package init(_ limit: Int, ofCaller limitOfCaller: Int) {
    (self.limit, self.limitOfCaller) = (limit, limitOfCaller)
  }

  /// The memory of a body of which nothing has arrived.
  package func share(of caller: String) -> Share { Share(of: caller, in: self) }

  fileprivate func take(_ bytes: Int, of caller: String) throws(BodyReader.Failure) {
    let hasRoom = taken.withLock { taken in
      let own = taken[caller, default: 0]
      guard bytes <= limit - taken.values.reduce(0, +), bytes <= limitOfCaller - own else { return false }
      taken[caller] = own + bytes
      return true
    }
    guard hasRoom else { throw .noRoom }
  }

  fileprivate func free(_ bytes: Int, of caller: String) {
    taken.withLock { taken in
      let rest = taken[caller, default: bytes] - bytes
      taken[caller] = rest > 0 ? rest : nil
    }
  }

  /// The memory that one body has reserved. The end of the share frees it.
  package final class Share: Sendable {
    private let bytes = Mutex(0)
    private let caller: String
    private let budget: BodyBudget

    fileprivate init(of caller: String, in budget: BodyBudget) { (self.caller, self.budget) = (caller, budget) }

    /// Reserves memory for what has arrived.
    ///
    /// - Parameter length: of the body so far.
    package func grow(to length: Int) throws(BodyReader.Failure) {
      try bytes.withLock { bytes throws(BodyReader.Failure) in
        try budget.take(length - bytes, of: caller)
        bytes = length
      }
    }

    deinit { budget.free(bytes.withLock(\.self), of: caller) }
  }
}

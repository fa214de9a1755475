import Synchronization

/// Limits how many bytes of long bodies are in memory at once.
package final class BodyBudget: Sendable {
  private let limit: Int
  private let taken = Mutex(0)

  /// - Parameter limit: bytes.
  package init(_ limit: Int) { self.limit = limit }

  /// Reserves memory for a body until nothing holds the share any more.
  package func take(_ bytes: Int) throws(BodyReader.Failure) -> Share {
    let hasRoom = taken.withLock { taken in
      guard bytes <= limit - taken else { return false }
      taken += bytes
      return true
    }
    guard hasRoom else { throw .noRoom }
    return Share(bytes, of: self)
  }

  fileprivate func free(_ bytes: Int) { taken.withLock { $0 -= bytes } }

  /// The memory that one body has reserved. The end of the share frees it.
  package final class Share: Sendable {
    private let bytes: Int
    private let budget: BodyBudget

    fileprivate init(_ bytes: Int, of budget: BodyBudget) { (self.bytes, self.budget) = (bytes, budget) }

    deinit { budget.free(bytes) }
  }
}

import Synchronization
public import TenderPayments

/// Apple's step 5 for a program without a database: a payment token pays once.
///
/// It remembers as long as a token could pass the window of signing times again, and in this process's memory alone.
/// Whoever runs two processes, or restarts within ten minutes, needs a store with two unique columns in its place:
/// `TokenUse` has the values.
///
/// Source: Apple, *Payment token format reference*, "Ensure that the same payment wasn't already credited". A search of
/// the window is enough, because an older token is refused for its age.
public final class ReplayWindow: Sendable {
  fileprivate struct Memory {
    var known: Set<String> = []
    /// What can be forgotten, by the minute after which it can.
    var minutes: [Int64: [TokenUse]] = [:]
    var count = 0
  }

  private let capacity: Int
  private let memory = Mutex(Memory())

  /// - Parameter capacity: how many tokens are remembered; about 300 bytes each. When all of them are still fresh, the
  ///   next one is refused: a token that cannot be remembered could pay twice.
  public init(capacity: Int = 200_000) { self.capacity = capacity }

  /// Takes the token for spent.
  ///
  /// - Parameters:
  ///   - token: verified, so that its fingerprints are what the device signed.
  ///   - now: of the same clock that it was verified by.
  /// - Throws: `token_already_used`, `replay_window_full`.
  public func spend(_ token: VerifiedPaymentToken, at now: Timestamp) throws(PaymentTokenError) {
    let outcome: Result<Void, PaymentTokenError> = memory.withLock { memory in
      memory.forget(before: now)
      guard memory.isNew(token.use) else {
        return .failure(
          PaymentTokenError(.tokenAlreadyUsed, "a payment token with these fingerprints was spent before"))
      }
      guard memory.count < capacity else {
        return .failure(PaymentTokenError(.replayWindowFull, "\(capacity) payment tokens within ten minutes"))
      }
      memory.remember(token.use, until: token.signingTime.adding(TokenVerifier.window))
      return .success(())
    }
    try outcome.get()
  }

  /// How many tokens are remembered.
  public var count: Int { memory.withLock { $0.count } }
}

extension ReplayWindow.Memory {
  fileprivate func isNew(_ use: TokenUse) -> Bool {
    !known.contains(use.transactionID) && !known.contains(use.payloadHash)
  }

  fileprivate mutating func remember(_ use: TokenUse, until end: Timestamp) {
    known.insert(use.transactionID)
    known.insert(use.payloadHash)
    minutes[Self.minute(end) + 1, default: []].append(use)
    count += 1
  }

  fileprivate mutating func forget(before now: Timestamp) {
    for minute in minutes.keys where minute < Self.minute(now) {
      for use in minutes.removeValue(forKey: minute) ?? [] {
        known.remove(use.transactionID)
        known.remove(use.payloadHash)
        count -= 1
      }
    }
  }

  private static func minute(_ time: Timestamp) -> Int64 { time.microseconds / 60_000_000 }
}

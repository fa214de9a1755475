import Synchronization
public import TenderPayments

/// Apple's step 5 for a program without a database: accepts each payment token once.
///
/// It remembers a token in memory for as long as the signing-time window would accept it again. A program that runs in
/// two processes, or restarts within ten minutes, needs a store with two unique columns instead: `TokenUse` has the
/// values.
///
/// Source: Apple, *Payment token format reference*, "Ensure that the same payment wasn't already credited". A search of
/// the window is enough, because an older token is refused for its age.
public final class ReplayWindow: Sendable {
  fileprivate struct Memory {
    var known: Set<String> = []
    /// Tokens by the minute after which they can be removed.
    var minutes: [Int64: [TokenUse]] = [:]
    var count = 0
    /// The latest time of a call. What ended before it may be forgotten.
    var latest = Timestamp(microseconds: .min)
  }

  private let capacity: Int
  private let memory = Mutex(Memory())

  /// - Parameter capacity: how many tokens are remembered; about 300 bytes each. When all of them are still fresh, the
  ///   window refuses the next token, which could otherwise pay twice.
  public init(capacity: Int = 200_000) { self.capacity = capacity }

  /// Marks the token as spent.
  ///
  /// - Parameters:
  ///   - token: verified, so that its fingerprints are what the device signed.
  ///   - now: of the clock that the verification used. A token that was verified earlier than others that were spent since,
  ///     and that may have been spent and forgotten, is refused.
  /// - Throws: `token_already_used`, `too_old`, `replay_window_full`.
  public func spend(_ token: VerifiedPaymentToken, at now: Timestamp) throws(PaymentTokenError) {
    let outcome: Result<Void, PaymentTokenError> = memory.withLock { memory in
      memory.latest = max(memory.latest, now)
      memory.forget(before: memory.latest)
      guard memory.isNew(token.use) else {
        return .failure(
          PaymentTokenError(.tokenAlreadyUsed, "a payment token with these fingerprints was spent before"))
      }
      let end = token.signingTime.adding(TokenVerifier.window)
      guard end >= memory.latest else {
        return .failure(
          PaymentTokenError(.tooOld, "signed \(token.signingTime), and others were spent at \(memory.latest) already"))
      }
      guard memory.count < capacity else {
        return .failure(PaymentTokenError(.replayWindowFull, "\(capacity) payment tokens within ten minutes"))
      }
      memory.remember(token.use, until: end)
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

import Synchronization

/// Faults that a test injects into the next call that can show them; each one is used once.
final class InjectedFaults: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    /// The gateway answers 503.
    case gatewayUnavailable = "gateway_unavailable"
    /// The next payment token was signed ten minutes ago.
    case staleToken = "stale_token"
    /// One bit of the next payment token's data changes after it was signed.
    case alteredToken = "altered_token"
    /// The next code for a phone is older than five minutes.
    case lateCode = "late_code"
  }

  private let pending = Mutex<[Kind]>([])

  func inject(_ kind: Kind) { pending.withLock { $0.append(kind) } }

  /// Whether the fault was injected; removes it.
  func take(_ kind: Kind) -> Bool {
    pending.withLock { pending in
      guard let index = pending.firstIndex(of: kind) else { return false }
      pending.remove(at: index)
      return true
    }
  }

  func clear() { pending.withLock { $0 = [] } }
}

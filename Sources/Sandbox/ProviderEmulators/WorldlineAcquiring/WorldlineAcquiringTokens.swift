import Synchronization
import TenderPayments

/// The access tokens that the emulated Worldline Acquiring has issued. They end with the process.
final class WorldlineAcquiringTokens: Sendable {
  struct Grant: Sendable {
    let account: WorldlineAcquiringAccount
    let scopes: Set<String>
    let end: Timestamp
  }

  private struct State {
    var grants: [String: Grant] = [:]
    var issued = 0
  }

  private let state = Mutex(State())

  /// How many were issued.
  var issued: Int { state.withLock { $0.issued } }

  func issue(_ text: String, _ grant: Grant) {
    state.withLock {
      $0.grants[text] = grant
      $0.issued += 1
    }
  }

  /// What a token grants at this moment.
  func grant(_ text: String, at now: Timestamp) -> Grant? {
    state.withLock { $0.grants[text].flatMap { now < $0.end ? $0 : nil } }
  }

  func revokeAll() { state.withLock { $0.grants = [:] } }
}

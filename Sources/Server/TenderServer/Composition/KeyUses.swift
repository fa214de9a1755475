import Logging
import MerchantIdentity
import ServiceLifecycle
import Storage
import Synchronization
import TenderPayments

/// When API keys were used last, on their way into the store: of each key at most one use a minute.
final class KeyUses: Sendable {
  private static let precision = Duration.seconds(60)

  private struct State {
    var noted: [SecretName: Timestamp] = [:]
    var waiting: [SecretName: Timestamp] = [:]
  }

  private let state = Mutex(State())

  func note(_ key: String, of merchant: MerchantID, at now: Timestamp) {
    let name = SecretName(merchant, .apiKey, key)
    state.withLock { state in
      if let last = state.noted[name], now.since(last) < Self.precision { return }
      state.noted[name] = now
      state.waiting[name] = now
    }
  }

  /// What is to be written.
  func take() -> [SecretName: Timestamp] {
    state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting
    }
  }
}

/// Writes the last uses of API keys, within a second, and the last of them at the end.
struct KeyUseRecorder: Service {
  let uses: KeyUses
  let database: Database
  let scheduler: Scheduler
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        await write()
        do { try await scheduler.sleep(.seconds(1)) } catch { break }
      }
    }
    await write()
  }

  private func write() async {
    let uses = uses.take()
    guard !uses.isEmpty else { return }
    do {
      try await MerchantStore(database, keys: nil).note { tables in
        for (name, time) in uses { try tables.setUsed(name, at: time) }
      }
    } catch {
      logger.error("the last use of API keys is not recorded", metadata: ["error": .string("\(error)")])
    }
  }
}

import ApplePayToken
import Logging
import MerchantIdentity
import ServiceLifecycle
import Storage
import TenderPayments

/// Takes over what other nodes, or the passing of time, change about the merchants and keys in the store, within seconds.
struct MerchantPolling: Service {
  static let interval: Duration = .seconds(2)

  let merchants: LiveMerchants
  let keys: ProcessingKeys
  let database: Database
  let clock: WallClock
  let scheduler: Scheduler
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var failure: String?
      while !Task.isCancelled {
        do { try await scheduler.sleep(Self.interval) } catch { return }
        failure = await poll(after: failure)
      }
    }
  }

  /// A step that fails does not keep the next from being done.
  ///
  /// - Parameter failure: of the time before, which is not logged again.
  private func poll(after failure: String?) async -> String? {
    var failures: [String] = []
    for step in [retireIdentities, keys.follow, reload] {
      do { try await step() } catch { failures.append("\(error)") }
    }
    guard !failures.isEmpty else { return nil }
    let text = failures.joined(separator: "; ")
    if text != failure { logger.error("the merchants were not read again", metadata: ["reason": .string(text)]) }
    return text
  }

  /// Retires identity certificates that another replaced a day ago.
  private func retireIdentities() async throws {
    let retired = try await MerchantStore(database, keys: nil).retireIdentities(
      replacedFor: ProcessingKeyRing.drainingTime, at: clock.now())
    for id in retired {
      logger.notice(
        "an identity certificate was retired: another replaced it", metadata: ["certificate": .string(id)])
    }
  }

  private func reload() async throws {
    guard let report = try await merchants.reloadIfChanged() else { return }
    logger.notice("the merchants were read again", metadata: ["merchants": .stringConvertible(report.merchants)])
  }
}

import Gateway
import HTTPTransport
import Ledger
import Logging
import PlatformAPI
import ServiceLifecycle
import StrictJSON
import TenderPayments

/// Follows the sandbox's clock, in `simulated` alone: it asks the sandbox, does what has come due, and tells what is next.
///
/// Timeouts and pauses keep the machine's time, and so do signatures of other machines. A lease is of the store's time: one process
/// has a store that follows, and it takes over nothing that it has in flight itself.
struct ClockFollower: Service {
  let clock: FollowedClock
  let sandbox: JSONClient
  let name: String
  let gateway: PaymentGateway
  let charging: ScheduleService
  let tokens: MerchantTokenService
  let scheduler: Scheduler
  let logger: Logger

  /// After so many rounds a move is done, even if there is more to do.
  private static let mostRounds = 1_000

  func run() async throws { await cancelWhenGracefulShutdown { await follow() } }

  private func follow() async {
    var (move, next): (Int64, Timestamp?) = (-1, nil)
    while !Task.isCancelled {
      do {
        let query = next.map { "&next=\($0.microseconds)" } ?? ""
        let answer = try await sandbox.require("GET", "/sandbox/clock?follower=\(name)&move=\(move)" + query)
        guard case .integer(let ahead)? = answer["aheadMicroseconds"], case .integer(let newest)? = answer["move"]
        else {
          throw CallFailure("the sandbox does not tell its clock")
        }
        guard newest != move else {
          next = try await charging.schedule.next()
          continue
        }
        if move >= 0 { logger.notice("the clock was moved on", metadata: ["to": "\(clock.wall.now())"]) }
        clock.move(ahead: .microseconds(ahead))
        await work()
        (move, next) = (newest, try await charging.schedule.next())
      } catch {
        do { try await scheduler.sleep(.seconds(1)) } catch { return }
      }
    }
  }

  /// Does what has come due. What Apple has told of comes first: a card that is removed is charged no more.
  private func work() async {
    for _ in 0..<Self.mostRounds where !Task.isCancelled {
      do {
        while await tokens.round() {}
        let (charged, recovered) = (try await charging.schedule.round(), try await gateway.recover())
        charging.note(charged)
        guard !charged.isEmpty || !recovered.isEmpty else { return }
      } catch {
        return logger.error("what came due could not be done", metadata: ["error": "\(error)"])
      }
    }
  }
}

import Administration
import Gateway
import HostedCheckout
import Ledger
import Logging
import Mail
import Orders
import ServiceLifecycle
import Settings
import Storage
import Telemetry
import TenderPayments
import Webhooks

/// Removes what is older than its limit: a quarter of an hour after the start, then every hour, in steps of some
/// milliseconds with pauses between them, so that payments come first. Like an idempotency key, nothing goes while the
/// clock may be wrong.
///
/// Once a minute it takes up what another node has erased: until then this node's keys still open it, and would bring it
/// back with an older database.
struct RetentionService: Service {
  let database: Database
  let limits: RetentionLimits
  let clock: WallClock
  let allowsEnding: @Sendable () -> Bool
  let scheduler: Scheduler
  let logger: Logger

  /// At how many rows a step looks. To take an order's shopper out changes several rows.
  private static let (batch, orders) = (200, 20)
  /// The least pause between two steps, and how long one lasts, as a multiple of the step before.
  private static let (breath, rest) = (Duration.milliseconds(20), 4)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      async let erasures: Void = repeatWork(every: .seconds(60), first: .seconds(60)) { await takeErasures() }
      // Before that nothing may end.
      await repeatWork(every: .seconds(3_600), first: .seconds(960)) { await round() }
      await erasures
    }
  }

  private func repeatWork(every interval: Duration, first: Duration, _ work: @Sendable () async -> Void) async {
    var pause = first
    while !Task.isCancelled {
      do { try await scheduler.sleep(pause) } catch { return }
      await work()
      pause = interval
    }
  }

  private func takeErasures() async {
    do { try await Privacy.reconcile(database) } catch is CancellationError { return } catch {
      logger.error("erased orders cannot be compared", metadata: ["reason": .string("\(error)")])
    }
  }

  /// Does every task to its end. One that fails holds up no other.
  func round() async {
    for task in RetentionTask.allCases {
      do { while try await !step(task) {} } catch is CancellationError { return } catch {
        logger.error(
          "old data cannot be removed", metadata: ["task": .string(task.rawValue), "reason": .string("\(error)")])
      }
    }
  }

  /// - Returns: whether the task is done for now.
  private func step(_ task: RetentionTask) async throws -> Bool {
    // Read before the clocks are compared: a clock that is set afterwards ends nothing.
    let now = clock.now()
    guard allowsEnding() else { return true }
    let begin = scheduler.uptime()
    let isDone = try await database.write { [limits] store in
      let end = limits.end(of: task, at: min(now, store.now))
      return try Self.step(task, end, in: store)
    }
    if !isDone { try await scheduler.sleep(max(Self.breath, (scheduler.uptime() - begin) * Self.rest)) }
    return isDone
  }

  /// - Parameter end: nil for what has no limit.
  private static func step(_ task: RetentionTask, _ end: Timestamp?, in store: Transaction) throws -> Bool {
    if task == .seals { return try OrderContacts.sealSome(atMost: batch, in: store) }
    guard let end else { return true }
    switch task {
    case .contacts: return try Privacy.forgetContacts(before: end, atMost: orders, in: store)
    case .mails: return try MailOutbox.forget(before: end, atMost: batch, in: store)
    case .deliveries: return try WebhookDispatcher.forgetDeliveries(before: end, atMost: batch, in: store)
    case .baskets:
      let hasMore = try HostedCheckout.forget(orders, endedBefore: end, in: store)
      return try OrderService.forgetBaskets(before: end, atMost: batch, in: store) && !hasMore
    case .tokens: return try Journal.forgetTokens(before: end, atMost: batch, in: store)
    case .seals: return true
    }
  }
}

extension RetentionService {
  init(_ parts: Composition) {
    let runtime = parts.runtime
    self.init(
      database: parts.database, limits: parts.configuration.retention, clock: runtime.clock,
      allowsEnding: { [gateway = parts.gateway] in gateway.allowsEnding }, scheduler: runtime.scheduler,
      logger: runtime.logger)
  }
}

extension Gauge {
  /// How far retention is.
  static func retention(_ database: Database, _ limits: RetentionLimits, at now: Timestamp) async throws -> [Gauge] {
    try await database.read { try RetentionProgress.all(in: $0) }.flatMap { progress in
      let labels = ["task": progress.task.rawValue]
      let behind = limits.end(of: progress.task, at: now).map { end in
        Gauge(
          name: "tender_retention_behind_seconds",
          help: "How much longer than its limit the oldest of what retention removes has been kept.", labels: labels,
          value: max(0, end.since(progress.until).components.seconds))
      }
      let removed = Gauge(
        name: "tender_retention_rows_total", help: "Rows that retention has removed or sealed.", labels: labels,
        value: progress.removed, kind: .counter)
      return [removed] + [behind].compactMap(\.self)
    }
  }
}

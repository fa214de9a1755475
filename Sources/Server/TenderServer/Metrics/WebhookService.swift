import DirectWire
import HTTPServing
import HostedCheckout
import Ledger
import Logging
import Orders
import PlatformAPI
import ServiceLifecycle
import Storage
import StrictJSON
import TenderPayments
import Webhooks

/// Delivers webhooks until the server shuts down.
struct WebhookService: Service {
  let dispatcher: WebhookDispatcher

  func run() async throws {
    await cancelWhenGracefulShutdown { await dispatcher.run() }
  }
}

/// Counts every delivery of a webhook, and logs those that failed.
struct WebhookMonitor: Sendable {
  let metrics: Metrics
  let logger: Logger

  func note(_ report: WebhookReport) {
    switch report {
    case .tried(let delivery, let state, let result):
      metrics.webhooks.count(["outcome": state == .waiting ? "failed" : state.rawValue])
      guard state != .delivered else { return }
      logger.log(
        level: state == .dead ? .error : .warning,
        state == .dead ? "a webhook is a dead letter" : "a webhook was not delivered",
        metadata: [
          "payment": .string(delivery.payment.rawValue), "sequence": .stringConvertible(delivery.sequence),
          "endpoint": .string(delivery.endpoint), "url": .string(delivery.url), "result": .string(result),
        ])
    case .trouble(let reason):
      logger.error("webhooks cannot be delivered", metadata: ["reason": .string(reason)])
    }
  }

  static func gauges(_ database: Database) async throws -> [Gauge] {
    let backlog = try await WebhookDispatcher.backlog(in: database)
    return [
      Gauge(name: "tender_webhooks_waiting", help: "Webhooks to be tried.", labels: [:], value: backlog.waiting),
      Gauge(name: "tender_webhooks_dead", help: "Webhooks given up.", labels: [:], value: backlog.dead),
      Gauge(
        name: "tender_webhooks_oldest_seconds", help: "How long the oldest webhook has been waiting.", labels: [:],
        value: backlog.oldestWaiting.components.seconds),
    ]
  }
}

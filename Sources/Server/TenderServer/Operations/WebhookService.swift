import Logging
import ServiceLifecycle
import Storage
import TenderPayments
import Webhooks

/// The courier as a service of the running server: it delivers until the server goes down.
struct WebhookService: Service {
  let courier: WebhookCourier

  func run() async throws {
    await cancelWhenGracefulShutdown { await courier.run() }
  }
}

/// What operators see of the courier: a line in the log for what was not taken, a count of every try.
struct WebhookWatch: Sendable {
  let metrics: Metrics
  let logger: Logger

  func hear(_ report: WebhookReport) {
    switch report {
    case .tried(let delivery, let state, let result):
      metrics.webhooks.count(["outcome": state == .waiting ? "failed" : state.rawValue])
      guard state != .delivered else { return }
      logger.log(
        level: state == .dead ? .error : .warning,
        state == .dead ? "a webhook is a dead letter" : "a webhook was not taken",
        metadata: [
          "payment": .string(delivery.payment.rawValue), "sequence": .stringConvertible(delivery.sequence),
          "endpoint": .string(delivery.endpoint), "url": .string(delivery.url), "result": .string(result),
        ])
    case .trouble(let reason):
      logger.error("the courier of webhooks met trouble", metadata: ["reason": .string(reason)])
    }
  }

  static func gauges(_ database: Database) async throws -> [Gauge] {
    let standing = try await WebhookCourier.standing(in: database)
    return [
      Gauge(name: "tender_webhooks_waiting", help: "Webhooks to be tried.", labels: [:], value: standing.waiting),
      Gauge(name: "tender_webhooks_dead", help: "Webhooks given up.", labels: [:], value: standing.dead),
      Gauge(
        name: "tender_webhooks_oldest_seconds", help: "How long the oldest webhook has been waiting.", labels: [:],
        value: standing.oldestWaiting.components.seconds),
    ]
  }
}

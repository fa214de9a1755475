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

extension OrderReader {
  /// The orders in the same store as the ledger.
  static let stored = OrderReader { event, includesDetails, store in
    guard let reference = try MerchantReferences.reference(of: event.order, in: store) else { return nil }
    let details = includesDetails ? try OrderService.order(of: event.basket, in: store) : nil
    let checkout = try HostedCheckout.find(event.basket, in: store)
    let asked = checkout == nil ? try PlatformOrder.find(event.order, in: store) : nil
    var references = checkout?.references ?? asked?.references ?? DirectReferences()
    references.merchantReference = references.merchantReference ?? reference
    return NotifiedOrder(
      references, hostedCheckout: checkout?.output,
      details: try details.map { try JSONReader.read(JSONAnswer.bytes($0)) })
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

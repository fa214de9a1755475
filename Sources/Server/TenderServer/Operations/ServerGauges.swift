import Acquiring
import ApplePayToken
import Gateway
import Ledger
import MerchantIdentity
import Settings
import Storage
import Telemetry
import TenderPayments

/// The values that `/metrics` reads at each call.
struct ServerGauges: Sendable {
  let parts: Composition

  @Sendable func all() async throws -> [Gauge] {
    let open = try await parts.journal.openOutcomes()
    let webhooks = try await WebhookMonitor.gauges(parts.database)
    let mails = try await MailMonitor.gauges(parts.database)
    return [Gauge.of(parts.configuration.environment)] + Gauge.all(of: open, parts.breakers, parts.database) + webhooks
      + mails + Gauge.all(of: parts.connections)
      + (try await Gauge.all(of: parts.database))
      + (try await Gauge.retention(
        parts.database, parts.configuration.retention, at: parts.runtime.clock.now()))
      + [Gauge.clockLead(of: parts.gateway)]
      + Gauge.recovery(parts.lastRecovery, at: parts.runtime.clock.now()) + gauges(of: parts.merchants.current)
      + parts.doctor.gauges
  }

  private func gauges(of merchants: MerchantsSnapshot) -> [Gauge] {
    certificates(merchants, at: parts.runtime.clock.now()) + merchants.served.gauges
  }

  private func certificates(_ merchants: MerchantsSnapshot, at now: Timestamp) -> [Gauge] {
    merchants.directory.merchants.flatMap { expiries($0, at: now) }
      + merchants.folders.flatMap { folder in
        folder.certificatesOfKeysElsewhere.map { expiry(of: "processing", $0.notAfter, folder.merchant.id, at: now) }
      }
  }

  private func expiries(_ merchant: Merchant, at now: Timestamp) -> [Gauge] {
    let ends =
      merchant.processing.map { ("processing", $0.notAfter) }
      + [merchant.identity].compactMap { $0 }.map { ("identity", $0.notAfter) }
    return ends.map { kind, end in expiry(of: kind, end, merchant.id, at: now) }
  }

  private func expiry(of kind: String, _ end: Timestamp, _ merchant: MerchantID, at now: Timestamp) -> Gauge {
    Gauge(
      name: "tender_certificate_seconds_left", help: "Seconds until the certificate expires.",
      labels: ["merchant": merchant.rawValue, "kind": kind], value: end.since(now).components.seconds)
  }
}

extension Composition {
  var metricSource: MetricSource { MetricSource(metrics: metrics, gauges: ServerGauges(parts: self).all) }
}

extension Gauge {
  static func of(_ environment: TenderPayments.Environment) -> Gauge {
    Gauge(
      name: "tender_environment", help: "1 for the environment that the server runs in.",
      labels: ["environment": environment.rawValue], value: 1)
  }

  static func clockLead(of gateway: PaymentGateway) -> Gauge {
    Gauge(
      name: "tender_clock_lead_seconds",
      help: "How far the time of day has gone ahead since the start. Beyond 300 either way no hold ends by itself.",
      labels: [:], value: gateway.clockLead.components.seconds)
  }

  /// None before the first round.
  static func recovery(_ last: LastRun, at now: Timestamp) -> [Gauge] {
    last.time.map { time in
      [
        Gauge(
          name: "tender_recovery_idle_seconds", help: "How long ago a round of recovery ended well.", labels: [:],
          value: max(0, now.since(time).components.seconds))
      ]
    } ?? []
  }

  /// Payments and operations without an outcome. `payments_unknown` and its age are what to alert on.
  static func all(of open: OpenOutcomes, _ breakers: [String: CircuitBreaker], _ database: Database) -> [Gauge] {
    let byStatus = open.payments.sorted { $0.key.rawValue < $1.key.rawValue }
    let unknown = open.payments[.unknown]
    let circuits = breakers.sorted { $0.key < $1.key }.map { route, breaker in
      Gauge(
        name: "tender_acquirer_circuit_open",
        help: "1 while calls to the route's acquirer are suspended: it does not answer.",
        labels: ["route": route], value: breaker.isOpen ? 1 : 0)
    }
    let openings = breakers.sorted { $0.key < $1.key }.map { route, breaker in
      Gauge(
        name: "tender_acquirer_circuit_opened_total", help: "How often calls to the route's acquirer were suspended.",
        labels: ["route": route], value: Int64(breaker.opened), kind: .counter)
    }
    return circuits + openings
      + open.alarmsByReason.sorted { $0.key < $1.key }.map { reason, count in
        Gauge(
          name: "tender_alarms", help: "Payments that an operator must look at, by reason.", labels: ["reason": reason],
          value: Int64(count))
      }
      + byStatus.map { status, payments in
        Gauge(
          name: "tender_payments_unsettled", help: "Payments whose outcome is open, by status.",
          labels: ["status": status.rawValue], value: Int64(payments.count))
      }
      + byStatus.map { status, payments in
        Gauge(
          name: "tender_payments_unsettled_oldest_seconds", help: "Age of the oldest payment that is open, by status.",
          labels: ["status": status.rawValue], value: payments.oldest.components.seconds)
      } + [
        Gauge(
          name: "tender_payments_unknown", help: "Payments of unknown outcome: money may be held.", labels: [:],
          value: Int64(unknown?.count ?? 0)),
        Gauge(
          name: "tender_payments_unknown_oldest_seconds", help: "Age of the oldest of them.", labels: [:],
          value: unknown?.oldest.components.seconds ?? 0),
        Gauge(
          name: "tender_operations_open", help: "Operations at the acquirer without an answer.", labels: [:],
          value: Int64(open.operations)),
        Gauge(
          name: "tender_store_commits", help: "Durable commits since the start.", labels: [:],
          value: Int64(database.commits), kind: .counter),
        Gauge(
          name: "tender_payments_alarmed", help: "Payments that an operator must look at.", labels: [:],
          value: Int64(open.alarms)),
      ]
  }

  /// Open connections and their limit.
  static func all(of connections: ConnectionLimit) -> [Gauge] {
    [
      Gauge(
        name: "tender_connections_open", help: "Connections that are open on the shoppers' port.", labels: [:],
        value: Int64(connections.open)),
      Gauge(
        name: "tender_connections_maximum", help: "How many of them there can be.", labels: [:],
        value: Int64(connections.maximum)),
    ]
  }
}

extension ServedMerchants {
  var gauges: [Gauge] {
    broken.map {
      Gauge(
        name: "tender_merchant_left_out",
        help: "1 for a merchant that cannot be served as the store or its folder has it.",
        labels: ["merchant": $0.id], value: 1)
    }
  }
}

import Synchronization
import Telemetry
import TenderPayments

/// Every counter. The names are an interface: dashboards depend on them.
struct Metrics: Sendable {
  let requests = CounterFamily("tender_http_requests_total", "Calls answered, by route and status.")
  let durations = HistogramFamily("tender_http_request_seconds", "Time to answer a call.")
  let stages = HistogramFamily(
    "tender_stage_seconds", "Time of each stage of a payment and of each delivery, by stage.")
  let spans = CounterFamily("tender_spans_total", "Spans for the collector of traces, by outcome.")
  let refusals = CounterFamily("tender_refusals_total", "Calls refused, by stable code.")
  let merchantSessions = CounterFamily(
    "tender_merchant_sessions_total", "Merchant sessions asked of Apple, by outcome.")
  let novelties = CounterFamily(
    "tender_token_novelties_total", "Forms, signers and intermediates of payment tokens never seen before, by kind.")
  let placements = CounterFamily("tender_payments_placed_total", "Payments placed, by outcome.")
  let recovered = CounterFamily("tender_recovery_total", "What recovery did, by outcome.")
  let scheduled = CounterFamily(
    "tender_agreements_scheduled_total", "What became of agreements that were due, by outcome.")
  let providerEvents = CounterFamily("tender_provider_events_total", "Events of acquirers and providers, by verdict.")
  let acquirerAnswers = CounterFamily(
    "tender_acquirer_answers_total", "Answers of the acquirer, by operation and class of answer.")
  let acquirerTimes = HistogramFamily(
    "tender_acquirer_seconds", "Time until the acquirer's answer, by route and operation.")
  let authorizations = CounterFamily(
    "tender_authorizations_total", "Answers to authorizations, by route, network and class of answer.")
  let declines = CounterFamily("tender_declines_total", "Declined authorizations, by route, network and reason.")
  let authorized = CounterFamily(
    "tender_authorized_minor_units_total", "What was authorized, in minor units, by route, network and currency.")
  let costs = CounterFamily(
    "tender_route_cost_minor_units_total",
    "What it costs by the route's configured fees, in minor units, by route, network and currency.")
  let lateConnections = CounterFamily(
    "tender_connections_late_total", "Connections closed because the caller was late, by what it was late with.")
  let webhooks = CounterFamily("tender_webhooks_tried_total", "Tries to deliver a webhook, by outcome.")

  let mails = CounterFamily("tender_mail_tried_total", "Tries to deliver a message, by outcome.")

  /// Everything at this moment.
  func readings(gauges: [Gauge]) -> [MetricReading] {
    [
      requests.reading, durations.reading, stages.reading, spans.reading, refusals.reading, merchantSessions.reading,
      novelties.reading, placements.reading, webhooks.reading, mails.reading, recovered.reading, scheduled.reading,
      providerEvents.reading, acquirerAnswers.reading, acquirerTimes.reading, authorizations.reading, declines.reading,
      authorized.reading, costs.reading, lateConnections.reading,
    ] + Gauge.readings(gauges)
  }
}

/// Counters that differ only in their labels.
final class CounterFamily: Sendable {
  private let name: String
  private let help: String
  private let counts = Mutex<[[String: String]: Int64]>([:])

  init(_ name: String, _ help: String) {
    self.name = name
    self.help = help
  }

  func count(_ labels: [String: String] = [:], by amount: Int64 = 1) {
    counts.withLock { counts in counts[labels] = counts[labels, default: 0].addingClamped(amount) }
  }

  var reading: MetricReading {
    MetricReading(name, help, .counter, counts.withLock { $0 }.map { .init($0.key, .whole($0.value)) })
  }
}

/// Times, counted in buckets.
final class HistogramFamily: Sendable {
  private struct Series {
    var buckets = [Int64](repeating: 0, count: MetricReading.bounds.count)
    var count: Int64 = 0
    var microseconds: Int64 = 0
  }

  private let name: String
  private let help: String
  private let series = Mutex<[[String: String]: Series]>([:])

  init(_ name: String, _ help: String) {
    self.name = name
    self.help = help
  }

  func observe(_ time: Duration, _ labels: [String: String]) {
    let microseconds = time.microseconds
    series.withLock { series in
      var one = series[labels] ?? Series()
      for (index, bound) in MetricReading.bounds.enumerated() where microseconds <= bound.microseconds {
        one.buckets[index] += 1
      }
      one.count += 1
      one.microseconds += microseconds
      series[labels] = one
    }
  }

  var reading: MetricReading {
    MetricReading(
      name, help, .histogram,
      series.withLock { $0 }.map {
        .init($0.key, .times(atMost: $0.value.buckets, count: $0.value.count, microseconds: $0.value.microseconds))
      })
  }
}

/// A value that is read when metrics are.
struct Gauge: Sendable {
  let name: String
  let help: String
  let labels: [String: String]
  let value: MetricReading.Value
  let kind: MetricReading.Kind

  init(name: String, help: String, labels: [String: String], value: Int64, kind: MetricReading.Kind = .gauge) {
    (self.name, self.help, self.labels, self.kind) = (name, help, labels, kind)
    self.value = .whole(value)
  }

  /// A time, in seconds.
  init(name: String, help: String, time: Duration, kind: MetricReading.Kind = .gauge) {
    (self.name, self.help, labels, self.kind) = (name, help, [:], kind)
    value = .time(microseconds: time.microseconds)
  }

  /// A metric for each name, in the order of the first of each.
  static func readings(_ gauges: [Gauge]) -> [MetricReading] {
    var (order, series) = ([Gauge](), [String: [MetricReading.Series]]())
    for gauge in gauges {
      if series[gauge.name] == nil { order.append(gauge) }
      series[gauge.name, default: []].append(.init(gauge.labels, gauge.value))
    }
    return order.map { MetricReading($0.name, $0.help, $0.kind, series[$0.name] ?? []) }
  }
}

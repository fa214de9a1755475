import Foundation
import Synchronization
import TenderPayments

/// Every counter. The names are an interface: dashboards depend on them.
struct Metrics: Sendable {
  let requests = CounterFamily("tender_http_requests_total", "Calls answered, by route and status.")
  let durations = HistogramFamily("tender_http_request_seconds", "Time to answer a call.")
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

  /// The Prometheus text exposition format, version 0.0.4.
  func text(gauges: [Gauge]) -> String {
    [
      requests.text, durations.text, refusals.text, merchantSessions.text, novelties.text,
      placements.text, webhooks.text, mails.text, recovered.text, scheduled.text,
      providerEvents.text, acquirerAnswers.text, acquirerTimes.text,
      authorizations.text, declines.text, authorized.text, costs.text, lateConnections.text,
    ].joined()
      + Gauge.text(gauges)
  }
}

/// Counters that differ only in their labels.
final class CounterFamily: Sendable {
  private let name: String
  private let help: String
  private let counts = Mutex<[String: Int64]>([:])

  init(_ name: String, _ help: String) {
    self.name = name
    self.help = help
  }

  func count(_ labels: [String: String] = [:], by amount: Int64 = 1) {
    let key = Labels.text(labels)
    counts.withLock { counts in counts[key] = counts[key, default: 0].addingClamped(amount) }
  }

  var text: String {
    let lines = counts.withLock { $0 }.sorted { $0.key < $1.key }.map { "\(name)\($0.key) \($0.value)\n" }
    return "# HELP \(name) \(help)\n# TYPE \(name) counter\n" + lines.joined()
  }
}

/// Times, counted in buckets.
final class HistogramFamily: Sendable {
  private static let bounds: [(microseconds: Int64, text: String)] = [
    (1_000, "0.001"), (5_000, "0.005"), (10_000, "0.01"), (25_000, "0.025"), (50_000, "0.05"), (100_000, "0.1"),
    (250_000, "0.25"), (500_000, "0.5"), (1_000_000, "1"), (5_000_000, "5"), (10_000_000, "10"), (30_000_000, "30"),
  ]

  private struct Series {
    var buckets = [Int64](repeating: 0, count: HistogramFamily.bounds.count)
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
      for (index, bound) in Self.bounds.enumerated() where microseconds <= bound.microseconds {
        one.buckets[index] += 1
      }
      one.count += 1
      one.microseconds += microseconds
      series[labels] = one
    }
  }

  var text: String {
    let all = series.withLock { $0 }.sorted { Labels.text($0.key) < Labels.text($1.key) }
    return "# HELP \(name) \(help)\n# TYPE \(name) histogram\n" + all.map { lines($0.key, $0.value) }.joined()
  }

  private func lines(_ labels: [String: String], _ series: Series) -> String {
    var out = ""
    for (index, bound) in Self.bounds.enumerated() {
      out += "\(name)_bucket\(Labels.text(labels.merging(["le": bound.text]) { $1 })) \(series.buckets[index])\n"
    }
    out += "\(name)_bucket\(Labels.text(labels.merging(["le": "+Inf"]) { $1 })) \(series.count)\n"
    out += "\(name)_sum\(Labels.text(labels)) \(Double(series.microseconds) / 1_000_000)\n"
    return out + "\(name)_count\(Labels.text(labels)) \(series.count)\n"
  }
}

/// A value that is read at each call of `/metrics`.
struct Gauge: Sendable {
  enum Kind: String, Sendable {
    case gauge, counter
  }

  let name: String
  let help: String
  let labels: [String: String]
  /// The number as it is printed.
  let text: String
  let kind: Kind

  init(name: String, help: String, labels: [String: String], value: Int64, kind: Kind = .gauge) {
    (self.name, self.help, self.labels, self.kind) = (name, help, labels, kind)
    text = "\(value)"
  }

  /// A time, in seconds.
  init(name: String, help: String, time: Duration, kind: Kind = .gauge) {
    (self.name, self.help, labels, self.kind) = (name, help, [:], kind)
    text = "\(Double(time.microseconds) / 1_000_000)"
  }

  static func text(_ gauges: [Gauge]) -> String {
    var seen: Set<String> = []
    return gauges.map { gauge in
      let head = seen.insert(gauge.name).inserted ? gauge.head : ""
      return head + "\(gauge.name)\(Labels.text(gauge.labels)) \(gauge.text)\n"
    }.joined()
  }

  private var head: String { "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n" }
}

enum Labels {
  static func text(_ labels: [String: String]) -> String {
    guard !labels.isEmpty else { return "" }
    let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\($0.value.escaped(escapes))\"" }
    return "{\(pairs.joined(separator: ","))}"
  }

  private static let escapes: Escapes = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"]
}

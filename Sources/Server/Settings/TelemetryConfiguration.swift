import Foundation

/// The settings `telemetry.*` of `tender serve`: where traces and metrics go.
package struct TelemetryConfiguration: Sendable {
  /// A collector that takes OTLP over HTTP: `scheme://host[:port]`, perhaps with a path; nil for none.
  package var endpoint: String?
  /// The header that carries ``secret``.
  package var header = "Authorization"
  package var secret: String?
  /// How many of a thousand traces are exported whole; 0 for none at all.
  package var tracesPerThousand = 10
  /// How often metrics are sent; 0 for never.
  package var metricsSeconds = 0
  /// Where metrics go by StatsD: `host:port`; nil for nowhere.
  package var statsD: String?

  package init() {}

  package var statsDAddress: (host: String, port: Int)? { statsD.flatMap(Self.address) }

  /// Host and port; an IPv6 address stands in brackets.
  private static func address(_ text: String) -> (host: String, port: Int)? {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (1...65_535).contains(port)
    else { return nil }
    let host = String(text[..<colon])
    guard HostName.isHost(host), !host.contains(":") || host.hasPrefix("[") else { return nil }
    return (host.trimmingCharacters(in: ["[", "]"]), port)
  }

  fileprivate static func isAddress(_ text: String) -> Bool { address(text) != nil }

  func check() throws {
    guard let endpoint else {
      guard metricsSeconds == 0 else {
        throw ConfigurationError("telemetry.metricsSeconds", "needs a collector; name it in telemetry.endpoint")
      }
      guard secret == nil else {
        throw ConfigurationError("telemetry.secret", "belongs to a collector; name it in telemetry.endpoint")
      }
      return
    }
    let isSafe = ServiceAddress(endpoint).map { $0.isHTTPS || $0.isLoopback } ?? false
    guard secret == nil || isSafe else {
      throw ConfigurationError("telemetry.endpoint", "needs https, because a secret goes there")
    }
  }
}

extension SettingsTable where Target == ServerConfiguration {
  static let telemetry: [Setting<ServerConfiguration>] = [
    Setting(
      "telemetry.endpoint", .address,
      "A collector of OpenTelemetry that takes OTLP over HTTP in JSON, see docs/monitoring.md; `/v1/traces` is added. Without it nothing is traced.",
      get: { $0.telemetry.endpoint }, set: { $0.telemetry.endpoint = $1 }),
    Setting(
      "telemetry.header",
      .text("the name of a header", as: "Authorization") { $0.wholeMatch(of: /[A-Za-z0-9-]{1,64}/) != nil },
      \.telemetry.header, "The header in which the collector gets its secret."),
    Setting(
      "telemetry.secret", .secret, "The header's whole value, such as `Bearer …`; better in the file.",
      get: { $0.telemetry.secret }, set: { $0.telemetry.secret = $1 }),
    Setting(
      "telemetry.secretFile", .secretFile, "A file with the header's value.", get: { _ in nil },
      set: { $0.telemetry.secret = $1.secret }),
    Setting(
      "telemetry.tracesPerThousand", .number(0...1_000, "0 for none at all"), \.telemetry.tracesPerThousand,
      "How many of a thousand traces are exported whole. Of the others, calls that fail are exported as one span."),
    Setting(
      "telemetry.metricsSeconds", .number(0...3_600, "0 for never"), \.telemetry.metricsSeconds,
      "How often the collector gets the metrics too, in seconds."),
    Setting(
      "telemetry.statsd",
      .text(
        "a host and a port such as 127.0.0.1:8125", as: "127.0.0.1:8125",
        where: { TelemetryConfiguration.isAddress($0) }),
      \.telemetry.statsD, "Where metrics go by StatsD with tags, over UDP, every ten seconds."),
  ]
}

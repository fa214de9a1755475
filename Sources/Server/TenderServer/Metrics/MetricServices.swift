import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Telemetry
import TenderPayments

/// What `/metrics`, a collector and StatsD are given.
struct MetricSource: Sendable {
  let metrics: Metrics
  let gauges: @Sendable () async throws -> [Gauge]

  func readings() async throws -> [MetricReading] { metrics.readings(gauges: try await gauges()) }
}

/// Gives metrics to a collector or to StatsD, again and again, until the server shuts down. A failure is logged when it
/// begins.
struct MetricService: Service {
  let source: MetricSource
  let pause: Duration
  let scheduler: Scheduler
  let logger: Logger
  /// - Returns: what the failure is; nil for none.
  let give: @Sendable ([MetricReading]) async -> String?

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var failure: String?
      while !Task.isCancelled {
        guard (try? await scheduler.sleep(pause)) != nil else { return }
        let found: String?
        do { found = await give(try await source.readings()) } catch { found = "\(error)" }
        if let found, found != failure {
          logger.warning("metrics are not sent", metadata: ["reason": .string(found)])
        }
        failure = found
      }
    }
  }
}

/// Datagrams to StatsD. Nobody says whether they arrive.
actor StatsDSender {
  private let host: String
  private let port: Int
  private var statsD = StatsD()

  init(host: String, port: Int) { (self.host, self.port) = (host, port) }

  func send(_ metrics: [MetricReading]) async -> String? {
    do {
      let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: host, port: port).get()
      for datagram in statsD.datagrams(of: metrics) {
        try? await channel.writeAndFlush(ByteBuffer(bytes: datagram))
      }
      try? await channel.close()
      return nil
    } catch { return "\(error)" }
  }
}

/// Sends spans until the server has ended its calls, and then what is left.
struct SpanExportService: Service {
  let export: SpanExport

  func run() async throws {
    await cancelWhenGracefulShutdown { await export.run() }
    await export.flush()
  }
}

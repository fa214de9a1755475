import HTTPTransport
import Logging
import Settings
import Telemetry
import TenderPayments

/// The telemetry of a server: stages are measured in any case, and traced where a collector is named.
struct ServerTelemetry: Sendable {
  let telemetry: Telemetry
  /// Nil where nothing is traced.
  let export: SpanExport?
  /// Nil where no collector gets metrics.
  let metrics: MetricExport?

  init(_ configuration: ServerConfiguration, _ runtime: Runtime, _ metrics: Metrics, _ book: TraceBook?) {
    let settings = configuration.telemetry
    let collector = settings.endpoint.map { endpoint in
      Collector(
        endpoint, over: runtime.network.telemetry,
        headers: settings.secret.map { [HTTPField(settings.header, $0)] } ?? [],
        resource: [
          ("service.name", "tender"), ("service.instance.id", "\(configuration.host):\(configuration.port)"),
          ("deployment.environment.name", configuration.environment.rawValue),
        ])
    }
    self.metrics = settings.metricsSeconds > 0 ? collector.map { MetricExport(to: $0, clock: runtime.clock) } : nil
    let isTraced = settings.tracesPerThousand > 0
    export = (isTraced ? collector : nil).map {
      SpanExport(to: $0, on: runtime.scheduler) { metrics.spans.count(["outcome": $0.rawValue], by: Int64($1)) }
    }
    let share = TraceShare(perThousand: export == nil ? 0 : settings.tracesPerThousand)
    let isRecording = export != nil || book != nil
    let recorder = SpanRecorder(
      share: book == nil ? share : TraceShare(perThousand: 1_000), random: runtime.random, clock: runtime.clock
    ) { [export] span in
      book?.add(span)
      if share.contains(span.context.trace) || span.isLocalRoot && span.hasFailed { export?.add(span) }
    }
    telemetry = Telemetry(
      tracer: isRecording ? recorder : nil,
      observe: { stage, time in
        if stage != .request { metrics.stages.observe(time, ["stage": stage.rawValue]) }
      },
      report: { name, activity, time in
        if name == .request { book?.note(activity) }
        // What stays open is asked about again and again.
        if name == .recover { runtime.logger.note(activity, "recovery", time, at: activity.hasFailed ? .debug : .info) }
      })
  }
}

import Administration
import HTTPServing
import HTTPTransport
import HTTPTypes
import Hummingbird
import NIOCore
import Storage
import Telemetry

/// Is the process alive, can it take payments.
struct HealthController: Sendable {
  let database: Database
  let draining: Draining

  /// `GET /healthz`: the process answers.
  func alive(_ request: Request, _ context: ServerContext) -> Response {
    JSONAnswer.response(["status": "ok"])
  }

  /// `GET /readyz`: the store answers too, and the server is not about to end.
  func ready(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard !draining.isUnderWay else { throw Self.ending }
    do {
      let limit = TimeLimit(.seconds(2), on: context.eventLoop)
      _ = try await limit.run(late: Self.unavailable) { [database] in
        try await database.read { try $0.row("SELECT 1 AS one") }
      }
      return JSONAnswer.response(["status": "ready"])
    } catch {
      throw Self.unavailable
    }
  }

  private static let ending = Problem(
    .serviceUnavailable, "shutting_down", "The server is about to end; call another one.", retryAfter: 5)
  private static let unavailable = Problem(
    .serviceUnavailable, "store_unavailable", "The store does not answer.", retryAfter: 5)
}

/// What the server has counted, for operators. It is not on the shoppers' port.
struct MetricsController: Sendable {
  let source: MetricSource

  /// `GET /metrics`: Prometheus text.
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    let text = try await source.readings().map(\.prometheusText).joined()
    return Response(
      status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}

import Acquiring
import Administration
import Connectors
import Gateway
import HTTPServing
import HTTPTransport
import Hummingbird
import Ledger
import Storage
import TenderPayments

/// What `tender reconcile` asks of a running server: `POST /reconcile?from=&until=&route=`, the report as the
/// body; with `listing=yes` the route's provider is asked instead.
struct ReconciliationController: Sendable {
  /// Half a million operations.
  private static let maximumBytes = 128 << 20
  let reconciliation: Reconciliation

  func reconcile(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    let route = query["route"]
    if let route, query["listing"] != nil { return try await list(route, query) }
    let bytes = try await BodyReader.collect(request, limit: Self.maximumBytes)
    do {
      return JSONAnswer.response(
        try await reconciliation.differences(
          from: bytes, query["from"].flatMap { Timestamp(rfc3339: $0) },
          query["until"].flatMap { Timestamp(rfc3339: $0) }, through: route))
    } catch let error as ReportError {
      throw Problem(.badRequest, "unreadable_report", "The report cannot be read: \(error).")
    }
  }

  /// Asks the route's provider for its listing.
  private func list(_ route: String, _ query: FormFields) async throws -> Response {
    func time(_ name: String) throws -> Timestamp {
      guard let time = query[name].flatMap({ Timestamp(rfc3339: $0) }) else {
        throw Problem(.badRequest, "bad_request", "Say the period that the provider is asked for.", field: name)
      }
      return time
    }
    let (from, until) = (try time("from"), try time("until"))
    guard from < until else {
      throw Problem(.badRequest, "bad_request", "The period ends before it begins.", field: "until")
    }
    return JSONAnswer.response(try await reconciliation.differences(at: route, from..<until))
  }
}

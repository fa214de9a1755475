import Acquiring
package import Gateway
import HTTPServing
import Hummingbird
package import Ledger
package import TenderPayments

/// What `tender reconcile` asks of a running server: `POST /reconcile?from=&until=`, the report as the body.
struct ReconciliationController: Sendable {
  /// Half a million operations.
  private static let maximumBytes = 128 << 20
  let reconciliation: Reconciliation

  func reconcile(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.uri.queryParameters
    let bytes = try await request.body.collect(upTo: Self.maximumBytes)
    do {
      return JSONAnswer.response(
        try await reconciliation.differences(
          from: Array(bytes.readableBytesView), query.get("from").flatMap { Timestamp(rfc3339: $0) },
          query.get("until").flatMap { Timestamp(rfc3339: $0) }))
    } catch let error as ReportError {
      throw Problem(.badRequest, "unreadable_report", "The report cannot be read: \(error).")
    }
  }
}

/// The answer behind `tender reconcile`, whether a server holds the store or the command line itself.
package struct Reconciliation: Sendable {
  private let journal: Journal

  package init(_ journal: Journal) { self.journal = journal }

  /// - Parameters:
  ///   - from: operations of ours that were sent before are not missed in the report.
  ///   - until: nor those sent at this moment or after it.
  package func differences(
    from report: [UInt8], _ from: Timestamp?, _ until: Timestamp?
  ) async throws -> [Difference] {
    let report = try AcquirerReport(report)
    let own = report.period
    let start = from ?? own?.lowerBound
    let end = until ?? own?.upperBound
    guard let start, let end, start < end else { return try await journal.differences(from: report) }
    return try await journal.differences(from: report, in: start..<end)
  }
}

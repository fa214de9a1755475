package import Acquiring
import Connectors
package import Gateway
import HTTPTransport
import HTTPTypes
package import Ledger
package import Orders
import Storage
package import TenderPayments

/// Compares the journal with what a provider lists, for the pages and for `tender reconcile`, whether a server holds the
/// store or the command line itself.
package struct Reconciliation: Sendable {
  private let journal: Journal
  private let routes: RouteTable?
  private let limit: CallsUnderWay<String>

  /// - Parameters:
  ///   - routes: of a running server; without them no provider can be asked for its listing.
  ///   - limit: of the comparisons that are under way, which each hold a whole report.
  package init(
    _ journal: Journal, routes: RouteTable? = nil, under limit: CallsUnderWay<String> = Reconciliation.limit()
  ) {
    self.journal = journal
    self.routes = routes
    self.limit = limit
  }

  /// The routes whose provider gives a listing.
  package var listingRoutes: [String] {
    (routes?.routes ?? []).filter { $0.acquirer.report != nil }.map(\.name)
  }

  /// Two comparisons of each route, and of all routes together, are under way at most; eight in all.
  package static func limit() -> CallsUnderWay<String> { CallsUnderWay(8, ofEach: 4) }

  private static let busy = Problem(
    .tooManyRequests, "too_many_comparisons",
    "Other comparisons with this route are under way. Repeat this one when they have ended.", retryAfter: 10)

  /// Compares with what the route's provider lists for the period.
  package func differences(at route: String, _ period: Range<Timestamp>) async throws -> [Difference] {
    try await limit.admit(route, orElse: Self.busy) { try await compare(route, period) }
  }

  private func compare(_ route: String, _ period: Range<Timestamp>) async throws -> [Difference] {
    guard let routes else { throw CallFailure("no server runs: start it, and it asks the provider") }
    guard let source = routes[route]?.report else {
      try await requireKnown(route)
      let offers = listingRoutes.joined(separator: ", ")
      throw Problem(
        .unprocessableContent, "no_listing",
        "No listing can be asked for at \(route); routes that offer one: \(offers.isEmpty ? "none" : offers).",
        field: "route")
    }
    let report: AcquirerReport
    do throws(AcquirerReport.Unavailable) {
      report = try await source(period, lookup(route), .after(.seconds(300)))
    } catch {
      throw Problem(
        .badGateway, "listing_unavailable", "The provider gave no whole listing: \(error.interruption.detail).")
    }
    return try await journal.differences(from: report, in: period, through: route)
  }

  private func lookup(_ route: String) -> AcquirerReport.Lookup {
    { [journal] operation, name in
      guard let kind = OperationKind(rawValue: operation.rawValue) else { return nil }
      return try await journal.reference(of: kind, called: name, through: route)
    }
  }

  /// - Parameters:
  ///   - from: operations of ours that were sent before are not missed in the report.
  ///   - until: nor those sent at this moment or after it.
  ///   - route: nor those of other routes than this.
  /// - Throws: where nothing would be compared, which is no agreement: for a route that is not known here, and for a
  ///   report without lines of no stated period.
  package func differences(
    from report: [UInt8], _ from: Timestamp?, _ until: Timestamp?, through route: String? = nil
  ) async throws -> [Difference] {
    try await limit.admit(route ?? "", orElse: Self.busy) { try await compare(report, from, until, route) }
  }

  private func compare(
    _ report: [UInt8], _ from: Timestamp?, _ until: Timestamp?, _ route: String?
  ) async throws -> [Difference] {
    let report = try AcquirerReport(report)
    if let route { try await requireKnown(route) }
    guard let start = from ?? report.period?.lowerBound, let end = until ?? report.period?.upperBound else {
      throw Problem(
        .unprocessableContent, "nothing_to_compare",
        "The report has no operation, so there is nothing to compare: check the file, or state its period, from and until.",
        field: "report")
    }
    guard start < end else {
      throw Problem(.badRequest, "bad_request", "The period ends before it begins.", field: "until")
    }
    return try await journal.differences(from: report, in: start..<end, through: route)
  }

  private func requireKnown(_ route: String) async throws {
    let used = try await journal.database.read { try PostedOperation.routes(in: $0) }
    let names = routes.map { table in table.names + used.filter { !table.names.contains($0) } } ?? used
    guard names.contains(where: { $0.utf8.elementsEqual(route.utf8) }) else {
      throw Problem(
        .unprocessableContent, "unknown_route",
        "There is no route \(route); there are: \(names.isEmpty ? "none" : names.joined(separator: ", ")).",
        field: "route")
    }
  }
}

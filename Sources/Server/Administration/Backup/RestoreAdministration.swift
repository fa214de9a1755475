import Acquiring
import Connectors
package import Gateway
import HTTPTypes
package import Ledger
import MerchantIdentity
package import Settings
import Storage
import TenderPayments

/// What an operator does about the routes of a restored store, whether a server holds the store or the command line itself.
package struct RestoreAdministration: Sendable {
  private let journal: Journal
  /// A running server's; without one no provider can be asked.
  private let gateway: PaymentGateway?
  private let routes: RouteTable

  package init(_ journal: Journal, gateway: PaymentGateway) {
    (self.journal, self.gateway, routes) = (journal, gateway, gateway.routes)
  }

  /// - Parameter configuration: says who the merchants are; nil where a store is asked of which nothing else is known.
  package init(_ journal: Journal, _ configuration: ServerConfiguration? = nil) async {
    (self.journal, gateway) = (journal, nil)
    let served: ServedMerchants? =
      if let configuration {
        try? await ServedMerchants(configuration, journal.database, nil, at: WallClock.system.now())
      } else { nil }
    let routing = Dictionary((served?.folders ?? []).map { ($0.merchant.id, $0.routing) }) { first, _ in first }
    routes = RouteTable([], routing: { routing[$0] ?? MerchantRouting() }, merchants: { served?.allIDs ?? [] })
  }

  package func report() async throws -> RestoreReport {
    guard let report = try await journal.restoreReport() else {
      throw Problem(.notFound, "not_restored", "This store was never restored.")
    }
    return report
  }

  /// Asks the route's provider for its listing.
  package func adoptListing(of route: String) async throws -> AdoptionReport {
    try await requireClosed(route)
    guard let gateway else { throw Problem(.conflict, "no_listing", "A running server asks the provider: start it.") }
    do { return try await gateway.adoptListing(of: route) } catch let error as AcquirerReport.Unavailable {
      throw Problem(
        .badGateway, "listing_unavailable", "The provider gave no whole listing: \(error.interruption.detail).")
    }
  }

  /// - Parameter bytes: the provider's report, as `tender reconcile` takes it.
  package func adopt(report bytes: [UInt8], of route: String) async throws -> AdoptionReport {
    try await requireRoute(route)
    do {
      let report = try AcquirerReport(bytes)
      guard let restore = journal.restore, let end = report.period?.upperBound, end > restore.lostFrom else {
        throw Problem(
          .unprocessableContent, "report_too_early",
          "No line of the report is later than \(journal.restore?.lostFrom.description ?? "the backup"): take one of "
            + "the time since, or accept the gap where nothing happened.")
      }
      return try await journal.adopt(report, of: route, merchant: routes.onlyMerchant(of: route))
    } catch let error as ReportError {
      throw Problem(.badRequest, "unreadable_report", "The report cannot be read: \(error).")
    }
  }

  /// - Parameter bytes: what the merchant knows of its payments, as CSV.
  package func adopt(orders bytes: [UInt8], of route: String) async throws -> AdoptionReport {
    try await requireRoute(route)
    do {
      return try await journal.adopt(try OrderBalances.read(bytes), of: route, merchant: routes.onlyMerchant(of: route))
    } catch let error as ReportError {
      throw Problem(.badRequest, "unreadable_report", "The orders cannot be read: \(error).")
    }
  }

  /// Opens the route although nobody knows what its provider did since the backup.
  package func acceptGap(of route: String, by person: CommandLineOperator) async throws -> RestoreReport {
    try await requireClosed(route)
    guard person.reason.contains(where: { !$0.isWhitespace }), person.reason.utf8.count <= 500 else {
      throw Problem(.badRequest, "note_missing", "Say in 1 to 500 bytes why the gap is accepted.", field: "note")
    }
    try await journal.database.write { [journal] store in
      guard let restore = journal.restore else { return }
      try restore.open(route, as: .gapAccepted, note: person.reason, in: store)
      try OfficeAudit(store).note(
        OfficeAction(
          person.actor, from: "", "restore.accept_gap", subject: route, before: RestoredRoute.State.closed.rawValue,
          after: RestoredRoute.State.gapAccepted.rawValue, reason: person.reason))
    }
    return try await report()
  }

  /// Lets the schedules of the route's agreements go on, which may have been ended in the lost time.
  package func resumeSchedules(of route: String, by person: CommandLineOperator) async throws -> RestoreReport {
    try await requireRoute(route)
    guard person.reason.contains(where: { !$0.isWhitespace }), person.reason.utf8.count <= 500 else {
      throw Problem(.badRequest, "note_missing", "Say in 1 to 500 bytes why the schedules go on.", field: "note")
    }
    try await journal.database.write { [journal] store in
      guard let restore = journal.restore else { return }
      let count = try restore.resumeSchedules(of: route, in: store)
      try OfficeAudit(store).note(
        OfficeAction(
          person.actor, from: "", "restore.resume_schedules", subject: route, before: "\(count) waited", after: "go on",
          reason: person.reason))
    }
    return try await report()
  }

  private func requireClosed(_ route: String) async throws {
    let known = try await requireRoute(route)
    guard known.state == .closed else {
      throw Problem(.conflict, "route_open", "The route \(route) is open: \(known.state.rawValue).", field: "route")
    }
  }

  /// An open one too takes a report: what an earlier one lacked is adopted still.
  @discardableResult
  private func requireRoute(_ route: String) async throws -> RestoredRoute {
    let routes = try await report().routes
    guard let known = routes.first(where: { $0.route.utf8.elementsEqual(route.utf8) }) else {
      let names = routes.map(\.route).joined(separator: ", ")
      throw Problem(
        .unprocessableContent, "unknown_route", "There is no route \(route); there are: \(names).", field: "route")
    }
    return known
  }
}

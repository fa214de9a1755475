package import Acquiring
package import Ledger
import Storage
package import TenderPayments

// After a restore: nothing is sent on a route before the journal has what its provider did since the backup, or a person
// has decided to go on without. What may be a repeat of something that is lost is refused, whatever the route's state.
extension PaymentGateway {
  /// Refuses a payment that may have been made before the restore.
  ///
  /// - Throws: ``GatewayError/routeNotReconciled(_:)`` while one of the routes that could have taken it is closed;
  ///   ``GatewayError/tokenBeforeRestore``, ``GatewayError/paidBeforeRestore(_:)``, ``GatewayError/callMayBeLost(_:)``.
  func refuseIfRestored(_ confirmed: ConfirmedOrder) async throws {
    guard let restore = journal.restore else { return }
    if let signedAt = confirmed.signedAt, signedAt < restore.restoredAt { throw GatewayError.tokenBeforeRestore }
    let (order, routes) = (confirmed.order, confirmed.candidates.map(\.capabilities.route))
    try await database.read { store in
      for route in routes where try restore.isClosed(route, in: store) { throw GatewayError.routeNotReconciled(route) }
      if let payment = try restore.lostPayment(of: order.basket, order.merchant, in: store) {
        throw GatewayError.paidBeforeRestore(payment)
      }
      guard confirmed.signedAt == nil,
        try restore.hasLostPayment(of: order.amount, through: routes, in: store)
      else { return }
      throw GatewayError.callMayBeLost(.authorize)
    }
  }

  /// Refuses a charge of an agreement on a closed route, and one that may have been made before a restore: in a gap, or as
  /// a reload that is lost and that the call may repeat. A person may charge it all the same. What a listing gave back of
  /// a period keeps the period itself from being charged again.
  ///
  /// - Parameter isNamed: whether the call names the period, which the next reload then is.
  func refuseIfRestored(
    _ charge: ConfirmedOrder, _ period: AgreementCalendar.Period, of agreement: Agreement, isNamed: Bool,
    isByPerson: Bool, in store: Transaction
  ) throws {
    guard let restore = journal.restore else { return }
    let (order, route) = (charge.order, charge.candidates[0].capabilities.route)
    guard try !restore.isClosed(route, in: store) else { throw GatewayError.routeNotReconciled(route) }
    guard !isByPerson else { return }
    if let payment = try restore.lostCharge(of: order.basket, order.merchant, in: store) {
      throw GatewayError.paidBeforeRestore(payment)
    }
    let repeats =
      try !isNamed && period.due == nil && restore.callsMayRepeat(at: store.now)
      && Journal.hasRestoredCharge(period.number - 1, of: agreement.id, in: store)
    guard try repeats || restore.mayHaveLostCharge(due: period.due, through: route, in: store) else { return }
    throw GatewayError.callMayBeLost(.authorize)
  }

  /// Refuses a capture, void, refund or increment on a closed route, and one of a merchant's that may have been done.
  func refuseIfRestored(_ followUp: FollowUp, _ attempt: Attempt, in store: Transaction) throws {
    guard let restore = journal.restore else { return }
    guard try !restore.isClosed(attempt.route, in: store) else { throw GatewayError.routeNotReconciled(attempt.route) }
    guard followUp.cause == .merchant, !followUp.isByPerson, followUp.partOf == nil,
      try restore.mayRepeatLostCall(attempt, in: store)
    else { return }
    throw GatewayError.callMayBeLost(attempt.kind)
  }

  /// The routes on which recovery may begin something: it inquires about what was open on all of them.
  func openRoutes() async throws -> [String] {
    guard let restore = journal.restore, restore.endedAt == nil else { return routes.names }
    let names = routes.names
    return try await database.read { store in try names.filter { try !restore.isClosed($0, in: store) } }
  }
}

extension PaymentGateway {
  /// Closes the configured routes that the restore did not know of; for the start of a server.
  package func closeUnknownRoutes() async throws {
    guard let restore = journal.restore, restore.endedAt == nil else { return }
    let names = routes.names
    try await database.write { try restore.close(names, in: $0) }
  }

  /// The closed routes whose provider gives a listing.
  package func listedClosedRoutes() async throws -> [String] {
    guard let restore = journal.restore, restore.endedAt == nil else { return [] }
    let closed = try await database.read { store in
      try restore.routes(in: store).filter { $0.state == .closed }.map(\.route)
    }
    return closed.filter { routes[$0]?.report != nil }
  }

  /// Asks the route's provider for all that it did since the backup, adopts it, and opens the route.
  ///
  /// - Throws: `AcquirerReport.Unavailable` when the provider gave no whole listing; ``GatewayError`` when it gives none.
  package func adoptListing(of route: String) async throws -> AdoptionReport {
    guard let restore = journal.restore, let acquirer = routes[route], let source = acquirer.report else {
      throw GatewayError.noListing(route)
    }
    // What the server before had sent last may arrive at the provider later.
    guard clock.now() >= restore.restoredAt.adding(acquirer.capabilities.settleHorizon) else {
      return AdoptionReport(route: route, waitsUntil: restore.restoredAt.adding(acquirer.capabilities.settleHorizon))
    }
    let start = try await journal.listingStart(of: route) ?? restore.lostFrom
    let end = clock.now().adding(RestoredStore.clockMargin)
    let report = try await source(
      start..<end,
      { [journal] operation, name in
        guard let kind = OperationKind(rawValue: operation.rawValue) else { return nil }
        return try await journal.reference(of: kind, called: name, through: route)
      }, .after(.seconds(300), on: scheduler))
    return try await journal.adopt(report, of: route, merchant: routes.onlyMerchant(of: route))
  }
}

extension Journal {
  /// Adopts what a report says, and opens the route unless something of it has to wait.
  ///
  /// - Parameter merchant: the one whose payments alone the configuration lets take the route; nil where there are several.
  package func adopt(
    _ report: AcquirerReport, of route: String, merchant: MerchantID?
  ) async throws -> AdoptionReport {
    let owner = try await owner(of: route, merchant)
    var result = AdoptionReport(route: route)
    for adoption in try await adopt(report.listedOperations, through: route, merchant: owner) {
      result.count(adoption)
    }
    return try await finish(result)
  }

  /// Adopts what the merchant's orders say beyond the journal, and opens the route unless something of it has to wait.
  package func adopt(
    _ orders: [OrderBalances], of route: String, merchant: MerchantID?
  ) async throws -> AdoptionReport {
    let owner = try await owner(of: route, merchant)
    var result = AdoptionReport(route: route)
    for order in orders {
      for adoption in try await adopt(order, through: route, merchant: owner) { result.count(adoption) }
    }
    return try await finish(result)
  }

  /// Whose the lost payments are. A merchant that is configured no more may have made them.
  private func owner(of route: String, _ configured: MerchantID?) async throws -> MerchantID {
    guard let configured, try await isOnlyMerchant(configured, of: route) else { return .unknown }
    return configured
  }

  /// Opens the route unless something has to wait.
  private func finish(_ adopted: AdoptionReport) async throws -> AdoptionReport {
    guard let restore else { throw GatewayError.noListing(adopted.route) }
    let hasAll = adopted.later == 0
    var result = adopted
    result.isOpen = try await database.write { store in
      try restore.count(adopted.adopted, of: adopted.route, in: store)
      if hasAll { try restore.open(adopted.route, as: .reconciled, in: store) }
      return try !restore.isClosed(adopted.route, in: store)
    }
    return result
  }
}

/// What became of a listing.
package struct AdoptionReport: Sendable, Hashable, Codable {
  package let route: String
  /// Whether payments are taken on the route from now on.
  package fileprivate(set) var isOpen = false
  /// Operations that the journal lacked, or whose outcome it lacked, and has now.
  package private(set) var adopted = 0
  /// Operations that the journal had.
  package private(set) var known = 0
  /// Operations that contradict the balances, each with an alarm.
  package private(set) var contradicted = 0
  /// Operations that the provider has not decided, or whose payment is open here.
  package private(set) var later = 0
  /// Operations of no payment of ours, as of another program on the same account.
  package private(set) var foreign = 0
  /// The provider is asked then.
  package private(set) var waitsUntil: Timestamp?

  init(route: String, waitsUntil: Timestamp? = nil) { (self.route, self.waitsUntil) = (route, waitsUntil) }

  mutating func count(_ adoption: Adoption) {
    switch adoption {
    case .known, .older: known += 1
    case .adopted: adopted += 1
    case .contradicted: contradicted += 1
    case .later: later += 1
    case .ofNoPayment: foreign += 1
    case .declined: break
    }
  }
}

extension AcquirerReport {
  /// Authorizations first and then by time; within a second, which some listings count, captures before what follows
  /// them. What was reversed before the restore holds nothing.
  fileprivate var listedOperations: [ListedOperation] {
    let reversed = Set(lines.filter { $0.operation == .reverse && $0.result != .declined }.map(\.reference))
    return lines.compactMap { line in
      guard let kind = OperationKind(rawValue: line.operation.rawValue) else { return nil }
      return ListedOperation(
        reference: line.reference, kind: kind, amount: line.amount, time: line.time, authorization: line.authorization,
        name: line.name, result: ListedOperation.Result(line.result), isReversed: reversed.contains(line.reference))
    }.sorted { $0.order < $1.order }
  }
}

extension ListedOperation.Result {
  fileprivate init(_ result: AcquirerReport.Result) {
    self =
      switch result {
      case .approved: .approved
      case .declined: .declined
      case .pending: .pending
      }
  }
}

extension ListedOperation {
  fileprivate var order: (Int, Timestamp, Int) {
    let rank =
      switch kind {
      case .authorize, .increment: 0
      case .capture: 1
      case .void, .reverse, .refund, .chargeback, .chargebackReversal: 2
      }
    return (kind == .authorize ? 0 : 1, time, rank)
  }
}

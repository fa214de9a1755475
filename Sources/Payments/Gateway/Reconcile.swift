package import Acquiring
package import Ledger
import Storage
package import TenderPayments

/// One difference between our journal and the acquirer's report.
package struct Difference: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// The acquirer reports an operation, done or pending, that is not in the journal.
    case missingHere = "missing_here"
    /// The journal has an operation that the acquirer does not report.
    case missingThere = "missing_there"
    case amount, currency
    /// One name, two different operations: a capture here, a refund there.
    case operation
    /// Approved on one side only, or reversed on one side only.
    case status
    /// Done twice: one operation reported twice, or one order held twice.
    case double
    /// Open here, decided there. Recovery will adopt it.
    case unsettled
    /// The journal has the operation, through another route than the report is of.
    case route
  }

  package let kind: Kind
  package let reference: AttemptReference
  package let payment: PaymentID?
  package let here: String?
  package let there: String?
}

extension Journal {
  /// Compares the ledger with the acquirer's report, line by line and in both directions.
  ///
  /// - Parameter period: when an operation of ours must have been sent to be missed in the report; the report's own
  ///   if nil. What is younger than the report cannot be in it.
  /// - Parameter route: the only one that the report is of; nil for all.
  package func differences(
    from report: AcquirerReport, in period: Range<Timestamp>? = nil, through route: String? = nil
  ) async throws -> [Difference] {
    let lines = Dictionary(grouping: report.lines, by: \.reference)
    var found: [Difference] = []
    for page in Self.pages(lines.keys) {
      let (ours, providers) = try await database.read { store in
        let ours = try PostedOperation.find(page, in: store)
        let others = page.filter { ours[$0] == nil }.map(\.rawValue)
        return (ours, try PostedOperation.ofProvider(called: others, in: store))
      }
      for reference in page {
        let operation = ours[reference] ?? providers[reference.rawValue]
        found += Comparison(ours: operation, theirs: lines[reference] ?? [], route: route).differences
      }
    }
    found += try await doubleHolds(report.lines, lines)
    if let period = period ?? report.period { found += try await findUnreported(period, route, lines) }
    return found
  }

  /// Several holds of one order at the acquirer. A hold that was reversed or voided does not count.
  private func doubleHolds(
    _ all: [AcquirerReport.Line], _ lines: [AttemptReference: [AcquirerReport.Line]]
  ) async throws -> [Difference] {
    let approved = all.filter { $0.result == .approved }
    let voided = Set(try await operations(approved.filter { $0.operation == .void }).map(\.payment))
    let holds = try await operations(
      approved.filter { line in
        line.operation == .authorize && lines[line.reference]?.contains { $0.operation == .reverse } != true
      }
    ).filter { $0.paymentIsLive || !voided.contains($0.payment) }
    return Dictionary(grouping: holds, by: \.order).values.filter { $0.count > 1 }.flatMap { $0 }
      .map { Difference(kind: .double, reference: $0.reference, payment: $0.payment, here: $0.summary, there: nil) }
      .sorted { $0.reference.rawValue < $1.reference.rawValue }
  }

  /// The operations of these lines that the ledger has, each once.
  private func operations(_ lines: [AcquirerReport.Line]) async throws -> [PostedOperation] {
    var found: [PostedOperation] = []
    for page in Self.pages(Set(lines.map(\.reference))) {
      found += try await database.read { try PostedOperation.find(page, in: $0) }.values
    }
    return found
  }

  /// In order, as many at a time as the ledger is asked for at once.
  private static func pages(_ references: some Collection<AttemptReference>) -> [[AttemptReference]] {
    let all = references.sorted { $0.rawValue < $1.rawValue }
    return stride(from: 0, to: all.count, by: PostedOperation.page).map {
      Array(all[$0..<min($0 + PostedOperation.page, all.count)])
    }
  }

  private func findUnreported(
    _ period: Range<Timestamp>, _ route: String?, _ lines: [AttemptReference: [AcquirerReport.Line]]
  ) async throws -> [Difference] {
    var found: [Difference] = []
    var last: AttemptReference?
    repeat {
      let after = last
      let page = try await database.read { store in
        try PostedOperation.page(
          from: period.lowerBound, until: period.upperBound, through: route, after: after, limit: 1_000, in: store)
      }
      found += page.filter { $0.state == .approved && $0.kind != .reverse && lines[$0.reference] == nil }.map {
        Difference(
          kind: .missingThere, reference: $0.reference, payment: $0.payment, here: $0.summary, there: nil)
      }
      last = page.last?.reference
    } while last != nil
    return found
  }
}

/// One operation, as the ledger and the report have it.
private struct Comparison {
  let ours: PostedOperation?
  /// Every line about it; a reversal has the reference of the authorization that it reverses.
  let theirs: [AcquirerReport.Line]
  /// The only one that the report is of; nil for all.
  let route: String?

  var differences: [Difference] {
    // A verification moves nothing, and one that was given up here may have been approved there.
    guard ours?.amount.minorUnits != 0 else { return [] }
    let own = theirs.filter { $0.operation != .reverse }
    guard let line = own.first else { return reversalAlone }
    var found: [Difference] = []
    if own.count(where: { $0.result == .approved }) > 1 { found.append(difference(.double, line)) }
    guard let ours else {
      let mayBeDone = own.contains { $0.result != .declined } && !wasUndone
      return mayBeDone ? found + [difference(.missingHere, line)] : found
    }
    if let route, !route.utf8.elementsEqual(ours.route.utf8) {
      found.append(
        Difference(
          kind: .route, reference: ours.reference, payment: ours.payment, here: ours.route, there: route))
    }
    if line.operation.rawValue != ours.kind.rawValue { found.append(difference(.operation, line)) }
    if line.amount.currency != ours.amount.currency {
      found.append(difference(.currency, line))
    } else if line.amount != ours.amount, !isApprovedForLess(ours, line) {
      found.append(difference(.amount, line))
    }
    if let kind = stateDifference(ours) { found.append(difference(kind, line)) }
    return found
  }

  /// The report has only the reversal; the authorization is in an earlier report.
  private var reversalAlone: [Difference] {
    guard ours?.state == .approved, let line = theirs.first(where: { $0.result == .approved }) else { return [] }
    return [difference(.status, line)]
  }

  /// Whether the acquirer did it and has not reversed it.
  private var wasDone: Bool {
    theirs.contains { $0.operation != .reverse && $0.result == .approved } && !wasUndone
  }

  private var wasUndone: Bool { theirs.contains { $0.operation == .reverse && $0.result == .approved } }

  /// Whether the acquirer holds, or held, less than we asked for: declined here, and reversed there in the end.
  private func isApprovedForLess(_ ours: PostedOperation, _ line: AcquirerReport.Line) -> Bool {
    ours.kind == .authorize && ours.state == .declined && line.result == .approved
      && line.amount.minorUnits < ours.amount.minorUnits
  }

  private func stateDifference(_ ours: PostedOperation) -> Difference.Kind? {
    if ours.state.isOpen { return theirs.contains { $0.result != .pending } ? .unsettled : nil }
    return (ours.state == .approved) == wasDone ? nil : .status
  }

  private func difference(_ kind: Difference.Kind, _ line: AcquirerReport.Line) -> Difference {
    Difference(
      kind: kind, reference: line.reference, payment: ours?.payment, here: ours?.summary,
      there: "\(line.operation.rawValue) \(line.amount) \(line.result.rawValue)\(wasUndone ? ", reversed" : "")")
  }
}

extension PostedOperation {
  fileprivate var summary: String { "\(kind.rawValue) \(amount) \(state.rawValue)" }
}

import Storage
package import TenderPayments

/// What a request of a caller came to, and the payment's operations beside it.
package struct RequestOutcome: Sendable, Hashable {
  package let outcome: OperationOutcome
  /// All of the payment's, oldest first.
  package let operations: [OperationRecord]
}

// The first final outcome of a request, read from what the journal has: the audit chain says how a payment and its
// operations stood after every change.
extension Journal {
  /// The request's outcome as it was when nothing more of it was to come, whatever has become of the payment since. While
  /// something is to come, as it is now; so too where the audit chain lacks an entry that would say how it was.
  ///
  /// - Parameter request: the operation by which it is known.
  package func firstOutcome(of request: AttemptReference) async throws -> RequestOutcome {
    try await database.read { try Self.firstOutcome(of: request, in: $0) }
  }

  private static func firstOutcome(of request: AttemptReference, in store: Transaction) throws -> RequestOutcome {
    let record = try PaymentRecord(row(ofPaymentWith: request, in: store))
    let rows = try Operations.rows(of: record.payment.id, in: store)
    let operations = try rows.map { (row: $0, record: try OperationRecord($0), partOf: try $0.textOrNil("part_of")) }
    guard let first = operations.first(where: { $0.record.reference == request }) else {
      throw StorageError.column("reference")
    }
    let parts = operations.filter { $0.partOf == request.rawValue }.map(\.record)
    var now = OperationOutcome(operation: first.record, payment: record.payment, parts: parts)
    now.awaitsCapture = record.awaitsCapture(of: first.record)
    let present = RequestOutcome(outcome: now, operations: operations.map(\.record))
    guard now.isFinal else { return present }
    var history = RequestHistory(of: now)
    for row in try store.rows(entries, .text(record.payment.id.rawValue)) where !history.isFinal {
      do { try history.take(AuditEntry(row)) } catch StorageError.column { return present }
    }
    guard history.isFinal, let last = history.last else { return present }
    let then = try operations.compactMap { try history.record(of: $0.record, $0.row) }
    let request = Set(now.operations.map(\.reference))
    let own = then.filter { request.contains($0.reference) }
    return RequestOutcome(
      outcome: OperationOutcome(
        operation: own.first { $0.reference == now.operation.reference } ?? now.operation,
        payment: record.moved(to: record.balances.at(last), at: last.at).payment,
        parts: own.filter { $0.reference != now.operation.reference }),
      operations: then)
  }

  private static let entries = "SELECT * FROM audit WHERE payment = $1 ORDER BY version, seq"
}

/// The entries of a payment until nothing more of a request was to come.
private struct RequestHistory {
  private let request: OperationOutcome
  private var states: [AttemptReference: (state: OperationState, at: Timestamp)] = [:]
  private(set) var last: AuditEntry?

  init(of request: OperationOutcome) { self.request = request }

  /// An authorization is over when its payment is resolved, also by a reversal.
  var isFinal: Bool {
    guard let last, last.after.isResolved else { return false }
    return request.operations.allSatisfy { $0.kind == .authorize || states[$0.reference]?.state.isOpen == false }
  }

  mutating func take(_ entry: AuditEntry) throws {
    last = entry
    switch entry.paymentEvent {
    case .begins: states[entry.operation] = (.sending, entry.at)
    case .meets(_, let outcome): states[entry.operation] = (OperationState(outcome), entry.at)
    case .resolved(let resolution):
      states[entry.operation] = (resolution == .approved ? .approved : .failed, entry.at)
    case nil: break
    }
  }

  /// The operation as it was then; nil for one that began later.
  func record(of operation: OperationRecord, _ row: Row) throws -> OperationRecord? {
    guard operation.kind == .authorize else {
      return try states[operation.reference].map { try OperationRecord(row, as: $0) }
    }
    guard operation.reference == request.operation.reference, let last else { return operation }
    return try OperationRecord(
      row, as: (OperationState(ofAuthorizationIn: last.after), states[operation.reference]?.at ?? last.at))
  }
}

extension Balances {
  fileprivate func at(_ entry: AuditEntry) -> Balances {
    var then = self
    then.status = entry.after
    then.authorized = entry.authorized
    then.captured = entry.captured
    then.refunded = entry.refunded
    then.chargedBack = entry.chargedBack
    return then
  }
}

extension OperationState {
  /// The state of an authorization whose payment is in a status that is resolved.
  fileprivate init(ofAuthorizationIn status: PaymentStatus) {
    switch status {
    case .declined: self = .declined
    case .failed: self = .failed
    case .voided: self = .reversed
    default: self = .approved
    }
  }

  fileprivate init(_ outcome: Outcome) {
    switch outcome {
    case .approved: self = .approved
    case .declined: self = .declined
    case .pending: self = .pending
    case .unknown: self = .unknown
    case .nothing: self = .failed
    case .returned: self = .returned
    }
  }
}

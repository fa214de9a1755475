import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

/// Checkout.com's search of a period as a report for reconciliation, with every payment's list of actions.
///
/// What no operation of ours asked for stands under Checkout.com's name of it.
struct CheckoutComReport: Sendable {
  typealias Unavailable = AcquirerReport.Unavailable

  let connector: CheckoutComConnector
  let lookup: AcquirerReport.Lookup

  /// A search returns up to a thousand, which would be longer than an answer may be.
  private static let page = 200

  /// Every operation on payments that were requested in the period, oldest first.
  func report(_ period: Range<Timestamp>, _ deadline: Deadline) async throws(Unavailable) -> AcquirerReport {
    var lines: [AcquirerReport.Line] = []
    for payment in try await payments(period, deadline) {
      for action in try await actions(of: payment, deadline) {
        if let line = try await line(action, of: payment) { lines.append(line) }
      }
    }
    return AcquirerReport(lines: lines.sorted { $0.time < $1.time })
  }

  /// A search has no second page, so a period that fills one is halved.
  private func payments(
    _ period: Range<Timestamp>, _ deadline: Deadline
  ) async throws(Unavailable) -> [CheckoutComPayment] {
    let found = try await search(period, deadline)
    guard found.count >= Self.page else { return found }
    let half = period.lowerBound.adding(period.upperBound.since(period.lowerBound) / 2)
    guard half > period.lowerBound.adding(.seconds(1)) else { throw Self.unavailable("too many payments in a second") }
    return try await payments(period.lowerBound..<half, deadline)
      + payments(half..<period.upperBound, deadline)
  }

  private func search(
    _ period: Range<Timestamp>, _ deadline: Deadline
  ) async throws(Unavailable) -> [CheckoutComPayment] {
    let body: JSONValue = [
      "query": "", "limit": .integer(Int64(Self.page)), "from": .string(period.lowerBound.description),
      "to": .string(period.upperBound.description),
    ]
    return try found(
      connector.lookup(await connector.post("/payments/search", body, deadline)) { root throws(JSONError) in
        var payments: [CheckoutComPayment] = []
        for field in try root.member("data").array { payments.append(try CheckoutComPayment(field)) }
        return payments
      })
  }

  private func actions(
    of payment: CheckoutComPayment, _ deadline: Deadline
  ) async throws(Unavailable) -> [CheckoutComActionEntry] {
    try found(await connector.actions(of: payment, deadline))
  }

  private func found<Found>(_ lookup: CheckoutComConnector.Lookup<Found>) throws(Unavailable) -> Found {
    switch lookup {
    case .found(let found): return found
    case .missing: throw Self.unavailable("not found")
    case .unavailable(let interruption): throw Unavailable(interruption: interruption)
    }
  }

  /// Nil for a kind of action that is not compared.
  private func line(
    _ action: CheckoutComActionEntry, of payment: CheckoutComPayment
  ) async throws(Unavailable) -> AcquirerReport.Line? {
    guard let kind = AcquirerReport.Operation(checkoutCom: action.type) else { return nil }
    guard let time = action.processedAt ?? payment.requestedAt else { throw Self.unavailable("no time") }
    let own = try await reference(kind, action, of: payment)
    return AcquirerReport.Line(
      reference: own?.reference ?? AttemptReference(action.id), operation: own?.operation ?? kind,
      amount: action.amount, result: action.isApproved.map { $0 ? .approved : .declined } ?? .pending, time: time,
      of: kind == .authorize ? nil : payment.reference.map { AttemptReference($0) },
      called: kind == .authorize ? payment.id : action.id)
  }

  /// Our name of an operation. A reversal of ours is a void there, and named like its authorization here.
  private func reference(
    _ kind: AcquirerReport.Operation, _ action: CheckoutComActionEntry, of payment: CheckoutComPayment
  ) async throws(Unavailable) -> (reference: AttemptReference, operation: AcquirerReport.Operation)? {
    if kind == .authorize { return payment.reference.map { (AttemptReference($0), .authorize) } }
    let authorization = payment.reference.map { AttemptReference($0) }
    if kind == .void, let authorization, try await isOurs(.reverse, action.id) { return (authorization, .reverse) }
    return action.operation.map { ($0, kind) }
  }

  private func isOurs(_ operation: AcquirerReport.Operation, _ name: String) async throws(Unavailable) -> Bool {
    do { return try await lookup(operation, name) != nil } catch {
      throw Self.unavailable("the journal cannot be read")
    }
  }

  private static func unavailable(_ detail: String) -> Unavailable {
    Unavailable(interruption: Interruption(.unintelligibleAnswer, detail: detail))
  }
}

extension AcquirerReport.Operation {
  fileprivate init?(checkoutCom type: String) {
    switch type {
    case "Authorization": self = .authorize
    case "Capture": self = .capture
    case "Void": self = .void
    case "Refund": self = .refund
    default: return nil
    }
  }
}

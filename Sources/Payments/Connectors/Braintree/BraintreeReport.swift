package import Acquiring
package import HTTPTransport
package import TenderPayments

/// Braintree's listing of a period as a report for reconciliation.
///
/// Authorizations, parts and refunds have our reference as their order id. A capture of all and a void change the
/// authorization's own transaction and have only Braintree's name, by which the journal knows the operation.
package struct BraintreeReport: Sendable {
  package typealias Lookup = AcquirerReport.Lookup
  package typealias Unavailable = AcquirerReport.Unavailable

  private let connector: BraintreeConnector
  private let lookup: Lookup

  package init(
    _ settings: BraintreeSettings, http: HTTPSender, log: @escaping ExchangeLog = { _ in },
    lookup: @escaping Lookup
  ) {
    connector = BraintreeConnector(settings: settings, http: http, log: log)
    self.lookup = lookup
  }

  /// Every operation on transactions that were created in the period, in whole seconds, oldest first. Amounts are in
  /// Braintree's units.
  package func report(
    _ period: Range<Timestamp>, _ deadline: Deadline
  ) async throws(Unavailable) -> AcquirerReport {
    let transactions: [BraintreeTransaction]
    switch await connector.transactions(in: period, deadline) {
    case .found(let found): transactions = found
    case .missing: transactions = []
    case .unavailable(let interruption): throw Unavailable(interruption: interruption)
    }
    var lines: [AcquirerReport.Line] = []
    for transaction in transactions {
      for entry in transaction.entries(beside: transactions) {
        lines.append(try await line(entry, of: transaction, beside: transactions))
      }
    }
    return AcquirerReport(lines: lines.sorted { $0.time < $1.time })
  }

  private func line(
    _ entry: BraintreeTransaction.Entry, of transaction: BraintreeTransaction, beside all: [BraintreeTransaction]
  ) async throws(Unavailable) -> AcquirerReport.Line {
    guard let amount = entry.amount(connector.messages), let time = entry.time ?? transaction.createdAt else {
      throw Unavailable(
        interruption: Interruption(.unintelligibleAnswer, detail: "\(transaction.id) has no amount or no time"))
    }
    let own = try await reference(entry, of: transaction)
    return AcquirerReport.Line(
      reference: own?.reference ?? AttemptReference(transaction.id), operation: own?.operation ?? entry.operation,
      amount: amount, result: entry.result, time: time,
      of: entry.operation == .authorize ? nil : try await authorization(of: transaction, beside: all),
      called: transaction.id)
  }

  /// Our name of the authorization that the transaction is of, or is a part or a refund of.
  private func authorization(
    of transaction: BraintreeTransaction, beside all: [BraintreeTransaction]
  ) async throws(Unavailable) -> AttemptReference? {
    let refunded = transaction.refunded.map { sale in all.first { $0.id == sale }?.authorization ?? sale }
    let sale = refunded ?? transaction.authorization ?? transaction.id
    if let own = try await find(.authorize, sale) { return own }
    if let order = all.first(where: { $0.id == sale })?.order { return AttemptReference(order) }
    // A refund of a part that was settled before the listing begins.
    guard let part = transaction.refunded, let capture = try await find(.capture, part) else { return nil }
    return capture
  }

  /// Our name of an operation: by Braintree's name, or else the order id that it bears. A person's refund bears the
  /// order id of its sale, and a reversal of ours is a void there.
  private func reference(
    _ entry: BraintreeTransaction.Entry, of transaction: BraintreeTransaction
  ) async throws(Unavailable) -> (reference: AttemptReference, operation: AcquirerReport.Operation)? {
    let order = entry.bearsOrder ? transaction.order.map { AttemptReference($0) } : nil
    if entry.operation == .authorize { return order.map { ($0, .authorize) } }
    if let own = try await find(entry.operation, transaction.id) { return (own, entry.operation) }
    if entry.operation == .void, try await find(.reverse, transaction.id) != nil {
      return transaction.order.map { (AttemptReference($0), .reverse) }
    }
    guard let order, let sale = transaction.refunded ?? transaction.authorization else { return nil }
    for kind in [AcquirerReport.Operation.authorize, .capture] where try await find(kind, sale) == order { return nil }
    return (order, entry.operation)
  }

  private func find(
    _ operation: AcquirerReport.Operation, _ name: String
  ) async throws(Unavailable) -> AttemptReference? {
    do { return try await lookup(operation, name) } catch {
      throw Unavailable(interruption: Interruption(.unintelligibleAnswer, detail: "the journal cannot be read"))
    }
  }
}

extension BraintreeConnector {
  /// The transactions that were created in the period.
  fileprivate func transactions(
    in period: Range<Timestamp>, _ deadline: Deadline
  ) async -> Lookup<[BraintreeTransaction]> {
    let criterion = BraintreeXML(
      "created_at",
      [
        BraintreeXML("min", time: period.lowerBound),
        BraintreeXML("max", time: period.upperBound.adding(.microseconds(-1))),
      ])
    return await search([criterion], deadline)
  }
}

extension BraintreeXML {
  fileprivate init(_ name: String, time: Timestamp) { self.init(name, time.description, type: "datetime") }
}

extension BraintreeTransaction {
  /// One operation on a transaction.
  struct Entry: Sendable {
    let operation: AcquirerReport.Operation
    let result: AcquirerReport.Result
    let currency: Currency
    /// As Braintree writes it; less what its parts have.
    let text: String
    var parts: [String] = []
    /// Whether the order id is the reference of this operation.
    var bearsOrder = false
    var time: Timestamp?

    func amount(_ messages: BraintreeMessages) -> Amount? {
      parts.reduce(messages.amount(text, currency)) { rest, part in
        guard let rest, let part = messages.amount(part, currency) else { return nil }
        return try? rest.subtracting(part)
      }
    }
  }

  /// - Parameter all: the transactions of the listing, among them the parts of this one.
  fileprivate func entries(beside all: [BraintreeTransaction]) -> [Entry] {
    switch (kind, authorization) {
    case (.credit, _): [entry(.refund, result, bearsOrder: true)]
    case (.sale, .some): [entry(.capture, result, bearsOrder: true)] + undoing(.refund)
    case (.sale, nil): [entry(.authorize, authorizationResult, authorizedAmount, bearsOrder: true)] + followUps(all)
    }
  }

  private func followUps(_ all: [BraintreeTransaction]) -> [Entry] {
    if wasSubmitted { return [entry(.capture, result, at: "submitted_for_settlement")] + undoing(.refund) }
    return undoing(.void, parts: all.filter { $0.authorization == id }.map(\.amount))
  }

  private func undoing(_ operation: AcquirerReport.Operation, parts: [String] = []) -> [Entry] {
    guard status == "voided" else { return [] }
    var entry = entry(operation, .approved, at: "voided")
    entry.parts = parts
    return [entry]
  }

  private func entry(
    _ operation: AcquirerReport.Operation, _ result: AcquirerReport.Result, _ text: String? = nil,
    bearsOrder: Bool = false, at status: String? = nil
  ) -> Entry {
    Entry(
      operation: operation, result: result, currency: currency, text: text ?? amount, bearsOrder: bearsOrder,
      time: history.first { $0.status == status }?.time)
  }

  private var wasSubmitted: Bool { history.contains { $0.status == "submitted_for_settlement" } }

  private var result: AcquirerReport.Result { decline == nil && rejection == nil ? .approved : .declined }

  private var authorizationResult: AcquirerReport.Result {
    if status == "authorizing" { return .pending }
    return history.contains { $0.status == "authorized" } ? .approved : .declined
  }
}

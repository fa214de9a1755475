import HTTPTypes
package import Ledger
import Storage
package import TenderPayments

// For the command line: each attempt stands in the office's audit chain, with its outcome.
extension PaymentAdministration {
  package func perform(
    _ operation: Operation, on id: PaymentID, amount: String?, isFinal: Bool, key: String?,
    by person: CommandLineOperator
  ) async throws -> PaymentReport {
    let payment = try await journal.payment(id)
    let read = amount.map { text in
      payment.flatMap { try? Amount(typed: text, in: $0.amount.currency) }.map { "\($0)" } ?? "“\(text)”"
    }
    let asked = [
      read ?? (operation.movesMoney ? "all that is left" : nil), isFinal ? "final" : nil, key.map { "key \($0)" },
    ]
    let isRepeat = try await isRepeat(operation, of: payment, under: key)
    return try await audit(
      operation.rawValue + (isRepeat ? ".repeat" : ""), on: id, payment, asked, key: key, by: person
    ) {
      try await perform(operation, on: id, amount: amount, isFinal: isFinal, key: key)
    }
  }

  package func resolve(
    _ id: PaymentID, as resolution: Resolution, operation: AttemptReference?, by person: CommandLineOperator
  ) async throws -> PaymentReport {
    try await audit(
      "resolve.\(resolution.rawValue)", on: id, try await journal.payment(id),
      [operation?.rawValue ?? "the payment"], key: nil, by: person
    ) {
      try await resolve(id, as: resolution, operation: operation, note: person.reason)
    }
  }

  private func audit(
    _ verb: String, on id: PaymentID, _ payment: Payment?, _ asked: [String?], key: String?,
    by person: CommandLineOperator, _ work: () async throws -> PaymentReport
  ) async throws -> PaymentReport {
    let entry = OfficeAction(
      person.actor, from: "", "payment.\(verb)", merchant: payment?.merchant.rawValue ?? "", subject: id.rawValue,
      before: payment?.auditedState ?? "", after: asked.compactMap(\.self).joined(separator: ", "),
      reason: person.reason)
    func withKey(_ words: String) -> String { words + (key.map { ", key \($0)" } ?? "") }
    return try await OfficeAudit.attempt(
      entry, in: journal.database,
      failure: { error in
        let problem = ProblemTable.problem(for: error)
        return (problem.status.code < 500 ? .refused : .failed, withKey(problem.detail))
      }, outcome: { withKey($0.outcome) }, work)
  }
}

extension PaymentAdministration.Operation {
  fileprivate var movesMoney: Bool {
    switch self {
    case .capture, .void, .refund, .increment: true
    case .inquire, .acknowledge: false
    }
  }
}

extension Payment {
  /// In one line, for the audit chain.
  package var auditedState: String {
    let amounts = [("authorized", authorized), ("captured", captured), ("released", released), ("refunded", refunded)]
    return amounts.reduce(status.rawValue) {
      "\($0), \($1.0) \(Amount(minorUnits: $1.1, currency: amount.currency))"
    }
  }
}

import BackOffice
import HTTPTypes
package import Ledger
import Storage
package import TenderPayments

/// Who asks for an operation at the command line, and why.
package struct CommandLineOperator: Sendable {
  let name: String
  let reason: String

  /// - Parameter name: the user of the machine.
  package init(_ name: String, because reason: String) { (self.name, self.reason) = (name, reason) }
}

// For the command line: each attempt stands in the office's audit chain, with its outcome.
extension PaymentAdministration {
  package func perform(
    _ operation: Operation, on id: PaymentID, amount: String?, isFinal: Bool, key: String?,
    by person: CommandLineOperator
  ) async throws -> PaymentReport {
    let asked = [amount ?? "all that is left", isFinal ? "final" : nil, key.map { "key \($0)" }]
    return try await audited(operation.rawValue, on: id, asked.compactMap { $0 }.joined(separator: ", "), by: person) {
      try await perform(operation, on: id, amount: amount, isFinal: isFinal, key: key)
    }
  }

  package func resolve(
    _ id: PaymentID, as resolution: Resolution, operation: AttemptReference?, by person: CommandLineOperator
  ) async throws -> PaymentReport {
    try await audited("resolve.\(resolution.rawValue)", on: id, operation?.rawValue ?? "the payment", by: person) {
      try await resolve(id, as: resolution, operation: operation, note: person.reason)
    }
  }

  /// Notes what is asked before anything is done, and afterwards what came of it.
  private func audited(
    _ verb: String, on id: PaymentID, _ asked: String, by person: CommandLineOperator,
    _ work: () async throws -> PaymentReport
  ) async throws -> PaymentReport {
    let payment = try await journal.payment(id)
    func note(_ end: String, _ after: String) async throws {
      let entry = OfficeAction(
        "command line (\(person.name))", from: "", "payment.\(verb)\(end)", merchant: payment?.merchant.rawValue ?? "",
        subject: id.rawValue, before: payment?.auditedState ?? "", after: after, reason: person.reason)
      try await journal.database.write { try OfficeAudit($0).note(entry) }
    }
    try await note("", asked)
    let report: PaymentReport
    do { report = try await work() } catch {
      let problem = ProblemTable.problem(for: error)
      try await note(problem.status.code < 500 ? ".refused" : ".failed", problem.detail)
      throw error
    }
    try await note(".outcome", report.outcome)
    return report
  }
}

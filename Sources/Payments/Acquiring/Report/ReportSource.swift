package import TenderPayments

extension AcquirerReport {
  /// Asks a provider for its listing of a period.
  package typealias Source =
    @Sendable (_ period: Range<Timestamp>, _ lookup: @escaping Lookup, _ deadline: Deadline) async throws(Unavailable)
    -> AcquirerReport

  /// Our reference of the operation of this kind that was answered with this name; nil when the journal has none.
  package typealias Lookup = @Sendable (_ operation: Operation, _ name: String) async throws -> AttemptReference?

  /// Why there is no report. A part of one would show differences that are none.
  package struct Unavailable: Error, Sendable, Hashable {
    package let interruption: Interruption
  }

  /// - Parameter lines: with amounts in any units, until they are converted.
  package init(lines: [Line]) { self.lines = lines }
}

extension AcquirerReport.Line {
  func of(_ amount: Amount) -> AcquirerReport.Line {
    AcquirerReport.Line(reference: reference, operation: operation, amount: amount, result: result, time: time)
  }
}

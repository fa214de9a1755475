package import TenderPayments

/// What an acquirer says it has done, operation by operation: its report of a period.
package struct AcquirerReport: Sendable, Hashable {
  package enum Operation: String, Sendable, Hashable, CaseIterable {
    case authorize, capture, void, refund, increment
    /// The undoing of an authorization, under that authorization's reference.
    case reverse
  }

  package enum Result: String, Sendable, Hashable, CaseIterable {
    case approved, declined, pending
  }

  package struct Line: Sendable, Hashable {
    /// Our name of the operation.
    package let reference: AttemptReference
    package let operation: Operation
    package let amount: Amount
    package let result: Result
    package let time: Timestamp
    /// Our name of the authorization that it follows; nil for an authorization, and where the report does not say.
    package let authorization: AttemptReference?
    /// The provider's name of it, by which what follows an authorization is asked for; nil where the report does not say.
    package let name: String?

    package init(
      reference: AttemptReference, operation: Operation, amount: Amount, result: Result, time: Timestamp,
      of authorization: AttemptReference? = nil, called name: String? = nil
    ) {
      (self.reference, self.operation, self.authorization) = (reference, operation, authorization)
      (self.amount, self.result, self.time, self.name) = (amount, result, time, name)
    }
  }

  package let lines: [Line]

  /// From the first line's time to just after the last one's; nil without lines.
  package var period: Range<Timestamp>? {
    guard let first = lines.map(\.time).min(), let last = lines.map(\.time).max() else { return nil }
    return first..<last.adding(.microseconds(1))
  }

  /// - Parameter lines: with amounts in any units, until they are converted.
  package init(lines: [Line]) { self.lines = lines }

  /// Asks a provider for its listing of a period.
  package typealias Source =
    @Sendable (_ period: Range<Timestamp>, _ lookup: @escaping Lookup, _ deadline: Deadline) async throws(Unavailable)
    -> AcquirerReport

  /// Our reference of the operation of this kind that was answered with this name; nil when the journal has none.
  package typealias Lookup = @Sendable (_ operation: Operation, _ name: String) async throws -> AttemptReference?

  /// Why there is no report. A part of one would show differences that are none.
  package struct Unavailable: Error, Sendable, Hashable {
    package let interruption: Interruption

    package init(interruption: Interruption) { self.interruption = interruption }
  }
}

extension AcquirerReport.Line {
  func of(_ amount: Amount) -> AcquirerReport.Line {
    AcquirerReport.Line(
      reference: reference, operation: operation, amount: amount, result: result, time: time, of: authorization,
      called: name)
  }
}

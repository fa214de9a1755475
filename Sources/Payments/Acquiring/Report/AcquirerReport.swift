import StrictJSON
package import TenderPayments

/// What an acquirer says it has done, operation by operation: its report of a period.
///
/// JSON lines or CSV, distinguished by the first character. Both have the same members, in any order;
/// docs/reconciliation.md describes them. Adyen's own report is recognised by its first line.
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
  }

  package let lines: [Line]

  /// From the first line's time to just after the last one's; nil without lines.
  package var period: Range<Timestamp>? {
    guard let first = lines.map(\.time).min(), let last = lines.map(\.time).max() else { return nil }
    return first..<last.adding(.microseconds(1))
  }

  /// - Throws: for anything but a whole report; also for a text without lines, which a failed download is too. A report
  ///   of a period without operations is CSV's first line alone.
  package init(_ bytes: [UInt8]) throws(ReportError) {
    let rows = bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
    if let head = rows.first, AdyenReport.isHead(head) {
      lines = try AdyenReport(rows).lines
      return
    }
    switch rows.first?.first {
    case nil:
      throw ReportError(
        line: 1, "the report is empty; one without operations has the first line \(Self.names.joined(separator: ","))")
    case UInt8(ascii: "<"): throw ReportError(line: 1, "this is HTML or XML, such as an error page, and no report")
    case UInt8(ascii: "{"): lines = try Self.json(rows)
    default: lines = try Self.csv(rows)
    }
  }

  private static let names = ["reference", "operation", "amount", "currency", "result", "time"]

  private static func json(_ rows: [ArraySlice<UInt8>]) throws(ReportError) -> [Line] {
    var lines: [Line] = []
    for (index, row) in rows.enumerated() {
      guard let value = try? JSONReader.read(row), case .object(let object) = value else {
        throw ReportError(line: index + 1, "this is no JSON object")
      }
      // Two keys of JSON may be one key to a dictionary, which compares by canonical equivalence.
      let members = Dictionary(object.members.map { ($0.key, $0.value.plainText) }) { first, _ in first }
      lines.append(try line(members, at: index + 1))
    }
    return lines
  }

  private static func csv(_ rows: [ArraySlice<UInt8>]) throws(ReportError) -> [Line] {
    guard let head = rows.first else { return [] }
    let names = fields(head)
    let missing = Self.names.filter { !names.contains($0) }
    guard missing.isEmpty else {
      throw ReportError(
        line: 1,
        "this is neither JSON nor CSV with the columns of a report; missing: \(missing.joined(separator: ", "))")
    }
    guard Set(names).count == names.count else { throw ReportError(line: 1, "a column is named twice") }
    var lines: [Line] = []
    for (index, row) in rows.enumerated().dropFirst() {
      let values = fields(row)
      guard values.count == names.count else {
        throw ReportError(line: index + 1, "\(values.count) columns, the head has \(names.count)")
      }
      lines.append(try line(Dictionary(uniqueKeysWithValues: zip(names, values)), at: index + 1))
    }
    return lines
  }

  /// None of the members can hold a comma or a quotation mark, so there is no quoting to undo.
  private static func fields(_ row: ArraySlice<UInt8>) -> [String] {
    row.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private static func line(_ members: [String: String], at number: Int) throws(ReportError) -> Line {
    func member<Value>(_ name: String, _ read: (String) -> Value?) throws(ReportError) -> Value {
      guard let text = members[name] else { throw ReportError(line: number, "\(name) is missing") }
      guard let value = read(text) else { throw ReportError(line: number, "\(name) is not what it must be") }
      return value
    }
    let currency = try member("currency") { Currency(code: $0) }
    return Line(
      reference: try member("reference") { $0.isEmpty ? nil : AttemptReference($0) },
      operation: try member("operation", Operation.init),
      amount: try member("amount") { Int64($0).flatMap { Amount(received: $0, currency: currency) } },
      result: try member("result", Result.init), time: try member("time") { Timestamp(rfc3339: $0) })
  }
}

/// Why a report cannot be read. A report is read whole or not at all: half of one would show differences that are none.
package struct ReportError: Error, Sendable, Hashable, CustomStringConvertible {
  package let line: Int
  package let reason: String
  package var description: String { "line \(line): \(reason)" }

  init(line: Int, _ reason: String) {
    self.line = line
    self.reason = reason
  }
}

extension JSONValue {
  /// A text or a whole number, as the CSV form would have it; empty for anything else, which no member may be.
  fileprivate var plainText: String {
    switch self {
    case .string(let text): text
    case .integer(let number): "\(number)"
    default: ""
    }
  }
}

package import Acquiring
import StrictJSON
import TenderPayments

// JSON lines, a JSON array or CSV, distinguished by the first character, before which a byte order mark may stand. All have
// the same members, in any order; docs/reconciliation.md describes them. Adyen's own report is recognised by its first line.
extension AcquirerReport {
  /// Reads line by line, up to the first that is wrong.
  ///
  /// - Parameter limit: the most lines that are taken.
  /// - Throws: for anything but a whole report; also for a text without lines, which a failed download is too. A report
  ///   of a period without operations is CSV's first line alone.
  package init(_ bytes: [UInt8], limit: Int = AcquirerReport.mostLines) throws(ReportError) {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = (bytes.starts(with: mark) ? bytes[mark.count...] : bytes[...]).drop { $0 <= 0x20 }
    switch text.first {
    case nil:
      throw ReportError(
        line: 1, "the report is empty; one without operations has the first line \(Self.names.joined(separator: ","))")
    case UInt8(ascii: "<"): throw ReportError(line: 1, "this is HTML or XML, such as an error page, and no report")
    case UInt8(ascii: "{"), UInt8(ascii: "["): self.init(lines: try Self.json(text, limit))
    default:
      var table = try ReportTable(text)
      self.init(
        lines: AdyenReport.isHead(table.names) ? try AdyenReport(&table, limit).lines : try Self.csv(&table, limit))
    }
  }

  /// What a report of 16 MiB may hold, so that its lines take no more than a few times its bytes.
  package static let mostLines = 200_000

  private static let names = ["reference", "operation", "amount", "currency", "result", "time"]

  /// - Parameter text: an object on each line, or an array of objects.
  private static func json(_ text: ArraySlice<UInt8>, _ limit: Int) throws(ReportError) -> [Line] {
    var values = JSONLines(text)
    var lines: [Line] = []
    while let value = values.next() {
      let number = lines.count + 1
      try ReportError.require(number <= limit, limit, at: number)
      guard case .object(let object)? = try? JSONReader.read(value) else {
        throw ReportError(line: number, "this is no JSON object")
      }
      // Two keys of JSON may be one key to a dictionary, which compares by canonical equivalence.
      let members = Dictionary(object.members.map { ($0.key, $0.value.plainText) }) { first, _ in first }
      lines.append(try line(members, at: number))
    }
    guard values.isWhole else { throw ReportError(line: 1, "this is no JSON array") }
    return lines
  }

  private static func csv(_ table: inout ReportTable, _ limit: Int) throws(ReportError) -> [Line] {
    let names = table.names
    let missing = Self.names.filter { !names.contains($0) }
    guard missing.isEmpty else {
      throw ReportError(
        line: 1,
        "this is neither JSON nor CSV with the columns of a report; missing: \(missing.joined(separator: ", "))")
    }
    guard Set(names).count == names.count else { throw ReportError(line: 1, "a column is named twice") }
    var lines: [Line] = []
    while let row = try table.next() {
      try ReportError.require(lines.count < limit, limit, at: row.line)
      lines.append(try line(Dictionary(uniqueKeysWithValues: zip(names, row.fields)), at: row.line))
    }
    return lines
  }

  private static func line(_ members: [String: String], at number: Int) throws(ReportError) -> Line {
    func member<Value>(
      _ name: String, _ right: String, _ read: (String) -> Value?
    ) throws(ReportError) -> Value {
      guard let text = members[name] else { throw ReportError(line: number, "\(name) is missing") }
      guard let value = read(text) else { throw ReportError(line: number, name, text, mustBe: right) }
      return value
    }
    let currency = try member("currency", "a code of ISO 4217, such as EUR") { Currency(code: $0) }
    return Line(
      reference: try member("reference", "our reference of an operation, and no card number") {
        $0.isEmpty || !ReportError.isName($0) ? nil : AttemptReference($0)
      },
      operation: try member("operation", "one of \(names(of: Operation.allCases))", Operation.init),
      amount: try member("amount", "a whole number of minor units, such as 1250 for \(example(currency))") {
        Int64($0).flatMap { Amount(received: $0, currency: currency) }
      }, result: try member("result", "one of \(names(of: Result.allCases))", Result.init),
      time: try member("time", "a time of RFC 3339, such as 2026-11-21T10:00:00Z") { Timestamp(rfc3339: $0) },
      of: try members.name("authorization", at: number).map { AttemptReference($0) },
      called: try members.name("name", at: number))
  }

  private static func names<Word: RawRepresentable<String>>(of all: [Word]) -> String {
    all.map(\.rawValue).joined(separator: ", ")
  }

  private static func example(_ currency: Currency) -> Amount { Amount(minorUnits: 1_250, currency: currency) }
}

/// Why a report cannot be read. A report is read whole or not at all: half of one would show differences that are none.
///
/// What it says of a field has no card number: one may stand in a wrong column.
package struct ReportError: Error, Sendable, Hashable, CustomStringConvertible {
  package let line: Int
  package let reason: String
  package var description: String { "line \(line): \(reason)" }

  init(line: Int, _ reason: String) {
    self.line = line
    self.reason = CardNumbers.masked(reason)
  }

  /// A field has another text than it must have.
  init(line: Int, _ name: String, _ text: String, mustBe right: String) {
    self.init(line: line, "\(name) is “\(CardNumbers.masked(text).prefix(60))”; it must be \(right)")
  }

  /// Whether a provider may call something so.
  static func isName(_ text: String) -> Bool {
    text.utf8.count <= AcquirerCapabilities.longestName && !CardNumbers.isIn(text)
  }

  static func require(_ isWithin: Bool, _ limit: Int, at line: Int) throws(ReportError) {
    guard isWithin else { throw ReportError(line: line, "a report has at most \(limit) lines; compare fewer days") }
  }
}

/// The values on the lines of a text, or in its array, one after the other. What is between the commas of an array may be
/// anything; its brackets are counted alone.
private struct JSONLines {
  private var rest: ArraySlice<UInt8>
  private let isArray: Bool
  private var (isFirst, isEnded) = (true, false)

  init(_ text: ArraySlice<UInt8>) {
    isArray = text.first == UInt8(ascii: "[")
    rest = isArray ? text.dropFirst() : text
  }

  /// Whether an array has ended, and nothing comes after it.
  var isWhole: Bool { !isArray || isEnded && rest.allSatisfy { $0 <= 0x20 } }

  /// Nil at the end.
  mutating func next() -> ArraySlice<UInt8>? { isArray ? nextElement() : nextLine() }

  private mutating func nextLine() -> ArraySlice<UInt8>? {
    func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    rest = rest.drop(while: isEnd)
    guard !rest.isEmpty else { return nil }
    let line = rest.prefix { !isEnd($0) }
    rest = rest.dropFirst(line.count)
    return line
  }

  private mutating func nextElement() -> ArraySlice<UInt8>? {
    guard !isEnded else { return nil }
    var (depth, isText, isEscaped) = (0, false, false)
    for (index, byte) in zip(rest.indices, rest) {
      if isText {
        if byte == UInt8(ascii: "\""), !isEscaped { isText = false }
        isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isText = true
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]") where depth == 0, UInt8(ascii: ",") where depth == 0:
        isEnded = byte == UInt8(ascii: "]")
        let element = rest[..<index]
        let isNone = isEnded && isFirst && element.allSatisfy { $0 <= 0x20 }
        (rest, isFirst) = (rest[(index + 1)...], false)
        return isNone ? nil : element
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      default: break
      }
    }
    return nil
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

extension [String: String] {
  /// The name of something, which a report need not have.
  func name(_ member: String, at line: Int) throws(ReportError) -> String? {
    guard let text = self[member], !text.isEmpty else { return nil }
    guard ReportError.isName(text) else {
      throw ReportError(
        line: line, member, text,
        mustBe: "a name of at most \(AcquirerCapabilities.longestName) bytes, and no card number")
    }
    return text
  }
}

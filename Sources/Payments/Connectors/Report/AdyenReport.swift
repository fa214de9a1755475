import Acquiring
import TenderPayments

/// Adyen's payment accounting report, as CSV: a line for every change of a payment's state.
///
/// What no operation of ours asked for stands under Adyen's name of it, which our books do not know.
struct AdyenReport {
  /// Whether this is the report's first line.
  static func isHead(_ names: [String]) -> Bool { names.first == "Company Account" }

  /// The changes that operations of ours can be compared with.
  let lines: [AcquirerReport.Line]

  init(_ table: inout ReportTable, _ limit: Int) throws(ReportError) {
    var changes: [Change] = []
    while let row = try table.next() {
      try ReportError.require(changes.count < limit, limit, at: row.line)
      changes.append(try Change(Dictionary(zip(table.names, row.fields)) { first, _ in first }, at: row.line))
    }
    lines = Self.lines(changes)
  }

  /// What was done and failed later is declined; a payment without a result is pending.
  private static func lines(_ changes: [Change]) -> [AcquirerReport.Line] {
    let failed = Set(changes.filter(\.isFailure).map(\.operation))
    let decided = Set(changes.filter { $0.line?.operation == .authorize && $0.type != "Received" }.map(\.payment))
    return changes.filter { $0.type != "Received" || !decided.contains($0.payment) }.compactMap { change in
      change.line.map { failed.contains(change.operation) && !change.isFailure ? $0.declined : $0 }
    }
  }
}

/// One line of the report.
private struct Change {
  let type: String
  /// Adyen's name of the payment.
  let payment: String
  /// What names the modification for both sides; the payment, where there is none.
  let operation: String
  /// Nil for changes that compare with nothing: a settlement, an expiry, a dispute.
  let line: AcquirerReport.Line?

  var isFailure: Bool { type == "CaptureFailed" || type == "RefundFailed" }

  init(_ members: [String: String], at number: Int) throws(ReportError) {
    func member(_ name: String) throws(ReportError) -> String {
      guard let text = members[name] else { throw ReportError(line: number, "\(name) is missing") }
      return text
    }
    type = try member("Record Type")
    payment = try member("Psp Reference")
    let modification = try member("Modification Merchant Reference")
    operation = [members["Modification Psp Reference"] ?? "", modification, payment].first { !$0.isEmpty } ?? ""
    for name in [
      "Psp Reference", "Modification Merchant Reference", "Modification Psp Reference", "Merchant Reference",
    ] {
      _ = try members.name(name, at: number)
    }
    guard let (kind, result) = Self.meaning(type, modification) else {
      line = nil
      return
    }
    let (money, code) = (try member("Main Amount"), try member("Main Currency"))
    guard let currency = Currency(code: code), currency.isMoney else {
      throw ReportError(line: number, "Main Currency", code, mustBe: "a code of ISO 4217, such as EUR")
    }
    guard let amount = Self.amount(money, currency) else {
      throw ReportError(line: number, "Main Amount", money, mustBe: "an amount of \(code) in major units")
    }
    let zone = try member("TimeZone")
    guard ReportZone(zone) != nil else {
      throw ReportError(line: number, "the TimeZone “\(zone.prefix(40))” is not known here")
    }
    let date = try member("Booking Date")
    guard let time = Self.time(date, zone) else {
      throw ReportError(line: number, "Booking Date", date, mustBe: "a time such as 2026-11-21 10:00:00")
    }
    let own = AdyenModification.allCases.lazy.compactMap { $0.operation(modification) }.first
    let isAuthorization = kind == .authorize || kind == .reverse
    let reference = isAuthorization ? AttemptReference(try member("Merchant Reference")) : own
    line = AcquirerReport.Line(
      reference: reference ?? AttemptReference(operation), operation: kind, amount: amount, result: result, time: time,
      of: isAuthorization ? nil : members["Merchant Reference"].map { AttemptReference($0) },
      called: isAuthorization ? payment : operation)
  }

  private static func meaning(
    _ type: String, _ modification: String
  ) -> (AcquirerReport.Operation, AcquirerReport.Result)? {
    switch type {
    case "Received": (.authorize, .pending)
    case "Authorised": (.authorize, .approved)
    case "Refused", "Error": (.authorize, .declined)
    case "SentForSettle": (.capture, .approved)
    case "SentForRefund": (.refund, .approved)
    case "Cancelled": (AdyenModification.void.operation(modification) == nil ? .reverse : .void, .approved)
    default: nil
    }
  }

  /// Adyen may write more decimals than ISO 4217 has; they are zeros.
  private static func amount(_ text: String, _ currency: Currency) -> Amount? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let rest = parts.count == 2 ? parts[1].dropFirst(currency.exponent) : ""
    guard rest.allSatisfy({ $0 == "0" }) else { return nil }
    let short = text.dropLast(rest.isEmpty ? 0 : rest.count + (currency.exponent == 0 ? 1 : 0))
    return try? Amount(decimal: short, currency: currency)
  }

  /// - Parameter zone: the account's own.
  private static func time(_ text: String, _ zone: String) -> Timestamp? {
    Timestamp(rfc3339: text.replacing(" ", with: "T") + "Z").flatMap { ReportZone(zone)?.moment(of: $0) }
  }
}

extension AcquirerReport.Line {
  fileprivate var declined: AcquirerReport.Line {
    AcquirerReport.Line(
      reference: reference, operation: operation, amount: amount, result: .declined, time: time, of: authorization,
      called: name)
  }
}

import Acquiring
import Administration
import ArgumentParser
import CommandSupport
import Connectors
import Foundation
import Gateway
import Ledger
import TenderPayments
import TenderServer

/// `tender reconcile`
struct ReconcileCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reconcile", abstract: "Compares the journal with the acquirer's report, both ways.")

  @Argument(help: "The report, as JSON lines or CSV; - reads standard input.") var file: String?
  @Option(help: "Compares this route alone; without a report, with its provider's own listing.") var route: String?
  @OptionGroup var store: StoreOptions
  @Option(
    help: "Start of the period that the report covers: 2026-11-21, which begins at 00:00 UTC, or 2026-11-21T08:00:00Z.")
  var from: Moment?
  @Option(help: "End of the period, which is no part of it.") var until: Moment?
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard file != nil || route != nil else { throw ValidationError("Name a report, or a --route to ask.") }
    guard file != nil || (from != nil && until != nil) else {
      throw ValidationError("Without a report, --from and --until say the period that the provider lists.")
    }
    try Moment.require(from, before: until)
  }

  /// Exit code 1 says that there are differences, 2 that it could not look.
  func run() async throws {
    let found: [Difference]
    let report: [UInt8]
    do {
      report = try file.map(NamedFile.bytes) ?? []
      found = try await differences(from: report)
    } catch {
      Terminal.sayError(ErrorLine.text(for: error), exitCode: 2)
      throw ExitCode(2)
    }
    if json { Terminal.say(try Terminal.json(found)) } else { show(found, from: report) }
    guard found.isEmpty else { throw ExitCode(1) }
  }

  private func differences(from report: [UInt8]) async throws -> [Difference] {
    let (route, from, until) = (route, from, until)
    let query = [
      file == nil ? "listing=yes" : nil, route.map { "route=\($0.inQuery)" },
      from.map { "from=\("\($0.time)".inQuery)" }, until.map { "until=\("\($0.time)".inQuery)" },
    ].compactMap { $0 }
    let (access, path) = (try await store.access(), "/reconcile?" + query.joined(separator: "&"))
    guard file != nil else { return try await access.askServer("POST", path) }
    return try await access.ask(
      here: { try await Reconciliation($0).differences(from: report, from?.time, until?.time, through: route) },
      there: ("POST", path), body: report)
  }

  private func show(_ found: [Difference], from report: [UInt8]) {
    let sorted = Difference.Kind.allCases.flatMap { kind in found.filter { $0.kind == kind } }
    let table = Table("DIFFERENCE", "REFERENCE", "PAYMENT", "HERE", "THERE", of: sorted) {
      [$0.kind.rawValue, "\($0.reference)", $0.payment.map { "\($0)" } ?? "-", $0.here ?? "-", $0.there ?? "-"]
    }
    for line in table.lines { Terminal.say(line) }
    let count = found.isEmpty ? "no difference" : Terminal.counted(found.count, "difference")
    Terminal.say(count + compared(report))
  }

  /// What was compared, so that agreement with the wrong day's report is seen to be one.
  private func compared(_ bytes: [UInt8]) -> String {
    let report = file == nil ? nil : try? AcquirerReport(bytes)
    let lines = report.map { " in \(Terminal.counted($0.lines.count, "line")) of the report" } ?? ""
    guard let start = from?.time ?? report?.period?.lowerBound, let end = until?.time ?? report?.period?.upperBound
    else {
      return lines
    }
    return "\(lines), \(start) to \(end)"
  }
}

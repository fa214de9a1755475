import Administration
import ArgumentParser
import CommandSupport
import Foundation
import Settings
import TenderPayments
import TenderServer

/// `tender config`
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Checks a configuration without starting anything, and lists the settings.",
    subcommands: [Check.self, Settings.self])

  /// `tender config check`
  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Reads everything that `tender serve` would read, opens every file, and reports all problems.",
      discussion: "A problem is a line, as compilers print it: file and line, setting, what is wrong, what to write.")
    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print JSON.") var json = false

    /// Exit code 1 says that the server would not start.
    func run() async throws {
      let report = try await options.report()
      if json { Terminal.say(try Terminal.json(Findings(report))) } else { show(report) }
      guard !report.hasErrors else { throw ExitCode(1) }
    }

    private func show(_ report: ConfigurationReport) {
      for problem in report.problems { Terminal.say(problem.diagnostic) }
      guard !report.hasErrors else {
        return Terminal.say(Terminal.counted(report.problems.count { !$0.isWarning }, "error"))
      }
      let configuration = report.configuration
      let store = configuration.store.path.map { "store \($0)" } ?? "store on PostgreSQL"
      Terminal.say("\(configuration.environment.rawValue), \(store)")
      for line in report.merchants.table.lines { Terminal.say(line) }
      if report.merchants.isEmpty {
        let isThere = FileManager.default.fileExists(atPath: configuration.merchantsDirectory)
        Terminal.say(
          isThere
            ? "no merchant in \(configuration.merchantsDirectory) yet: tender merchant add"
            : "no merchant is declared by a folder; `tender merchant list` shows those of the store")
      }
    }
  }

  /// `tender config settings`
  struct Settings: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "settings",
      abstract: "Lists every setting with its default, in Markdown: the tables of docs/configuration.md.")
    @Flag(help: "Print JSON.") var json = false
    @Flag(help: "Those of a merchant's merchant.yaml instead of the server's.") var merchant = false

    func run() throws {
      guard !json else {
        let settings = merchant ? SettingsTable.merchant.reports : SettingsTable.server.reports
        return Terminal.say(try Terminal.json(settings))
      }
      let page = merchant ? SettingsTable.merchant.page : SettingsTable.server.page
      Terminal.say(String(page.dropLast()))
    }
  }
}

/// What the check prints as JSON.
private struct Findings: Encodable {
  let environment: String
  let store: String
  let merchants: [MerchantReport]
  let problems: [Problem]

  struct Problem: Encodable {
    let severity: String
    /// File and line, variable or option; nil where `subject` is the file.
    let place: String?
    /// The setting or the file.
    let subject: String
    let reason: String
  }

  init(_ report: ConfigurationReport) {
    environment = report.configuration.environment.rawValue
    store = report.configuration.store.name
    merchants = report.merchants
    problems = report.problems.map {
      Problem(severity: $0.isWarning ? "warning" : "error", place: $0.place, subject: $0.key, reason: $0.reason)
    }
  }
}

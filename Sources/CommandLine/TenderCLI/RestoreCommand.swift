import Administration
import ArgumentParser
import CommandSupport
import Foundation
import Gateway
import Ledger
import Settings
import Storage
import TenderPayments

/// `tender restore`
struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Restores a backup, and takes up what happened since.",
    discussion: """
      After `store` the server can start. It takes no payment on a route before the journal has what the route's provider \
      did since the backup: it asks Braintree, Checkout.com and Stripe by itself; for others, `route` takes a report or \
      the merchant's orders, or a person accepts the gap.
      """,
    subcommands: [Store.self, Mark.self, Status.self, Route.self])

  struct Store: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "store", abstract: "Puts a backup in the place of the configuration's store.",
      discussion: """
        There must be no store yet; a database of PostgreSQL must be empty. A backup that is damaged, or of another \
        installation or version, is refused, and nothing has changed.
        """)
    @Argument(help: "The encrypted store of a backup: a file that ends in .store.age.") var file: String
    @Option(help: "The encrypted keys of the same backup, unless this machine has them.") var keys: String?
    @Option(help: "A file with the private key of age.") var identity: String
    @Option(help: "The server's configuration, as for tender serve.") var config: String?
    @Flag(help: "Bring the backup of an older version to this version's tables; for a store in a file.") var migrate =
      false
    @Flag(help: "Take what names a shopper out of the store: contacts.keys and its copy are lost.")
    var withoutContacts = false
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      guard FileManager.default.fileExists(atPath: identity) else { throw MistakenCall("there is no file \(identity)") }
      let configuration = try await ConfigurationOptions.load(file: config)
      // Only the private key and the backup are read as root.
      let report = try await FolderOwner.asOwner(besides: configuration.store.path ?? configuration.fingerprintKeyFile)
      {
        try await StoreRestore(configuration, identity: identity)
          .run(file, keys: keys, migrates: migrate, withoutContacts: withoutContacts)
      }
      guard !json else { return Terminal.say(try Terminal.json(report)) }
      Terminal.say("restored \(report.restore.backup)")
      Terminal.say(
        "verified: \(Terminal.counted(report.payments, "payment")), \(report.auditEntries) entries of the audit chain")
      for path in report.keys { Terminal.say("wrote    \(path)") }
      for name in report.missing { Terminal.say("missing  \(name): the server does not start without it") }
      report.restore.show()
      if report.needsContactKeys {
        Terminal.say(
          "first put the newest contacts.keys, or its copy, at \(configuration.contactKeyFile): no backup has it. "
            + "If both are lost, restore again with --without-contacts")
      }
      Terminal.say("now start the server, and look at tender restore status")
    }
  }

  struct Mark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mark", abstract: "Marks a store that was restored by other means, such as PostgreSQL's own.",
      discussion: "No server may have opened it since. Its routes are closed, as after `store`.")
    @Option(help: "The moment to which it was restored: 2026-11-21T08:00:00Z.") var lostFrom: Moment
    @OptionGroup var store: StoreOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      let configuration = try await store.configuration()
      let report = try await FolderOwner.asOwner(besides: configuration.store.path ?? configuration.fingerprintKeyFile)
      {
        try await StoreRestore.mark(configuration, lostFrom: lostFrom.time)
      }
      if json { Terminal.say(try Terminal.json(report)) } else { report.restore.show() }
    }
  }

  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status", abstract: "Shows the last restore and which routes are closed.",
      discussion: "Exit code 1 while a route is closed.")
    @OptionGroup var store: StoreOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      let report = try await store.access().ask(
        here: { try await RestoreAdministration($0).report() }, there: ("GET", "/restore"))
      if json { Terminal.say(try Terminal.json(report)) } else { report.show() }
      guard report.routes.allSatisfy({ $0.state != .closed }) else { throw ExitCode(1) }
    }
  }

  struct Route: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "route", abstract: "Opens a route of a restored store.",
      discussion: """
        Without an option the running server asks the route's provider. A report is one that tender reconcile takes. \
        Orders are CSV with the columns payment, authorized, captured, refunded, currency, in minor units, and name, the \
        provider's name of the authorization, where it is known.
        """)
    @Argument(help: "The route's name, for example adyen/eu-main.") var route: String
    @Option(help: "The provider's report of the time since the backup.") var report: String?
    @Option(help: "What the merchant knows of its payments since the backup.") var orders: String?
    @Flag(help: "Open the route although nobody knows what happened there since the backup.") var acceptGap = false
    @Flag(help: "Let Tender charge the route's agreements again, which may have been ended since the backup.")
    var resumeSchedules = false
    @Option(help: "Why the gap is accepted, or the schedules go on; kept in the audit chain.") var note: String?
    @OptionGroup var store: StoreOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
      guard [report != nil, orders != nil, acceptGap, resumeSchedules].count(where: { $0 }) <= 1 else {
        throw ValidationError("Give one of --report, --orders, --accept-gap and --resume-schedules.")
      }
      guard (acceptGap || resumeSchedules) == (note != nil) else {
        throw ValidationError("--accept-gap and --resume-schedules need a --note, and only they.")
      }
    }

    func run() async throws {
      if acceptGap || resumeSchedules { return try await decide() }
      let result = try await adopt()
      if json { Terminal.say(try Terminal.json(result)) } else { show(result) }
      guard result.isOpen else { throw ExitCode(1) }
    }

    /// A listing is asked for by the server alone, because it has the provider's keys.
    private func adopt() async throws -> AdoptionReport {
      let (name, isReport) = (route, report != nil)
      let path = "?route=\(name.inQuery)"
      guard let file = report ?? orders else {
        return try await store.access().askServer("POST", "/restore/listing" + path)
      }
      let bytes = try NamedFile.bytes(file)
      return try await store.ask(
        here: { configuration, journal in
          let administration = await RestoreAdministration(journal, configuration)
          return try await isReport
            ? administration.adopt(report: bytes, of: name) : administration.adopt(orders: bytes, of: name)
        },
        there: ("POST", (isReport ? "/restore/report" : "/restore/orders") + path), body: bytes)
    }

    private func decide() async throws {
      let (name, note, opens) = (route, note ?? "", acceptGap)
      let person = CommandLineOperator(NSUserName(), because: note)
      let query = "?route=\(name.inQuery)&by=\(NSUserName().inQuery)&note=\(note.inQuery)"
      let result = try await store.access().ask(
        here: { journal in
          let administration = await RestoreAdministration(journal)
          return try await opens
            ? administration.acceptGap(of: name, by: person) : administration.resumeSchedules(of: name, by: person)
        }, there: ("POST", "/restore/\(opens ? "gap" : "schedules")" + query))
      if json { Terminal.say(try Terminal.json(result)) } else { result.show() }
    }

    private func show(_ result: AdoptionReport) {
      if let time = result.waitsUntil { return Terminal.say("closed: the provider is asked after \(time)") }
      Terminal.say(
        "\(result.isOpen ? "open" : "closed"): \(Terminal.counted(result.adopted, "operation")) adopted, "
          + "\(result.known) known, \(result.contradicted) with an alarm, \(result.foreign) of no payment here")
      if result.later > 0 { Terminal.say("\(result.later) not decided yet: run this again in a minute") }
    }
  }
}

extension RestoreReport {
  fileprivate func show() {
    Terminal.say("lost: what happened from \(lostFrom) to \(restoredAt)" + (endedAt.map { "; ended \($0)" } ?? ""))
    Table("ROUTE", "STATE", "ADOPTED", "WAITING", "NOTE", of: routes) {
      [
        $0.route, $0.state.rawValue, "\($0.adopted)", "\(waitingAgreements[$0.route] ?? 0)",
        $0.note ?? ($0.state == .closed ? "tender restore route" : "-"),
      ]
    }.show("route")
    guard !waitingAgreements.isEmpty else { return }
    Terminal.say(
      "WAITING agreements are not charged by their schedule: end what was ended since the backup, then tender restore route "
        + "NAME --resume-schedules")
  }
}

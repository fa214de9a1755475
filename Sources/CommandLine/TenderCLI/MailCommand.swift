import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import Ledger
import Mail
import TenderPayments
import TenderServer

/// `tender mail`
struct MailCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mail", abstract: "Messages to operators, merchants and shoppers: lists, sends and retries them.",
    subcommands: [List.self, Show.self, Retry.self, Test.self, Warn.self])

  /// `tender mail list`
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists messages, the newest first.")
    @OptionGroup var store: StoreOptions
    @Option(help: "waiting, sent or dead; all by default.") var state: StateName?
    @Option(help: "How many, at most 500.") var limit = 50
    @Flag(help: "Print JSON.") var json = false

    enum StateName: String, ExpressibleByArgument, CaseIterable {
      case waiting, sent, dead
    }

    func validate() throws { try Limit.check(limit) }

    func run() async throws {
      let (state, limit) = (state.flatMap { StoredMail.State(rawValue: $0.rawValue) }, limit)
      let query = (state.map { "state=\($0.rawValue.inQuery)&" } ?? "") + "limit=\(limit)"
      let mails = try await store.access().ask(
        here: { try await MailAdministration($0.database).list(state, limit: limit) }, there: ("GET", "/mail?\(query)"))
      guard !json else { return Terminal.say(try Terminal.json(mails)) }
      Table("ID", "CREATED", "KIND", "STATE", "FAILED", "TO", "SUBJECT", of: mails) { $0.cells }.show("message")
    }
  }

  /// `tender mail show`
  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Shows a message, and what the mail server answered.")
    @OptionGroup var store: StoreOptions
    @Argument(help: "The message's id.") var id: String
    @Flag(help: "Print JSON.") var json = false

    func validate() throws { try MailID.check(id) }

    func run() async throws {
      let id = id
      let mail = try await store.access().ask(
        here: { journal in
          guard let mail = try await MailAdministration(journal.database).find(id) else {
            throw CallFailure("there is no message \(id); `tender mail list` shows them")
          }
          return mail
        }, there: ("GET", "/mail/\(id)"))
      json ? Terminal.say(try Terminal.json(mail)) : mail.show()
    }
  }

  /// `tender mail retry`
  struct Retry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "retry", abstract: "Tries a message again, or all that were given up.")
    @OptionGroup var store: StoreOptions
    @Argument(help: "The message's id.") var id: String?
    @Flag(help: "Every message that was given up.") var all = false
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
      guard all != (id != nil) else { throw ValidationError("Name a message, or say --all.") }
      if let id { try MailID.check(id) }
    }

    func run() async throws {
      let id = id
      let answer = try await store.access().ask(
        here: { ["retried": try await MailAdministration($0.database).retry(id)] },
        there: ("POST", "/mail/retry" + (id.map { "?id=\($0.inQuery)" } ?? "")))
      let count = answer["retried"] ?? 0
      Terminal.say(json ? try Terminal.json(answer) : "\(Terminal.counted(count, "message")) to be tried again")
      guard count > 0 else { throw ExitCode(1) }
    }
  }

  /// `tender mail test`
  struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "test",
      abstract: "Has the running server send a message now, and shows what the mail server answered.")
    @OptionGroup var store: StoreOptions
    @Option(help: "An e-mail address.") var to: String
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
      guard MailAddress(to) != nil else { throw ValidationError("\(to) is no e-mail address in plain ASCII.") }
    }

    func run() async throws {
      let mail: MailReportRow = try await store.access().askServer("POST", "/mail/test?to=\(to.inQuery)")
      json ? Terminal.say(try Terminal.json(mail)) : mail.show()
      guard mail.state == .sent else { throw ExitCode(1) }
    }
  }

  /// `tender mail warn`
  struct Warn: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "warn",
      abstract: "Has the running server send its warnings: certificates and domains that expire soon, and alarms.",
      discussion: """
        The server does it by itself every hour. Each end is warned of at 60, 30, 14, 7, 3 and 1 days, once each, and \
        alarms once a day, so that a second call sends nothing.
        """)
    @OptionGroup var store: StoreOptions
    @Option(help: "As if it were this date, for example 2028-01-01. Only in simulated.") var at: Moment?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      let query = at.map { "?at=\("\($0.time)".inQuery)" } ?? ""
      let answer: [String: Int] = try await store.access().askServer("POST", "/mail/warnings\(query)")
      Terminal.say(json ? try Terminal.json(answer) : Terminal.counted(answer["queued"] ?? 0, "warning") + " sent")
    }
  }
}

/// The ids of messages are a part of a path.
private enum MailID {
  static func check(_ id: String) throws {
    guard !id.isEmpty, id.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else {
      throw ValidationError("\(id) is no message's id.")
    }
  }
}

extension MailReportRow {
  fileprivate var cells: [String] { [id, created, kind.rawValue, state.rawValue, "\(tries)", recipient, subject] }

  fileprivate func show() {
    let rows = [
      ("id", id), ("kind", kind.rawValue), ("merchant", merchant?.rawValue ?? "-"), ("to", recipient),
      ("subject", subject), ("state", state.rawValue), ("failed", "\(tries)"),
      ("next try", state == .waiting ? nextTry : "-"), ("answer", result ?? "not tried"),
    ]
    for (name, value) in rows { Terminal.say(name.padding(toLength: 10, withPad: " ", startingAt: 0) + value) }
    Terminal.say()
    Terminal.say(text ?? "(The text is confidential: it is sealed until it is sent, and erased then.)")
  }
}

import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import Ledger
import Storage
import StrictJSON
import TenderPayments
import TenderServer

/// `tender user`
struct UserCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "user", abstract: "Who may sign in to the back office.",
    subcommands: [Add.self, Invite.self, Disable.self, Enable.self, List.self, Code.self])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add",
      abstract: "Adds a user, and prints the address at which they set password and one-time codes.",
      discussion: "The address works once, for three days. Give it to the person by a way that only they read.")
    @Argument(help: "The name: small letters, digits and . - _ @ +.") var name: String
    @Option(help: "viewer, operator or administrator.") var role = OfficeRole.viewer
    @Option(help: "A merchant's id, may be given more than once; all merchants by default.") var merchant: [String] = []
    @Option(help: "How much an operator refunds alone, of a payment and in a day, such as 100.00 EUR.")
    var refundLimit: [String] = []
    @OptionGroup var office: OfficeOptions

    func run() async throws {
      let grants = merchant.isEmpty ? [Grant(role.role)] : merchant.map { Grant(role.role, of: MerchantID($0)) }
      let limits = refundLimit.joined(separator: ", ")
      try await office.showInvitation(.add(name: name, grants: grants, refundLimits: limits))
    }
  }

  struct Invite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "invite",
      abstract: "Prints a new address for a user who has lost password or codes.")
    @Argument(help: "The user's name.") var name: String
    @OptionGroup var office: OfficeOptions

    func run() async throws { try await office.showInvitation(.invite(name: name)) }
  }

  struct Disable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "disable", abstract: "Signs a user out, and lets them in no more.")
    @Argument(help: "The user's name.") var name: String
    @OptionGroup var office: OfficeOptions

    func run() async throws { try office.show(try await office.ask(.setEnabled(false, name: name)).users) }
  }

  struct Enable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "enable", abstract: "Lets a disabled user in again.")
    @Argument(help: "The user's name.") var name: String
    @OptionGroup var office: OfficeOptions

    func run() async throws { try office.show(try await office.ask(.setEnabled(true, name: name)).users) }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "The users, their roles and their state.")
    @OptionGroup var office: OfficeOptions

    func run() async throws { try office.show(try await office.ask(.list).users) }
  }

  struct Code: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "code",
      abstract: "Prints the one-time code of a user at this moment; only where everything is simulated.")
    @Argument(help: "The user's name.") var name: String
    @OptionGroup var office: OfficeOptions

    func run() async throws {
      let code = try await office.ask(.code(name: name)).code ?? ""
      Terminal.say(office.json ? try Terminal.json(["code": code]) : code)
    }
  }
}

enum OfficeRole: String, ExpressibleByArgument, CaseIterable {
  case viewer, `operator`, administrator

  var role: Role {
    switch self {
    case .viewer: .viewer
    case .operator: .operator
    case .administrator: .administrator
    }
  }
}

/// The users of a store: through the server while one runs, from the file when none does.
struct OfficeOptions: ParsableArguments {
  @OptionGroup var store: StoreOptions
  @Flag(help: "Print JSON.") var json = false

  func ask(_ call: UserCall) async throws -> UserAnswer {
    if case .add = call { try await store.makeStore() }
    let user = NSUserName()
    return try await store.ask(
      here: { configuration, journal in
        do {
          return try await UserAdministration(
            configuration, journal.database, actor: CommandLineOperator(user).actor
          ).perform(call)
        } catch let refusal as OfficeRefusal {
          throw CallFailure(refusal.reason)
        }
      }, there: ("POST", "/users/calls?by=\(user.inQuery)"), body: Array(try JSONEncoder().encode(call)))
  }

  func showInvitation(_ call: UserCall) async throws {
    let answer = try await ask(call)
    let link = (answer.office ?? "") + (answer.invitation ?? "")
    if json { return Terminal.say(try Terminal.json(["invitation": link])) }
    Terminal.say(link)
    if answer.office == nil {
      Terminal.sayError("This is the path at the back office's address; backOffice.port in the configuration opens it.")
    }
  }

  func show(_ users: [UserReport]) throws {
    guard !json else { return Terminal.say(try Terminal.json(users)) }
    Table("NAME", "ROLES", "REFUNDS ALONE", "STATE", of: users) { user in
      let roles = user.grants.map { "\($0.role.rawValue) of \($0.merchant?.rawValue ?? "every merchant")" }
      let state =
        !user.enabled
        ? "disabled" : user.issuer.map { "at \($0)" } ?? (user.enrolled ? "active" : "invited")
      return [user.name, roles.joined(separator: "; "), user.refundLimits.isEmpty ? "-" : user.refundLimits, state]
    }.show("user")
  }
}

import Administration
import ArgumentParser
import CommandSupport
import Foundation
import Ledger
import Storage
import TenderPayments

/// `tender privacy`
struct PrivacyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "privacy", abstract: "Shows or erases what is kept of a person.",
    subcommands: [Export.self, Erase.self])

  /// `tender privacy export`
  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export", abstract: "Prints what is kept of a person, as JSON.",
      discussion: "Orders with contact and payments, messages, hosted checkouts. Look at it before you hand it on.")
    @OptionGroup var store: StoreOptions
    @OptionGroup var person: PersonOptions

    func run() async throws {
      let found = try await person.export(in: store)
      Terminal.say(try Terminal.json(found))
      guard found.isEmpty else { return }
      Terminal.sayError("nothing is kept of this person")
      throw ExitCode(1)
    }
  }

  /// `tender privacy erase`
  struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "erase", abstract: "Erases what names a person, for good.",
      discussion: """
        Contact, customer, note and messages go, also those that wait. Payments stay, with amounts and references, and \
        say no more whose they were. The keys of the contacts are destroyed, so no backup brings them back; see \
        docs/privacy.md.
        """)
    @OptionGroup var store: StoreOptions
    @OptionGroup var person: PersonOptions
    @Option(help: "Why, for the audit chain, which keeps it for good: do not name the person.") var reason: String
    @Flag(help: "Erase without asking.") var yes = false
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      let (found, user, reason) = (try await person.export(in: store), NSUserName(), reason)
      guard !found.isEmpty else {
        if json { Terminal.say(try Terminal.json(PrivacyErasure.nothing)) }
        Terminal.sayError("nothing is kept of this person")
        throw ExitCode(1)
      }
      try Confirmation.require("erase \(found.summary): for good", isConfirmed: yes)
      let subject = person.subject
      let erased = try await store.access().ask(
        here: { [store] journal in
          guard journal.database.rowKeys == nil || store.config != nil || store.store == nil else {
            throw MistakenCall(
              "--store alone does not say where the copy of the contacts' keys is, which has to forget as well: name the "
                + "server's configuration by --config")
          }
          let asked = OfficeAction(CommandLineOperator(user).actor, from: "", "privacy.erase", reason: reason)
          return try await Privacy(journal.database).erase(subject, asked)
        }, there: ("POST", "/privacy/erase?by=\(user.inQuery)&reason=\(reason.inQuery)"),
        body: try JSONEncoder.sorted.encodedBytes(subject))
      guard !json else { return Terminal.say(try Terminal.json(erased)) }
      Terminal.say(
        "erased: \(Terminal.counted(erased.orders.count, "order")), \(Terminal.counted(erased.mails, "message"))")
      for order in erased.orders { Terminal.say("  \(order)") }
    }
  }
}

/// Whose data is asked for.
struct PersonOptions: ParsableArguments {
  @Option(help: "The person's e-mail address, without regard to case.") var email: String?
  @Option(help: "The merchant's reference of a signed-in shopper.") var customer: String?
  @Option(help: "An order's id, or the merchant's reference of it.") var order: String?
  @Option(help: "The merchant whose customer or order it is; every merchant by default.") var merchant: String?

  var subject: PrivacySubject {
    var subject = PrivacySubject()
    (subject.email, subject.customer, subject.order) = (email, customer, order)
    subject.merchant = merchant.map { MerchantID($0) }
    return subject
  }

  func validate() throws {
    do { try subject.check() } catch { throw ValidationError("Give one of --email, --customer and --order.") }
  }

  func export(in store: StoreOptions) async throws -> PrivacyExport {
    let subject = subject
    return try await store.access().ask(
      here: { try await Privacy($0.database).export(subject) }, there: ("POST", "/privacy/export"),
      body: try JSONEncoder.sorted.encodedBytes(subject))
  }
}

extension PrivacyExport {
  fileprivate var isEmpty: Bool { orders.isEmpty && baskets.isEmpty }

  /// `2 orders of harbour: HK-1, HK-2`
  fileprivate var summary: String {
    let merchants = Set(orders.map(\.merchant.rawValue) + baskets.map(\.merchant.rawValue)).sorted()
    let named = orders.prefix(20).map(\.merchantReference) + (orders.count > 20 ? ["…"] : [])
    let counts = [(orders.count, "order"), (baskets.count, "basket")].filter { $0.0 > 0 }
      .map { Terminal.counted($0.0, $0.1) }
    return "\(counts.joined(separator: " and ")) of \(merchants.joined(separator: ", "))"
      + (named.isEmpty ? "" : ": \(named.joined(separator: ", "))")
  }
}

extension JSONEncoder {
  fileprivate static var sorted: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }

  fileprivate func encodedBytes(_ value: some Encodable) throws -> [UInt8] { Array(try encode(value)) }
}

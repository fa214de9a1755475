import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import MerchantIdentity
import Settings
import Storage
import TenderPayments
import TenderServer
import Webhooks

// `tender merchant`: the commands for merchants in the store.
extension MerchantCommand {
  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Takes a merchant's folder into the store: settings, certificates, domains and keys.",
      discussion: "The folder stays as it is. Its private keys are then in two places: remove it when all is well.")
    @Argument(help: "The merchant's folder, whose name is the merchant's id, or a file that the back office exported.")
    var place: String
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      let configuration = store.place.port == nil ? try await store.place.configuration() : nil
      // A server that runs refuses what it cannot serve.
      let keysMayBeElsewhere = configuration.map { $0.keyAgentSocket != nil } ?? true
      let bundle = try await MerchantBundle(
        place: place, at: WallClock.system.now(), keysMayBeElsewhere: keysMayBeElsewhere)
      try store.show(try await store.ask(.take(bundle)).merchants)
      if let key = bundle.webhookKey { Terminal.sayError("\(key.id) signs the webhooks of \(bundle.id).") }
    }
  }

  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Writes a merchant of the store into a folder, with its private keys and secrets.")
    @Argument(help: "The merchant's id.") var id: String
    @Argument(help: "The folder, which must not be there.") var directory: String
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      guard let bundle = try await store.ask(.export(merchant: id)).bundle else { return }
      try await FolderOwner.asOwner(besides: directory) { try bundle.write(to: directory, random: .system) }
      Terminal.say(store.json ? try Terminal.json(["id": id, "folder": directory]) : directory)
    }
  }

  struct Edit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "edit",
      abstract: "Changes settings of a merchant in the store.",
      discussion: "As `tender config settings --merchant` lists them; a list is written with commas, and nothing after "
        + "the sign of equality stands for the default.")
    @Argument(help: "The merchant's id.") var id: String
    @Argument(help: "KEY=VALUE, such as displayName=\"Harbour Kitchen\".") var settings: [String]
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      var values: [String: String] = [:]
      for setting in settings {
        let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { throw MistakenCall("“\(setting)” is not KEY=VALUE") }
        values[parts[0]] = parts[1]
      }
      try store.show(try await store.ask(.edit(merchant: id, settings: values)).merchants)
    }
  }

  struct Enable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "enable",
      abstract: "Switches Apple Pay on for a merchant of the store, or for one of its domains.")
    @OptionGroup var choice: SwitchOptions

    func run() async throws { try await choice.turn(on: true) }
  }

  struct Disable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "disable",
      abstract: "Switches Apple Pay off for a merchant of the store, or for one of its domains.")
    @OptionGroup var choice: SwitchOptions

    func run() async throws { try await choice.turn(on: false) }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Removes a merchant from the store, unless a payment of its is open.",
      discussion: """
        Its settings, domains, certificates with their private keys, and API, webhook and callback keys go. Its payments, \
        their audit trail, and what it said of the terms stay. `tender merchant export` keeps a copy.
        """)
    @Argument(help: "The merchant's id.") var id: String
    @Flag(help: "Do not ask.") var yes = false
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      guard let merchant = try await store.ask(.list).merchants?.first(where: { $0.id == id }) else {
        throw CallFailure("there is no merchant \(id); `tender merchant list` shows them")
      }
      let domains = merchant.domains.isEmpty ? "no domains" : "the domains \(merchant.domains.joined(separator: ", "))"
      try Confirmation.require(
        "remove \(id) (\(merchant.merchantIdentifier)): its settings, \(domains), its certificates with their private "
          + "keys and its API, webhook and callback keys go; its payments and their audit trail stay",
        isConfirmed: yes)
      try store.show(try await store.ask(.remove(merchant: id)).merchants)
    }
  }

  struct SwitchOptions: ParsableArguments {
    @Argument(help: "The merchant's id.") var id: String
    @Option(help: "One of its domains; all of the merchant by default.") var domain: String?
    @OptionGroup var store: MerchantStoreOptions

    func turn(on isEnabled: Bool) async throws {
      let answer = try await store.ask(.setEnabled(isEnabled, merchant: id, domain: domain))
      try store.show(answer.merchants?.filter { $0.id == id })
    }
  }

  struct Terms: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "terms",
      abstract: "The terms under which merchants offer Apple Pay here, and who has accepted them.",
      subcommands: [Show.self, Publish.self, Accept.self, Unsubscribe.self], defaultSubcommand: Show.self)

    struct Show: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "show", abstract: "The current terms, and what merchants said of them.")
      @Option(help: "One merchant alone.") var merchant: String?
      @OptionGroup var store: MerchantStoreOptions

      func run() async throws { try store.show(try await store.ask(.showTerms(merchant: merchant)).terms) }
    }

    struct Publish: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publishes a version, which every merchant has to accept within the grace period.")
      @Argument(help: "The version's name, such as 2026-11.") var version: String
      @Option(help: "A file with the wording.") var text: String
      @Option(help: "Days until payments of a merchant that has not accepted are refused.") var graceDays: Int64 = 30
      @OptionGroup var store: MerchantStoreOptions

      func run() async throws {
        let wording = try NamedFile.text(text)
        let call = MerchantCall.publishTerms(version: version, wording: wording, graceSeconds: graceDays * 86_400)
        try store.show(try await store.ask(call).terms)
      }
    }

    struct Accept: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Keeps that a merchant has accepted the current terms.")
      @Argument(help: "The merchant's id.") var merchant: String
      @Option(help: "The version that was read.") var version: String
      @Option(help: "Who accepts, such as ann@example.com.") var by: String
      @OptionGroup var store: MerchantStoreOptions

      func run() async throws {
        try store.show(
          try await store.ask(.acceptTerms(merchant: merchant, version: version, actor: by)).terms)
      }
    }

    struct Unsubscribe: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "unsubscribe",
        abstract: "Ends a merchant's Apple Pay: no page offers it, and payments are refused.")
      @Argument(help: "The merchant's id.") var merchant: String
      @Option(help: "Who ends it.") var by: String
      @OptionGroup var store: MerchantStoreOptions

      func run() async throws {
        try store.show(try await store.ask(.unsubscribe(merchant: merchant, actor: by)).terms)
      }
    }
  }
}

extension MerchantStoreOptions {
  fileprivate func show(_ terms: TermsReport?) throws {
    guard let terms else { return }
    guard !json else { return Terminal.say(try Terminal.json(terms)) }
    Terminal.say(terms.version.map { "terms \($0), required from \(terms.required ?? "-")" } ?? "no terms")
    if let wording = terms.wording { Terminal.say(wording) }
    let table = Table("MERCHANT", "SAID", "VERSION", "BY", "AT", of: terms.events) {
      [$0.merchant, $0.event.rawValue, $0.version ?? "-", $0.actor, $0.at]
    }
    for line in table.lines { Terminal.say(line) }
  }
}

import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import MerchantIdentity
import Settings
import TenderPayments
import TenderServer

/// `tender domain`
struct DomainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "domain", abstract: "The domains of merchants, their association files and their registration.",
    subcommands: [
      Add.self, Remove.self, List.self, Check.self, Register.self, Status.self, Unregister.self,
    ])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add",
      abstract: "Adds a domain to a merchant of the store, or a new association file to one of its domains.")
    @Argument(help: "As the address bar shows it.") var domain: String
    @Option(help: "The merchant's id.") var merchant: String
    @Option(help: "The domain association file as the developer account gave it.") var association: String?
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      let file = try association.map { Base64.encode(try NamedFile.bytes($0)) }
      let call = MerchantCall.addDomain(domain, merchant: merchant, associationBase64: file)
      try store.show(try await store.ask(call).domains)
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Removes a domain of a merchant of the store.")
    @Argument(help: "The domain.") var domain: String
    @Option(help: "The merchant's id.") var merchant: String
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      try store.show(try await store.ask(.removeDomain(domain, merchant: merchant)).domains)
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Every domain, with its last check and its registration.")
    @Option(help: "One merchant alone.") var merchant: String?
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws { try store.show(try await store.ask(.listDomains(merchant: merchant)).domains) }
  }

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract:
        "Fetches each association file as Apple does: both names, 200 at once, exact bytes; and the host's root.")
    @Argument(help: "Domains; all of the configuration's by default.") var domains: [String] = []
    @OptionGroup var store: MerchantStoreOptions

    /// Exit code 1 says that Apple would not find a file.
    func run() async throws {
      let all = try await store.ask(.listDomains(merchant: nil)).domains ?? []
      let chosen = all.filter { domains.isEmpty || domains.contains($0.domain) }
      guard !chosen.isEmpty else { throw CallFailure("no merchant has such a domain; `tender domain list` shows them") }
      let egress = try await store.place.configuration().outbound.egress(to: .merchants)
      let findings = try await LiveHTTPClient.during(egress: egress) { sender in
        var findings: [DomainFinding] = []
        for domain in chosen { findings.append(try await check(domain, sender)) }
        return findings
      }
      try store.show(findings, "domain") {
        Table("DOMAIN", "MERCHANT", "FINDING", of: $0) { [$0.domain, $0.merchant, $0.finding ?? "as Apple wants it"] }
      }
      guard findings.allSatisfy({ $0.finding == nil }) else { throw ExitCode(1) }
    }

    private func check(_ report: StoredDomainReport, _ sender: HTTPSender) async throws -> DomainFinding {
      let association = try report.associationBase64.flatMap { Base64.decode($0) }.map {
        try DomainAssociation(bytes: $0)
      }
      let finding = await DomainCheck(sender: sender.knowingLoopback).finding(
        of: try Domain(report.domain), association: association)
      _ = try await store.ask(.noteCheck(domain: report.domain, merchant: report.merchant, finding: finding))
      return DomainFinding(domain: report.domain, merchant: report.merchant, finding: finding)
    }
  }

  struct Register: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "register",
      abstract: "Registers a merchant's domains with Apple, under the platform's identity.",
      discussion: "The merchant's payment tokens are then encrypted to the platform's key. At most 99 domains a call.")
    @OptionGroup var partner: PartnerOptions
    @Option(help: "The merchant's name for Apple; its id by default.") var name: String?
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      let domains = try await partner.domains(store)
      let merchant = try PartnerMerchant(identifier: partner.merchant, name: name ?? partner.merchant)
      try await store.asPlatform { try await $0.register(domains, of: merchant) }
      let call = MerchantCall.noteRegistration(
        domains: domains.map(\.name), merchant: partner.merchant, isRegistered: true)
      try store.show(try await store.ask(call).domains)
    }
  }

  struct Unregister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unregister",
      abstract: "Unregisters a merchant's domains with Apple, which forgets the merchant with the last one.")
    @OptionGroup var partner: PartnerOptions
    @Option(help: "Why, for Apple.") var reason: String
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      let domains = try await partner.domains(store)
      let merchant = try PartnerMerchant(identifier: partner.merchant, name: partner.merchant)
      try await store.asPlatform { try await $0.unregister(domains, of: merchant, reason: reason) }
      let call = MerchantCall.noteRegistration(
        domains: domains.map(\.name), merchant: partner.merchant, isRegistered: false)
      try store.show(try await store.ask(call).domains)
    }
  }

  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status", abstract: "What Apple knows of a registered merchant.")
    @Argument(help: "The merchant's id.") var merchant: String
    @OptionGroup var store: MerchantStoreOptions

    /// Exit code 1 says that Apple knows no merchant of this name.
    func run() async throws {
      let partner = try PartnerMerchant(identifier: merchant, name: merchant)
      guard let details = try await store.asPlatform({ try await $0.details(of: partner) }) else {
        throw CallFailure("Apple knows no merchant \(merchant) of this platform; `tender domain register` registers it")
      }
      let report = RegistrationReport(domains: details.domains, encryptTo: details.encryptTo, name: details.name)
      guard !store.json else { return Terminal.say(try Terminal.json(report)) }
      Terminal.say("\(details.name): \(details.domains.joined(separator: ", ")); encrypted to \(details.encryptTo)")
    }
  }
}

struct PartnerOptions: ParsableArguments {
  @Argument(help: "The merchant's id.") var merchant: String
  @Option(help: "A domain, may be given more than once; all of the merchant's by default.") var domain: [String] = []

  func domains(_ store: MerchantStoreOptions) async throws -> [Domain] {
    let all = try await store.ask(.listDomains(merchant: merchant)).domains ?? []
    let chosen = all.filter { domain.isEmpty || domain.contains($0.domain) }
    guard !chosen.isEmpty else { throw CallFailure("\(merchant) has no such domain; `tender domain list` shows them") }
    return try chosen.map { try Domain($0.domain) }
  }
}

/// What a check found about a domain.
private struct DomainFinding: Encodable {
  let domain: String
  let merchant: String
  let finding: String?
}

private struct RegistrationReport: Encodable {
  let domains: [String]
  let encryptTo: String
  let name: String
}

extension MerchantStoreOptions {
  /// Calls Apple in the platform's name.
  fileprivate func asPlatform<R>(_ body: (PlatformRegistration) async throws -> R) async throws -> R {
    let configuration = try await place.configuration()
    let network = try Network.live(configuration.outbound)
    do {
      let result = try await body(try await PlatformRegistration(configuration, network, at: WallClock.system.now()))
      await network.close()
      return result
    } catch {
      await network.close()
      throw error
    }
  }

  fileprivate func show(_ domains: [StoredDomainReport]?) throws {
    try show(domains, "domain") {
      Table("DOMAIN", "MERCHANT", "APPLE PAY", "FILE", "REGISTERED", "CHECKED", "FINDING", of: $0) { row in
        [
          row.domain, row.merchant, row.enabled ? "on" : "off", row.hasAssociation ? "yes" : "no",
          row.registeredAt ?? "-", row.checkedAt ?? "-", row.finding ?? "-",
        ]
      }
    }
  }
}

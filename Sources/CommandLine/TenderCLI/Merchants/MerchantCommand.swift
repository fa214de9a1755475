import ArgumentParser
import Foundation
import HTTPTransport
import MerchantIdentity
import TenderPayments
import TenderServer

/// `tender merchant`
struct MerchantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merchant", abstract: "Makes merchants and changes them, in the store or as folders.",
    subcommands: [
      Add.self, Import.self, Export.self, Edit.self, List.self, Enable.self, Disable.self, Terms.self, Verify.self,
    ])

  /// `tender merchant add`
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add",
      abstract: "Makes a merchant: at a sandbox's developer portal and as a folder, or with --config in the store.",
      discussion: """
        The folder is made whole or not at all. One that is there is refused, so that keys are not lost. In the store it \
        begins without certificates: tender certificate request.
        """)

    @OptionGroup var options: NewMerchantOptions
    @OptionGroup var folders: MerchantDirectoryOptions
    @OptionGroup var sandbox: PortalOptions
    @OptionGroup var store: MerchantStoreOptions
    private var json: Bool { store.json }

    func run() async throws {
      if store.config != nil { return try await addToStore() }
      do { try options.merchant.check() } catch { throw MistakenCall("\(error)") }
      let path = try await sandbox.withPortal {
        try await MerchantProvisioning(portal: $0, random: .system).add(options.merchant, below: folders.directory)
      }
      guard !json else { return Terminal.say(try Terminal.json(["id": options.id, "folder": path])) }
      Terminal.say(path)
      Terminal.sayError(
        "Next: start `tender serve` with merchants.directory \(folders.directory), or `tender reload`; when the shop is up, "
          + "run `tender merchant verify --id \(options.id) --directory \(folders.directory)`")
    }

    private func addToStore() async throws {
      let bundle: MerchantBundle
      do { bundle = try MerchantBundle(options.merchant, random: .system) } catch { throw MistakenCall("\(error)") }
      try store.show(try await store.ask(.add(bundle)).merchants)
      let next = CertificateKind.allCases.map { "`tender certificate request \(options.id) --kind \($0.rawValue)`" }
      Terminal.sayError("Next: " + next.joined(separator: " and "))
    }
  }

  /// `tender merchant verify`
  struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "verify",
      abstract: "Has the sandbox fetch the merchant's association files, as Apple does. The shop must be up.")

    @Option(help: "The merchant's id.") var id = "harbour"
    @OptionGroup var folders: MerchantDirectoryOptions
    @Option(help: "Apple's name for the merchant; the one in its folder by default.") var merchantIdentifier: String?
    @Option(help: "A domain, may be given more than once; all those in the merchant's folder by default.")
    var domain: [String] = []
    @OptionGroup var sandbox: PortalOptions
    @Flag(help: "Print JSON.") var json = false

    /// Exit code 1 says that a domain is not verified.
    func run() async throws {
      let (identifier, domains) = try names()
      guard !domains.isEmpty else {
        throw CallFailure("the merchant \(id) has no domain; write one into its merchant.yaml")
      }
      let results = try await sandbox.withPortal { portal in
        var results: [DomainResult] = []
        for domain in domains { results.append(await result(of: domain, identifier, portal)) }
        return results
      }
      if json { Terminal.say(try Terminal.json(results)) } else { for result in results { Terminal.say(result.line) } }
      guard results.allSatisfy(\.verified) else { throw ExitCode(1) }
    }

    private func names() throws -> (merchantIdentifier: String, domains: [String]) {
      if let merchantIdentifier, !domain.isEmpty { return (merchantIdentifier, domain) }
      let names = try MerchantFolder.names(at: "\(folders.directory)/\(id)")
      return (merchantIdentifier ?? names.merchantIdentifier, domain.isEmpty ? names.domains : domain)
    }

    private func result(of domain: String, _ merchant: String, _ portal: JSONClient) async -> DomainResult {
      do {
        try await MerchantProvisioning(portal: portal, random: .system).verify(domain, of: merchant)
        return DomainResult(domain: domain, verified: true, reason: nil)
      } catch {
        return DomainResult(domain: domain, verified: false, reason: ErrorLine.text(for: error))
      }
    }
  }

  /// `tender merchant list`
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "The merchants of a configuration, and those of its store.",
      discussion: "FROM says whether a merchant is in the store or declared by a folder, which commands only read.")
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws { try store.show(try await store.ask(.list).merchants) }
  }
}

extension [MerchantReport] {
  var table: Table {
    Table("MERCHANT", "IDENTIFIER", "DOMAINS", "CERTIFICATES", of: self) { merchant in
      let lists = [merchant.domains.joined(separator: ", "), merchant.certificates.joined(separator: "; ")]
      return [merchant.id, merchant.merchantIdentifier] + lists.map { $0.isEmpty ? "-" : $0 }
    }
  }
}

/// Whether the sandbox has found a domain's association file.
private struct DomainResult: Encodable {
  let domain: String
  let verified: Bool
  let reason: String?

  var line: String { verified ? "\(domain) verified" : "\(domain) not verified: \(reason ?? "")" }
}

struct NewMerchantOptions: ParsableArguments {
  @Option(help: "Tender's name for the merchant: 1 to 40 letters, digits and hyphens.") var id = "harbour"
  @Option(help: "Apple's name for the merchant.") var merchantIdentifier = "merchant.test.harbour"
  @Option(help: "The name on the sheet.") var name = "Harbour Kitchen"
  @Option(help: "ISO 3166-1, two letters.") var country = "IE"
  @Option(help: "ISO 4217, three letters.") var currency = "EUR"
  @Option(help: "A domain that shows the button; may be given more than once.") var domain = ["localhost:8401"]

  var merchant: MerchantProvisioning.NewMerchant {
    .init(
      id: id, merchantIdentifier: merchantIdentifier, displayName: name, countryCode: country, currencyCode: currency,
      domains: domain)
  }
}

struct MerchantDirectoryOptions: ParsableArguments {
  @Option(help: "Where merchants are kept.") var directory = ".tender/merchants"
}

/// The developer portal, which is a part of the sandbox.
struct PortalOptions: ParsableArguments {
  @Option(help: "The sandbox's address.") var sandbox = "http://localhost:8402"

  func withPortal<R>(_ body: (JSONClient) async throws -> R) async throws -> R {
    try await LiveHTTPClient.during { try await body(JSONClient(sandbox, sender: $0)) }
  }
}

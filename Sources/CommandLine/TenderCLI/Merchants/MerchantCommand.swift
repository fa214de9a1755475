import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import MerchantIdentity
import Settings
import TenderPayments
import TenderServer

/// `tender merchant`
struct MerchantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merchant", abstract: "Makes merchants and changes them, in the store or as folders.",
    subcommands: [
      Add.self, Import.self, Export.self, Edit.self, List.self, Enable.self, Disable.self, Remove.self, Terms.self,
      Verify.self,
    ])

  /// `tender merchant verify`
  struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "verify",
      abstract: "Has the sandbox fetch the merchant's association files, as Apple does. The shop must be up.")

    @Option(help: "The id of a merchant with a folder.") var id: String?
    @Option(help: "Where its folder is.") var directory = ".tender/merchants"
    @Option(help: "Apple's name for the merchant; the one in its folder by default.") var merchantIdentifier: String?
    @Option(help: "A domain, may be given more than once; all those in the merchant's folder by default.")
    var domain: [String] = []
    @OptionGroup var portal: PortalOptions
    @Flag(help: "Print JSON.") var json = false

    /// Exit code 1 says that a domain is not verified.
    func run() async throws {
      let (identifier, domains) = try names()
      guard !domains.isEmpty else {
        throw CallFailure("\(identifier) has no domain in its merchant.yaml; write one there")
      }
      let results = try await portal.withPortal { portal in
        var results: [DomainResult] = []
        for domain in domains { results.append(await result(of: domain, identifier, portal)) }
        return results
      }
      if json { Terminal.say(try Terminal.json(results)) } else { for result in results { Terminal.say(result.line) } }
      guard results.allSatisfy(\.verified) else { throw ExitCode(1) }
    }

    private func names() throws -> (merchantIdentifier: String, domains: [String]) {
      if let merchantIdentifier, !domain.isEmpty { return (merchantIdentifier, domain) }
      guard let id else {
        throw MistakenCall("name the merchant: --id with its --directory, or --merchant-identifier and --domain")
      }
      let names = try MerchantFolder.names(at: "\(directory)/\(id)")
      return (merchantIdentifier ?? names.merchantIdentifier, domain.isEmpty ? names.domains : domain)
    }

    private func result(of domain: String, _ merchant: String, _ portal: JSONClient) async -> DomainResult {
      do {
        let address = try await MerchantProvisioning(portal: portal, random: .system).verify(domain, of: merchant)
        return DomainResult(domain: domain, verified: true, fetched: address, reason: nil)
      } catch {
        return DomainResult(domain: domain, verified: false, fetched: nil, reason: ErrorLine.text(for: error))
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
  /// The address that served the file.
  let fetched: String?
  let reason: String?

  var line: String {
    verified ? "\(domain) verified: \(fetched ?? "")" : "\(domain) not verified: \(reason ?? "")"
  }
}

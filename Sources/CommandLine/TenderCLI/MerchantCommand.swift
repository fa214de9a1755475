import ArgumentParser
import Foundation
import HTTPTransport
import TenderPayments
import TenderServer

/// `tender merchant`
struct MerchantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merchant", abstract: "Makes merchants, with their certificates and domains.",
    subcommands: [Add.self, Verify.self, List.self])

  /// `tender merchant add`
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes a merchant at a sandbox's developer portal and lays its certificates into a folder.")

    @OptionGroup var options: NewMerchantOptions
    @Option(help: "Where merchants are kept.") var directory = ".tender/merchants"

    func run() async throws {
      try await options.withPortal { portal in
        let path = try await MerchantProvisioning(portal: portal, random: .system).make(
          options.merchant, below: directory)
        Terminal.say(path)
      }
    }
  }

  /// `tender merchant verify`
  struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Has the sandbox fetch the merchant's association files, as Apple does. The shop must be up.")

    @OptionGroup var options: NewMerchantOptions

    func run() async throws {
      try await options.withPortal { portal in
        try await MerchantProvisioning(portal: portal, random: .system).verify(options.merchant)
        for domain in options.domain { Terminal.say("\(domain) verified") }
      }
    }
  }

  /// `tender merchant list`
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "The merchants of a configuration.")
    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
      for merchant in try await MerchantFolder.check(try await options.load()) { Terminal.say(merchant) }
    }
  }
}

struct NewMerchantOptions: ParsableArguments {
  @Option(help: "Tender's name for the merchant.") var id = "harbour"
  @Option(help: "Apple's name for the merchant.") var merchantIdentifier = "merchant.test.harbour"
  @Option(help: "The name on the sheet.") var name = "Harbour Kitchen"
  @Option(help: "ISO 3166-1, two letters.") var country = "IE"
  @Option(help: "ISO 4217, three letters.") var currency = "EUR"
  @Option(help: "A domain that shows the button; may be given more than once.") var domain = ["localhost:8401"]
  @Option(help: "The sandbox's address.") var sandbox = "http://localhost:8402"

  var merchant: MerchantProvisioning.NewMerchant {
    .init(
      id: id, merchantIdentifier: merchantIdentifier, displayName: name, countryCode: country, currencyCode: currency,
      domains: domain)
  }

  func withPortal(_ body: (JSONClient) async throws -> Void) async throws {
    try await LiveHTTPClient.during { try await body(JSONClient(sandbox, sender: $0)) }
  }
}

package import ArgumentParser
import CommandSupport
import DemoShop
import Logging
import Settings
import StrictJSON
import TenderServer

/// `tender-sandbox shop`
package struct ShopCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "shop", abstract: "The demo shop alone, on its own origin, against a running server.")

  @Option(help: "Where to listen.") var port = 8401
  @Option(help: "The server's address.") var server = "http://localhost:8400"
  @Option(help: "The sandbox's address, for the simulated payment sheet.") var sandbox = "http://localhost:8402"
  @Option(help: "The merchant's folder, for its API key.") var merchant = ".tender/merchants/harbour"
  @Option(help: "What it sells: harbour or kitsune.") var menu: MenuName = .harbour
  @Flag(help: "Print the addresses as a line of JSON.") var json = false

  enum MenuName: String, ExpressibleByArgument, CaseIterable {
    case harbour, kitsune

    var menu: Menu {
      switch self {
      case .harbour: .harbourKitchen
      case .kitsune: .kitsuneNoodles
      }
    }
  }

  package init() {}

  package func validate() throws { try Port.check(port, "--port") }

  package func run() async throws {
    try Port.require([port], advice: "Choose another with --port.")
    let key = try MerchantFolder.apiKey(at: merchant)
    let logger = Terminal.logger("shop", level: .notice)
    let shop = DemoShop(
      configuration: ShopConfiguration(
        port: port, menu: menu.menu, tenderServerURL: server, publicSandboxURL: sandbox, merchantId: key.merchant,
        apiKeyId: key.id, secretApiKey: key.secret, webhookSecret: try MerchantFolder.webhookSecret(at: merchant)),
      logger: logger
    ) { [json] port in
      let address = "http://localhost:\(port)"
      Terminal.say(json ? Terminal.jsonLine(["url": .string(address)]) : "shop  \(address)")
    }
    try await ServiceRunner(first: shop, named: "shop", logger: logger).run()
  }
}

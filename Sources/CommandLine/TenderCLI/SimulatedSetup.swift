import Administration
import ArgumentParser
import CommandSupport
import Doctor
import Foundation
import HTTPTransport
import Logging
import Settings
import Storage
import StrictJSON
import TenderPayments
import TenderServer

/// A server that pays with a sandbox: a platform, a merchant with a payment page, and a payment link.
struct SimulatedSetup {
  let setup: ServerSetup
  let sandbox: String
  let port: Int

  init(_ setup: ServerSetup, sandbox: String, port: Int?) {
    (self.setup, self.sandbox, self.port) = (setup, sandbox, port ?? 8_400)
  }

  private static let amount = "12"

  func requireSandbox() async throws {
    let deadline = Deadline.after(.seconds(10))
    while true {
      do {
        _ = try await LiveHTTPClient.during {
          try await JSONClient(sandbox, sender: $0).require("GET", "/sandbox/ca.json")
        }
        return
      } catch let failure as CallFailure {
        // It may have been started a moment ago.
        guard deadline.remaining > .zero else {
          throw CallFailure(
            "\(failure). Nothing was made: start the sandbox, `systemctl start tender-sandbox` or in another terminal "
              + "`tender-sandbox sandbox`, and run this again")
        }
        try await Task.sleep(for: .milliseconds(200))
      }
    }
  }

  func merchant(from options: NewMerchantOptions) -> MerchantProvisioning.NewMerchant {
    .init(
      id: options.id ?? "test-shop", merchantIdentifier: options.merchantIdentifier ?? "merchant.test.shop",
      displayName: options.name ?? "Test shop", countryCode: options.country ?? "IE",
      currencyCode: options.currency ?? "EUR", domains: [])
  }

  func check(_ merchant: MerchantProvisioning.NewMerchant) throws {
    do { try merchant.check() } catch { throw MistakenCall("\(error)") }
  }

  func makeConfiguration() async throws {
    // Before anything is written: a configuration that is there stays.
    if !FileManager.default.fileExists(atPath: setup.place.config) { try Self.requirePorts([port, port + 5]) }
    try setup.makeConfiguration(.simulated(setup.place, sandbox: sandbox, port: port), for: .simulated)
  }

  /// Makes platform and merchant, and while the server runs has the sandbox learn of the page, makes a payment link and
  /// looks at everything.
  func make(_ merchant: MerchantProvisioning.NewMerchant) async throws -> (link: String, doctor: DoctorReport) {
    let configuration = try await ConfigurationOptions.load(file: setup.place.config)
    try await makePlatform(configuration)
    try await setup.makeMerchant(merchant, isOfPlatform: true)
    return try await serving(configuration) { [place = setup.place] in
      let network = try Network.live()
      do {
        let registration = try await PlatformRegistration(configuration, network, at: WallClock.system.now())
        try await registration.registerPage(Self.host(of: configuration.publicURL), of: [merchant])
        await network.close()
      } catch {
        await network.close()
        throw error
      }
      let words = ["--merchant", merchant.id, "--amount", Self.amount, "--config", place.config]
      let link = try await LinkCommand.Create.parse(words).make()
      return (link["redirectionUrl"]?.text ?? "", try await place.examine())
    }
  }

  private func makePlatform(_ configuration: ServerConfiguration) async throws {
    guard let path = configuration.platformDirectory else {
      throw ConfigurationError("platform.directory", "the payment page needs it; name a folder, and run this again")
    }
    let isThere = FileManager.default.fileExists(atPath: path + "/merchant.yaml")
    if !isThere {
      let url = URL(fileURLWithPath: path)
      let platform = MerchantProvisioning.NewMerchant(
        id: url.lastPathComponent, merchantIdentifier: "merchant.test.platform", displayName: "Tender",
        countryCode: "IE", currencyCode: "EUR", domains: [])
      try await LiveHTTPClient.during { sender in
        _ = try await MerchantProvisioning(portal: JSONClient(sandbox, sender: sender), random: .system).makePlatform(
          platform, page: Self.host(of: configuration.publicURL), below: url.deletingLastPathComponent().path)
      }
    }
    setup.note("platform", path, isMade: !isThere)
  }

  /// While the server of this store runs: the one that does, or one for this call.
  private func serving<R: Sendable>(
    _ configuration: ServerConfiguration, _ work: @escaping @Sendable () async throws -> R
  ) async throws -> R {
    let isRunning: ServerPlaceReport? = try? await askServer(configuration)
    guard isRunning == nil else { return try await work() }
    FileDescriptors.raiseLimit()
    try Self.requirePorts([configuration.port, configuration.office.port ?? 0])
    let (logger, isUp) = (Terminal.logger("tender", level: .critical), OneTimeValue<Void>())
    let server = try await TenderServer(configuration, logger: logger) { _ in isUp.set(()) }
    return try await ServiceRunner(first: server, named: "server", logger: logger).run {
      try await isUp.value
      return try await work()
    }
  }

  private static func requirePorts(_ ports: [Int]) throws {
    try Port.require(ports, advice: "The server takes it, and the back office the fifth after it. Name another --port.")
  }

  private func askServer(_ configuration: ServerConfiguration) async throws -> ServerPlaceReport? {
    let answer: MerchantAnswer = try await StoreAccess(configuration).askServer(
      "POST", StoreAccess.merchantCalls, Array(try JSONEncoder().encode(MerchantCall.showServer)))
    return answer.server
  }

  private static func host(of address: String) -> String { String(address.split(separator: "/").last ?? "") }

  func steps(_ link: String, of merchant: String) -> [String] {
    let words = setup.place.words
    return [
      "Start the server: \(setup.place.startCommand)",
      """
      Open this payment link in a browser, press the button, and pay with a simulated card:
      \(link)
      Another one: tender link create --merchant \(merchant) --amount 12.50\(words)
      """,
      """
      See the payment: tender payment list\(words)
      docs/own-shop.md makes a merchant for a page of your own. Apple and a provider have a configuration and a folder of their
      own: tender init --config OTHER --directory FOLDER
      """,
    ]
  }
}

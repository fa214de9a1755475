import Administration
import AppleSandbox
package import ArgumentParser
import CommandSupport
import DemoShop
import Foundation
import HTTPTransport
import Logging
import Mail
import Settings
import StrictJSON
import TenderPayments
import TenderServer

/// `tender-sandbox demo`
package struct DemoCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Everything in one process: a simulated Apple and bank, the server, and two shops.")

  @Option(help: "The server's port; shops, sandbox, gateway and back office take the next five.") var port = 8400
  @Option(help: "Where keys, certificates and ledgers are kept; below it a folder for each port.") var directory =
    ".tender"
  @Option(help: "Which log lines to write to standard error.") var logLevel: LogLevel = .warning
  @Option(help: "A page of your own, at /page of the shop: {{basket}} is a new basket's id, {{server}} the server.")
  var page: String?
  @Option(
    help: "Pay through this provider, which the sandbox emulates. Several are routes, in the order of their names.")
  var connector: [DemoProvider] = []
  @Option(
    help: ArgumentHelp(
      "Let phones on the network pay: they reach the page behind the sheet's QR code here, on the sixth port.",
      valueName: "address")) var host: String?
  @Flag(help: "Let the provider decrypt the payment tokens.") var sealed = false
  @Flag(help: "Begin with a month of payments, which the back office shows. Needs an empty directory.")
  var history = false
  @Option(
    help: ArgumentHelp(
      "Keep the store on this PostgreSQL, with two servers on it, on the eighth and ninth port, behind HAProxy.",
      valueName: "postgres://…")) var store: String?
  @Option(
    help: ArgumentHelp(
      "Send every trace and the metrics to this collector of OpenTelemetry, by OTLP over HTTP.", valueName: "url"))
  var collector: String?
  @Flag(help: "Open the shop in a browser.") var open = false
  @Flag(help: "Print the addresses as a line of JSON.") var json = false

  package init() {}

  package func validate() throws {
    guard (1...65_527).contains(port) else {
      throw ValidationError("--port is from 1 to 65527: it takes six in a row, with --host seven, with --store nine.")
    }
    guard !sealed || connector.count == 1 else {
      throw ValidationError("--sealed needs one --connector: a payment token is encrypted to one provider's key.")
    }
    if sealed, let provider = connector.first, !provider.decrypts {
      throw ValidationError("\(provider.rawValue) does not decrypt payment tokens: leave --sealed out.")
    }
    guard Set(connector).count == connector.count else { throw ValidationError("Name each --connector once.") }
    guard !history || connector.isEmpty else {
      throw ValidationError("--history is paid through the simulated bank: leave --connector out.")
    }
    guard store == nil || !history && connector.isEmpty else {
      throw ValidationError("--store goes with neither --history nor --connector.")
    }
  }

  package func run() async throws {
    let ports = Array(port..<port + (store != nil ? 9 : host == nil ? 6 : 7))
    try Port.require(ports, advice: "The demo takes \(ports.count) in a row; choose others with --port.")
    let folder = "\(directory)/demo-\(port)\(suffix)"
    try refuseHistory(in: folder)
    let nodes = store.map { DemoNodes(port: port, directory: folder, store: $0) }
    try nodes?.requirePrograms()
    try await LiveHTTPClient.during { sender in
      let setup = DemoSetup(
        port: port, directory: folder, level: logLevel.level, sender: sender, page: page,
        providers: connector, isSealed: sealed, opens: open,
        phoneWallet: host.map { PhoneWalletAddress(host: $0, port: port + 6) }, nodes: nodes, collector: collector)
      if history {
        Terminal.sayError("Paying a month of orders, so that the back office has something to show…")
        try await setup.liveThroughHistory()
      }
      try await setup.run()
    }
  }

  /// The sandbox's certificates and the journal's order follow the clock, which must not be set back.
  private func refuseHistory(in folder: String) throws {
    guard history, FileManager.default.fileExists(atPath: folder) else { return }
    throw MistakenCall("--history needs an empty directory; \(folder) has a demo already")
  }
}

extension DemoCommand {
  /// Keys and certificates of one kind of demo are not those of another.
  private var suffix: String {
    connector.map { "-\($0.rawValue)" }.joined() + (sealed ? "-sealed" : "")
      + (store == nil ? "" : "-postgres")
  }
}

/// Starts the parts of the demo in order: sandbox, merchants, server, shops, domains.
private struct DemoSetup: Sendable {
  let port: Int
  let directory: String
  let level: Logger.Level
  let sender: HTTPSender
  let page: String?
  let providers: [DemoProvider]
  let isSealed: Bool
  let opens: Bool
  let phoneWallet: PhoneWalletAddress?
  /// Nil for one server on a file.
  let nodes: DemoNodes?
  let collector: String?

  /// The domain of the platform's payment pages.
  private var pageDomain: String { "localhost:\(port)" }
  private var serverURL: String { "http://localhost:\(port)" }
  private var sandboxURL: String { "http://localhost:\(port + 2)" }
  private var officeURL: String { "http://localhost:\(port + 5)" }

  /// A merchant of the demo and the shop it runs.
  private struct DemoShopSetup {
    let merchant: MerchantProvisioning.NewMerchant
    let menu: Menu
    let port: Int
    let domain: String
    /// The merchant's folder lies below it.
    let folder: String
  }

  private var shops: [DemoShopSetup] {
    [
      shopSetup("harbour", "Harbour Kitchen", "IE", "EUR", .harbourKitchen, port + 1, "localhost"),
      shopSetup(
        "kitsune", "Kitsune Noodles", "JP", "JPY", .kitsuneNoodles, port + 4, "kitsune.localhost",
        isStored: true),
    ]
  }

  func run() async throws {
    FileDescriptors.raiseLimit()
    let sandboxIsUp = OneTimeValue<SandboxAddresses>()
    let runner = ServiceRunner(first: try await sandbox(sandboxIsUp), named: "sandbox", logger: logger("demo"))
    try await runner.run { try await setUp(runner, try await sandboxIsUp.value) }
  }

  private func setUp(_ runner: ServiceRunner, _ addresses: SandboxAddresses) async throws {
    try await makeMerchants()
    try await setUpProviders()
    let (server, serverIsUp) = (server(addresses), OneTimeValue<Void>())
    await runner.join(
      try await TenderServer(server, logger: logger("tender")) { _ in serverIsUp.set(()) }, named: "server")
    try await serverIsUp.value
    if let nodes {
      await runner.join(try nodes.balancer(logger("demo")), named: "load balancer")
      try await nodes.balancerIsUp(sender)
    }
    try await storeSecondShop(server)
    try await DemoPlatform.register(pageDomain, server)
    for shop in shops {
      let shopIsUp = OneTimeValue<Void>()
      await runner.join(try self.shop(shop, shopIsUp), named: "shop")
      try await shopIsUp.value
      try await provisioning.verify(shop.merchant)
    }
    // Only now: it begins with what the first node has registered.
    if let nodes { await runner.join(try nodes.second(beside: server, logger("demo")), named: "second server") }
    announce(server, officePassword: try await setUpOffice(server))
  }

  private var provisioning: MerchantProvisioning {
    MerchantProvisioning(portal: JSONClient(sandboxURL, sender: sender), random: .system)
  }

  private func makeMerchants() async throws {
    for shop in shops { _ = try await provisioning.make(shop.merchant, below: shop.folder) }
    _ = try await provisioning.makePlatform(DemoPlatform.platform, page: pageDomain, below: directory)
    _ = try provisioning.makeServed(DemoPlatform.stall, looks: DemoPlatform.looks, below: directory + "/merchants")
  }

  /// The second shop's merchant is in the store, where the back office changes it; its folder was read once.
  private func storeSecondShop(_ server: ServerConfiguration) async throws {
    let store = StoreAccess(server)
    let all: MerchantAnswer = try await store.askServer("POST", StoreAccess.merchantCalls, try Self.body(.list))
    guard !(all.merchants ?? []).contains(where: { $0.id == shops[1].merchant.id }) else { return }
    let bundle = try await MerchantBundle(
      folder: "\(shops[1].folder)/\(shops[1].merchant.id)", at: WallClock.system.now(), keysMayBeElsewhere: false)
    let _: MerchantAnswer = try await store.askServer("POST", StoreAccess.merchantCalls, try Self.body(.add(bundle)))
  }

  private static func body(_ call: MerchantCall) throws -> [UInt8] { Array(try JSONEncoder().encode(call)) }

  /// A user of the back office with a new password, and that.
  private func setUpOffice(_ server: ServerConfiguration) async throws -> String {
    let password = RandomBytes.system.hex(8)
    let call = UserCall.demonstrate(name: Self.officeUser, password: password)
    let _: UserAnswer = try await StoreAccess(server).askServer(
      "POST", "/users/calls", Array(try JSONEncoder().encode(call)))
    return password
  }

  private static let officeUser = "demo"

  /// The routes to the emulated providers, their events and, where they decrypt, their certificates.
  private func setUpProviders() async throws {
    let client = JSONClient(sandboxURL, sender: sender)
    for provider in providers {
      try provider.write(below: directory)
      try await provider.sendEvents(to: serverURL, from: client)
      guard isSealed else { continue }
      for shop in shops { try await provider.seal(shop.merchant.merchantIdentifier, below: directory, at: client) }
    }
  }

  /// The addresses as one line, under `--json`.
  private func addresses(officePassword: String) -> JSONValue {
    let urls = shops.map { JSONValue.string("http://\($0.domain):\($0.port)") }
    return [
      "server": .string(serverURL), "shop": urls[0], "secondShop": urls[1], "sandbox": .string(sandboxURL),
      "office": .string(officeURL), "officeUser": .string(Self.officeUser), "officePassword": .string(officePassword),
    ]
  }

  private func announce(_ server: ServerConfiguration, officePassword: String) {
    guard !Terminal.printsJSON else {
      return Terminal.say(Terminal.jsonLine(addresses(officePassword: officePassword)))
    }
    Terminal.say()
    Terminal.say(
      "  Open \(Terminal.styled("http://\(shops[0].domain):\(shops[0].port)", .bold)) and press the Apple Pay button.")
    Terminal.say()
    if page != nil {
      Terminal.say(
        "  Your page, with a new basket at each visit:         http://\(shops[0].domain):\(shops[0].port)/page")
    }
    Terminal.say("  A second shop, with its own merchant and currency:  http://\(shops[1].domain):\(shops[1].port)")
    Terminal.say(
      "  The shop's kitchen, where paid orders arrive:       http://\(shops[0].domain):\(shops[0].port)/kitchen")
    Terminal.say(
      "  A merchant without a page, paid on Tender's own:    http://\(shops[0].domain):\(shops[0].port)/stall")
    Terminal.say("  The simulated Apple and bank, with the test cards:  \(sandboxURL)")
    if let phoneWallet {
      Terminal.say("  Phones that scan the sheet's code open:             \(phoneWallet.url)")
    }
    Terminal.say("  Its mailbox, with the shoppers' order confirmations: \(sandboxURL)/mail")
    Terminal.say("  The back office, for the people who run it:          \(officeURL)")
    Terminal.say("    name \(Self.officeUser), password \(officePassword), code: \(codeCommand(server))")
    for provider in providers {
      Terminal.say(
        "  Payments go to the emulated provider:               \(provider.rawValue)\(isSealed ? ", sealed" : "")")
    }
    Terminal.say("  The same payment from a terminal:                   \(payCommand)")
    Terminal.say(
      "  Its journal:                                        \(Shell.program("tender")) payment list --store \(Shell.quoted(storePlace))"
    )
    if let nodes { announce(nodes) }
    Terminal.say()
    Terminal.say("  Everything is simulated; no money moves. Ctrl-C ends it.")
    if opens {
      _ = try? Process.run(
        URL(fileURLWithPath: "/usr/bin/xdg-open"), arguments: ["http://\(shops[0].domain):\(shops[0].port)"])
    }
  }

  private func announce(_ nodes: DemoNodes) {
    Terminal.say(
      "  Two servers on one PostgreSQL, behind HAProxy:      ports \(nodes.firstPort) and \(nodes.secondPort)")
    Terminal.say(
      "    kill the second while you pay, it comes back:     pkill -KILL -f \(Shell.quoted("\(directory)/node2.yaml"))")
  }

  private func codeCommand(_ server: ServerConfiguration) -> String {
    "\(Shell.program("tender")) user code \(Self.officeUser) --store \(Shell.quoted(storePlace))"
  }

  private var payCommand: String {
    let isDefault = directory == ".tender/demo-\(port)" && providers.isEmpty
    let merchant = "\(directory)/merchants/\(shops[0].merchant.id)"
    return "\(Shell.program("tender-sandbox")) pay --port \(port)"
      + (isDefault ? "" : " --merchant \(Shell.quoted(merchant))")
      + (providers.isEmpty ? "" : " --provider")
  }

  private func sandbox(
    _ isUp: OneTimeValue<SandboxAddresses>, _ clock: WallClock = .system
  ) async throws -> SandboxServer {
    var settings = SandboxConfiguration(directory: directory + "/sandbox")
    settings.port = port + 2
    settings.gatewayPort = port + 3
    settings.phoneWallet = phoneWallet
    settings.fetch = .over(sender)
    settings.events = .over(sender)
    settings.shops = shops.map { .init(name: $0.merchant.displayName, url: "http://\($0.domain):\($0.port)") }
    settings.clock = clock
    settings.logger = logger("sandbox")
    settings.onReady = { isUp.set($0) }
    return try await SandboxServer(settings)
  }

  private var storePath: String { directory + "/tender.db" }
  /// For the command line.
  private var storePlace: String { nodes?.store ?? storePath }

  private func server(_ addresses: SandboxAddresses) -> ServerConfiguration {
    var configuration = ServerConfiguration(
      environment: .simulated, directory: directory, host: "127.0.0.1", port: port, sandboxURL: sandboxURL,
      acquirer: .init(connector: "sandbox", baseURL: sandboxURL, apiKey: ""))
    configuration.platformDirectory = "\(directory)/\(DemoPlatform.platform.id)"
    // The shops' servers are on this machine.
    configuration.allowsPrivateWebhooks = true
    configuration.mail = .mailbox(addresses, directory)
    configuration.office.port = port + 5
    configuration.telemetry = .all(to: collector)
    return nodes?.first(configuration) ?? configuration
  }

  private func shop(_ shop: DemoShopSetup, _ isUp: OneTimeValue<Void>) throws -> DemoShop {
    let folder = "\(shop.folder)/\(shop.merchant.id)"
    let key = try MerchantFolder.apiKey(at: folder)
    var configuration = ShopConfiguration(
      port: shop.port, menu: shop.menu, tenderServerURL: serverURL, publicSandboxURL: sandboxURL,
      merchantId: shop.merchant.id, apiKeyId: key.id, secretApiKey: key.secret,
      webhookSecret: try MerchantFolder.webhookSecret(at: folder), visitorsPage: page)
    if shop.port == shops[0].port { configuration.stall = try DemoPlatform.key(directory) }
    return DemoShop(configuration: configuration, logger: logger("shop")) { _ in isUp.set(()) }
  }

  private func shopSetup(
    _ id: String, _ name: String, _ country: String, _ currency: String, _ menu: Menu, _ port: Int, _ domain: String,
    isStored: Bool = false
  ) -> DemoShopSetup {
    // A demo of an earlier version has the folder among the declared merchants.
    let isDeclared = FileManager.default.fileExists(atPath: "\(directory)/merchants/\(id)")
    return DemoShopSetup(
      merchant: .init(
        id: id, merchantIdentifier: "merchant.test.\(id)", displayName: name, countryCode: country,
        currencyCode: currency, domains: ["\(domain):\(port)"], webhook: "http://127.0.0.1:\(port)/hooks/tender",
        writesToShoppers: true, hostedFrameAncestors: ["http://\(domain):\(port)"]),
      menu: menu, port: port, domain: domain,
      folder: directory + (isStored && !isDeclared ? "/stored/merchants" : "/merchants"))
  }

  private func logger(_ label: String) -> Logger { Terminal.logger(label, level: level) }
}

// The month before.
extension DemoSetup {
  /// Sandbox, server and shops of a month ago, which end when it is over: a running server would find that its clock was
  /// set.
  func liveThroughHistory() async throws {
    let clock = CatchingUpClock(behind: .seconds(DemoHistory.days * 86_400))
    let isUp = OneTimeValue<SandboxAddresses>()
    try await self.sandbox(isUp, clock.wall).during(logger: quiet) {
      var settings = server(try await isUp.value)
      // No shopper of the month waits for a message.
      settings.mail = MailConfiguration()
      try await makeMerchants()
      let serverIsUp = OneTimeValue<Void>()
      let server = try await TenderServer(settings, clock: clock.wall, logger: quiet) { _ in serverIsUp.set(()) }
      try await server.during(logger: quiet) {
        try await serverIsUp.value
        try await storeSecondShop(settings)
        try await duringShops(shops[...]) { try await history(clock).live() }
      }
    }
  }

  private func duringShops(_ rest: ArraySlice<DemoShopSetup>, _ work: () async throws -> Void) async throws {
    guard let first = rest.first else { return try await work() }
    let isUp = OneTimeValue<Void>()
    try await shop(first, isUp).during(logger: quiet) {
      try await isUp.value
      try await provisioning.verify(first.merchant)
      try await duringShops(rest.dropFirst(), work)
    }
  }

  private func history(_ clock: CatchingUpClock) -> DemoHistory {
    DemoHistory(
      clock: clock, serverURL: serverURL, sandboxURL: sandboxURL,
      shops: shops.map { .init(origin: "http://\($0.domain):\($0.port)", folder: "\($0.folder)/\($0.merchant.id)") },
      store: StoreAccess(store: storePath), sender: sender)
  }

  /// A clock that catches up is reported as an error every ten seconds.
  private var quiet: Logger { Terminal.logger("history", level: .critical) }
}

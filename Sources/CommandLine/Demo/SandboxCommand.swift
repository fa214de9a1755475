import AppleSandbox
package import ArgumentParser
import CommandSupport
import HTTPTransport
import StrictJSON

/// `tender-sandbox sandbox`
package struct SandboxCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "sandbox",
    abstract: "An offline Apple and an offline acquirer, with real cryptography. NOT for production.",
    subcommands: [ClockCommand.self])

  @Option(help: "Portal, device, script, acquirer and front page; the gateway listens on the next port.") var port =
    8402
  @Option(help: "The gateway's port; the next one by default.") var gatewayPort: Int?
  @Option(help: "The port of its mailbox, SMTP with STARTTLS; 0, the default, takes a free one.") var mailPort = 0
  @Option(help: "Where its authorities, merchants and the acquirer's ledger are kept.") var directory =
    ".tender/sandbox"
  @Flag(help: "Print the addresses as a line of JSON.") var json = false

  package init() {}

  package func validate() throws {
    try Port.check(port, "--port")
    try Port.check(
      gatewayPort ?? port + 1, gatewayPort == nil ? "--port, and the gateway's port after it," : "--gateway-port")
    try Port.check(mailPort, "--mail-port")
  }

  package func run() async throws {
    let ports = [port, gatewayPort ?? (port == 0 ? 0 : port + 1)]
    try Port.require(ports, advice: "Choose others with --port and --gateway-port.")
    try await LiveHTTPClient.during { try await serve(ports, $0) }
  }

  private func serve(_ ports: [Int], _ sender: HTTPSender) async throws {
    var settings = SandboxConfiguration(directory: directory)
    (settings.port, settings.gatewayPort, settings.mailPort) = (ports[0], ports[1], mailPort)
    settings.fetch = .over(sender)
    settings.events = .over(sender)
    settings.logger = Terminal.logger("sandbox")
    settings.onReady = { [json] addresses in
      guard !json else {
        let (url, gatewayURL) = (addresses.url, addresses.gatewayURL)
        return Terminal.say(
          Terminal.jsonLine([
            "url": .string(url), "gatewayURL": .string(gatewayURL), "mailPort": .integer(Int64(addresses.mailPort)),
          ]))
      }
      Terminal.say("NOT APPLE: a simulated Apple and acquirer for tests")
      Terminal.say("front page  \(addresses.url)")
      Terminal.say("gateway     \(addresses.gatewayURL)")
      Terminal.say("mailbox     \(addresses.url)/mail, SMTP on \(addresses.mailHost):\(addresses.mailPort)")
    }
    let sandbox = try await SandboxServer(settings)
    try await ServiceRunner(first: sandbox, named: "sandbox", logger: settings.logger).run()
  }
}

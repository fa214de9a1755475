import Administration
import ArgumentParser
import CommandSupport
import Connectors
import Doctor
import Foundation
import MerchantIdentity
import Settings
import TenderPayments

/// `tender init`
struct InitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Sets up a server: configuration, merchant, certificate requests and a route to a provider.",
    discussion: """
      Asks at a terminal for what no option names. What is there stays, and is named; what is missing is made. It ends with \
      what is left to do at Apple and at the provider, in order, and with the doctor's findings.

      --simulated asks nothing and pays: a test merchant with a payment page and a payment link, for the sandbox that \
      `tender-sandbox sandbox` starts. No money moves.
      """)

  @Option(help: "The configuration; /etc/tender/tender.yaml where that folder can be written, else ./tender.yaml.")
  var config: String?
  @OptionGroup var merchant: NewMerchantOptions
  @Option(help: "The payment provider.") var provider: ConnectorCatalogue?
  @Option(
    help: "Which Apple and which system of the provider: apple-sandbox, the default, or production.",
    transform: Self.environment)
  var environment: TenderPayments.Environment?
  @Option(help: "How browsers reach the server; by default https://pay. before the domain, without its www. or shop.")
  var publicURL: String?
  @Option(help: "Where to listen; 8400 by default, and 443 with TLS here.") var port: Int?
  @Option(help: "The folder of store and keys; /var/lib/tender for a configuration in /etc, else .tender beside it.")
  var directory: String?
  @Option(help: "A file with the certificate chain, PEM, to serve TLS here instead of in a proxy.")
  var tlsCertificate: String?
  @Option(help: "The file with its private key, PEM.") var tlsKey: String?
  @Flag(help: "A test merchant that pays with a sandbox, without an account anywhere.") var simulated = false
  @Option(help: "The sandbox's address; http://localhost:8402 by default.") var sandbox: String?
  @Flag(help: "Print JSON, and ask nothing.") var json = false

  func validate() throws {
    guard (tlsCertificate == nil) == (tlsKey == nil) else {
      throw ValidationError("--tls-certificate and --tls-key belong together.")
    }
    if let port { try Port.check(port, "--port") }
    guard isSimulated else {
      guard sandbox == nil else { throw ValidationError("--sandbox is for --simulated.") }
      return
    }
    guard environment == nil || environment == .simulated else {
      throw ValidationError("--simulated is an environment of its own: leave --environment out.")
    }
    let others = [
      ("--domain", merchant.domain.first), ("--provider", provider?.rawValue), ("--public-url", publicURL),
      ("--tls-certificate", tlsCertificate),
    ]
    guard let other = others.first(where: { $0.1 != nil })?.0 else { return }
    throw ValidationError(
      "--simulated takes no \(other). A merchant for a page of your own: tender merchant add --sandbox URL --domain HOST"
    )
  }

  func run() async throws {
    let place = SetupPlace(config: config, directory: directory)
    try place.becomeOwner()
    let setup = ServerSetup(place)
    isSimulated ? try await simulate(setup) : try await setUp(setup)
  }

  private static func environment(_ name: String) throws -> TenderPayments.Environment {
    guard let environment = TenderPayments.Environment(rawValue: name) else {
      throw ValidationError("“\(name)” is no environment: write apple-sandbox, production or simulated.")
    }
    return environment
  }

  private var isSimulated: Bool { simulated || environment == .simulated }

  private func simulate(_ setup: ServerSetup) async throws {
    let simulation = SimulatedSetup(setup, sandbox: sandbox ?? "http://localhost:8402", port: port)
    try await simulation.requireSandbox()
    let wanted = simulation.merchant(from: merchant)
    try simulation.check(wanted)
    try await simulation.makeConfiguration()
    let outcome = try await simulation.make(wanted)
    try SetupText(setup.made, simulation.steps(outcome.link, of: wanted.id), outcome.doctor, paymentLink: outcome.link)
      .show(json: json)
  }

  private func setUp(_ setup: ServerSetup) async throws {
    let existing = try await setup.existing()
    var questions = SetupQuestions(canAsk: !json && isatty(STDIN_FILENO) == 1)
    let named = merchant.domain.first ?? merchant.id ?? merchant.merchantIdentifier
    let asksMerchant = named != nil || existing.merchants.isEmpty
    let wanted = try asksMerchant ? questions.merchant(merchant) : nil
    let provider = try existing.routes.isEmpty || self.provider != nil ? questions.provider(self.provider) : nil
    try questions.requireAll()
    let address = try PublicAddress(publicURL, domain: wanted?.domains.first, port: port, isTLS: tlsKey != nil)
    try address.check(wanted)

    let tls = tlsCertificate.map { ($0, tlsKey ?? "") }
    try setup.makeConfiguration(
      .real(environment ?? .appleSandbox, address, setup.place, tls: tls), for: environment ?? existing.environment)
    try await setup.makeMerchant(wanted)
    try await setup.makeRequests()
    try await setup.makeRoute(provider)
    let steps = SetupSteps(setup.place, try await setup.existing(), tls: tls != nil, of: wanted)
    try SetupText(setup.made, try steps.lines(), try await setup.place.examine()).show(json: json)
  }
}

extension ConnectorCatalogue: ExpressibleByArgument {}

/// What was made and what was there, what is left to do, and what the doctor found.
struct SetupText {
  private let things: [SetupThing]
  private let steps: [String]
  private let doctor: DoctorReport
  private let paymentLink: String?

  init(_ things: [SetupThing], _ steps: [String], _ doctor: DoctorReport, paymentLink: String? = nil) {
    (self.things, self.steps, self.doctor, self.paymentLink) = (things, steps, doctor, paymentLink)
  }

  func show(json: Bool) throws {
    guard !json else { return Terminal.say(try Terminal.json(Answer(self))) }
    for thing in things { Terminal.say("\(thing.isMade ? "made " : "there")  \(thing.what): \(thing.name)") }
    Terminal.say("\n\(Terminal.styled("What is left to do, in this order", .bold))")
    for (number, step) in zip(1..., steps) {
      let lines = step.split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() {
        Terminal.say(index == 0 ? "\(number < 10 ? " " : "")\(number). \(line)" : "    \(line)")
      }
    }
    Terminal.say("\n\(Terminal.styled("What the doctor finds now", .bold))")
    DoctorText(report: doctor, showsAll: false, isBrief: true).show()
  }

  private struct Answer: Encodable {
    let made: [SetupThing]
    let there: [SetupThing]
    let steps: [String]
    let doctor: DoctorReport
    let paymentLink: String?

    init(_ text: SetupText) {
      (made, there) = (text.things.filter(\.isMade), text.things.filter { !$0.isMade })
      (steps, doctor, paymentLink) = (text.steps, text.doctor, text.paymentLink)
    }
  }
}

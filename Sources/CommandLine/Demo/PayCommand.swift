package import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import Settings
import StrictJSON
import TenderPayments
import TenderServer

/// `tender-sandbox pay`
package struct PayCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "pay", abstract: "One sandbox payment against a running server, step by step.",
    discussion: "Without options it pays at `tender-sandbox demo`. Exit code 1 when a step fails.")

  @Option(help: "The demo's port, from which the addresses below follow.") var port = 8400
  @Option(help: "The server's address.") var server: String?
  @Option(help: "The sandbox's address.") var sandbox: String?
  @Option(help: "The page that pays: an origin of the merchant's.") var origin: String?
  @Option(help: "The merchant's folder, for its API key.") var merchant: String?
  @Option(
    help:
      "The simulated card; the sandbox's front page lists them. visa-debit by default, visa-credit with --agreement.")
  var card: String?
  @Option(help: "The simulated contact.") var contact = "gb-london"
  @Option(help: "The shipping method; the first one by default.") var method: String?
  @Option(help: "A coupon code to try.") var coupon: String?
  @Option(
    parsing: .unconditional, help: "What the basket's one item costs, in the merchant's currency, for example 12.50.")
  var amount: String?
  @Flag(help: "Collect it instead of having it delivered.") var collection = false
  @Flag(help: "First a card that is declined, then the chosen one.") var decline = false
  @Flag(help: "Cancel before paying, and see that the basket cannot be paid any more.") var cancel = false
  @Flag(help: "Send the payment token a second time, and see that nothing is paid twice.") var replay = false
  @Flag(help: "The server pays through a provider that the sandbox emulates; its ledger is not compared.")
  var provider = false
  @Flag(help: "Pay as a merchant's server does, over the platform API, instead of a page. See docs/platform.md.")
  var platform = false
  @Option(
    help: "The basket's agreement, in a file as docs/agreements.md has it. In it a date may be so long after now: +1mo."
  )
  var agreement: String?
  @Option(help: "Write the payment token to this file.") var saveToken: String?
  @Flag(help: "Print JSON.") var json = false

  package init() {}

  package func validate() throws {
    guard (0...65_533).contains(port) else {
      throw ValidationError("--port is from 0 to 65533: the shop and the sandbox have the next two.")
    }
    guard (server == nil) == (sandbox == nil), server == nil || merchant != nil else {
      throw ValidationError("--server, --sandbox and --merchant belong together: name all three, or a demo's --port.")
    }
  }

  package func run() async throws {
    guard !platform else { return try await runPlatform() }
    let payment = try await LiveHTTPClient.during { sender in
      var payment = try self.payment(sender)
      var plan = try self.plan()
      plan.agreement = try await readAgreement(payment.sandbox)
      try await payment.run(plan)
      return payment
    }
    if json { Terminal.say(String(decoding: payment.report.serialized(), as: UTF8.self)) }
    guard payment.isGood else { throw ExitCode(1) }
  }

  private func runPlatform() async throws {
    let payment = try await LiveHTTPClient.during { sender in
      let names = try MerchantFolder.names(at: folder)
      var payment = PlatformPayment(
        shop: SigningShop(key: try MerchantFolder.apiKey(at: folder), server: serverAddress, sender: sender),
        sandbox: JSONClient(sandboxAddress, sender: sender), merchantIdentifier: names.merchantIdentifier,
        currency: try MerchantFolder.currency(at: folder), card: chosenCard, amount: try price(), isQuiet: json)
      try await payment.run()
      return payment
    }
    if json { Terminal.say(String(decoding: payment.report.serialized(), as: UTF8.self)) }
    guard payment.isGood else { throw ExitCode(1) }
  }

  private var folder: String { merchant ?? DemoFolder.path(port) + "/merchants/harbour" }
  private var serverAddress: String { server ?? "http://localhost:\(port)" }
  private var sandboxAddress: String { sandbox ?? "http://localhost:\(port + 2)" }

  private var chosenCard: String { card ?? (agreement == nil ? "visa-debit" : "visa-credit") }

  /// The agreement of the file, with its dates.
  private func readAgreement(_ sandbox: JSONClient) async throws -> JSONValue? {
    guard let agreement else { return nil }
    let text = try String(contentsOfFile: agreement, encoding: .utf8)
    guard let document = try? JSONReader.read(Array(text.utf8)), case .object = document else {
      throw CallFailure("\(agreement) is no JSON object: write what stands behind \"agreement\" in docs/agreements.md")
    }
    guard case .integer(let now)? = try await sandbox.require("GET", "/sandbox/clock")["nowMicroseconds"] else {
      throw CallFailure("the sandbox does not tell its time")
    }
    return try Self.dated(document, after: Timestamp(microseconds: now), in: document["timeZone"]?.text ?? "UTC")
  }

  private static func dated(_ value: JSONValue, after now: Timestamp, in timeZone: String) throws -> JSONValue {
    guard case .object(let object) = value else { return value }
    var dated = object
    for (name, member) in object.members {
      guard ["startsAt", "endsAt", "date", "until"].contains(name), let text = member.text, text.hasPrefix("+") else {
        dated[name] = try Self.dated(member, after: now, in: timeZone)
        continue
      }
      guard let time = ClockCommand.Move(text)?.target(from: now, in: timeZone) else {
        throw CallFailure("\(name) “\(text)” is no time: write +1mo, +14d or +2h, or a time as 2027-12-31T09:00:00Z")
      }
      dated[name] = .string(Timestamp(seconds: time.seconds).description)
    }
    return .object(dated)
  }

  /// Minor units.
  private func price() throws -> Int64 {
    guard let amount else { return 1_250 }
    return try MerchantFolder.currency(at: folder).amount(typed: amount).minorUnits
  }

  private func plan() throws -> SandboxPayment.Plan {
    .init(
      card: chosenCard, contact: contact, method: method, coupon: coupon, amount: try price(),
      collects: collection || agreement != nil,
      declinesFirst: decline, cancels: cancel, replays: replay,
      isThroughProvider: provider || merchant == nil && DemoFolder.hasProviders(port), tokenFile: saveToken)
  }

  private func payment(_ sender: HTTPSender) throws -> SandboxPayment {
    guard FileManager.default.fileExists(atPath: folder) else {
      throw CallFailure(
        "there is no merchant at \(folder). Start `tender-sandbox demo` here, or name one with --merchant.")
    }
    let origin = origin ?? "http://localhost:\(port + 1)"
    return SandboxPayment(
      page: JSONClient(serverAddress, sender: sender, headers: [HTTPField("Origin", origin)]),
      shop: SigningShop(
        key: try MerchantFolder.apiKey(at: folder), server: serverAddress, sender: sender),
      sandbox: JSONClient(sandboxAddress, sender: sender), origin: origin, isQuiet: json)
  }
}

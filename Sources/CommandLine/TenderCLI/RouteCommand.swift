import Acquiring
import Administration
import CommandSupport
import Connectors
import ArgumentParser
import StrictJSON
import TenderServer

/// `tender route`
struct RouteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "route", abstract: "Which route to a payment provider a payment takes.", subcommands: [Explain.self])

  struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "explain",
      abstract: "Says which of a merchant's rules takes a payment, and why the others do not.",
      discussion: "Asks the running server. Nothing is sent to a provider.")
    @OptionGroup var store: StoreOptions
    @Option(help: "The merchant's id.") var merchant: String
    @Option(parsing: .unconditional, help: "The amount in major units, for example 12.50.") var amount: String
    @Option(help: "The currency, for example EUR.") var currency: String
    @Option(help: "The card's network, for example visa.") var network: String?
    @Option(help: "The country of the shopper's address, for example IE.") var country: String?
    @Flag(help: "The provider decrypts the payment token.") var sealed = false
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      var payment: JSONObject = [
        "merchant": .string(merchant), "amount": .string(amount), "currency": .string(currency),
      ]
      payment["network"] = network.map(JSONValue.string)
      payment["country"] = country.map(JSONValue.string)
      if sealed { payment["sealed"] = .bool(true) }
      let answer: [String: [RuleReport]] = try await store.access().askServer(
        "POST", "/routes/explain", JSONValue.object(payment).serialized())
      let rules = answer["rules"] ?? []
      if json {
        Terminal.say(try Terminal.json(rules))
      } else {
        Table("RESULT", "RULE", "REASON", of: rules) { [$0.result, $0.rule, $0.reason ?? "-"] }.show("rule")
      }
      guard rules.contains(where: { $0.result == "chosen" }) else { throw ExitCode(1) }
    }
  }
}

/// `tender connector`
struct ConnectorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "connector", abstract: "The routes to payment providers of the running server.",
    subcommands: [List.self, Check.self, Describe.self])

  struct Describe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "describe",
      abstract: "What a connector can do, as it states it.",
      discussion: "Prints the list of its page in docs/providers. Needs no server.")
    @Argument(help: "The connector's name, for example adyen.") var name: String

    func run() async throws {
      guard let connector = ConnectorCatalogue(rawValue: name) else {
        let names = ConnectorCatalogue.allCases.map(\.rawValue).sorted().joined(separator: ", ")
        throw MistakenCall("there is no connector \(name); there are \(names)")
      }
      let page = CapabilityPage(try connector.sample())
      Terminal.say("\(CapabilityPage.opening(name))\n\(page.text)\(CapabilityPage.closing)")
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Every route, and whether calls to it are suspended.")
    @OptionGroup var store: StoreOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      let answer: [String: [RouteReport]] = try await store.access().askServer("GET", "/routes")
      let routes = answer["routes"] ?? []
      guard !json else { return Terminal.say(try Terminal.json(routes)) }
      Table("ROUTE", "ACCEPTS", "CIRCUIT", of: routes) {
        [$0.route, $0.accepts.joined(separator: ", "), $0.circuit]
      }.show("route")
    }
  }

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Asks each provider whether it accepts the credentials. No money moves.",
      discussion: "Exit code 1 when a provider refuses them or cannot be reached.")
    @OptionGroup var store: StoreOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      let answer: [String: [CredentialReport]] = try await store.access().askServer("POST", "/routes/check")
      let routes = answer["routes"] ?? []
      if json {
        Terminal.say(try Terminal.json(routes))
      } else {
        Table("ROUTE", "CREDENTIALS", "REASON", of: routes) { [$0.route, $0.credentials, $0.reason ?? "-"] }
          .show("route")
      }
      guard routes.allSatisfy({ ["accepted", "not_offered"].contains($0.credentials) }) else { throw ExitCode(1) }
    }
  }
}

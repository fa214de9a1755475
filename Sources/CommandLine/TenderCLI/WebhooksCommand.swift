import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import Ledger
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import Webhooks

/// `tender webhooks`
struct WebhooksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "webhooks", abstract: "Webhooks: lists, replays and forwards them.",
    subcommands: [Listen.self, List.self, Replay.self])

  /// `tender webhooks list`
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Lists deliveries; dead letters by default.")
    @OptionGroup var store: StoreOptions
    @Option(help: "waiting, delivered or dead.") var state = StateName.dead
    @Option(help: "How many, at most 500.") var limit = 50
    @Flag(help: "Print JSON.") var json = false

    enum StateName: String, ExpressibleByArgument, CaseIterable {
      case waiting, delivered, dead
    }

    func validate() throws { try Limit.check(limit) }

    func run() async throws {
      let (state, limit) = (Delivery.State(rawValue: state.rawValue) ?? .dead, limit)
      let deliveries = try await store.access().ask(
        here: { try await WebhookAdministration($0.database).deliveries(state, limit: limit) },
        there: ("GET", "/webhooks/deliveries?state=\(state.rawValue.inQuery)&limit=\(limit)"))
      guard !json else { return Terminal.say(try Terminal.json(deliveries)) }
      let table = Table(
        "PAYMENT", "EVENT", "MERCHANT", "STATE", "FAILED", "ENDPOINT", "URL", "RESULT", of: deliveries
      ) { $0.cells }
      let others = StateName.allCases.map(\.rawValue).filter { $0 != state.rawValue }.map { "--state \($0)" }
      let noun = state == .dead ? "dead letter" : "\(state.rawValue) delivery"
      table.show("\(noun); see \(others.joined(separator: " and "))")
    }
  }

  /// `tender webhooks replay`
  struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "replay",
      abstract: "Delivers dead letters again.")
    @OptionGroup var journal: JournalOptions
    @Argument(help: "The id of the payment, its order or its basket, or the merchant's reference.") var payment: String?
    @Option(help: "One event of the payment.") var sequence: Int64?
    @Option(help: "The name of the endpoint to send them to, instead of the one that they were for.") var to: String?
    @Flag(help: "Every dead letter there is.") var all = false

    func validate() throws {
      guard to.map(EndpointName.isValid) ?? true else {
        throw ValidationError("--to “\(to ?? "")”: \(EndpointName.rule).")
      }
      guard all || payment != nil else { throw ValidationError("Name a payment, or say --all.") }
      guard !all || payment == nil else {
        throw ValidationError("Name a payment or say --all, and not both: --all is every payment's.")
      }
      guard sequence == nil || payment != nil else { throw ValidationError("--sequence needs a payment.") }
    }

    func run() async throws {
      var payment: PaymentID?
      if let name = self.payment { payment = try await journal.payment(name).id }
      let (id, sequence, to, user) = (payment?.rawValue, sequence, to, NSUserName())
      let query = [
        id.map { "payment=\($0.inQuery)" }, sequence.map { "sequence=\("\($0)".inQuery)" },
        to.map { "to=\($0.inQuery)" }, "by=\(user.inQuery)",
      ].compactMap { $0 }
      let answer = try await journal.store.access().ask(
        here: {
          let replayed = try await WebhookAdministration($0.database).replay(
            id, sequence: sequence, to: to, by: CommandLineOperator(user))
          return ["replayed": replayed]
        },
        there: ("POST", "/webhooks/replay?" + query.joined(separator: "&")))
      let count = answer["replayed"] ?? 0
      Terminal.say(journal.json ? try Terminal.json(answer) : "\(count) brought back")
      guard count > 0 else {
        Terminal.sayError(
          to.map { "there is no dead letter, or each was sent to \($0) before" }
            ?? "there is no dead letter; `tender webhooks list --state waiting` shows what is still being tried")
        throw ExitCode(1)
      }
    }
  }

  /// `tender webhooks listen`
  struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "listen",
      abstract: "Forwards webhooks to a server on your own machine, as they happen.")
    @Option(help: "Where to: http://localhost:3000/hooks") var forwardTo: String
    @OptionGroup var store: StoreOptions
    @Option(help: "The merchant's folder, or the id of a merchant in the store: its key signs.")
    var merchant = ".tender/merchants/harbour"
    @Flag(help: "Sign as Standard Webhooks says.") var standard = false
    @Flag(help: "Print JSON, an event a line.") var json = false

    func validate() throws {
      let address = URL(string: forwardTo)
      guard ["http", "https"].contains(address?.scheme ?? ""), address?.host?.isEmpty == false else {
        throw ValidationError("--forward-to “\(forwardTo)” is no address; write it as http://localhost:3000/hooks.")
      }
    }

    func run() async throws {
      let server = try await store.access()
      let (name, key) = try await signer(server)
      guard key.canSign(for: signature) else {
        throw CallFailure("the webhook key \(key.id) is not base64 of 24 to 64 bytes, as Standard Webhooks has it")
      }
      Terminal.sayError("forwarding webhooks of \(name) to \(forwardTo), signed with key \(key.id)")
      try await LiveHTTPClient.during { sender in
        var cursor = try await feed(server, nil).cursor
        while !Task.isCancelled {
          let news = try await feed(server, cursor)
          for item in news.events where item.merchant.rawValue == name { await forward(item, key, sender) }
          cursor = news.cursor
          if news.events.isEmpty { try await Task.sleep(for: .milliseconds(500)) }
        }
      }
    }

    private func signer(_ server: StoreAccess) async throws -> (name: String, key: WebhookKey) {
      guard !FileManager.default.fileExists(atPath: merchant) else {
        guard let key = try MerchantFolder.webhookKey(at: merchant) else {
          throw CallFailure("\(merchant)/webhook-keys has no key; write one into <key id>.secret")
        }
        return (URL(fileURLWithPath: merchant).lastPathComponent, key)
      }
      guard !merchant.contains("/") else {
        throw MistakenCall(
          "there is no folder \(merchant); --merchant names a merchant's folder, or the id of a merchant in the store")
      }
      let call = Array(try JSONEncoder().encode(MerchantCall.export(merchant: merchant)))
      let answer: MerchantAnswer = try await server.askServer("POST", StoreAccess.merchantCalls, call)
      guard let key = answer.bundle?.webhookKey else {
        throw CallFailure(
          "\(merchant) has no webhook key: `tender secret add --merchant \(merchant) --kind webhook\(store.words)`"
        )
      }
      return (merchant, key)
    }

    private var signature: WebhookEndpoint.Signature { standard ? .standard : .worldline }

    /// Only from a running server: a command that opens the store locks the server out.
    private func feed(_ server: StoreAccess, _ cursor: String?) async throws -> WebhookFeed {
      try await server.askServer("GET", "/webhooks/events" + (cursor.map { "?after=\("\($0)".inQuery)" } ?? ""))
    }

    /// Sends an event once and prints the result; there are no retries.
    private func forward(_ item: WebhookFeed.Item, _ key: WebhookKey, _ sender: HTTPSender) async {
      guard
        let request = key.request(
          carrying: Array(item.body.utf8), of: item.id, to: forwardTo, signed: signature, at: WallClock.system.now())
      else { return }
      let result: String
      do throws(TransportError) {
        result = "HTTP \(try await sender.send(request, WebhookDispatcher.timeout).status)"
      } catch {
        result = error.words
      }
      guard json else { return Terminal.say("\(item.payment) \(item.sequence)  \(item.type)  \(result)") }
      let report: JSONValue = [
        "payment": .string(item.payment.rawValue), "sequence": .integer(item.sequence), "type": .string(item.type),
        "result": .string(result),
      ]
      Terminal.say(String(decoding: report.serialized(), as: UTF8.self))
    }
  }
}

extension DeliveryReport {
  fileprivate var cells: [String] {
    [
      "\(payment)", "\(sequence)", "\(merchant)", state.rawValue, "\(tries)", endpoint, url, result ?? "not tried",
    ]
  }
}

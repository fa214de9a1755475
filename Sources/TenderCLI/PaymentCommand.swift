import ArgumentParser
import Foundation
import HTTPTransport
import Ledger
import Storage
import StrictJSON
import TenderPayments
import TenderServer

/// `tender payment`
struct PaymentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "payment", abstract: "Looks at the journal of payments.", subcommands: [List.self, Show.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "The newest payments.")
    @OptionGroup var journal: JournalOptions
    @Option(help: "How many.") var limit = 20

    func run() async throws {
      let payments = try await journal.payments(limit: limit)
      guard !journal.json else { return Terminal.say(try journal.text(payments)) }
      for payment in payments { Terminal.say(payment.line) }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "One payment.")
    @OptionGroup var journal: JournalOptions
    @Argument(help: "The payment's id.") var id: String

    func run() async throws {
      guard let payment = try await journal.payments(limit: 500).first(where: { $0.id.rawValue == id }) else {
        Terminal.complain("there is no payment \(id)")
        throw ExitCode(1)
      }
      Terminal.say(journal.json ? try journal.text(payment) : payment.line)
    }
  }
}

/// The journal: through the server that holds it, or from the file when none runs.
struct JournalOptions: ParsableArguments {
  @Option(help: "The server's store.") var store = ".tender/tender.db"
  @Flag(help: "For programs.") var json = false

  func payments(limit: Int) async throws -> [PaymentReport] {
    guard FileManager.default.fileExists(atPath: store) else { throw CallFailure("there is no store at \(store)") }
    do { return try await fromFile(limit) } catch StorageError.busy { return try await fromServer(limit) }
  }

  private func fromFile(_ limit: Int) async throws -> [PaymentReport] {
    let database = try await Database.sqlite(path: store, migrations: [])
    var query = PaymentQuery()
    query.limit = limit
    let payments = try await Journal(database).payments(matching: query)
    await database.close()
    return payments.map(PaymentReport.init)
  }

  private func fromServer(_ limit: Int) async throws -> [PaymentReport] {
    let client = try LiveHTTPClient(maximumResponseBytes: 4 << 20)
    let url = "http+unix://" + (store + ".sock").replacingOccurrences(of: "/", with: "%2F") + "/payments?limit=\(limit)"
    do {
      let answer = try await client.sender.send(OutboundRequest(method: "GET", url: url), .seconds(10))
      try await client.shutdown()
      return try StrictJSONDecoder().decode([String: [PaymentReport]].self, from: answer.body)["payments"] ?? []
    } catch let error as TransportError {
      try await client.shutdown()
      throw CallFailure("the server that holds \(store) does not answer: \(error)")
    }
  }

  func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}

extension PaymentReport {
  fileprivate var line: String {
    let money =
      Currency(code: currency).map { "\(Amount(minorUnits: amount, currency: $0))" } ?? "\(amount) \(currency)"
    let taken = "authorized \(authorized), captured \(captured), refunded \(refunded)"
    return "\(id)  \(createdAt)  \(status.rawValue)  \(money)  (\(taken))  \(merchant)  \(card)"
      + (declined.map { "  \($0)" } ?? "")
  }
}

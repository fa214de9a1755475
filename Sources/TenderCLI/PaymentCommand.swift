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
      guard let payment = try await journal.payment(PaymentID(id)) else {
        throw CallFailure("there is no payment \(id)")
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
    var query = PaymentQuery()
    query.limit = limit
    if let payments = try await fromFile({ try await $0.payments(matching: query) }) {
      return payments.map(PaymentReport.init)
    }
    let answer = try await fromServer("/payments?limit=\(limit)")
    return try StrictJSONDecoder().decode([String: [PaymentReport]].self, from: answer.body)["payments"] ?? []
  }

  func payment(_ id: PaymentID) async throws -> PaymentReport? {
    if let payment = try await fromFile({ try await $0.payment(id) }) { return payment.map(PaymentReport.init) }
    let name = id.rawValue.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let answer = try await fromServer("/payments/" + name)
    return answer.status == 404 ? nil : try StrictJSONDecoder().decode(PaymentReport.self, from: answer.body)
  }

  /// - Returns: nil when a server holds the store.
  private func fromFile<R>(_ read: (Journal) async throws -> R) async throws -> R? {
    guard FileManager.default.fileExists(atPath: store) else {
      throw CallFailure("there is no store at \(store); --store names the server's")
    }
    let database: Database
    do { database = try await Database.sqlite(path: store, migrations: []) } catch StorageError.busy { return nil }
    let result = try await read(Journal(database))
    await database.close()
    return result
  }

  private func fromServer(_ path: String) async throws -> InboundResponse {
    let socket = (store + ".sock").replacingOccurrences(of: "/", with: "%2F")
    return try await LiveHTTPClient.during(maximumResponseBytes: 4 << 20) { sender in
      do {
        return try await sender.send(OutboundRequest(method: "GET", url: "http+unix://\(socket)\(path)"), .seconds(10))
      } catch let error as TransportError {
        throw CallFailure("the process that holds \(store) does not answer: \(error.words)")
      }
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

import ArgumentParser
import Foundation
import HTTPTransport
import Ledger
import Storage
import StrictJSON
import TenderPayments
import TenderServer

/// `tender keys`
struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Keys that open payment tokens, and who holds them.",
    subcommands: [List.self, Reload.self, Retire.self, KeyAgentCommand.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Every processing key with its state and the time of its last payment token.")
    @OptionGroup var book: KeyBookOptions
    @Flag(help: "For programs.") var json = false

    func run() async throws {
      let keys = try await book.keys()
      guard !json else { return Terminal.say(try KeyBookOptions.text(keys)) }
      for key in keys { Terminal.say(key.line) }
    }
  }

  struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Has the running server read the merchants' folders again, for keys that are new.")
    @OptionGroup var book: KeyBookOptions

    func run() async throws {
      let answer = try await book.ask("POST", "/keys/reload")
      Terminal.say("\(try JSONField(JSONReader.read(answer.body)).member("added").integer) added")
    }
  }

  struct Retire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Forgets a key, unless a payment token for it could still come.",
      discussion: "The active key is not retired, nor one that was in use within the last 24 hours.")
    @OptionGroup var book: KeyBookOptions
    @Option(help: "The merchant's id.") var merchant: String
    @Argument(help: "The key's hash, or enough of its beginning.") var hash: String

    func run() async throws {
      let known = try await book.keys().filter { $0.merchant == merchant && $0.publicKeyHash.hasPrefix(hash) }
      guard let key = known.first, known.count == 1 else {
        throw CallFailure("\(known.count) keys of \(merchant) begin with \(hash); `tender keys list` shows them")
      }
      let wish: JSONValue = ["merchant": .string(merchant), "publicKeyHash": .string(key.publicKeyHash)]
      _ = try await book.ask("POST", "/keys/retire", wish.serialized())
      Terminal.say("retired \(key.publicKeyHash)")
    }
  }
}

/// The book of keys: through the server that holds the store, or from the file when none runs.
struct KeyBookOptions: ParsableArguments {
  @Option(help: "The server's store.") var store = ".tender/tender.db"

  func keys() async throws -> [KeyReport] {
    if let records = try await fromFile() { return records.map(KeyReport.init) }
    let answer = try await ask("GET", "/keys")
    return try StrictJSONDecoder().decode([String: [KeyReport]].self, from: answer.body)["keys"] ?? []
  }

  /// - Returns: nil when a server holds the store.
  private func fromFile() async throws -> [ProcessingKeyBook.Record]? {
    guard FileManager.default.fileExists(atPath: store) else {
      throw CallFailure("there is no store at \(store); --store names the server's")
    }
    let database: Database
    do {
      database = try await Database.sqlite(path: store, migrations: ProcessingKeyBook.migrations)
    } catch StorageError.busy { return nil }
    let records = try await ProcessingKeyBook(database).records()
    await database.close()
    return records
  }

  /// Asks the server that runs.
  func ask(_ method: String, _ path: String, _ body: [UInt8] = []) async throws -> InboundResponse {
    let socket = store + ".sock"
    guard FileManager.default.fileExists(atPath: socket) else {
      throw CallFailure("no server runs on \(store): start it, it has the keys")
    }
    let name = socket.replacingOccurrences(of: "/", with: "%2F")
    let request = OutboundRequest(method: method, url: "http+unix://\(name)\(path)", body: body)
    let answer = try await LiveHTTPClient.during(maximumResponseBytes: 4 << 20) { sender in
      do { return try await sender.send(request, .seconds(10)) } catch let error as TransportError {
        throw CallFailure("the process that holds \(store) does not answer: \(error.words)")
      }
    }
    guard answer.status == 200 else { throw CallFailure(Self.complaint(answer)) }
    return answer
  }

  private static func complaint(_ answer: InboundResponse) -> String {
    let problem = try? JSONReader.read(answer.body)
    guard case .string(let code)? = problem?["code"], case .string(let detail)? = problem?["detail"] else {
      return "the server answers \(answer.status)"
    }
    return "\(code): \(detail)"
  }

  static func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}

extension KeyReport {
  fileprivate var line: String {
    let owner = merchant.isEmpty ? "(platform)" : merchant
    return "\(publicKeyHash.prefix(16))  \(version)  \(state)\(since.map { " since \($0)" } ?? "")  \(owner)  "
      + (lastUsed.map { "last used \($0)" } ?? "never used")
  }
}

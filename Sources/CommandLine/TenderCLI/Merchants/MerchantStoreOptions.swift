import ArgumentParser
import Foundation
import Ledger
import StrictJSON
import Storage
import TenderServer

/// The merchants of a configuration: through the server while one runs, from its store when none does.
struct MerchantStoreOptions: ParsableArguments {
  @Option(help: "The server's configuration.") var config: String?
  @Flag(help: "Print JSON.") var json = false

  func load() async throws -> ServerConfiguration { try await ConfigurationOptions.load(file: config) }

  /// Asks, and tells the operator what the answer notes.
  func ask(_ call: MerchantCall) async throws -> MerchantAnswer { try await Self.ask(call, config: config) }

  static func ask(_ call: MerchantCall, config: String?) async throws -> MerchantAnswer {
    let configuration = try await ConfigurationOptions.load(file: config)
    if let path = configuration.store.path, !FileManager.default.fileExists(atPath: path) {
      if case .list = call { return MerchantAnswer(merchants: try await MerchantFolder.reports(configuration)) }
      try await make(path, for: call)
    }
    let answer: MerchantAnswer = try await StoreAccess(configuration).ask(
      here: { try await MerchantAdministration(configuration, $0.database).perform(call) },
      there: ("POST", "/merchants/calls"), body: Array(try JSONEncoder().encode(call)))
    for note in answer.notes { Terminal.sayError("Warning: \(note)") }
    return answer
  }

  /// A merchant may be made, and terms be published, before the server runs for the first time.
  private static func make(_ path: String, for call: MerchantCall) async throws {
    switch call {
    case .add, .publishTerms: break
    default: throw MistakenCall("there is no store at \(path); --config names the server's configuration")
    }
    try PrivateFile.makeFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    let journal = try await PaymentAdministration.open(.file(path))
    await journal.database.close()
  }

  /// Prints rows, or the rows as JSON.
  func show<Row: Encodable>(_ rows: [Row]?, _ noun: String, _ table: ([Row]) -> Table) throws {
    let rows = rows ?? []
    if json { Terminal.say(try Terminal.json(rows)) } else { table(rows).show(noun) }
  }

  func show(_ merchants: [StoredMerchantReport]?) throws {
    try show(merchants, "merchant") {
      Table("MERCHANT", "IDENTIFIER", "FROM", "APPLE PAY", "DOMAINS", "CERTIFICATES", of: $0) { merchant in
        let lists = [merchant.domains.joined(separator: ", "), merchant.certificates.joined(separator: "; ")]
        return [merchant.id, merchant.merchantIdentifier, merchant.origin, merchant.refusal ?? "on"]
          + lists.map { $0.isEmpty ? "-" : $0 }
      }
    }
  }
}

import Administration
import ArgumentParser
import CommandSupport
import Foundation
import Ledger
import Settings
import TenderServer

/// The merchants of a configuration: through the server while one runs, from its store when none does.
struct MerchantStoreOptions: ParsableArguments {
  @OptionGroup var place: StoreOptions
  @Flag(help: "Print JSON.") var json = false

  /// Asks, and tells the operator what the answer notes.
  func ask(_ call: MerchantCall) async throws -> MerchantAnswer {
    switch call {
    case .add, .take, .publishTerms: try await place.makeStore()
    case .list where place.port == nil:
      let configuration = try await place.configuration()
      if let path = configuration.store.path, !FileManager.default.fileExists(atPath: path) {
        return MerchantAnswer(merchants: try await MerchantFolder.reports(configuration))
      }
    default: break
    }
    let person = CommandLineOperator(NSUserName())
    let answer: MerchantAnswer = try await place.ask(
      here: { try await MerchantAdministration($0, $1.database).perform(call, by: person) },
      there: ("POST", StoreAccess.merchantCalls), body: Array(try JSONEncoder().encode(call)))
    for note in answer.notes { Terminal.sayError("Warning: \(note)") }
    return answer
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
        let state = merchant.refusal ?? merchant.notReady.map { "not ready: \($0)" } ?? "on"
        return [merchant.id, merchant.merchantIdentifier, merchant.origin, state]
          + lists.map { $0.isEmpty ? "-" : $0 }
      }
    }
  }
}

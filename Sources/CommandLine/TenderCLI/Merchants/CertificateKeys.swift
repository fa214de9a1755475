import Administration
import ArgumentParser
import CommandSupport
import HTTPTransport
import Ledger
import StrictJSON
import TenderPayments
import TenderServer

extension CertificateCommand {
  struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "keys",
      abstract: "Every processing key with its state and the time of its last payment token.")
    @OptionGroup var store: StoreOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      let keys = try await store.keys()
      guard !json else { return Terminal.say(try Terminal.json(keys)) }
      let table = Table("KEY", "VERSION", "STATE", "SINCE", "MERCHANT", "LAST USED", of: keys) { $0.cells }
      table.show("key")
    }
  }

  struct RetireKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "retire-key",
      abstract: "Removes a key, unless a payment token for it could still arrive.",
      discussion: "The active key is not retired, nor one that was in use within the last 24 hours.")
    @OptionGroup var store: StoreOptions
    @Option(help: "The merchant's id.") var merchant: String
    @Argument(
      help: "The key's hash as `keys` or a payment token shows it, or in hexadecimal; a beginning is enough.")
    var hash: String
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
      let keys = try await store.keys().filter { $0.merchant == merchant }
      guard !keys.isEmpty else {
        throw CallFailure("there is no key of a merchant \(merchant); `tender certificate keys` shows them")
      }
      let known = keys.filter { $0.begins(with: hash) }
      guard let key = known.first, known.count == 1 else {
        let count = known.isEmpty ? "no key of \(merchant) begins" : "\(known.count) keys of \(merchant) begin"
        throw CallFailure("\(count) with “\(hash)”; `tender certificate keys` shows them")
      }
      let request: JSONValue = ["merchant": .string(merchant), "publicKeyHash": .string(key.publicKeyHash)]
      let answer: [String: String] = try await store.access().askServer("POST", "/keys/retire", request.serialized())
      Terminal.say(json ? try Terminal.json(answer) : "retired \(answer["retired"] ?? key.publicKeyHash)")
    }
  }
}

extension StoreOptions {
  /// Through the server that holds the store, or from the file when none runs.
  fileprivate func keys() async throws -> [KeyReport] {
    let answer: [String: [KeyReport]] = try await access().ask(
      here: { ["keys": try await ProcessingKeyStore($0.database).records().map(KeyReport.init)] },
      there: ("GET", "/keys"))
    return answer["keys"] ?? []
  }
}

extension KeyReport {
  fileprivate var cells: [String] {
    [publicKeyHash, version, state, since ?? "-", merchant.isEmpty ? "(platform)" : merchant, lastUsed ?? "never"]
  }

  /// - Parameter text: of the hash, in base64 or hexadecimal.
  fileprivate func begins(with text: String) -> Bool {
    publicKeyHash.hasPrefix(text)
      || Base64.decode(publicKeyHash).map { Hex.encode($0).hasPrefix(text.lowercased()) } == true
  }
}

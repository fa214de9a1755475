import Auditing
import Foundation
import Ledger
import Storage
import StrictJSON
import TenderPayments

// payment-auditor STORE ACQUIRER-STORE CLIENT.jsonl SINK.jsonl [SECRET-FILE SEARCHED-FILE…]
//
// Audits the records of four processes, after all of them have ended.

func lines(_ path: String) throws -> [JSONValue] {
  try Data(contentsOf: URL(fileURLWithPath: path)).split(separator: UInt8(ascii: "\n")).compactMap {
    // A process that was killed while it wrote leaves half a line at the end.
    try? JSONReader.read(Array($0))
  }
}

/// Every file that holds one of the secrets, in whatever form.
func leaks(_ secrets: String, _ files: [String]) throws -> [String] {
  let search = SecretSearch(
    try String(contentsOfFile: secrets, encoding: .utf8).split(separator: "\n").map(String.init))
  return try files.filter { search.finds(in: try Data(contentsOf: URL(fileURLWithPath: $0))) }
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 4 else {
  FileHandle.standardError.write(Data("payment-auditor STORE ACQUIRER-STORE CLIENT SINK [SECRETS FILE…]\n".utf8))
  exit(2)
}
var evidence = Evidence()
evidence.readClient(try lines(arguments[2]))
evidence.readSink(try lines(arguments[3]))
if arguments.count > 5 { evidence.leaks = try leaks(arguments[4], Array(arguments[5...])) }
let (store, bank) = (
  try await Database.sqlite(path: arguments[0], migrations: []),
  try await Database.sqlite(path: arguments[1], migrations: [])
)
evidence.chain = try await Journal(store, random: .system).verifyAudit().violations
let seen = evidence
let ours = try await store.read { transaction in
  var evidence = seen
  try evidence.readJournal(transaction)
  try evidence.readOrders(transaction)
  return evidence
}
let all = try await bank.read { transaction in
  var evidence = ours
  try evidence.readLedger(transaction)
  return evidence
}
let violations = Auditor(all).violations
for violation in violations { print(violation) }
print(
  "audit: \(all.payments.count) payments, \(all.holds.count) holds, \(all.calls.count) answers, "
    + "\(all.deliveries.count) webhooks, \(violations.count) violations")
exit(violations.isEmpty ? 0 : 1)

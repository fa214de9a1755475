package import Ledger
import TenderPayments

/// A processing key as the command line shows it.
package struct KeyReport: Codable, Sendable {
  /// Empty for the platform.
  package let merchant: String
  /// In base64, as payment tokens name it.
  package let publicKeyHash: String
  package let version: String
  package let state: String
  /// When the state began.
  package let since: String?
  package let lastUsed: String?

  package init(_ record: ProcessingKeyStore.Record) {
    merchant = record.owner
    publicKeyHash = Hex.decode(record.publicKeyHash).map { Base64.encode($0) } ?? record.publicKeyHash
    version = record.version.rawValue
    state = record.state
    since = record.since?.description
    lastUsed = record.lastUsed?.description
  }
}

import Crypto
import Storage
package import TenderPayments

/// A code that takes a checkout from one device to another: read by a camera, good once, for a few minutes.
package struct Handover: Sendable, Hashable {
  package static let lifetime = Duration.seconds(600)

  /// 128 random bits in hexadecimal.
  package let code: String
  package let expiresAt: Timestamp

  private var hash: String { Self.hash(code) }

  private static func hash(_ code: String) -> String { Hex.encode(SHA256.hash(data: Array(code.utf8))) }

  /// Makes the code the checkout's only one: an earlier one that was not used ends with it.
  func save(for checkout: BasketID, in store: Transaction) throws {
    try store.run(
      "DELETE FROM hosted_handovers WHERE checkout = $1 AND used_at IS NULL", .text(checkout.rawValue))
    try store.run(
      "INSERT INTO hosted_handovers (code_hash, checkout, expires_at, used_at) VALUES ($1, $2, $3, NULL)",
      .text(hash), .text(checkout.rawValue), .time(expiresAt))
  }

  /// The checkout that the code leads to, once. Nil for a code that was used, has expired, or never was.
  static func use(_ code: String, in store: Transaction) throws -> BasketID? {
    let isUsed = try store.changes(
      "UPDATE hosted_handovers SET used_at = $2 WHERE code_hash = $1 AND used_at IS NULL AND expires_at > $2",
      .text(hash(code)), .time(store.now))
    guard isUsed == 1 else { return nil }
    return try store.row("SELECT checkout FROM hosted_handovers WHERE code_hash = $1", .text(hash(code))).map {
      BasketID(try $0.text("checkout"))
    }
  }

  /// Whether the code still leads somewhere.
  static func isGood(_ code: String, in store: Transaction) throws -> Bool {
    try store.row(
      "SELECT checkout FROM hosted_handovers WHERE code_hash = $1 AND used_at IS NULL AND expires_at > $2",
      .text(hash(code)), .time(store.now)) != nil
  }
}

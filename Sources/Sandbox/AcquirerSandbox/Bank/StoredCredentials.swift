import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

/// A payment by a credential that the acquirer keeps: neither number nor cryptogram.
struct StoredCharge: Sendable {
  private static let allSeries = ["recurring", "unscheduled"]

  /// The acquirer's name of the first payment.
  let authorization: String
  let series: String
  /// The scheme's identifier of the first payment, which the caller has to know.
  let networkTransactionID: String

  /// Nil for an authorization with a card.
  init?(_ body: JSONField) throws {
    guard let stored = try body.memberIfPresent("storedCredential"),
      try stored.member("sequence").string == "subsequent"
    else { return nil }
    for name in ["dpan", "cryptogram", "paymentData"] where try body.memberIfPresent(name) != nil {
      throw AcquirerProblem.invalid(name)
    }
    series = try Self.series(stored)
    authorization = try stored.member("authorization").string
    networkTransactionID = try stored.member("initialNetworkTransactionId").string
  }

  /// The series of the agreement that a card's authorization begins; nil for a payment by itself.
  static func begunSeries(_ body: JSONField) throws -> String? {
    guard let stored = try body.memberIfPresent("storedCredential") else { return nil }
    guard try stored.member("sequence").string == "first" else {
      throw AcquirerProblem.invalid("storedCredential.sequence")
    }
    return try series(stored)
  }

  private static func series(_ stored: JSONField) throws -> String {
    let series = try stored.member("series").string
    guard allSeries.contains(series) else { throw AcquirerProblem.invalid("storedCredential.series") }
    return series
  }
}

/// What the acquirer keeps of an agreement's first payment: which of the wallet's cards it was, and not its number.
struct StoredCredential: Sendable {
  let name: String
  let series: String
  let networkTransactionID: String
  let card: SandboxCard?
  /// Whether the number was a merchant token's, which does not depend on the device.
  let isMerchantToken: Bool

  var cardSuffix: String? { card?.number(ofMerchantToken: isMerchantToken)?.lastFour }

  static let table = Migration(
    "acquirer-2",
    """
    CREATE TABLE stored_credentials (
      authorization_reference TEXT PRIMARY KEY NOT NULL,
      merchant TEXT NOT NULL,
      name TEXT NOT NULL UNIQUE,
      series TEXT NOT NULL CHECK (series IN ('recurring', 'unscheduled')),
      network_transaction_id TEXT NOT NULL,
      card TEXT,
      is_merchant_token BIGINT NOT NULL CHECK (is_merchant_token IN (0, 1)),
      created_at BIGINT NOT NULL
    );

    """)

  static func keep(
    _ dpan: DPAN, as name: String, for series: String, of hold: Hold, _ networkTransactionID: String,
    in transaction: Transaction
  ) throws {
    let card = SandboxCards.card(dpan: dpan)
    try transaction.run(
      """
      INSERT INTO stored_credentials (authorization_reference, merchant, name, series, network_transaction_id, card,
        is_merchant_token, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """,
      .text(hold.acquirerReference), .text(hold.merchant), .text(name), .text(series), .text(networkTransactionID),
      .text(optional: card?.id), .integer(card?.merchantToken == dpan ? 1 : 0), .time(transaction.now))
  }

  /// The acquirer's name of the credential that it keeps of an authorization; nil where it keeps none.
  static func name(keptOf hold: String, in transaction: Transaction) throws -> String? {
    try transaction.row("SELECT name FROM stored_credentials WHERE authorization_reference = $1", .text(hold))?
      .text("name")
  }

  static func find(_ charge: StoredCharge, of merchant: String, in transaction: Transaction) throws -> StoredCredential?
  {
    try transaction.row(
      "SELECT * FROM stored_credentials WHERE authorization_reference = $1 AND merchant = $2",
      .text(charge.authorization), .text(merchant)
    ).map { row in
      StoredCredential(
        name: try row.text("name"), series: try row.text("series"),
        networkTransactionID: try row.text("network_transaction_id"),
        card: try row.textOrNil("card").flatMap { SandboxCards.card(id: $0) },
        isMerchantToken: try row.integer("is_merchant_token") == 1)
    }
  }

  /// The response code of a charge that names another payment's identifier or series (`12`), or that Visa declines because the
  /// first payment's number was the device's own (`57`); nil for one that the card decides.
  func refusal(of charge: StoredCharge) -> String? {
    guard charge.series == series, charge.networkTransactionID == networkTransactionID else { return "12" }
    return card?.network == .visa && !isMerchantToken ? "57" : nil
  }
}

package import Storage
package import TenderPayments

extension HostedCheckout {
  package static func find(_ id: BasketID, in store: Transaction) throws -> HostedCheckout? {
    try store.row("SELECT * FROM hosted_checkouts WHERE id = $1", .text(id.rawValue)).map(HostedCheckout.init)
  }

  private init(_ row: Row) throws {
    id = BasketID(try row.text("id"))
    merchant = MerchantID(try row.text("merchant"))
    kind = Kind(rawValue: try row.text("kind")) ?? .session
    returnURL = try row.textOrNil("return_url")
    returnMAC = try row.text("return_mac")
    locale = try row.text("locale")
    variant = try row.text("variant")
    showsResult = try row.integer("shows_result") == 1
    country = try row.textOrNil("country")
    merchantReference = try row.text("merchant_reference")
    merchantParameters = try row.textOrNil("merchant_parameters")
    recipientName = try row.textOrNil("recipient_name")
    createdAt = try row.time("created_at")
    expiresAt = try row.time("expires_at")
  }

  /// Writes it, unless the call has made one before.
  ///
  /// - Returns: whether it was written.
  func save(from call: CreatingCall?, in store: Transaction) throws -> Bool {
    try store.changes(
      """
      INSERT INTO hosted_checkouts (id, merchant, kind, return_url, return_mac, locale, variant, shows_result, country,
        merchant_reference, merchant_parameters, recipient_name, call, created_at, expires_at, forget_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
      ON CONFLICT (merchant, call) DO NOTHING
      """,
      .text(id.rawValue), .text(merchant.rawValue), .text(kind.rawValue), .text(optional: returnURL),
      .text(returnMAC), .text(locale), .text(variant), .integer(showsResult ? 1 : 0), .text(optional: country),
      .text(merchantReference), .text(optional: merchantParameters), .text(optional: recipientName),
      .text(optional: call?.name), .time(createdAt), .time(expiresAt), .time(expiresAt.adding(Self.keeping))) == 1
  }

  /// What the merchant has said of the shopper.
  package struct Kept: Sendable, Hashable, Codable {
    package let recipientName: String?
    package let merchantParameters: String?
    package let returnUrl: String?
  }

  /// Nil for a basket without a page.
  package static func findKept(of basket: BasketID, in store: Transaction) throws -> Kept? {
    try find(basket, in: store).map {
      Kept(recipientName: $0.recipientName, merchantParameters: $0.merchantParameters, returnUrl: $0.returnURL)
    }
  }

  /// Takes out of the basket's page what may name the shopper.
  package static func strip(_ basket: BasketID, in store: Transaction) throws {
    try store.run(
      "UPDATE hosted_checkouts SET recipient_name = NULL, merchant_parameters = NULL, return_url = NULL WHERE id = $1",
      .text(basket.rawValue))
    try store.run("DELETE FROM hosted_handovers WHERE checkout = $1", .text(basket.rawValue))
  }

  /// The checkout that a call has made.
  static func find(by call: CreatingCall?, of merchant: MerchantID, in store: Transaction) throws -> HostedCheckout? {
    guard let call else { return nil }
    return try store.row(
      "SELECT * FROM hosted_checkouts WHERE merchant = $1 AND call = $2", .text(merchant.rawValue), .text(call.name)
    ).map(HostedCheckout.init)
  }
}

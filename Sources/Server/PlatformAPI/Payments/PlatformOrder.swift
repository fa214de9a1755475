package import DirectWire
package import Storage
package import TenderPayments

/// What the platform API keeps of an order that came with its payment, beside ledger and order: what later answers
/// repeat.
package struct PlatformOrder: Sendable, Hashable, Codable {
  package var references: DirectReferences?
  /// As of ``TenderExtras/notVerified``.
  package var notVerified: [String]
  package var authorizationMode: MobilePaymentInput.AuthorizationMode?
  package var hostedCheckout: HostedCheckoutOutput?
  /// The name on the card, as the payment token gives it; no answer of Worldline's has it.
  package var cardholderName: String?
  /// The agreement that its payment begins.
  package var agreement: AgreementID?

  package init(
    references: DirectReferences?, notVerified: [String] = [],
    authorizationMode: MobilePaymentInput.AuthorizationMode? = nil, hostedCheckout: HostedCheckoutOutput? = nil
  ) {
    self.references = references
    self.notVerified = notVerified
    self.authorizationMode = authorizationMode
    self.hostedCheckout = hostedCheckout
  }
}

extension RenderedOrder {
  /// The order of a payment that a merchant's server made.
  init(_ order: PlatformOrder) {
    self.init(references: order.references, notVerified: order.notVerified, hostedCheckout: order.hostedCheckout)
    agreement = order.agreement
  }
}

extension PlatformOrder {
  /// To be opened in the same store as the ledger's tables, so that the order and the claim of its payment are one
  /// commit.
  package static let migrations: [Migration] = [
    Migration(
      "platform-1",
      """
      CREATE TABLE platform_orders (
        order_id TEXT PRIMARY KEY NOT NULL,
        merchant TEXT NOT NULL,
        document TEXT NOT NULL
      );
      """)
  ]

  /// Writes it, or another in its place.
  package func save(as order: OrderID, of merchant: MerchantID, in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO platform_orders (order_id, merchant, document) VALUES ($1, $2, $3)
      ON CONFLICT (order_id) DO UPDATE SET document = $3
      """, .text(order.rawValue), .text(merchant.rawValue),
      .text(String(decoding: try DirectJSON.bytes(self), as: UTF8.self)))
  }

  /// Takes out what may name the shopper.
  package static func strip(_ order: OrderID, in store: Transaction) throws {
    guard var kept = try find(order, in: store) else { return }
    kept.cardholderName = nil
    kept.references?.merchantParameters = nil
    try store.run(
      "UPDATE platform_orders SET document = $2 WHERE order_id = $1", .text(order.rawValue),
      .text(String(decoding: try DirectJSON.bytes(kept), as: UTF8.self)))
  }

  package static func find(_ order: OrderID, in store: Transaction) throws -> PlatformOrder? {
    try store.row("SELECT document FROM platform_orders WHERE order_id = $1", .text(order.rawValue)).map {
      try DirectJSON.read(PlatformOrder.self, Array($0.text("document").utf8))
    }
  }
}

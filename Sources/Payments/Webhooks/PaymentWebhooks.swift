import Ledger
package import Storage
package import TenderPayments

/// Addresses that events of one payment go to, beside its merchant's endpoints: `feedbacks.webhooksUrls` of the call
/// that made it. They are signed with the merchant's key, and the guard judges them before every try as it does any
/// other. An address is its endpoint's id, which no name can be.
package enum PaymentWebhooks {
  /// Worldline's.
  package static let limit = 5

  /// Written in the commit of the payment's claim.
  package static func add(_ addresses: [String], to payment: PaymentID, in store: Transaction) throws {
    for address in addresses {
      try store.run(
        "INSERT INTO payment_webhooks (payment, url) VALUES ($1, $2) ON CONFLICT DO NOTHING", .text(payment.rawValue),
        .text(address))
    }
  }

  /// How many payments can be asked for at once.
  static let page = 64

  /// - Parameter payments: ``page`` of them at most.
  static func addresses(of payments: Set<PaymentID>, in store: Transaction) throws -> [PaymentID: [String]] {
    guard let any = payments.first else { return [:] }
    // One text for any number of payments, so that it is prepared once.
    let ids = Array(payments) + Array(repeating: any, count: max(0, page - payments.count))
    return try store.rows(selection, ids.map { .text($0.rawValue) }).reduce(into: [:]) { addresses, row in
      addresses[PaymentID(try row.text("payment")), default: []].append(try row.text("url"))
    }
  }

  private static let selection = """
    SELECT payment, url FROM payment_webhooks
    WHERE payment IN (\((1...page).map { "$\($0)" }.joined(separator: ", "))) ORDER BY url
    """

  /// The endpoint of an address; nil for the id of an endpoint that the merchant has named.
  static func endpoint(_ id: String, _ key: WebhookKey?) -> WebhookEndpoint? {
    guard id.utf8.contains(UInt8(ascii: ":")) else { return nil }
    return WebhookEndpoint(id: id, url: id, key: key)
  }
}

extension WebhookDispatcher {
  /// Sends one event of type `payment.test` now. It takes one of the places that the merchant's deliveries have.
  ///
  /// - Returns: why it was not acknowledged; nil when it was.
  package func sendTest(
    to url: String, of merchant: MerchantID, signed signature: WebhookEndpoint.Signature = .worldline, at now: Timestamp
  ) async throws -> String? {
    guard let key = keys(merchant) else { return "the merchant has no webhook key" }
    let endpoint = WebhookEndpoint(id: url, url: url, key: key, signature: signature)
    let body = try WebhookBody(testOf: merchant, id: random.hex(16), at: now)
    let attempt = await withPlace(for: merchant, "test " + body.id) {
      let line = await open(endpoint)
      let attempt = await line.send(body, endpoint, Self.timeout, at: now)
      await line.close()
      return attempt
    }
    guard let attempt else { return "too many deliveries of the merchant are under way; try again later" }
    guard case .taken = attempt else { return attempt.words }
    return nil
  }
}

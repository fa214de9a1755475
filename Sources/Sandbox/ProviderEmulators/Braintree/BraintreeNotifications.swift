import AcquirerSandbox
import Crypto
import Storage
import TenderPayments

// Webhooks: a form of `bt_signature` and `bt_payload`, sent until it is acknowledged.
extension BraintreeLedger {
  func notify(_ kind: String, _ subject: BraintreeElement, _ merchant: String, in store: Transaction) throws {
    let notification = BraintreeElement(
      "notification",
      [
        BraintreeElement("timestamp", store.now.description, type: "datetime"), BraintreeElement("kind", kind),
        BraintreeElement("source-merchant-id", merchant), BraintreeElement("subject", [subject]),
      ])
    // As Braintree encodes it: a line break after every 60 characters, and one at the end.
    let payload = Base64.encode(Array(notification.document.utf8)).broken(every: 60)
    try addEvent(Array(payload.utf8), of: merchant, in: store)
  }

  /// A dispute of a sale, by which its money is taken back: `opened`, `lost`, `won`.
  func dispute(_ id: String, _ status: String, of account: BraintreeAccount) async throws {
    try await database.write { store in
      guard let sale = try BraintreeTransaction.find(id, of: account.merchantID, in: store) else {
        throw BraintreeProblem.notFound
      }
      try notify("dispute_\(status)", sale.dispute(status, at: store.now), account.merchantID, in: store)
    }
  }

  /// Settles what was submitted longer ago than `delay`.
  func settleDue(after delay: Duration) async throws {
    try await database.write { store in
      let rows = try store.rows(
        """
        SELECT id, merchant FROM transactions WHERE status = 'submitted_for_settlement' AND created_at <= $1
        ORDER BY created_at LIMIT 100
        """, .integer(store.now.microseconds - delay.microseconds))
      for row in rows {
        let (id, merchant) = (try row.text("id"), try row.text("merchant"))
        guard var transaction = try BraintreeTransaction.find(id, of: merchant, in: store) else { continue }
        let isDeclined = transaction.kind == .sale && SandboxAmounts.failsLate(transaction.amount)
        try end(&transaction, isDeclined ? "settlement_declined" : "settled", of: merchant, in: store)
        try transaction.save(of: merchant, in: store)
      }
    }
  }
}

extension BraintreeAccount {
  /// The form that Braintree posts.
  func form(_ payload: String) -> [UInt8] {
    let key = SymmetricKey(data: Array(Insecure.SHA1.hash(data: Array(privateKey.utf8))))
    let code = HMAC<Insecure.SHA1>.authenticationCode(for: Array(payload.utf8), using: key)
    let signature = "\(publicKey)|\(Hex.encode(Array(code)))"
    return Array("bt_signature=\(Self.escaped(signature))&bt_payload=\(Self.escaped(payload))".utf8)
  }

  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x5F
      return isPlain ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte]).uppercased()
    }.joined()
  }
}

extension BraintreeTransaction {
  fileprivate func dispute(_ status: String, at now: Timestamp) -> BraintreeElement {
    BraintreeElement(
      "dispute",
      [
        BraintreeElement("id", "dispute\(id)"), BraintreeElement("amount", text(amount)),
        BraintreeElement("amount-disputed", text(amount)),
        BraintreeElement("amount-won", text(status == "won" ? amount : 0)),
        BraintreeElement("created-at", now.description, type: "datetime"),
        BraintreeElement("currency-iso-code", currency.code), BraintreeElement("kind", "chargeback"),
        BraintreeElement("merchant-account-id", merchantAccount), BraintreeElement("reason", "fraud"),
        BraintreeElement("status", status == "opened" ? "open" : status),
        BraintreeElement(
          "transaction",
          [
            BraintreeElement("id", id), BraintreeElement("amount", text(amount)),
            BraintreeElement("order-id", order ?? ""),
          ]),
      ])
  }
}

extension String {
  fileprivate func broken(every length: Int) -> String {
    stride(from: 0, to: utf8.count, by: length).map { start in
      String(decoding: Array(utf8.dropFirst(start).prefix(length)), as: UTF8.self) + "\n"
    }.joined()
  }
}

import AcquirerSandbox
import Crypto
import Storage
import TenderPayments
import TokenIssuer

/// The emulated Braintree's ledger. It keeps neither card numbers nor cryptograms, but a keyed hash of each cryptogram,
/// which is accepted once.
struct BraintreeLedger: ProviderStore {
  let database: Database
  let random: RandomBytes
  let secret: SymmetricKey

  init(path: String, clock: WallClock, random: RandomBytes) async throws {
    (database, secret) = try await Self.open(path: path, clock: clock, random: random)
    self.random = random
  }

  /// Authorizes a sale, or refuses it. The same request twice is two sales, unless the account rejects duplicates.
  func sell(_ sale: BraintreeSale, of account: BraintreeAccount, _ outcome: BraintreeOutcome) async throws
    -> BraintreeTransaction
  {
    try await database.write { store in
      let decided = try decide(sale, account, outcome, in: store)
      var transaction = new(sale, decided, at: store.now)
      transaction.become(decided.status, at: store.now)
      if sale.isSubmitted, decided.isApproved { transaction.become("submitted_for_settlement", at: store.now) }
      try transaction.save(of: account.merchantID, fingerprint: fingerprint(sale), in: store)
      return transaction
    }
  }

  private func decide(
    _ sale: BraintreeSale, _ account: BraintreeAccount, _ outcome: BraintreeOutcome, in store: Transaction
  ) throws -> BraintreeOutcome {
    let since = store.now.adding(.zero - account.duplicateWindow)
    let duplicate = try store.row(
      """
      SELECT id FROM transactions WHERE merchant = $1 AND fingerprint = $2 AND created_at > $3 AND rejection IS NULL
      """, .text(account.merchantID), .text(fingerprint(sale)), .time(since))
    if duplicate != nil { return .rejected("duplicate") }
    return try accept(sale.card.cryptogram, of: sale.card.dpan, in: store) ? outcome : .declined("2000")
  }

  private func new(
    _ sale: BraintreeSale, _ outcome: BraintreeOutcome, at now: Timestamp
  ) -> BraintreeTransaction {
    BraintreeTransaction(
      id: newID(), kind: .sale, merchantAccount: sale.merchantAccount, order: sale.order, parent: nil, refunded: nil,
      cardType: sale.card.type, cardSuffix: sale.card.dpan.lastFour,
      expiration: "\(sale.card.expirationMonth)/\(sale.card.expirationYear)", code: outcome.code,
      authorizationCode: outcome.isApproved ? random.hex(3).uppercased() : nil,
      networkTransactionID: outcome.isApproved ? random.next(15).map { String($0 % 10) }.joined() : nil,
      rejection: outcome.rejection, createdAt: now, currency: sale.amount.currency, amount: sale.amount.minorUnits,
      status: outcome.status)
  }

  /// Eight letters and digits, as Braintree's.
  func newID() -> String {
    let signs = Array("0123456789abcdefghijklmnopqrstuvwxyz")
    return String(random.next(8).map { signs[Int($0) % signs.count] })
  }

  func newPaymentMethodID() -> String { "tokenapplepay_\(random.hex(16))" }

  private func fingerprint(_ sale: BraintreeSale) -> String {
    fingerprint(Array("\(sale.card.dpan.revealed) \(sale.amount) \(sale.order ?? "")".utf8))
  }
}

extension BraintreeLedger {
  /// Submits an authorization, or less of it, for settlement. The rest is released.
  func settle(_ id: String, _ text: String?, of account: BraintreeAccount, by source: String) async throws
    -> BraintreeTransaction
  {
    try await change(id, of: account) { transaction, store in
      guard transaction.status == "authorized" else { throw BraintreeProblem.invalid(.cannotSettle) }
      let wanted = try Self.amount(text, of: transaction) ?? transaction.amount
      guard wanted <= transaction.amount else { throw BraintreeProblem.invalid(.settlementTooLarge) }
      transaction.amount = wanted
      transaction.become("submitted_for_settlement", at: store.now, source: source)
    }
  }

  /// Settles a part of an authorization, as a transaction of its own.
  func settlePart(
    _ id: String, _ body: BraintreeElement?, of account: BraintreeAccount, by source: String
  ) async throws -> BraintreeTransaction {
    guard account.settlesInParts else { throw BraintreeProblem.invalid(.partsNotSupported) }
    return try await database.write { store in
      var parent = try require(id, account, store)
      guard ["authorized", "settlement_pending"].contains(parent.status) else {
        throw BraintreeProblem.invalid(.cannotSettleParts)
      }
      guard let wanted = try Self.amount(body?.value("amount"), of: parent) else {
        throw BraintreeProblem.invalid(.amountRequired)
      }
      guard wanted <= parent.held else { throw BraintreeProblem.invalid(.settlementTooLarge) }
      var part = parent.part(newID(), wanted, order: body?.value("order-id"), at: store.now)
      part.become("submitted_for_settlement", at: store.now, source: source)
      parent.settledInParts += wanted
      let isLast = body?.value("final-capture") == "true" || parent.held == 0
      parent.become(isLast ? "settlement_confirmed" : "settlement_pending", at: store.now, source: source)
      try parent.save(of: account.merchantID, in: store)
      try part.save(of: account.merchantID, in: store)
      return part
    }
  }

  func void(_ id: String, of account: BraintreeAccount, by source: String) async throws -> BraintreeTransaction {
    try await change(id, of: account) { transaction, store in
      guard ["authorized", "submitted_for_settlement", "settlement_pending"].contains(transaction.status) else {
        throw BraintreeProblem.invalid(.cannotVoid)
      }
      transaction.become("voided", at: store.now, source: source)
    }
  }

  func refund(
    _ id: String, _ body: BraintreeElement?, of account: BraintreeAccount, by source: String
  ) async throws -> BraintreeTransaction {
    try await database.write { store in
      var sale = try require(id, account, store)
      guard sale.kind == .sale else { throw BraintreeProblem.invalid(.cannotRefundCredit) }
      guard ["settling", "settled"].contains(sale.status) else { throw BraintreeProblem.invalid(.cannotRefund) }
      let left = sale.amount - sale.refundedAmount
      guard left > 0 else { throw BraintreeProblem.invalid(.refunded) }
      let wanted = try Self.amount(body?.value("amount"), of: sale) ?? left
      guard wanted <= left else { throw BraintreeProblem.invalid(.refundTooLarge) }
      var credit = sale.credit(newID(), wanted, order: body?.value("order-id"), at: store.now)
      credit.become("submitted_for_settlement", at: store.now, source: source)
      sale.refundedAmount += wanted
      try sale.save(of: account.merchantID, in: store)
      try credit.save(of: account.merchantID, in: store)
      return credit
    }
  }

  /// Braintree's own calls for tests: `settle`, `settlement_confirm`, `settlement_decline`, `settlement_pending`.
  func simulate(_ verb: String, _ id: String, of account: BraintreeAccount) async throws -> BraintreeTransaction {
    let statuses = [
      "settle": "settled", "settlement_confirm": "settlement_confirmed", "settlement_decline": "settlement_declined",
      "settlement_pending": "settlement_pending",
    ]
    guard let status = statuses[verb] else { throw BraintreeProblem.notFound }
    return try await change(id, of: account) { transaction, store in
      guard transaction.status == "submitted_for_settlement" else {
        throw BraintreeProblem.invalid(.cannotSimulate)
      }
      try end(&transaction, status, of: account.merchantID, in: store)
    }
  }

  func find(_ id: String, of account: BraintreeAccount) async throws -> BraintreeTransaction {
    try await change(id, of: account) { _, _ in }
  }

  /// Ends the settlement, and writes the notification of it.
  func end(
    _ transaction: inout BraintreeTransaction, _ status: String, of merchant: String, in store: Transaction
  ) throws {
    transaction.become(status, at: store.now, source: "recurring")
    if status == "settled" || status == "settlement_declined" {
      try notify("transaction_\(status)", transaction.element, merchant, in: store)
    }
  }

  private func change(
    _ id: String, of account: BraintreeAccount,
    _ work: @escaping @Sendable (inout BraintreeTransaction, Transaction) throws -> Void
  ) async throws -> BraintreeTransaction {
    try await database.write { store in
      var transaction = try require(id, account, store)
      try work(&transaction, store)
      try transaction.save(of: account.merchantID, in: store)
      return transaction
    }
  }

  private func require(
    _ id: String, _ account: BraintreeAccount, _ store: Transaction
  ) throws -> BraintreeTransaction {
    guard var transaction = try BraintreeTransaction.find(id, of: account.merchantID, in: store) else {
      throw BraintreeProblem.notFound
    }
    if transaction.pass(to: store.now) { try transaction.save(of: account.merchantID, in: store) }
    return transaction
  }

  /// Nil when the request names none, which is all.
  private static func amount(_ text: String?, of transaction: BraintreeTransaction) throws -> Int64? {
    guard let text else { return nil }
    var errors: [BraintreeValidationError] = []
    guard let amount = BraintreeMoney.read(text, transaction.currency, &errors) else {
      throw BraintreeProblem(status: 422, errors: errors, message: errors.map(\.message).joined())
    }
    return amount.minorUnits
  }
}

extension BraintreeTransaction {
  /// A hold expires after seven days, and an authorization without an answer is approved at the next inquiry.
  mutating func pass(to now: Timestamp) -> Bool {
    switch status {
    case "authorized" where now >= createdAt.adding(.seconds(86_400 * 7)): become("authorization_expired", at: now)
    case "authorizing": become("authorized", at: now)
    default: return false
    }
    return true
  }

  fileprivate func part(_ id: String, _ amount: Int64, order: String?, at now: Timestamp) -> BraintreeTransaction {
    BraintreeTransaction(
      id: id, kind: .sale, merchantAccount: merchantAccount, order: order ?? self.order, parent: self.id,
      refunded: nil, cardType: cardType, cardSuffix: cardSuffix, expiration: expiration, code: code,
      authorizationCode: authorizationCode, networkTransactionID: networkTransactionID, rejection: nil,
      createdAt: now, currency: currency, amount: amount, status: "authorized")
  }

  /// A person's refund copies the order id.
  fileprivate func credit(_ id: String, _ amount: Int64, order: String?, at now: Timestamp) -> BraintreeTransaction {
    BraintreeTransaction(
      id: id, kind: .credit, merchantAccount: merchantAccount, order: order ?? self.order, parent: nil,
      refunded: self.id, cardType: cardType, cardSuffix: cardSuffix, expiration: expiration, code: "1002",
      authorizationCode: nil, networkTransactionID: nil, rejection: nil, createdAt: now, currency: currency,
      amount: amount, status: "authorized")
  }
}

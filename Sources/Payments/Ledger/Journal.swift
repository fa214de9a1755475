package import Storage
package import TenderPayments

/// The durable journal of payments: what is written before the acquirer is asked, and after it answered.
///
/// Read from top to bottom: claim an order, record the answer, reserve a capture, void or refund, record its answer.
/// Each verb belongs in one commit, which the caller opens: so it can hold rows of the caller's too. Between two
/// commits the acquirer is asked, and a process may die there; what is written then is enough to go on from. How
/// recovery acquires leases is in `Leases.swift`, what a provider sends by itself in `Inbox.swift`.
package struct Journal: Sendable {
  package let database: Database
  let random: RandomBytes
  /// Who takes the events of this server.
  package let consumers: Set<OutboxConsumer>
  /// The holder of the leases that this process acquires.
  let owner: String
  /// Since when the store is a restored one; nil for one that never was.
  package var restore: RestoredStore?

  /// How long an operation belongs to the process that began it. Longer than any deadline of a call to an acquirer.
  package static let lease: Duration = .seconds(60)

  /// - Parameters:
  ///   - database: opened with ``migrations``, and perhaps those of other modules, so that one commit can hold what
  ///     both write.
  ///   - consumers: who takes the events of this server. An event waits for no other. By default it waits for all: the
  ///     next server to start lets it leave the outbox if mail is not set up.
  package init(
    _ database: Database, random: RandomBytes = .system,
    consumers: Set<OutboxConsumer> = Set(OutboxConsumer.allCases)
  ) {
    self.database = database
    self.random = random
    self.consumers = consumers
    self.owner = random.hex(8)
  }

  /// Claims an order for a payment token: payment, operation, use of the payment token and event.
  ///
  /// The attempt is durable after the commit.
  ///
  /// - Throws: ``ClaimRefused``, which rolls the caller's transaction back.
  package func claim(
    _ order: Order, spending use: TokenUse, card: CardSummary, terms: ClaimTerms = ClaimTerms(), in store: Transaction
  ) throws -> Attempt {
    // Inserts first and asks afterwards: between a question and an insert another claim could slip in.
    let id = PaymentID(BasketMark.identifier(timeOrderedID(store), of: order))
    let insertion = PaymentRecord.insertion(of: id, order, card, terms)
    let (used, inserted, head) = try store.first(
      TokenUses.addition(of: use, signed: terms.signed, to: id), insertion, headQuery(of: id))
    let record = PaymentRecord(order, card, terms, id: id, at: store.now)
    guard used != nil else { throw ClaimRefused(claim: try refusal(record.payment, use, store)) }
    var isInserted = inserted != nil
    while !isInserted {
      // It may be declined by now: another process commits between two statements. Then the order is free.
      if let rival = try rival(for: order.id, store) { throw ClaimRefused(claim: rival) }
      isInserted = try store.first(insertion) != nil
    }
    return try begin(record, lockedHead(of: id, found: head, in: store), store)
  }

  /// Records what the acquirer answered: operation, balances, the outcome that is reported to the shopper, and event.
  ///
  /// An answer is dropped if its operation has one already, or if another process has acquired the lease. An approval
  /// after *failure* was reported is not adopted: it is noted, and a reversal is written.
  ///
  /// - Parameters:
  ///   - recipient: to whom the answer is reported now.
  ///   - pause: how long recovery waits before it asks again, if the answer leaves the outcome open.
  package func record(
    _ answer: AcquirerAnswer, for attempt: Attempt, reportedTo recipient: Recipient = .shopper(whenOpen: .pending),
    pause: Duration = .zero, in store: Transaction
  ) throws -> RecordedAnswer {
    let posted = try postAnswer(answer, for: attempt, reportedTo: recipient, pause: pause, in: store)
    // A refund may be one of several of its request.
    if let posted, attempt.kind != .refund {
      return RecordedAnswer(
        outcome: OperationOutcome(operation: posted.operation, payment: posted.payment, parts: []), isDropped: false)
    }
    let payment = try posted?.payment ?? PaymentRecord.lock(attempt.payment, in: store).payment
    return RecordedAnswer(
      outcome: try Self.outcome(of: attempt.request, payment, in: store), isDropped: posted == nil)
  }

  /// Reserves the amount of a capture, void or refund, and writes its attempt. An increment reserves nothing: it is
  /// written alone, while no capture, void or increment is open.
  ///
  /// - Parameters:
  ///   - amount: nil takes all that is left and not in flight.
  ///   - isFinal: whether this capture is the last; the rest of the hold is released with it.
  ///   - capture: the number of the capture of which a refund gives back no more than it has left; nil for any.
  ///   - first: the authorization that began the request, where this captures in the same call.
  package func reserve(
    _ kind: OperationKind, _ amount: Amount? = nil, isFinal: Bool = false, of payment: PaymentID, capture: Int? = nil,
    cause: OperationCause = .merchant, partOf first: AttemptReference? = nil, in store: Transaction
  ) throws -> Attempt {
    guard kind == .refund else {
      let before = try PaymentRecord.lock(payment, in: store)
      return try begin(kind, validAmount(amount, for: kind, before), isFinal, before, cause, partOf: first, store)
    }
    let (before, amount, captures) = try refundable(amount, of: payment, capture, in: store)
    return try begin(kind, amount, isFinal, before, cause, refunding: captures.named(by: amount.minorUnits), store)
  }

  /// Reserves a refund at an acquirer that refunds one capture at a time. Where no capture has so much left, each
  /// gives back what it has, the oldest first, by an operation of its own.
  ///
  /// - Parameters: as of ``reserve(_:_:isFinal:of:capture:cause:partOf:in:)``.
  /// - Returns: the operations. The first one's reference names the whole request.
  package func reserveRefunds(
    _ amount: Amount? = nil, of payment: PaymentID, capture: Int? = nil, cause: OperationCause = .merchant,
    in store: Transaction
  ) throws -> [Attempt] {
    let (_, amount, captures) = try refundable(amount, of: payment, capture, in: store)
    guard let shares = captures.shares(of: amount.minorUnits) else {
      throw JournalError.exceeds(available: Amount(minorUnits: 0, currency: amount.currency))
    }
    return try shares.reduce(into: []) { attempts, share in
      let part = Amount(minorUnits: share.units, currency: amount.currency)
      attempts.append(
        try begin(
          .refund, part, false, PaymentRecord.lock(payment, in: store), cause, refunding: share.capture,
          partOf: attempts.first?.reference, store))
    }
  }

  /// Whether an operation that may have been reserved is there. Locks its payment first, and so waits for the
  /// transaction that has reserved it.
  package func hasBegun(_ attempt: Attempt, in store: Transaction) throws -> Bool {
    _ = try PaymentRecord.lock(attempt.payment, in: store)
    return try Operations.find(attempt.reference, in: store) != nil
  }

  /// Writes the merchant's own name of an operation, in the commit that begins it.
  package func name(_ attempt: Attempt, _ merchantReference: String, in store: Transaction) throws {
    try Operations.save(merchantReference, of: attempt.reference, in: store)
  }

  /// Where the payment is: connector and account.
  package func route(of payment: PaymentID, in store: Transaction) throws -> String {
    guard let record = try PaymentRecord.find(payment, in: store) else { throw JournalError.noSuchPayment(payment) }
    return record.route
  }

  /// Records the outcome that was reported to the shopper; *failure*, once reported, stays.
  ///
  /// - Parameter reported: nil for what the payment's status means to them.
  package func markReported(_ payment: PaymentID, _ reported: ReportedOutcome? = nil, in store: Transaction) throws
    -> Payment
  {
    let before = try PaymentRecord.lock(payment, in: store)
    let reported = reported ?? ReportedOutcome(before.balances.status, whenOpen: .pending)
    let after = before.moved(to: before.balances, reported: reported, at: before.payment.updatedAt)
    guard after.payment != before.payment else { return before.payment }
    try after.save(over: before, in: store)
    try remark(AuditEntry.reported, reported.rawValue, on: payment, in: store)
    return after.payment
  }
}

// Each verb in a transaction of its own, for a caller that writes nothing else in the same commit.
extension Journal {
  package func claim(
    _ order: Order, spending use: TokenUse, card: CardSummary, terms: ClaimTerms = ClaimTerms()
  ) async throws -> Claim {
    do {
      return .new(try await database.write { try claim(order, spending: use, card: card, terms: terms, in: $0) })
    } catch let refused as ClaimRefused {
      return refused.claim
    }
  }

  package func record(
    _ answer: AcquirerAnswer, for attempt: Attempt, reportedTo recipient: Recipient = .shopper(whenOpen: .pending),
    pause: Duration = .zero
  ) async throws -> OperationOutcome {
    try await database.write { try record(answer, for: attempt, reportedTo: recipient, pause: pause, in: $0).outcome }
  }

  package func reserve(
    _ kind: OperationKind, _ amount: Amount? = nil, isFinal: Bool = false, of payment: PaymentID,
    cause: OperationCause = .merchant
  ) async throws -> Attempt {
    try await database.write { try reserve(kind, amount, isFinal: isFinal, of: payment, cause: cause, in: $0) }
  }

  package func markReported(_ payment: PaymentID, _ reported: ReportedOutcome? = nil) async throws -> Payment {
    try await database.write { try markReported(payment, reported, in: $0) }
  }
}

/// What the caller of a capture, void, refund or increment adds to the commit that reserves it.
package typealias ReservationAddition = @Sendable ([Attempt], Transaction) throws -> Void

/// What became of an answer that was to be recorded.
package struct RecordedAnswer: Sendable, Hashable {
  package let outcome: OperationOutcome
  /// Whether the answer was dropped, because the operation has one or another process holds its lease. Then the outcome
  /// is as it is now, and the payment may have moved on since it was final.
  package let isDropped: Bool

  package init(outcome: OperationOutcome, isDropped: Bool) {
    (self.outcome, self.isDropped) = (outcome, isDropped)
  }
}

/// What the acquirer was told of the sale, and must be told again or looked up later.
package struct StoredSale: Sendable, Hashable {
  /// The merchant's account at the provider; follow-ups go to it too.
  package let merchantAccount: String?
  package let statementDescriptor: String?
  package let merchantCategory: String?
  /// As the payment asked, or the route's usual; nil where the provider tells none apart.
  package let authorizationType: AuthorizationType?

  package init(
    merchantAccount: String? = nil, statementDescriptor: String? = nil, merchantCategory: String? = nil,
    authorizationType: AuthorizationType? = nil
  ) {
    self.authorizationType = authorizationType
    self.merchantAccount = merchantAccount
    self.statementDescriptor = statementDescriptor
    self.merchantCategory = merchantCategory
  }
}

extension Journal {
  private func begin(_ record: PaymentRecord, _ head: AuditHead, _ store: Transaction) throws -> Attempt {
    var attempt = newAttempt(.authorize, record.payment.amount, of: record, cause: .shopper, store)
    // So that a provider's listing names a payment that the store has lost.
    attempt.reference = AttemptReference(record.payment.id.rawValue)
    try insert(attempt, in: store)
    try noteBeginning(of: record, attempt, on: head, in: store)
    return attempt
  }

  func noteBeginning(
    of record: PaymentRecord, _ attempt: Attempt, on head: AuditHead, in store: Transaction
  ) throws {
    try note("authorize begins", of: attempt.reference, from: nil, to: record, on: head, in: store)
    try addEvent(record, after: attempt.reference, in: store)
  }

  /// Why a payment token was refused. A payment of the order comes before the payment token: a second payment gets the
  /// answer of the first.
  ///
  /// - Parameter new: the payment that was to be made. It may be written already, and is rolled back.
  private func refusal(_ new: Payment, _ use: TokenUse, _ store: Transaction) throws -> Claim {
    try Self.answer(for: new.order, spending: use, beside: new.id, in: store).map(Claim.inTheWay) ?? .tokenReused
  }

  /// The payment that keeps a claim from its order.
  private func rival(for order: OrderID, _ store: Transaction) throws -> Claim? {
    try Self.livePayment(of: order, in: store).map(Claim.inTheWay)
  }

  /// The amount of an operation that the payment can take.
  private func validAmount(
    _ amount: Amount?, for kind: OperationKind, _ before: PaymentRecord, atMost most: Int64 = .max
  ) throws(JournalError) -> Amount {
    let status = before.balances.status
    guard PaymentState.allows(kind, in: status), before.payment.reportedOutcome != .failure || kind != .capture else {
      throw .notPossible(kind, status)
    }
    return try before.validated(amount, for: kind, atMost: most)
  }

  /// The amount of a refund, and the captures that it may be of.
  private func refundable(
    _ amount: Amount?, of payment: PaymentID, _ capture: Int?, in store: Transaction
  ) throws -> (PaymentRecord, Amount, [RefundableCapture]) {
    let before = try PaymentRecord.lock(payment, in: store)
    let captures = try RefundableCapture.all(of: payment, in: store).filter { capture == nil || $0.number == capture }
    let most = capture == nil ? .max : max(0, captures.first?.left ?? 0)
    return (before, try validAmount(amount, for: .refund, before, atMost: most), captures)
  }

  private func begin(
    _ kind: OperationKind, _ amount: Amount, _ isFinal: Bool, _ before: PaymentRecord, _ cause: OperationCause,
    refunding capture: RefundableCapture? = nil, partOf first: AttemptReference? = nil, _ store: Transaction
  ) throws -> Attempt {
    let (payment, balances) = (before.payment.id, before.balances)
    // With the last capture the acquirer releases all that it does not hold for another; which that is, is not known
    // while another is open.
    guard try !isFinal && kind != .increment || !Operations.hasOpenMove(of: payment, in: store) else {
      throw JournalError.mustWait(kind, isFinal: isFinal)
    }
    // How much is held is not known while an increment is open: nothing else may end the hold then.
    guard try kind == .refund || kind == .increment || !Operations.hasOpenIncrement(of: payment, in: store) else {
      throw JournalError.mustWait(kind, isFinal: isFinal)
    }
    let rest = kind == .capture && isFinal ? balances.free.subtractingClamped(amount.minorUnits) : 0
    let isWhole =
      capture?.isWhole(amount.minorUnits)
      ?? ((kind == .capture || kind == .void) && balances.isWhole(amount.minorUnits))
    var attempt = newAttempt(
      kind, amount, of: before, isFinal: isFinal, isWhole: isWhole, releases: rest, cause: cause,
      after: try Operations.authorization(of: payment, in: store), undoing: capture?.reference, store)
    attempt.capture = try capture.flatMap { try Operations.acquirerReference(of: $0.reference, in: store) }
    attempt.partOf = first
    if kind == .capture { attempt.captureNumber = try Operations.captures(of: payment, in: store) + 1 }
    var after = before.moved(to: try Posting.reserve(attempt.movement, on: balances), at: store.now)
    if kind == .capture { after.captureDue = nil }
    // What this void or a capture in flight frees is released soon, but not in every round.
    if cause == .expiry { after.holdUntil = store.now.adding(Self.lease * 10) }
    let head = try lockedHead(of: payment, in: store)
    try after.save(over: before, in: store)
    try insert(attempt, in: store)
    try note("\(PaymentEvent.begins(kind))", of: attempt.reference, from: before, to: after, on: head, in: store)
    return attempt
  }

  func newAttempt(
    _ kind: OperationKind, _ amount: Amount, of payment: PaymentRecord, isFinal: Bool = false, isWhole: Bool = false,
    releases: Int64 = 0,
    cause: OperationCause, after authorization: String? = nil, undoing target: AttemptReference? = nil,
    past: Attempt.Past? = nil, _ store: Transaction
  ) -> Attempt {
    Attempt(
      reference: AttemptReference(timeOrderedID(store)), payment: payment.payment.id, route: payment.route,
      merchantAccount: payment.sale.merchantAccount, authorizationType: payment.sale.authorizationType, kind: kind,
      amount: amount, isFinal: isFinal, isWhole: isWhole,
      authorization: authorization, target: target,
      undoneAmount: kind == .reverse ? payment.payment.amount : amount, cause: cause, past: past, releases: releases,
      fence: 1)
  }

  func insert(_ attempt: Attempt, in store: Transaction) throws {
    let end = store.now.adding(Self.lease)
    try Operations.insert(attempt, owner: owner, lease: end, firstTry: end, in: store)
  }

  func timeOrderedID(_ store: Transaction) -> String {
    let now = store.approximateNow
    return random.timeOrderedID(WallClock { now })
  }
}

extension Claim {
  /// The order has this payment.
  fileprivate static func inTheWay(_ payment: Payment) -> Claim {
    payment.status.isResolved ? .known(payment) : .running(payment)
  }
}

extension Balances {
  /// Whether the amount is all that was authorized, and nothing of it has moved.
  fileprivate func isWhole(_ units: Int64) -> Bool {
    units == authorized && captured == 0 && reservedCapture == 0 && reservedVoid == 0
  }
}

extension Attempt {
  var movement: Movement { Movement(kind, amount.minorUnits, releases: releases) }
}

extension Journal {
  /// Writes down what an acquirer calls the instrument of an authorization, before the second of two steps.
  ///
  /// - Returns: false when another process has acquired the operation's lease; then nothing may be sent.
  package func markPrepared(_ attempt: Attempt, as name: String) async throws -> Bool {
    try await database.write { store in
      try store.changes(
        "UPDATE operations SET prepared_reference = $3 WHERE reference = $1 AND fence = $2 AND state = 'sending'",
        .text(attempt.reference.rawValue), .integer(attempt.fence), .text(name)) == 1
    }
  }
}

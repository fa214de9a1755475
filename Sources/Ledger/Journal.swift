public import Storage
public import TenderPayments

/// The durable journal of payments: what is written before the acquirer hears of anything, and after it answered.
///
/// Read from top to bottom: claim an order, record the answer, reserve a capture, record its answer. Each verb is one
/// commit. Between them stands the wire, and a process may die there; what is written then is enough to go on from.
public struct Journal: Sendable {
  public let database: Database
  private let random: RandomBytes
  /// Who holds the operations that this process has begun.
  private let owner: String

  /// How long an operation belongs to the process that began it. Longer than any deadline of a call to an acquirer.
  public static let lease: Duration = .seconds(60)

  /// - Parameter database: opened with ``migrations``, and perhaps those of other rooms, so that one commit can hold
  ///   what both write.
  public init(_ database: Database, random: RandomBytes = .system) {
    self.database = database
    self.random = random
    self.owner = random.hex(8)
  }

  /// Claims an order for a payment token: payment, operation, use of the payment token and event in one commit.
  ///
  /// The attempt is durable when this returns `.new`. Whatever the claim is refused for, nothing was written.
  ///
  /// - Parameter alongside: written in the same commit, by the owner of the order. It may throw to refuse: the claim
  ///   then never happened, and the error is passed on.
  public func claim(
    _ order: Order, spending use: TokenUse, card: CardSummary,
    alongside: @escaping @Sendable (Transaction) throws -> Void = { _ in }
  ) async throws -> Claim {
    do {
      return try await database.write { store in
        let claim = try open(order, use, card, store)
        try alongside(store)
        return .new(claim)
      }
    } catch let taken as Taken {
      return taken.claim
    }
  }

  /// Records what the acquirer answered: operation, balances, what the shopper is told, and event in one commit.
  ///
  /// An answer for an operation that has one already, or that another process has taken over, is dropped, and the
  /// payment is returned as it stands.
  public func record(_ answer: AcquirerAnswer, for attempt: Attempt) async throws -> Payment {
    try await database.write { store in
      let before = try PaymentRecord.known(attempt.payment, in: store)
      guard try Operations.close(attempt, with: answer, in: store) else { return before.payment }
      let standing = try Posting.post(
        attempt.kind, Outcome(answer), of: attempt.amount.minorUnits, on: before.standing)
      var after = before.moved(to: standing, by: answer, at: store.now)
      if attempt.kind == .authorize { after.told = Telling(standing.status) }
      try after.save(over: before, in: store)
      if standing != before.standing { try Outbox.add(after, after: attempt, in: store) }
      return after.payment
    }
  }

  /// Sets aside what a capture will take, and writes its attempt, in one commit.
  ///
  /// - Parameter amount: nil takes all that is held and not yet taken or in flight.
  public func reserveCapture(_ amount: Amount?, of payment: PaymentID) async throws -> Attempt {
    try await database.write { store in
      let before = try PaymentRecord.known(payment, in: store)
      let standing = before.standing
      guard PaymentState.allows(.capture, in: standing.status) else {
        throw JournalError.notPossible(.capture, standing.status)
      }
      let amount = try before.judged(amount, available: standing.capturable)
      let reserved = try Posting.reserve(.capture, amount.minorUnits, on: standing)
      try before.moved(to: reserved, at: store.now).save(over: before, in: store)
      let authorization = try Operations.authorization(of: payment, in: store)
      return try begin(.capture, amount, of: payment, after: authorization, in: store)
    }
  }

  /// Takes over the oldest operation of a payment whose answer is missing, for an inquiry.
  ///
  /// Nil when there is none, or while the process that began it may still be waiting for its answer.
  public func takeOver(_ payment: PaymentID) async throws -> Attempt? {
    try await database.write { store in
      try Operations.takeOver(payment, owner: owner, until: store.now.adding(Self.lease), in: store)
    }
  }

  /// Lets go of an operation that an inquiry could not settle, so that the next may try at once.
  public func release(_ attempt: Attempt) async throws {
    try await database.write { try Operations.release(attempt, in: $0) }
  }
}

/// Leaves a claim's transaction, and so rolls it back, with the reason.
private struct Taken: Error {
  let claim: Claim
}

extension Journal {
  /// Inserts first and asks afterwards: between a question and an insert another claim could slip in.
  private func open(
    _ order: Order, _ use: TokenUse, _ card: CardSummary, _ store: Transaction
  ) throws -> Attempt {
    let record = PaymentRecord(order, card, id: PaymentID(timeOrderedID(store)), at: store.now)
    guard try TokenUses.add(use, of: record.payment.id, in: store), try record.insert(in: store) else {
      throw Taken(claim: try explain(order.id, use, record.payment.id, store))
    }
    let attempt = try begin(.authorize, order.amount, of: record.payment.id, after: nil, in: store)
    try Outbox.add(record, after: attempt, in: store)
    return attempt
  }

  /// Why the insert was refused. A payment of the order comes before the payment token: who pays twice gets the
  /// answer of the first time.
  private func explain(
    _ order: OrderID, _ use: TokenUse, _ own: PaymentID, _ store: Transaction
  ) throws -> Claim {
    let known = try Self.answer(for: order, spending: use, in: store)
    guard let known, known.id != own else { return .tokenReused }
    return known.status.isSettled ? .known(known) : .running(known)
  }

  private func begin(
    _ kind: OperationKind, _ amount: Amount, of payment: PaymentID, after authorization: String?,
    in store: Transaction
  ) throws -> Attempt {
    let attempt = Attempt(
      reference: AttemptReference(timeOrderedID(store)), payment: payment, kind: kind, amount: amount,
      authorization: authorization, fence: 1)
    try Operations.insert(attempt, owner: owner, until: store.now.adding(Self.lease), in: store)
    return attempt
  }

  private func timeOrderedID(_ store: Transaction) -> String {
    let now = store.now
    return random.timeOrderedID(WallClock { now })
  }
}

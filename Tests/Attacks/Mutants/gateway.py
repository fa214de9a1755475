"""Mutants of the gateway's source: a name, a file of `Sources`, a text of it, its replacement, and the tests that must detect
it. Mutants between the engine and its store or network are in `Tests/Attacks/Simulation/Mutant.swift`.

Those from `SHARED` on are of what two processes on one PostgreSQL do at the same moment."""

MUTANTS = [
    ("a write is answered before its commit", "Base/Storage/SQLite/GroupCommit.swift",
     """      try writer.commit(performed, on: connection)
      status.withLock { $0.count += 1 }
      return FinishedBatch(jobs: jobs, outcome: .success(performed))
""",
     """      for job in performed { job.answer() }
      let late = ContinuousClock.now + .milliseconds(20)
      while ContinuousClock.now < late {}
      try writer.commit(performed, on: connection)
      status.withLock { $0.count += 1 }
      return FinishedBatch(jobs: [], outcome: .success([]))
""",
     ["GatewayTests/the attempt is durable before the acquirer is asked"]),
    ("the store does not flush", [
        ("Base/Storage/SQLite/SQLiteEngine.swift", "PRAGMA synchronous = FULL", "PRAGMA synchronous = OFF"),
        ("Base/Storage/SQLite/SQLiteEngine.swift", "guard synchronous == 2,", "guard synchronous == 0,"),
    ], ["StorageTests/is flushed at every commit"]),
    ("nothing guards a balance, neither the code nor the schema", [
        ("Payments/Ledger/PaymentRecord.swift", "guard available.isPositive, amount.minorUnits <= available.minorUnits else {",
         "guard available.isPositive || true else {"),
        ("Payments/Ledger/LedgerSchema.swift", "(refunded + charged_back + reserved_refund <= captured)", "(refunded >= 0)"),
    ], ["LedgerTests/sixty-four refunds return no more than was captured"]),
    ("the fence is ignored", "Payments/Ledger/Operations.swift",
     "WHERE reference = $# AND fence = $# AND \\(isOpen)\n      RETURNING",
     "WHERE reference = $#1 AND $#2 IS NOT NULL AND \\(isOpen)\n      RETURNING",
     ["LedgerTests/an answer to a former holder is dropped"]),
    ("an idempotency key is claimed in a commit of its own, after the work has begun", [
        ("Payments/Gateway/FollowUp.swift",
         "        if followUp.partOf == nil { try begin(followUp.key, attempts[0], in: store) }\n", ""),
        ("Payments/Gateway/FollowUp.swift",
         "    try await crashes.reach(followUp.points.answered)\n",
         "    try await crashes.reach(followUp.points.answered)\n"
         "    try await database.write { try begin(followUp.key, attempt, in: $0) }\n"),
    ], ["GatewayTests/sixty-four at once are one execution"]),
    ("another request under the same key is taken for the first", "Payments/Ledger/IdempotencyKeys.swift",
     'try row.text("request_hash") == call.requestHash', 'try row.text("request_hash") != ""',
     ["GatewayTests/is distinguished from another request under its key while it is open"]),
    ("a schedule that another process has followed is charged by once more", "Payments/Ledger/AgreementSchedule.swift",
     "guard agreement.schedule == schedule else { throw AgreementError.conflict }", "",
     ["PlatformAPITests/is not charged by a process that decided before another one charged it"]),
    ("a schedule tries again at once after a decline", "Payments/Ledger/AgreementSchedule.swift",
     "[period.due, own, retries.notBefore]", "[period.due, retries.notBefore]",
     ["PlatformAPITests/is tried again after a day, two, four and seven when its card is declined, then suspended with the cause"]),
    ("a payment token is known by one of its fingerprints alone", [
        ("Payments/Ledger/TokenUses.swift", ".text(use.transactionID), .text(use.payloadHash), .text(payment.rawValue)",
         '.text(use.transactionID + use.payloadHash), .text(use.payloadHash), .text(payment.rawValue)'),
        ("Payments/Ledger/TokenUses.swift", "WHERE transaction_id = $# OR payload_hash = $#",
         "WHERE payload_hash = $#2 AND $#1 <> ''"),
    ], ["LedgerTests/either fingerprint alone recognises a payment token"]),
    ("an event is written in the commit after the one that it reports", "Payments/Ledger/Outbox.swift",
     """enum Outbox {
  /// - Parameter floor: the numbers up to this one may have been sent; nil where the store has all that were.
  static func add(
    _ record: PaymentRecord, after operation: AttemptReference, for consumers: Set<OutboxConsumer>,
    above floor: Int64? = nil, agreement: AgreementEvent? = nil, in store: Transaction
  ) throws {
""",
     """import Synchronization
enum Outbox {
  private static let late = Mutex<[@Sendable (Transaction) throws -> Void]>([])
  static func add(
    _ record: PaymentRecord, after operation: AttemptReference, for consumers: Set<OutboxConsumer>,
    above floor: Int64? = nil, agreement: AgreementEvent? = nil, in store: Transaction
  ) throws {
    let waiting = late.withLock { late in
      defer { late = [{ try write(record, after: operation, for: consumers, above: floor, agreement: agreement, in: $0) }] }
      return late
    }
    for event in waiting { try event(store) }
  }

  private static func write(
    _ record: PaymentRecord, after operation: AttemptReference, for consumers: Set<OutboxConsumer>,
    above floor: Int64?, agreement: AgreementEvent?, in store: Transaction
  ) throws {
""",
     ["LedgerTests/every change is in the outbox, numbered without gaps"]),
    ("what is open for half a minute counts as failed", "Payments/Gateway/Recover.swift",
     "  private func leave(_ attempt: Attempt) async throws -> RecoveryOutcome {\n",
     "  private func leave(_ attempt: Attempt) async throws -> RecoveryOutcome {\n"
     "    if let past = attempt.past, past.leasedAt.since(past.sentAt) >= .seconds(30) {\n"
     '      return try await adopt(.notSent("no answer"), attempt)\n'
     "    }\n",
     ["GatewayTests/never fails anything by its age alone, and raises an alarm after a day"]),
    ("an answer is taken for this question whatever it repeats", "Payments/Connectors/Sandbox/SandboxMessages.swift",
     """guard try root.member("reference").string == reference.rawValue,
        try""", """guard try root.member("reference").string != "",
        try""",
     ["AcquiringTests/an answer with one thing wrong is no answer",
      "GatewayTests/leaves both ledgers in step, whatever it was and whatever was asked"]),
    ("what a refused write has written stays when it has the commit for itself", [
        ("Base/Storage/SQLite/GroupCommit.swift", "    if let failure = performed.failure { throw failure }\n", ""),
    ], ["StorageTests/rolls back a failed write with its own commit and accepts the next"]),
    ("a repeat is answered as the payment stands now", "Payments/Ledger/FirstOutcome.swift",
     "    guard now.isFinal else {", "    guard now.isFinal, false else {",
     ["PlatformAPITests/gets the answer of the first call, also after captures, refunds and cancels"]),
    ("a sale is answered for good before its capture is", "Payments/Gateway/RecordAnswer.swift",
     "    return !goesOn && !outcome.isSending\n", "    _ = goesOn\n    return !outcome.isSending\n",
     ["PlatformAPITests/of a sale waits for its capture, gets how it stands, and in the end what it came to"]),
    ("an immediate capture that is refused for the moment is forgotten", "Payments/Ledger/DueMoney.swift",
     "    if isInTime { record.captureDue = next }\n", "    if isInTime { record.captureDue = nil }\n",
     ["GatewayTests/is tried again by recovery after 1, 2, 4 minutes, each time as a new operation"]),
    ("recovery asks the acquirer that is configured, whatever is stored", "Payments/Gateway/Recover.swift",
     "guard let acquirer = routes[attempt.route], deadline", "guard let acquirer = routes[routes.names.first ?? attempt.route], deadline",
     ["GatewayTests/is not reversed at another acquirer after failure was reported"]),
    ("any refusal of a void ends the hold", "Payments/Ledger/Record.swift",
     "case .declined(let decline) = answer, decline.reason == .holdEnded {", "case .declined = answer {",
     ["GatewayTests/a void at a hold's end that is refused for another reason is tried again later, and raises an alarm"]),
    ("a late approval is not posted", "Payments/Ledger/Inbox.swift",
     "return try approveLate(event, answer, attempt, state, record, in: store)",
     "return try contradict(.contradicts(state), record, in: store)",
     ["LedgerTests/that a capture, void or refund was done after all is posted"]),
    ("a repeat that is refused because of our account counts as a decline", "Payments/Gateway/Recover.swift",
     "case .declined(let decline): decline.declineClass == .configuration", "case .declined: false",
     ["GatewayTests/a repeat that is refused because of our account leaves the operation open"]),
    ("an authorization that is approved for less is declined and not reversed", "Payments/Ledger/Record.swift",
     "    if believed.isForLess { try scheduleReversal(of: attempt, after, head, in: store) }\n", "",
     ["GatewayTests/declines the payment, and its hold is reversed"]),
    ("recovery voids the amount that was asked for, not the one that is held", "Payments/Gateway/RecoveryAction.swift",
     "amount: approval.approvedAmount ?? attempt.undoneAmount,", "amount: attempt.undoneAmount,",
     ["GatewayTests/is voided by the amount that is held, where nothing can be reversed"]),
    ("the end of a hold is checked once a day", "Payments/Ledger/Journal.swift",
     "after.holdUntil = store.now.adding(Self.lease * 10)", "after.holdUntil = store.now.adding(.seconds(86_400))",
     ["GatewayTests/what a capture at the end of a hold frees is released soon after"]),
    ("a reservation whose commit is in doubt is made once more", "Payments/Gateway/FollowUp.swift",
     "        if let inDoubt, try journal.hasBegun(inDoubt[0], in: store) { return inDoubt }\n",
     "        _ = inDoubt\n",
     ["GatewayTests/an operation whose reservation is in doubt is looked for, and sent once"]),
    ("what a listing has is adopted again, under another name", [
        ("Payments/Ledger/Adoption.swift",
         "    if let known = try findKnown(listed, in: store) { return AdoptedLine(known) }\n"
         "    guard listed.result != .declined",
         "    if listed.kind == .authorize, let known = try findKnown(listed, in: store) { return AdoptedLine(known) }\n"
         "    guard listed.result != .declined"),
        ("Payments/Ledger/Adoption.swift",
         "    if listed.isOurs(at: store.now) { attempt.reference = listed.reference }\n",
         ""),
    ], ["GatewayTests/adopts from the provider's listing what happened since the backup, each once"]),
    ("what was open at the backup keeps waiting, whatever a report says of it", "Payments/Ledger/Adoption.swift",
     "    if let answered = try answer(listed, through: route, in: store) { return AdoptedLine(answered) }\n", "",
     ["GatewayTests/gives what was open at the backup the outcome that a report has of it"]),
    ("a newer restore forgets the gap of an earlier one", "Payments/Ledger/RestoredStore.swift",
     "AND (state = 'gap_accepted' OR state = 'closed' AND number < $3)", "AND state = 'gap_accepted' AND number = $3",
     ["GatewayTests/leaves what a gap may hide to a person, also after a newer restore"]),
    ("a second restore of one backup has the number of the first", "Payments/Ledger/RestoredStore.swift",
     "max((try find(in: store)?.number ?? 0) + 1, store.now.seconds)", "(try find(in: store)?.number ?? 0) + 1",
     ["GatewayTests/numbers no event as an earlier restore of the same backup did"]),
    ("a period whose charge was lost and came back has no charge", "Payments/Ledger/Agreements.swift",
     "    try takeLostCharge(of: chosen.number, of: agreement, in: store)\n", "",
     ["GatewayTests/refuses the charge of a period that a listing says was charged"]),
    ("a refund that the provider booked after the orders is booked beside them", "Payments/Ledger/OrdersPot.swift",
     "pots.contains { $0.left >= amount || isCounted($0) }", "pots.contains(where: isCounted)",
     ["GatewayTests/may be of a person's operation that is later than the orders, of which newer orders tell"]),
    ("what an event told is booked again from a line without a name", "Payments/Ledger/Adoption.swift",
     "if taken == nil, try Operations.hasAlike(listed, of: payment, beside: batch, in: store) {", "if false {",
     ["GatewayTests/is what an event told, where a report does not say its name"]),
    ("recovery reverses what was open at the backup before its route has a report", "Payments/Gateway/Recover.swift",
     "guard try await openRoutes().contains(attempt.route), let reversal", "guard let reversal",
     ["GatewayTests/reverses nothing that was open at the backup before its route has a report"]),
    ("a payment token of before a restore is taken, if it is newer than the backup", "Payments/Gateway/RestoredRoutes.swift",
     "signedAt < restore.restoredAt", "signedAt < restore.lostFrom",
     ["GatewayTests/adopts from the provider's listing what happened since the backup, each once"]),
    ("the events of a restored payment go on with the number after the backup's last one", "Payments/Ledger/Outbox.swift",
     "$0.mayHaveKnown(record.payment) ? $0.eventFloor : nil", "$0.mayHaveKnown(record.payment) ? $0.eventFloor * 0 : nil",
     ["GatewayTests/adopts from the provider's listing what happened since the backup, each once",
      "GatewayTests/refuses after an accepted gap what may be a repeat, and does what cannot be one"]),
    ("fingerprints of payment tokens go before the mark that refuses their tokens can have been seen",
     "Payments/Ledger/Retention.swift", "store.now.since(progress.since) >= settling", "store.now.since(progress.since) >= .zero",
     ["LedgerTests/go when they are old, and their tokens are refused all the same, wherever a clock stands"]),
    ("a payment token is taken again when its fingerprints are forgotten", "Payments/Ledger/TokenUses.swift",
     "WHERE task = 'tokens' AND until > $#", "WHERE task = 'no' AND until > $#1",
     ["LedgerTests/go when they are old, and their tokens are refused all the same, wherever a clock stands"]),
    ("a commit that stays in doubt counts as not done", "Base/Storage/Database.swift",
     "      } catch is StorageError where isInDoubt {\n        break\n",
     "      } catch is StorageError where isInDoubt {\n        throw StorageError.connection(\"lost\")\n",
     ["GatewayTests/a capture whose reservation stays in doubt is not sent"]),
    ("an event books again what a listing gave back", "Payments/Ledger/ProviderMovement.swift",
     "    if let adopted {\n", "    if let adopted, adopted < 0 {\n",
     ["GatewayTests/books what a person did at the provider once, whether its event or the listing comes first"]),
    ("an event of a lost payment is acknowledged while its route is closed", "Payments/Ledger/Inbox.swift",
     "return isClosed ? .early(", "return isClosed && route.isEmpty ? .early(",
     ["GatewayTests/has events of what is lost come again while their route is closed"]),
]

SHARED = [
    ("a cancellation reads its basket without a lock", "Checkout/Orders/OrderService.swift",
     """    try await database.write { store in
      try BasketRecord.lock(id, in: store)
      let record = try BasketRecord.require(id, of: merchant, in: store)
      guard try !Journal.hasAttempt""",
     """    try await database.write { store in
      let record = try BasketRecord.require(id, of: merchant, in: store)
      guard try !Journal.hasAttempt""",
     ["OrdersTests/let neither a cancellation nor other contents overtake a claim that is under way"]),
    ("a claim locks no basket", "Checkout/Orders/BasketRecord.swift",
     ".text(merchant.rawValue), locking: .waiting)", ".text(merchant.rawValue))",
     ["OrdersTests/let neither a cancellation nor other contents overtake a claim that is under way"]),
    ("new contents replace those of a basket that was read without a lock", "Checkout/Orders/OrderService.swift",
     "guard let known = try BasketRecord.findLocking(basket.id, in: store),",
     "guard let known = try BasketRecord.find(basket.id, in: store),",
     ["OrdersTests/let neither a cancellation nor other contents overtake a claim that is under way"]),
    ("a quote is kept for a basket that was read without a lock", "Checkout/Orders/ShowQuote.swift",
     "guard try BasketRecord.findLocking(record.basket.id, in: store) == record",
     "guard try BasketRecord.find(record.basket.id, in: store) == record",
     ["OrdersTests/keep no quote of contents that are replaced meanwhile"]),
    ("two merchants who insert one basket id are not told apart", "Checkout/Orders/OrderService.swift",
     "known.basket.merchant == basket.merchant,\n      known.basket.isHosted", "known.basket.isHosted",
     ["OrdersTests/give one id to one of two merchants"]),
    ("a basket id that another merchant inserts meanwhile is an error of the store", "Checkout/Orders/BasketRecord.swift",
     "$9, $10, $13) ON CONFLICT (id) DO NOTHING", "$9, $10, $13)",
     ["OrdersTests/give one id to one of two merchants"]),
    ("a claim waits for its basket with an audit chain in its hands", "Checkout/Orders/PlaceOrder.swift",
     """      let basket = try ClaimedBasket(locking: record.basket, of: record.merchant, in: store)
      let attempt: Attempt
      do { attempt = try gateway.claim(confirmed, for: call, in: store) } catch let refused as ClaimRefused {
        guard let inDoubt, refused.isBy(inDoubt.0) else { throw refused }
        return inDoubt
      }
""",
     """      let attempt: Attempt
      do { attempt = try gateway.claim(confirmed, for: call, in: store) } catch let refused as ClaimRefused {
        guard let inDoubt, refused.isBy(inDoubt.0) else { throw refused }
        return inDoubt
      }
      let basket = try ClaimedBasket(locking: record.basket, of: record.merchant, in: store)
""",
     ["OrdersTests/hold no audit chain while a payment waits for its basket"]),
    ("the inbox judges an operation's state before it locks the payment", "Payments/Ledger/Inbox.swift",
     """    let record = try PaymentRecord.lock(payment, in: store)
    guard let (attempt, state) = try Operations.find(event.reference, in: store) else {
      return try checkUnknownReference(through: event.route, in: store)
    }
""",
     """    guard let (attempt, state) = try Operations.find(event.reference, in: store) else {
      return try checkUnknownReference(through: event.route, in: store)
    }
    let record = try PaymentRecord.lock(payment, in: store)
""",
     ["LedgerTests/post what a provider's events all say once"]),
    ("what was adopted is asked for before the payment is locked", "Payments/Ledger/Adoption.swift",
     """    let before = try PaymentRecord.lock(payment, in: store)
    // Only from here on the operations stay as they are read: another node may have adopted it meanwhile.
    if let known = try findKnown(listed, in: store) { return AdoptedLine(known) }
    let match = try Operations.match(listed, of: payment, beside: batch, after: restore.restoredAt, in: store)
""",
     """    let match = try Operations.match(listed, of: payment, beside: batch, after: restore.restoredAt, in: store)
    let before = try PaymentRecord.lock(payment, in: store)
""",
     ["LedgerTests/adopt what a provider lists, and its event says, once"]),
    ("a claim asks once what is in its way", "Payments/Ledger/Journal.swift",
     "      if let rival = try rival(for: order.id, store) { throw ClaimRefused(claim: rival) }\n",
     "      throw ClaimRefused(claim: try rival(for: order.id, store) ?? .tokenReused)\n",
     ["LedgerTests/who claim an order begin its next payment when the one in their way is declined between two statements"]),
    ("the first head of a chain is inserted by all", "Payments/Ledger/AuditChain.swift",
     "VALUES ($1, 0, '') ON CONFLICT DO NOTHING", "VALUES ($1, 0, '')",
     ["LedgerTests/leave an intact audit of 64 payments at once"]),
    ("the head of a chain is read without a lock", "Payments/Ledger/AuditChain.swift",
     ".text(chain(of: payment)), locking: .waiting)", ".text(chain(of: payment)))",
     ["LedgerTests/leave an intact audit where commits take a while after their entries"]),
    ("all payments share one chain", "Payments/Ledger/AuditChain.swift",
     "guard database.isShared else { return \"main\" }", "guard !database.isShared else { return \"main\" }",
     ["LedgerTests/commit payments beside a transaction that stays open after its audit entry"]),
    ("the entries of a payment in two chains are ordered by the chains' names", "Payments/Ledger/AuditVerification.swift",
     "($0.firstVersion, $0.version) < ($1.firstVersion, $1.version)", "$0.chain < $1.chain",
     ["LedgerTests/goes on in another chain, and the audit follows each payment through both"]),
    ("the payment's version is not in the hash", "Payments/Ledger/AuditChain.swift",
     "\"\\(version)\", \"\\(at.microseconds)\",", "\"\\(at.microseconds)\",",
     ["LedgerTests/still finds what was changed, removed and added"]),
    ("two nodes hand the same events over", "Payments/Ledger/OutboxEvents.swift",
     "SQLStatement(findHead, locking: .skipping)", "SQLStatement(findHead)",
     ["LedgerTests/hand each event over once, in order within its payment"]),
    ("two nodes write to a shopper of the same event", "Payments/Ledger/OutboxEvents.swift",
     "let places = try store.unclaimedRows(", "let places = try store.rows(",
     ["LedgerTests/hand each event to mail once, whatever webhooks have taken"]),
    ("an event waits for mail that is not set up", "Payments/Ledger/Outbox.swift",
     ".integer(optional: consumers.contains(.mail) ? 1 : nil)", ".integer(1)",
     ["LedgerTests/an event waits for those alone who are set up to take it"]),
    ("readers go on after the time at which an event happened", [
        ("Payments/Ledger/OutboxEvents.swift", "WHERE outbox.position > $1 ORDER BY outbox.position LIMIT $2",
         "WHERE outbox.position > 0 AND outbox.happened_at * 10 + outbox.seq > $1 "
         "ORDER BY outbox.happened_at * 10 + outbox.seq LIMIT $2"),
        ("Payments/Ledger/OutboxEvents.swift", "Cursor(position: try row.integer(\"position\"))",
         "Cursor(position: try row.integer(\"happened_at\") * 10 + row.integer(\"seq\"))"),
    ], ["LedgerTests/let a reader of events miss none, although commits overtake one another"]),
    ("every node takes what is due", "Payments/Ledger/Leases.swift",
     "return try !store.unclaimedRows(\"\\(condition) AND id", "return try !store.rows(\"\\(condition) AND id",
     ["LedgerTests/begin what is due once"]),
    ("every node acquires the leases of the same operations", "Payments/Ledger/Operations.swift",
     """    let due = try store.unclaimedRows(
      \"\"\"
      SELECT reference FROM operations
      WHERE state IN""",
     """    let due = try store.rows(
      \"\"\"
      SELECT reference FROM operations
      WHERE state IN""",
     ["LedgerTests/acquire the lease of each open operation once"]),
    ("every node forgets the same keys", "Payments/Ledger/IdempotencyKeys.swift",
     "let old = try store.unclaimedRows(", "let old = try store.rows(",
     ["LedgerTests/forget old idempotency keys side by side"]),
    ("the last node that writes a key's last use wins", "Payments/Ledger/ProcessingKeyStore.swift",
     "last_used = CASE WHEN last_used IS NULL OR last_used < $6 THEN $6 ELSE last_used END", "last_used = $6",
     ["LedgerTests/keep the latest use of a processing key"]),
    ("the last node that writes a key's state wins", "Payments/Ledger/ProcessingKeyStore.swift",
     "state = CASE WHEN state_since IS NULL OR state_since <= $5 THEN $4 ELSE state END", "state = $4",
     ["LedgerTests/keep the newest state of a processing key"]),
    ("every node reports a new signer", "Payments/Ledger/ProcessingKeyStore.swift",
     ".text(kind), .text(name), .text(detail), .integer(store.now.microseconds)) == 1",
     ".text(kind), .text(name), .text(detail), .integer(store.now.microseconds)) >= 0",
     ["LedgerTests/report a signer that none has seen once"]),
    ("a node publishes its own guest token key alone", "Checkout/Orders/GuestToken.swift",
     "try await readKeys().map { try PublishedKey($0.key) }", "[try PublishedKey(key.publicKey)]",
     ["OrdersTests/are checked with one key set, whichever node has signed them with whichever key"]),
    ("a node accepts its own guest tokens alone", "Checkout/Orders/GuestToken.swift",
     "guard let published = try? await readKeys() else { return nil }",
     "guard let published = try? await readKeys().prefix(0) else { return nil }",
     ["OrdersTests/are checked with one key set, whichever node has signed them with whichever key"]),
    ("changes of merchants at the same moment raise the revision once", "Checkout/MerchantIdentity/Store/MerchantStore.swift",
     "    try store.run(\"UPDATE merchant_revision SET revision = revision + 1 WHERE name = 'merchants'\")",
     "    let before = try revision()\n"
     "    try store.run(\"UPDATE merchant_revision SET revision = $1 WHERE name = 'merchants'\", .integer(before + 1))",
     ["MerchantIdentityTests/raise the revision once for each of 64 changes at two nodes"]),
    ("leases go by the clock of the node", "Base/Storage/Postgres/PostgresWorker.swift",
     "try clock?.now() ?? session.now()", "(clock ?? .system).now()",
     ["StorageTests/has the database's time, also where that is another one than the machine's"]),
    ("a statement that another node's migration has outdated fails until its connection ends",
     "Base/Storage/Postgres/PostgresError.swift", "error.isOfChangedTable = state == \"0A000\"", "error.isOfChangedTable = false",
     ["StorageTests/lets nodes of both versions serve side by side, and removes nothing while one of the version before is left"]),
    ("a contraction does not look for nodes of the version before", "Base/Storage/Postgres/PostgresMigration.swift",
     "        if contracts { try refuseOthers(of: settings.family, in: store) }\n", "",
     ["StorageTests/lets nodes of both versions serve side by side, and removes nothing while one of the version before is left"]),
    ("what a newer version has added is refused", "Base/Storage/Migration.swift",
     "!known.contains($0.name) && $0.step != .expand", "!known.contains($0.name)",
     ["StorageTests/only adds at first, so that the version before starts and serves again"]),
]

MUTANTS += SHARED

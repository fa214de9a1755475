"""Mutants of the gateway's source: a name, a file of `Sources`, a text of it, its replacement, and the tests that must detect
it. Mutants between the engine and its store or network are in `Tests/Attacks/Simulation/Mutant.swift`."""

MUTANTS = [
    ("a write is answered before its commit", "Base/Storage/GroupCommit.swift",
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
        ("Base/Storage/SQLiteEngine.swift", "PRAGMA synchronous = FULL", "PRAGMA synchronous = OFF"),
        ("Base/Storage/SQLiteEngine.swift", "guard synchronous == 2,", "guard synchronous == 0,"),
    ], ["StorageTests/is flushed at every commit"]),
    ("nothing guards a balance, neither the code nor the schema", [
        ("Payments/Ledger/PaymentRecord.swift", "guard available.isPositive, amount.minorUnits <= available.minorUnits else {",
         "guard available.isPositive || true else {"),
        ("Payments/Ledger/LedgerSchema.swift", "(refunded + reserved_refund <= captured)", "(refunded >= 0)"),
    ], ["LedgerTests/sixty-four refunds return no more than was captured"]),
    ("the fence is ignored", "Payments/Ledger/Operations.swift",
     "WHERE reference = $# AND fence = $# AND \\(isOpen)\n      \"\"\",\n      .text(attempt.reference.rawValue), .integer(attempt.fence), .text(note",
     "WHERE reference = $#1 AND $#2 IS NOT NULL AND \\(isOpen)\n      \"\"\",\n      .text(attempt.reference.rawValue), .integer(attempt.fence), .text(note",
     ["LedgerTests/an answer to a former holder is dropped"]),
    ("an idempotency key is claimed in a commit of its own, after the work has begun", [
        ("Payments/Gateway/KeyedOperation.swift",
         "    try IdempotencyKeys.begin(call, attempt.reference, of: attempt.payment, notBefore: time, in: store)\n",
         "    _ = (time, store)\n"),
        ("Payments/Gateway/KeyedOperation.swift",
         "  func keep(_ outcome: OperationOutcome, in store: Transaction) throws {\n",
         "  func keep(_ outcome: OperationOutcome, in store: Transaction) throws {\n"
         "    try IdempotencyKeys.begin(call, outcome.operation.reference, of: outcome.payment.id, in: store)\n"),
    ], ["GatewayTests/sixty-four at once are one execution"]),
    ("another request under the same key is taken for the first", "Payments/Ledger/IdempotencyKeys.swift",
     'try row.text("request_hash") == call.requestHash', 'try row.text("request_hash") != ""',
     ["GatewayTests/is distinguished from another request under its key while it is open"]),
    ("a payment token is known by one of its fingerprints alone", [
        ("Payments/Ledger/TokenUses.swift", ".text(use.transactionID), .text(use.payloadHash), .text(payment.rawValue)",
         '.text(use.transactionID + use.payloadHash), .text(use.payloadHash), .text(payment.rawValue)'),
        ("Payments/Ledger/TokenUses.swift", "WHERE transaction_id = $# OR payload_hash = $#",
         "WHERE payload_hash = $#2 AND $#1 <> ''"),
    ], ["LedgerTests/either fingerprint alone recognises a payment token"]),
    ("an event is written in the commit after the one that it reports", "Payments/Ledger/Outbox.swift",
     """enum Outbox {
  static func add(_ record: PaymentRecord, after operation: AttemptReference, in store: Transaction) throws {
""",
     """import Synchronization
enum Outbox {
  private static let late = Mutex<[@Sendable (Transaction) throws -> Void]>([])
  static func add(_ record: PaymentRecord, after operation: AttemptReference, in store: Transaction) throws {
    let waiting = late.withLock { late in
      defer { late = [{ try write(record, after: operation, in: $0) }] }
      return late
    }
    for event in waiting { try event(store) }
  }

  private static func write(_ record: PaymentRecord, after operation: AttemptReference, in store: Transaction) throws {
""",
     ["LedgerTests/every change is in the outbox, numbered without gaps"]),
    ("what is open for half a minute counts as failed", "Payments/Gateway/Recover.swift",
     "  private func leave(_ attempt: Attempt) async throws -> RecoveryOutcome {\n",
     "  private func leave(_ attempt: Attempt) async throws -> RecoveryOutcome {\n"
     "    if let past = attempt.past, past.leasedAt.since(past.sentAt) >= .seconds(30) {\n"
     '      return try await adopt(.notSent("no answer"), attempt)\n'
     "    }\n",
     ["GatewayTests/never fails anything by its age alone, and raises an alarm after a day"]),
    ("an answer is taken for this question whatever it repeats", "Payments/Acquiring/Connectors/Sandbox/SandboxMessages.swift",
     """guard try root.member("reference").string == reference.rawValue,
        try""", """guard try root.member("reference").string != "",
        try""",
     ["AcquiringTests/an answer with one thing wrong is no answer",
      "GatewayTests/leaves both ledgers in step, whatever it was and whatever was asked"]),
    ("what a refused write has written stays when it has the commit for itself", [
        ("Base/Storage/GroupCommit.swift", "    if let failure = performed.failure { throw failure }\n", ""),
    ], ["StorageTests/rolls back a failed write with its own commit and accepts the next"]),
    ("the last answer of a key is kept, not the first", "Payments/Ledger/IdempotencyKeys.swift",
     """response = $#, lease_until = 0
      WHERE merchant = $# AND call = $# AND key = $# AND state = 'running'
      """,
     """response = $#1, lease_until = 0
      WHERE merchant = $#2 AND call = $#3 AND key = $#4
      """,
     ["LedgerTests/the answer is kept with the payment's own, and another request is distinguished"]),
    ("an immediate capture that is refused for the moment is forgotten", "Payments/Ledger/DueMoney.swift",
     "    if isInTime { record.captureDue = next }\n", "    if isInTime { record.captureDue = nil }\n",
     ["GatewayTests/is tried again by recovery after 1, 2, 4 minutes, each time as a new operation"]),
    ("recovery asks the acquirer that is configured, whatever is stored", "Payments/Gateway/Recover.swift",
     "guard attempt.route == route, deadline.remaining > .zero else", "guard deadline.remaining > .zero else",
     ["GatewayTests/is not reversed at another acquirer after failure was reported"]),
    ("any refusal of a void ends the hold", "Payments/Ledger/Record.swift",
     "case .declined(let decline) = answer, decline.reason == .holdEnded {", "case .declined = answer {",
     ["GatewayTests/a void at a hold's end that is refused for another reason is tried again later, and raises an alarm"]),
    ("a late approval is not posted", "Payments/Ledger/Inbox.swift",
     "return try approveLate(event, attempt, state, record, in: store)",
     "return try contradict(.contradicts(state), record, in: store)",
     ["LedgerTests/that a capture, void or refund was done after all is posted"]),
    ("a repeat that is refused because of our account counts as a decline", "Payments/Gateway/Recover.swift",
     "case .declined(let decline): decline.declineClass == .configuration", "case .declined: false",
     ["GatewayTests/a repeat that is refused because of our account leaves the operation open"]),
    ("an authorization that is approved for less is declined and not reversed", "Payments/Ledger/Record.swift",
     "    if believed.isForLess { try scheduleReversal(of: attempt, after, in: store) }\n", "",
     ["GatewayTests/declines the payment, and its hold is reversed"]),
    ("recovery voids the amount that was asked for, not the one that is held", "Payments/Gateway/RecoveryAction.swift",
     "amount: approval.approvedAmount ?? attempt.undoneAmount))", "amount: attempt.undoneAmount))",
     ["GatewayTests/is voided by the amount that is held, where nothing can be reversed"]),
    ("the end of a hold is checked once a day", "Payments/Ledger/Journal.swift",
     "after.holdUntil = store.now.adding(Self.lease * 10)", "after.holdUntil = store.now.adding(.seconds(86_400))",
     ["GatewayTests/what a capture at the end of a hold frees is released soon after"]),
]

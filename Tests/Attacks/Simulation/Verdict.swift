import Auditing
import Foundation
import Ledger
import Storage
import TenderPayments
import Webhooks

// The verdict.
extension SimulatedWorld {
  func audited() throws -> Simulation.Outcome {
    let database = try database()
    let purchases = supplies.purchases
    let (secrets, seen, isFourth) = (supplies.secrets, evidence, settings.seed.isMultiple(of: 4))
    // Processes that share a store commit in another order than that of their times.
    let isInOrder = !clockWasSet && nodes == nil
    let journal = Journal(database)
    let findings = Findings()
    Task.detached {
      findings.audit = try? await journal.verifyAudit()
      findings.journal = try? await database.read { store in
        var evidence = seen
        try evidence.readJournal(store)
        try evidence.readPlacedOrders(store, of: purchases)
        if isInOrder { try evidence.readLateCharges(store) }
        // It takes as long as a tenth of the history did, and what leaks, leaks in every one.
        if isFourth { evidence.leaks = try store.leaks(of: secrets) }
        return (evidence, try store.events(), try store.operations())
      }
    }
    thread.run(until: thread.uptime)
    guard let audit = findings.audit, let (read, events, operations) = findings.journal else {
      throw StorageError.outcomeUnknown
    }
    var evidence = read
    evidence.chain = audit.violations
    evidence.holds = acquirers.flatMap(\.bank.evidence)
    evidence.questions = Set(
      acquirers.flatMap { acquirer in
        acquirer.wire.questions.map { AcquirerQuestion(connector: acquirer.route, reference: $0) }
      })
    let parts = evidence.operations.count { $0.partOf != nil && $0.kind == "refund" }
    if parts > 0 { coverage.profiles[Coverage.refundOfSeveral, default: 0] += parts }
    let scheduled = evidence.holds.count { $0.order.namesCharge && !$0.order.contains(" ") && $0.wasApproved }
    if scheduled > 0 { coverage.profiles[Coverage.scheduledPayment, default: 0] += scheduled }
    evidence.earlyVoids = acquirers.reduce(into: []) { $0.formUnion($1.wire.earlyVoids) }
    // By the terms no period begins after the sixth minute, unless the clock by which they begin was set.
    for index in evidence.charges.indices where evidence.charges[index].period > Supplies.Purchase.lastPeriod {
      if !clockWasSet { evidence.charges[index].isAfterEnd = true }
    }
    evidence.deliveries = sink.deliveries
    evidence.deadLetters = sink.deadLetters
    for (event, count) in events {
      if event.contains(", route changed") {
        coverage.profiles["rerouted", default: 0] += count
      } else {
        // Without the words of a person, or of the ledger.
        coverage.events[String(event.prefix { $0 != ":" }), default: 0] += count
      }
    }
    return Simulation.Outcome(
      violations: Auditor(evidence).violations, trace: thread.trace.hash, steps: thread.trace.steps,
      coverage: coverage, lines: settings.keepsTrace ? thread.trace.lines + operations : [],
      payments: evidence.payments.count)
  }
}

extension SimulatedWorld {
  /// Before holds expire: afterwards nothing shows that one was held for nothing.
  func noteLostHolds() {
    guard let database = try? database() else { return }
    var seen = evidence
    seen.holds = acquirers.flatMap(\.bank.evidence)
    let (before, findings) = (seen, Findings())
    Task.detached {
      findings.lost =
        (try? await database.read { store in
          var evidence = before
          try evidence.readJournal(store)
          return Auditor(evidence).heldForNothing
        }) ?? []
    }
    thread.run(until: thread.uptime)
    evidence.heldForNothing.formUnion(findings.lost)
  }
}

// What an operator does when the faults have stopped.
extension SimulatedWorld {
  /// Sends again what was given up. Read from the store: a process may have died before it reported a dead letter.
  func replayDeadLetters() {
    guard hazards.includes(.deadLetter) || hazards.includes(.urlChanged) else { return }
    guard let database = try? database() else { return }
    Task.detached {
      let dead = (try? await WebhookDispatcher.deliveries(.dead, limit: .max, in: database)) ?? []
      for delivery in dead { self.sink.note(dead: delivery) }
      let count = (try? await WebhookDispatcher.replay(in: database)) ?? 0
      if count > 0 { self.met(.deadLetter) }
    }
    thread.run(until: thread.uptime)
  }
}

/// What was read of the store when all was over.
private final class Findings: @unchecked Sendable {
  var audit: AuditReport?
  var lost: Set<String> = []
  var journal: (evidence: Evidence, events: [String: Int], operations: [String])?
}

extension Transaction {
  /// Where secrets stand: every text of every table is looked at.
  fileprivate func leaks(of secrets: [String]) throws -> [String] {
    let tables = try rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'migrations'")
    return try tables.map { try $0.text("name") }.filter { table in
      let text = Data(try rows("SELECT * FROM \(table)").map { "\($0)" }.joined().utf8)
      return secrets.contains { text.range(of: Data($0.utf8)) != nil }
    }
  }

  /// Every operation in a line, for a trace.
  fileprivate func operations() throws -> [String] {
    try rows("SELECT * FROM operations ORDER BY payment, sent_at, reference").map { row in
      try [
        "payment", "kind", "amount", "released_amount", "cause", "state", "code", "reference",
      ].map { ["amount", "released_amount"].contains($0) ? "\(try row.integer($0))" : try row.textOrNil($0) ?? "-" }
        .joined(separator: " ")
    }
  }

  fileprivate func events() throws -> [String: Int] {
    try rows("SELECT status_before, event, count(*) AS n FROM audit WHERE status_before <> '' GROUP BY 1, 2").reduce(
      into: [:]
    ) {
      $0["\(try $1.text("status_before")), \(try $1.text("event"))"] = Int(try $1.integer("n"))
    }
  }
}

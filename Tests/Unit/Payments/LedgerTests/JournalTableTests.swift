import Foundation
import Ledger
import TenderPayments
import TenderTesting
import Testing

/// Payments as tables: verb, order, amount, what the acquirer answers; then the status and the balances that follow
/// (authorized, captured, refunded), or why it was refused.
@Suite struct `The journal posts these operations` {
  @Test func `a hold that is taken in parts`() async throws {
    try await check(
      """
      pay      A  15.00  approved  authorized          15.00   0.00  0.00
      capture  A  10.00  approved  partially_captured  15.00  10.00  0.00
      capture  A  10.00  approved  exceeds
      capture  A   5.00  approved  captured            15.00  15.00  0.00
      capture  A      -  approved  not_possible
      pay      A  15.00  approved  known
      """)
  }

  @Test func `a capture that is refused leaves the hold as it was`() async throws {
    try await check(
      """
      pay      A  15.00  approved  authorized  15.00   0.00  0.00
      capture  A      -  declined  authorized  15.00   0.00  0.00
      capture  A      -  notSent   authorized  15.00   0.00  0.00
      capture  A  15.00  approved  captured    15.00  15.00  0.00
      """)
  }

  @Test func `a capture with an unknown outcome keeps its reservation`() async throws {
    try await check(
      """
      pay      A  15.00  approved  authorized          15.00   0.00  0.00
      capture  A  10.00  unknown   authorized          15.00   0.00  0.00
      capture  A  10.00  approved  in_flight
      capture  A   5.00  approved  partially_captured  15.00   5.00  0.00
      resolve  A      -  approved  captured            15.00  15.00  0.00
      """)
  }

  @Test func `declined, failed and unknown`() async throws {
    try await check(
      """
      pay      A  15.00  declined  declined     0.00   0.00  0.00
      capture  A      -  approved  not_possible
      pay      A  15.00  notSent   failed       0.00   0.00  0.00
      pay      A  15.00  unknown   unknown      0.00   0.00  0.00
      pay      A  15.00  approved  running
      capture  A      -  approved  not_possible
      resolve  A      -  pending   pending      0.00   0.00  0.00
      resolve  A      -  approved  authorized  15.00   0.00  0.00
      """)
  }

  @Test func `amounts that are none`() async throws {
    try await check(
      """
      pay      A  15.00  approved  authorized  15.00   0.00  0.00
      capture  A   0.00  approved  invalid_amount
      capture  A  -1.00  approved  invalid_amount
      """)
  }

  @Test func `what a provider reports without a request of ours`() async throws {
    try await check(
      """
      pay                       A  15.00  approved  authorized          15.00   0.00  0.00
      their.chargeback          A   1.00  event     early
      their.capture             A  10.00  event     partially_captured  15.00  10.00  0.00
      their.capture             A  10.00  event     contradicted
      their.hold_expired        A  15.00  event     captured            10.00  10.00  0.00
      their.hold_expired        A  15.00  event     known
      their.refund              A   4.00  event     partially_refunded  10.00  10.00  4.00
      refund                    A   7.00  approved  exceeds
      their.refund_returned     A   7.00  event     contradicted
      their.refund_returned     A   4.00  event     captured            10.00  10.00  0.00
      their.chargeback          A   6.00  event     captured            10.00  10.00  0.00  back 6.00
      refund                    A   5.00  approved  exceeds
      their.refund              A   5.00  event     contradicted
      refund                    A   4.00  approved  partially_refunded  10.00  10.00  4.00  back 6.00
      their.chargeback_reversed A   7.00  event     contradicted
      their.chargeback_reversed A   2.00  event     partially_refunded  10.00  10.00  4.00  back 4.00
      their.void                A   1.00  event     known
      """)
  }

  @Test func `what a provider reports before the movement that it follows waits for that one`() async throws {
    try await check(
      """
      pay                       A  15.00  approved  authorized          15.00   0.00  0.00
      their.chargeback          A   6.00  event     early
      their.chargeback          A  16.00  event     contradicted
      their.refund_returned     A   4.00  event     early
      their.refund              A   4.00  event     early
      their.chargeback_reversed A   6.00  event     early
      their.capture             A  10.00  event     partially_captured  15.00  10.00  0.00
      their.refund_returned     A   4.00  event     early
      their.refund              A   4.00  event     partially_refunded  15.00  10.00  4.00
      their.refund_returned     A   4.00  event     partially_captured  15.00  10.00  0.00
      their.chargeback_reversed A   6.00  event     early
      their.chargeback          A   6.00  event     partially_captured  15.00  10.00  0.00  back 6.00
      their.chargeback_reversed A   6.00  event     partially_captured  15.00  10.00  0.00
      """)
    try await check(
      """
      pay               A  15.00  approved  authorized  15.00   0.00  0.00
      capture           A  15.00  unknown   authorized  15.00   0.00  0.00
      their.chargeback  A   6.00  event     early
      resolve           A      -  approved  captured    15.00  15.00  0.00
      their.chargeback  A   6.00  event     captured    15.00  15.00  0.00  back 6.00
      """)
    try await check(
      """
      pay               A  15.00  approved  authorized  15.00   0.00  0.00
      void              A  15.00  approved  voided       0.00   0.00  0.00
      their.chargeback  A   6.00  event     contradicted
      """)
  }

  @Test func `what a provider reports waits for an operation in flight that may take the same money`() async throws {
    try await check(
      """
      pay                 A  15.00  approved  authorized          15.00   0.00  0.00
      capture             A  10.00  unknown   authorized          15.00   0.00  0.00
      their.capture       A  10.00  event     early
      their.hold_expired  A  15.00  event     authorized          10.00   0.00  0.00
      resolve             A      -  approved  captured            10.00  10.00  0.00
      """)
    try await check(
      """
      pay           A  15.00  approved  authorized          15.00   0.00  0.00
      capture       A  15.00  approved  captured            15.00  15.00  0.00
      refund        A  10.00  unknown   captured            15.00  15.00  0.00
      their.refund  A  10.00  event     early
      resolve       A      -  declined  captured            15.00  15.00  0.00
      their.refund  A  10.00  event     partially_refunded  15.00  15.00 10.00
      """)
    try await check(
      """
      pay           A  15.00  unknown   unknown              0.00   0.00  0.00
      their.void    A  15.00  event     early
      resolve       A      -  declined  declined             0.00   0.00  0.00
      their.void    A  15.00  event     known
      their.capture A  15.00  event     contradicted
      """)
  }

  @Test func `a table that is wrong is found out`() async throws {
    await withKnownIssue { try await check("pay  A  15.00  approved  authorized  15.00  15.00  0.00") }
  }

  private func check(_ table: String) async throws {
    let files = try TemporaryStore()
    var script = Script(journal: Journal(try await files.open(Journal.migrations)))
    for line in table.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      let result = try await script.run(words[0], order: words[1], amount: words[2], answer: words[3])
      #expect(result == words[4...].joined(separator: " "), "\(line)")
    }
  }
}

private struct Script {
  let journal: Journal
  var tokens = 0

  init(journal: Journal) { self.journal = journal }

  mutating func run(_ verb: String, order: String, amount: String, answer: String) async throws -> String {
    let amount = try amount == "-" ? nil : Amount(decimal: amount, currency: .euro)
    if verb.hasPrefix("their.") {
      return try await report(MoneyMovement(rawValue: String(verb.dropFirst(6))), order, amount)
    }
    do {
      guard let attempt = try await attempt(verb, order, amount) else { return refusal }
      return describe(try await journal.record(Self.answer(answer, attempt), for: attempt).payment)
    } catch JournalError.exceeds { return "exceeds" } catch JournalError.inFlight {
      return "in_flight"
    } catch JournalError.notPossible {
      return "not_possible"
    } catch JournalError.invalidAmount { return "invalid_amount" }
  }

  private var refusal = ""
  private var events = 0

  private mutating func report(_ movement: MoneyMovement?, _ order: String, _ amount: Amount?) async throws -> String {
    events += 1
    let payment = try #require(try await journal.payment(of: OrderID(order))).id
    let authorization = try #require(try await journal.operations(of: payment).first).reference
    let verdict = try await journal.receive(
      ProviderEvent(
        route: "sandbox", id: "event-\(events)", reference: authorization, amount: try #require(amount),
        outcome: .moved(try #require(movement), name: "name-\(events)")))
    guard case .applied(let payment) = verdict else { return verdict.name }
    return describe(payment)
  }

  private mutating func attempt(_ verb: String, _ order: String, _ amount: Amount?) async throws -> Attempt? {
    guard verb == "pay" else { return try await followUp(verb, order, amount) }
    tokens += 1
    let order = Order.sample(order, try #require(amount))
    switch try await journal.claim(order, spending: .sample(tokens), card: .sample) {
    case .new(let attempt): return attempt
    case .known: refusal = "known"
    case .running: refusal = "running"
    case .tokenReused: refusal = "token_reused"
    }
    return nil
  }

  private func followUp(_ verb: String, _ order: String, _ amount: Amount?) async throws -> Attempt? {
    let payment = try #require(try await journal.payment(of: OrderID(order))).id
    return try await verb == "resolve"
      ? journal.leaseOpenOperation(of: payment)
      : journal.reserve(try #require(OperationKind(rawValue: verb)), amount, of: payment)
  }

  private func describe(_ payment: Payment) -> String {
    let balances = [payment.authorized, payment.captured, payment.refunded].map { Amount.eur($0).decimalString }
    let back = payment.chargedBack > 0 ? ["back", Amount.eur(payment.chargedBack).decimalString] : []
    return ([payment.status.rawValue] + balances + back).joined(separator: " ")
  }

  private static func answer(_ word: String, _ attempt: Attempt) throws -> AcquirerAnswer {
    switch word {
    case "approved": FakeAcquirer.approval(attempt.reference)
    case "declined": .declined(Decline(reason: .doNotHonor, code: "05"))
    case "pending": .pending(Pending(acquirerReference: "P"))
    case "unknown": .unknown(Interruption(.timeout))
    case "notSent": .notSent("connection refused")
    default: throw Unexpected()
    }
  }
}

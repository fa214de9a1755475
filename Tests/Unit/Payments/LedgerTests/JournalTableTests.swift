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
      ? journal.leaseOpenOperation(of: payment) : journal.reserve(.capture, amount, of: payment)
  }

  private func describe(_ payment: Payment) -> String {
    let balances = [payment.authorized, payment.captured, payment.refunded].map { Amount.eur($0).decimalString }
    return ([payment.status.rawValue] + balances).joined(separator: " ")
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

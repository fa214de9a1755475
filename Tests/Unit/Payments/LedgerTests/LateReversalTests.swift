import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

/// Cancels by our reference were sent twice, and the answer to the first was lost. The acquirer has done the first, and
/// refuses the second.
@Suite struct `The event of a cancel whose name was lost` {
  private let bench: Bench
  private let authorization: Attempt
  private let reversal: Attempt

  init() async throws {
    bench = try await Bench()
    authorization = try await bench.attempt(.sample(capture: .immediate))
    _ = try await bench.journal.record(.unknown(Interruption(.timeout)), for: authorization)
    let leased = try #require(try await bench.journal.leaseOpenOperation(of: authorization.payment))
    reversal = try #require(try await bench.journal.beginReversal(of: leased))
    _ = try await bench.journal.record(
      .pending(Pending(acquirerReference: "C2")), for: reversal, reportedTo: .noCaller)
  }

  private func receive(
    _ id: String, _ outcome: ProviderEvent.Outcome, of reference: AttemptReference
  ) async throws -> InboxVerdict {
    try await bench.journal.receive(
      ProviderEvent(route: "sandbox", id: id, reference: reference, amount: .eur(1250), outcome: outcome))
  }

  private func refuse() async throws {
    let refused = Decline(reason: .other, code: "Transaction not found")
    #expect(try await receive("e1", .declined(refused), of: reversal.reference).name == "applied")
  }

  /// The event is looked up and posted in two commits.
  private func cancelled() async throws -> AttemptReference {
    let known = try await bench.journal.reversal(
      of: authorization.reference, called: "C1", isDone: true, through: "sandbox")
    guard case .known(let reference) = known else { throw JournalError.noSuchOperation(reversal.reference) }
    return reference
  }

  private let approved = ProviderEvent.Outcome.approved(Approval(acquirerReference: "A1"))
  private let done = ProviderEvent.Outcome.approved(Approval(acquirerReference: "C1"))

  private var payment: Payment? { get async throws { try await bench.journal.payment(authorization.payment) } }

  @Test(arguments: [false, true])
  func `ends the payment, whether it is looked up before or after the later cancel is refused`(
    isLookedUpBefore: Bool
  ) async throws {
    if !isLookedUpBefore { try await refuse() }
    let reference = try await cancelled()
    if isLookedUpBefore { try await refuse() }
    #expect(try await receive("e2", done, of: reference).name == "applied")
    #expect(try await payment?.status == .voided)
    #expect(try await bench.journal.alarms().isEmpty)
    let operations = try await bench.journal.operations(of: authorization.payment)
    #expect(operations.map(\.kind) == [.authorize, .reverse, .reverse])
    #expect(operations.map(\.state) == [.reversed, .declined, .approved])
    #expect(try await receive("e3", done, of: reversal.reference) == .known)
    #expect(try await bench.journal.verifyAudit().isIntact)
  }

  @Test func `answers the reversal that waits, if one does`() async throws {
    #expect(try await receive("e2", approved, of: authorization.reference).name == "applied")
    #expect(try await payment?.status == .unknown)
    try await refuse()
    #expect(try await receive("e3", done, of: reversal.reference).name == "applied")
    #expect(try await payment?.status == .voided)
    #expect(
      try await bench.journal.operations(of: authorization.payment).map(\.state) == [.reversed, .declined, .approved])
  }

  @Test func `releases what was adopted after the later cancel was refused, and raises an alarm`() async throws {
    try await refuse()
    #expect(try await receive("e2", approved, of: authorization.reference).name == "applied")
    #expect(try await payment?.status == .authorized)
    #expect(try await receive("e3", done, of: cancelled()).name == "applied")
    #expect(try await payment?.status == .voided)
    #expect(try await payment?.authorized == 0)
    #expect(try await bench.journal.alarms().map(\.reason) == ["uncaptured_hold_ended"])
    #expect(try await bench.journal.verifyAudit().isIntact)
  }
}

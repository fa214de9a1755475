import Ledger
import TenderPayments
import TenderTesting
import Testing

@Suite struct `An increment` {
  let bench: Bench
  init() async throws { bench = try await Bench() }

  private let refusal = AcquirerAnswer.declined(Decline(reason: .insufficientFunds, code: "51"))

  @Test func `raises what is held above the order's amount, and all of it can be captured`() async throws {
    let payment = try await bench.authorized()
    let raised = try await bench.done(.increment, .eur(250), payment)
    #expect((raised.status, raised.amount, raised.authorized) == (.authorized, .eur(1250), 1500))
    let captured = try await bench.done(.capture, nil, payment)
    #expect((captured.status, captured.captured) == (.captured, 1500))
    #expect(try await bench.done(.refund, nil, payment).refunded == 1500)
    #expect(try await bench.journal.verifyAudit().violations == [])
  }

  @Test func `that is declined leaves the hold as it was`() async throws {
    let payment = try await bench.authorized()
    let attempt = try await bench.journal.reserve(.increment, .eur(250), of: payment)
    let after = try await bench.journal.record(refusal, for: attempt).payment
    #expect((after.status, after.authorized) == (.authorized, 1250))
  }

  @Test func `stands alone: while it is open nothing ends the hold, and beside a capture or void it is refused`()
    async throws
  {
    let payment = try await bench.authorized()
    let attempt = try await bench.journal.reserve(.increment, .eur(250), of: payment)
    _ = try await bench.journal.record(.unknown(Interruption(.timeout)), for: attempt)
    for kind in [OperationKind.capture, .void, .increment] {
      await #expect(throws: JournalError.mustWait(kind, isFinal: false)) {
        try await bench.journal.reserve(kind, .eur(100), of: payment)
      }
    }
    let other = try await bench.authorized(.sample("order-2"), token: 2)
    _ = try await bench.journal.reserve(.capture, .eur(100), of: other)
    await #expect(throws: JournalError.mustWait(.increment, isFinal: false)) {
      try await bench.journal.reserve(.increment, .eur(100), of: other)
    }
  }

  @Test func `is refused after a capture, and above twelve digits`() async throws {
    let payment = try await bench.authorized()
    let room = Balances.mostHeld - 1250
    await #expect(throws: JournalError.exceeds(available: .eur(room))) {
      try await bench.journal.reserve(.increment, .eur(room + 1), of: payment)
    }
    _ = try await bench.done(.capture, .eur(100), payment)
    await #expect(throws: JournalError.notPossible(.increment, .partiallyCaptured)) {
      try await bench.journal.reserve(.increment, .eur(100), of: payment)
    }
  }
}

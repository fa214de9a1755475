import Ledger
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Posting an answer` {
  @Test func `what has come to nothing takes no answer any more`() {
    for status in [PaymentStatus.declined, .failed, .voided] {
      #expect(!PaymentState.table.contains { $0.from == status })
    }
  }

  @Test func `no answer to an authorization reaches a payment that is settled`() {
    for transition in PaymentState.table where transition.kind == .authorize || transition.kind == .reverse {
      #expect(!transition.from.isSettled)
    }
  }

  @Test func `only what was never sent fails, and only an answer ends the waiting`() {
    let failing = PaymentState.table.filter { $0.to == .becomes(.failed) }
    #expect(failing.map(\.outcome) == [.notSent])
    for transition in PaymentState.table where transition.outcome == .unknown && transition.kind == .authorize {
      #expect(transition.to == .becomes(.unknown))
    }
  }

  @Test func `no pair stands in the table twice`() {
    let pairs = PaymentState.table.map { "\($0.from) \($0.kind) \($0.outcome)" }
    #expect(Set(pairs).count == pairs.count)
  }

  /// Two hundred lives of a payment, any operation and any answer at any time.
  @Test func `no sequence of operations moves more money than there is`() throws {
    var random = SeededGenerator(seed: 20_261_121)
    for _ in 0..<200 {
      var standing = Standing(status: .authorizing)
      var flights: [(OperationKind, Int64)] = [(.authorize, 1_000)]
      for _ in 0..<60 {
        takeOff(&flights, &standing, &random)
        land(&flights, &standing, &random)
        #expect(isSound(standing), "\(standing)")
      }
    }
  }

  @Test func `the check of soundness sees an unsound standing`() {
    var standing = Standing(status: .authorized)
    (standing.authorized, standing.captured, standing.reservedCapture) = (10, 8, 3)
    #expect(!isSound(standing))
  }

  private func takeOff(
    _ flights: inout [(OperationKind, Int64)], _ standing: inout Standing, _ random: inout SeededGenerator
  ) {
    let kind: OperationKind = Bool.random(using: &random) ? .capture : .refund
    let left = kind == .capture ? standing.capturable : standing.refundable
    guard left > 0 else { return }
    let amount = Int64.random(in: 1...left, using: &random)
    guard let reserved = try? Posting.reserve(kind, amount, on: standing) else { return }
    standing = reserved
    flights.append((kind, amount))
  }

  private func land(
    _ flights: inout [(OperationKind, Int64)], _ standing: inout Standing, _ random: inout SeededGenerator
  ) {
    guard let index = flights.indices.randomElement(using: &random),
      let outcome = Outcome.allCases.randomElement(using: &random),
      let posted = try? Posting.post(flights[index].0, outcome, of: flights[index].1, on: standing)
    else { return }
    standing = posted
    if outcome != .pending, outcome != .unknown { flights.remove(at: index) }
  }

  private func isSound(_ standing: Standing) -> Bool {
    let balances = [
      standing.authorized, standing.captured, standing.refunded, standing.reservedCapture, standing.reservedRefund,
    ]
    return balances.allSatisfy { $0 >= 0 } && standing.capturable >= 0 && standing.refundable >= 0
  }
}

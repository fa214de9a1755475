import Ledger
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Posting an answer` {
  /// Two hundred lives of a payment, any operation and any answer at any time.
  @Test func `no sequence of operations moves more money than there is`() throws {
    var random = SeededGenerator(seed: 20_261_121)
    for _ in 0..<200 {
      var balances = Balances(status: .authorizing)
      var flights: [Movement] = [Movement(.authorize, 1_000)]
      for _ in 0..<60 {
        takeOff(&flights, &balances, &random)
        land(&flights, &balances, &random)
        #expect(isSound(balances), "\(balances)")
      }
    }
  }

  @Test func `the check of soundness sees an unsound balances`() {
    var balances = Balances(status: .authorized)
    (balances.authorized, balances.captured, balances.reservedCapture) = (10, 8, 3)
    #expect(!isSound(balances))
  }

  @Test func `a final capture lets the rest of the hold go, and only when it is approved`() throws {
    var held = Balances(status: .authorized)
    held.authorized = 1_000
    let final = Movement(.capture, 600, releases: 400)
    let reserved = try Posting.reserve(final, on: held)
    #expect(reserved.free == 0)
    let taken = try Posting.post(.approved, of: final, on: reserved)
    #expect(taken.status == .captured)
    #expect((taken.authorized, taken.captured, taken.free) == (600, 600, 0))
    #expect(try Posting.post(.declined, of: final, on: reserved) == held)
  }

  @Test func `a capture that comes back is held again`() throws {
    var captured = Balances(status: .captured)
    (captured.authorized, captured.captured) = (1_000, 1_000)
    let back = try Posting.post(.returned, of: Movement(.capture, 1_000), on: captured)
    #expect(back.status == .authorized)
    #expect((back.authorized, back.captured) == (1_000, 0))
  }

  @Test func `an increment raises the hold, and a refused one changes nothing`() throws {
    var held = Balances(status: .authorized)
    held.authorized = 1_000
    let raise = Movement(.increment, 250)
    let raised = try Posting.post(.approved, of: raise, on: Posting.reserve(raise, on: held))
    #expect((raised.status, raised.authorized, raised.incremented, raised.free) == (.authorized, 1_250, 250, 1_250))
    #expect(try Posting.post(.declined, of: raise, on: held) == held)
    #expect(raised.available(to: .increment) == Balances.mostHeld - 1_250)
  }

  @Test func `what a final capture released is held again when it is returned, as if it had been refused`() throws {
    var held = Balances(status: .authorized)
    held.authorized = 1_000
    let final = Movement(.capture, 600, releases: 400)
    let taken = try Posting.post(.approved, of: final, on: Posting.reserve(final, on: held))
    #expect(try Posting.post(.returned, of: final, on: taken) == held)
  }

  private func takeOff(
    _ flights: inout [Movement], _ balances: inout Balances, _ random: inout SeededGenerator
  ) {
    let kind = [OperationKind.capture, .void, .refund].randomElement(using: &random) ?? .capture
    let left = balances.available(to: kind)
    guard left > 0 else { return }
    let amount = Int64.random(in: 1...left, using: &random)
    let rest = kind == .capture && Bool.random(using: &random) ? left - amount : 0
    let movement = Movement(kind, amount, releases: rest)
    guard let reserved = try? Posting.reserve(movement, on: balances) else { return }
    balances = reserved
    flights.append(movement)
  }

  private func land(
    _ flights: inout [Movement], _ balances: inout Balances, _ random: inout SeededGenerator
  ) {
    let answers = Outcome.allCases.filter { $0 != .returned }
    guard let index = flights.indices.randomElement(using: &random),
      let outcome = answers.randomElement(using: &random),
      let posted = try? Posting.post(outcome, of: flights[index], on: balances)
    else { return }
    balances = posted
    if outcome != .pending, outcome != .unknown { flights.remove(at: index) }
  }

  private func isSound(_ balances: Balances) -> Bool {
    let amounts = [
      balances.authorized, balances.captured, balances.refunded, balances.reservedCapture, balances.reservedVoid,
      balances.reservedRefund,
    ]
    return amounts.allSatisfy { $0 >= 0 } && balances.free >= 0 && balances.refundable >= 0
  }
}

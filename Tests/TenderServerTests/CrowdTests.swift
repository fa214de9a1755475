import Acquiring
import Synchronization
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// The door of a server that may have work with four payments once as many have had it busy for a second, and may have
/// a hundred inside.
struct `A door with a crowd before it` {
  private let time = HeldTime()
  private let door: PaymentDoor
  private let callers = (0..<200).map { _ in Caller() }

  init() { door = PaymentDoor(limit: 100, atWork: 4, now: { [time] in time.now }) }

  @Test func `lets in as many as may be inside when they come at once`() {
    #expect(enter(0..<150) == 100)
    #expect(door.isFull)
  }

  @Test func `lets in no more than keep the server busy once a crowd has stood for a second`() {
    #expect(enter(0..<20) == 20)
    time.pass(.milliseconds(900))
    #expect(enter(20..<30) == 10)
    time.pass(.milliseconds(200))
    #expect(door.isFull && enter(30..<40) == 0)
    leave(0..<26)
    #expect(door.isFull)
    leave(26..<27)
    #expect(enter(40..<50) == 1)
  }

  @Test func `lets a crowd in again when it had half as many for once`() {
    #expect(enter(0..<20) == 20)
    time.pass(.seconds(2))
    leave(0..<17)
    #expect(enter(20..<30) == 1)
    leave(17..<19)
    #expect(enter(30..<150) == 98)
  }

  @Test func `is as patient with the next crowd`() {
    #expect(enter(0..<3) == 3)
    time.pass(.seconds(10))
    leave(0..<1)
    time.pass(.seconds(10))
    #expect(enter(3..<20) == 17)
    time.pass(.milliseconds(1_001))
    #expect(door.isFull)
  }

  @Test func `keeps a place for a call under the same rule`() throws {
    #expect(enter(0..<4) == 4)
    time.pass(.seconds(2))
    let caller = ObjectIdentifier(callers[4])
    door.keep(for: caller)
    #expect(throws: (any Error).self) { try door.enter(caller) }
    leave(0..<1)
    door.keep(for: caller)
    #expect(door.isFull)
    try door.enter(caller)
  }

  @Test func `does not count who waits for the acquirer`() async throws {
    let (fake, hold) = (FakeAcquirer(), Hold())
    fake.captures { reference, _ in
      while hold.isOn { try? await Task.sleep(for: .milliseconds(5)) }
      return FakeAcquirer.approval(reference)
    }
    let acquirer = door.watching(fake.acquirer)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { _ = await acquirer.capture(Self.request, .after(.seconds(60), on: .system)) } }
      for _ in 0..<2_000 where fake.captures.count < 20 { try? await Task.sleep(for: .milliseconds(5)) }
      #expect(enter(0..<23) == 23)
      time.pass(.seconds(5))
      #expect(enter(23..<30) == 1)
      hold.end()
    }
    #expect(door.isFull)
  }

  private static var request: FollowUpRequest {
    FollowUpRequest(
      reference: AttemptReference("capture"), authorization: "A", amount: Amount(minorUnits: 1, currency: .euro))
  }

  /// How many of them were let in.
  private func enter(_ range: Range<Int>) -> Int {
    range.count { (try? door.enter(ObjectIdentifier(callers[$0]))) != nil }
  }

  private func leave(_ range: Range<Int>) {
    for caller in range { door.leave(ObjectIdentifier(callers[caller])) }
  }
}

private final class Caller: Sendable {}

private final class HeldTime: Sendable {
  private let instant = Mutex(ContinuousClock.now)
  var now: ContinuousClock.Instant { instant.withLock { $0 } }
  func pass(_ time: Duration) { instant.withLock { $0 += time } }
}

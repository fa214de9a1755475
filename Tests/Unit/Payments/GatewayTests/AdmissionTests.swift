import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// Admission control with room for a hundred payments, of which four keep the processors busy.
@Suite struct `Admission control` {
  private let time = HeldTime()
  private let control: AdmissionControl

  init() { control = AdmissionControl(maximumInFlight: 100, maximumWorking: 4, now: { [time] in time.now }) }

  @Test func `admits a burst up to the maximum`() {
    let slots = admit(150)
    #expect(control.isFull)
    #expect(slots.count == 100)
  }

  @Test func `admits no more than keep the processors busy once the load has lasted for a second`() {
    var slots = admit(20)
    time.pass(.milliseconds(900))
    slots += admit(10)
    #expect(slots.count == 30)
    time.pass(.milliseconds(200))
    #expect(control.isFull && admit(10).isEmpty)
    release(26, of: &slots)
    #expect(control.isFull)
    release(1, of: &slots)
    #expect(admit(10).count == 1)
    #expect(slots.count == 3)
  }

  @Test func `accepts a burst again when it had half as many once`() {
    var slots = admit(20)
    time.pass(.seconds(2))
    release(17, of: &slots)
    slots += admit(10)
    #expect(slots.count == 4)
    release(2, of: &slots)
    #expect(admit(150).count == 98)
    #expect(slots.count == 2)
  }

  @Test func `accepts the next burst for as long as the first`() {
    var slots = admit(3)
    time.pass(.seconds(10))
    release(1, of: &slots)
    time.pass(.seconds(10))
    slots += admit(17)
    time.pass(.milliseconds(1_001))
    #expect(control.isFull)
    #expect(slots.count == 19)
  }

  @Test func `frees a slot once, however often it is released`() throws {
    let slot = try control.admit()
    slot.release()
    slot.release()
    #expect(control.inFlight == 0 && admit(150).count == 100)
  }

  @Test func `frees a slot that nothing refers to any more`() throws {
    _ = try control.admit()
    #expect(control.inFlight == 0)
  }

  @Test func `does not count payments that wait for the acquirer as worked on`() async throws {
    let fake = FakeAcquirer()
    let isHeld = Atomic(true)
    fake.captures { reference, _ in
      try? await waitUntil("the test to let the acquirer answer") { !isHeld.load(ordering: .relaxed) }
      return FakeAcquirer.approval(reference)
    }
    let acquirer = control.excludingWaits(for: fake.acquirer)
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { isHeld.store(false, ordering: .relaxed) }
      for _ in 0..<20 { group.addTask { _ = await acquirer.capture(Self.request, .after(TestRun.whole)) } }
      try await waitUntil("twenty captures that wait for the acquirer") { fake.captures.count == 20 }
      let slots = admit(23)
      time.pass(.seconds(5))
      #expect(admit(7).count == 1)
      isHeld.store(false, ordering: .relaxed)
      try await group.waitForAll()
      #expect(control.isFull && slots.count == 23)
    }
  }

  private static var request: FollowUpRequest {
    FollowUpRequest(
      reference: AttemptReference("capture"), authorization: "A", amount: Amount(minorUnits: 1, currency: .euro))
  }

  /// The slots that were given.
  private func admit(_ count: Int) -> [AdmissionSlot] { (0..<count).compactMap { _ in try? control.admit() } }

  private func release(_ count: Int, of slots: inout [AdmissionSlot]) {
    for slot in slots.prefix(count) { slot.release() }
    slots.removeFirst(count)
  }
}

/// The gateway and those who call it share the slots.
@Suite struct `A gateway with one slot` {
  @Test func `takes no second slot for a call that holds it, and refuses the next call`() async throws {
    let control = AdmissionControl(maximumInFlight: 1)
    let shop = try await Shop(admission: control)
    let slot = try control.admit()
    await #expect(throws: GatewayError.overloaded) {
      try await shop.gateway.authorize(Shop.order(), with: shop.token())
    }
    #expect(try await shop.journal.payments().isEmpty)
    let order = Shop.order()
    let payment = try await AdmissionSlot.$current.withValue(slot) {
      try await shop.gateway.authorize(order, with: shop.token(for: order))
    }
    #expect(payment.status == .authorized && control.inFlight == 1)
    slot.release()
    #expect(control.inFlight == 0)
  }

  @Test func `frees its own slot with the answer`() async throws {
    let control = AdmissionControl(maximumInFlight: 1)
    let shop = try await Shop(admission: control)
    for number in 0..<3 {
      let order = Shop.order("order-\(number)")
      #expect(try await shop.gateway.authorize(order, with: shop.token(for: order)).status == .authorized)
    }
    #expect(control.inFlight == 0)
  }
}

private final class HeldTime: Sendable {
  private let instant = Mutex(ContinuousClock.now)
  var now: ContinuousClock.Instant { instant.withLock { $0 } }
  func pass(_ time: Duration) { instant.withLock { $0 += time } }
}

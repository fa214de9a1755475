import Acquiring
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A circuit breaker` {
  private final class Time: Sendable {
    private let now = Mutex(Duration.zero)
    func advance(_ duration: Duration) { now.withLock { $0 += duration } }
    var scheduler: Scheduler {
      Scheduler(uptime: { self.now.withLock { $0 } }, sleep: { _ in }, finish: { await $0() })
    }
  }

  private let time = Time()
  private let fake = FakeAcquirer()

  private func captures(_ acquirer: Acquirer, _ times: Int) async -> [AcquirerAnswer] {
    var answers: [AcquirerAnswer] = []
    for number in 0..<times {
      let request = FollowUpRequest(
        reference: AttemptReference("r\(number)"), authorization: "A", amount: .eur(1))
      answers.append(await acquirer.capture(request, .after(.seconds(1), on: time.scheduler)))
    }
    return answers
  }

  @Test func `opens after five calls without an answer, and then nothing is sent`() async {
    let breaker = CircuitBreaker(on: time.scheduler)
    let acquirer = fake.acquirer.guarded(by: breaker)
    fake.captures(.unknown(Interruption(.timeout)))
    _ = await captures(acquirer, 5)
    #expect(breaker.isOpen)
    let turnedAway = await captures(acquirer, 10)
    #expect(turnedAway.allSatisfy { if case .notSent = $0 { true } else { false } })
    #expect(fake.captures.count == 5)
  }

  @Test func `lets one try after its rest, and closes when that is answered`() async {
    let breaker = CircuitBreaker(on: time.scheduler)
    let acquirer = fake.acquirer.guarded(by: breaker)
    fake.captures(.unknown(Interruption(.timeout)))
    _ = await captures(acquirer, 5)
    time.advance(.seconds(5))
    _ = await captures(acquirer, 3)
    #expect(fake.captures.count == 6)
    fake.captures { reference, _ in FakeAcquirer.approval(reference) }
    time.advance(.seconds(5))
    _ = await captures(acquirer, 3)
    #expect(!breaker.isOpen)
    #expect(fake.captures.count == 9)
  }

  @Test func `does not count calls for which no time was left`() async {
    let breaker = CircuitBreaker(on: time.scheduler)
    fake.captures(.notSent("no time was left to ask"))
    let acquirer = fake.acquirer.guarded(by: breaker)
    for number in 0..<10 {
      let request = FollowUpRequest(reference: AttemptReference("r\(number)"), authorization: "A", amount: .eur(1))
      _ = await acquirer.capture(request, .after(.zero, on: time.scheduler))
    }
    #expect(!breaker.isOpen)
  }

  /// What a connector answers by itself: nothing goes over the network.
  private func refusing(_ answer: AcquirerAnswer) -> Acquirer {
    var acquirer = fake.acquirer
    acquirer.capture = { _, _ in answer }
    return acquirer
  }

  @Test(arguments: [AcquirerAnswer.notSent("no token"), .notTaken("card_network"), .unknown(Interruption(.timeout))])
  func `is neither opened nor closed by what was refused here, without a call`(answer: AcquirerAnswer) async {
    let breaker = CircuitBreaker(on: time.scheduler)
    let (acquirer, refusing) = (fake.acquirer.guarded(by: breaker), refusing(answer).guarded(by: breaker))
    _ = await captures(refusing, 20)
    #expect(!breaker.isOpen)
    fake.captures(.unknown(Interruption(.timeout)))
    _ = await captures(acquirer, 4)
    _ = await captures(refusing, 1)
    #expect(!breaker.isOpen)
    _ = await captures(acquirer, 1)
    #expect(breaker.isOpen, "the four before still count")
    time.advance(.seconds(5))
    _ = await captures(refusing, 1)
    #expect(breaker.isOpen)
    fake.captures { reference, _ in FakeAcquirer.approval(reference) }
    _ = await captures(acquirer, 1)
    #expect(!breaker.isOpen, "the trial passes to the next call")
  }

  @Test func `takes a decline for an answer`() async {
    let breaker = CircuitBreaker(on: time.scheduler)
    fake.captures(.declined(Decline(reason: .doNotHonor, code: "05")))
    _ = await captures(fake.acquirer.guarded(by: breaker), 20)
    #expect(!breaker.isOpen)
    #expect(fake.captures.count == 20)
  }
}

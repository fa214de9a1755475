import Acquiring
import Synchronization
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

@Suite struct `An observed acquirer` {
  @Test(arguments: [
    (AcquirerAnswer.declined(Decline(reason: .configuration, code: "unauthorized")), "configuration"),
    (.declined(Decline(reason: .issuerUnavailable, code: "91")), "retriable"),
    (.declined(Decline(reason: .insufficientFunds, code: "51")), "declined"),
    (.unknown(Interruption(.timeout)), "unknown"), (.notSent("connection refused"), "not_sent"),
    (.approved(Approval(acquirerReference: "A")), "approved"),
    (.approved(Approval(acquirerReference: "A", approvedAmount: .eur(1))), "approved_for_less"),
  ])
  func `shows every answer with its operation and its class`(answer: AcquirerAnswer, label: String) async {
    let fake = FakeAcquirer()
    let seen = Mutex<[String]>([])
    fake.captures(answer)
    fake.finds(.answer(answer))
    let acquirer = fake.acquirer.observed { observed in
      seen.withLock { $0.append("\(observed.verb.rawValue) \(observed.label)") }
    }
    let (reference, deadline) = (AttemptReference("r"), Deadline.after(TestRun.whole))
    let request = FollowUpRequest(reference: reference, authorization: "A", amount: .eur(1))
    #expect(await acquirer.capture(request, deadline) == answer)
    #expect(
      await acquirer.inquire(InquiryRequest(reference: reference, amount: .eur(1)), deadline) == .answer(answer))
    #expect(seen.withLock { $0 } == ["capture \(label)", "inquire \(label)"])
  }

  @Test func `shows of an authorization its network, its amount and how long it took`() async throws {
    let fake = FakeAcquirer()
    let clock = ManualClock()
    let seen = Mutex<[ObservedAnswer]>([])
    var slow = fake.acquirer
    slow.authorize = { [authorize = slow.authorize] in
      clock.advance(.seconds(3))
      return await authorize($0, $1)
    }
    let scheduler = Scheduler(
      uptime: { clock.now.since(Timestamp(seconds: 0)) }, sleep: { _ in }, finish: { await $0() })
    let acquirer = slow.observed(on: scheduler) { answer in seen.withLock { $0.append(answer) } }
    let card = try #require(SandboxCards.card(id: "visa-debit"))
    let token = NetworkToken(
      dpan: card.dpan, expiry: try #require(CardExpiry(applePayDate: card.expirationDate)),
      cryptogram: Cryptogram(base64: "AAAA"), eci: "7")
    let request = AuthorizationRequest(
      reference: AttemptReference("r"), merchantReference: "order", amount: .eur(1250), instrument: .network(token))
    _ = await acquirer.authorize(request, .after(TestRun.whole))
    let observed = try #require(seen.withLock { $0.first })
    #expect(observed.verb == .authorize && observed.amount == .eur(1250) && observed.network == .visa)
    #expect(observed.duration == .seconds(3))
  }
}

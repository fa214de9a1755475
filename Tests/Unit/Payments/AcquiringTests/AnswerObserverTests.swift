import Acquiring
import Synchronization
import TenderPayments
import TenderTesting
import Testing

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
    let acquirer = fake.acquirer.observed { verb, answer in
      seen.withLock { $0.append("\(verb.rawValue) \(answer.label)") }
    }
    let (reference, deadline) = (AttemptReference("r"), Deadline.after(.seconds(1)))
    let request = FollowUpRequest(reference: reference, authorization: "A", amount: .eur(1))
    #expect(await acquirer.capture(request, deadline) == answer)
    #expect(
      await acquirer.inquire(InquiryRequest(reference: reference, amount: .eur(1)), deadline) == .answer(answer))
    #expect(seen.withLock { $0 } == ["capture \(label)", "inquire \(label)"])
  }
}

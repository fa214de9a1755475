import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// The connector and the emulated Worldline Acquiring together, over HTTP.
@Suite struct `Paying through Worldline Acquiring` {
  @Test func `authorizes, captures in parts and refunds in parts`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let name = try await visit.held("R1")
      #expect(await visit.capture("C1", name, 500) == .approved(Approval(acquirerReference: "C1")))
      #expect(await visit.capture("C2", name, 700, number: 2, isFinal: true).isApproved)
      #expect(await visit.refund("F1", name, 300).isApproved)
      #expect(await visit.refund("F2", name, 900).isApproved)
      let payment = try #require(try await visit.payments().first)
      #expect([payment["authorized"], payment["captured"], payment["refunded"]] == [1200, 1200, 1200])
      #expect(payment["status"] == "CONFIRMED" && payment["reference"] == "R1")
    }
  }

  @Test func `raises a pre-authorization, finds the increment, and captures the sum`() async throws {
    try await WorldlineAcquiringVisit.run(preAuthorizes: true) { visit async throws in
      #expect(visit.acquirer.capabilities.parts.contains(.increment))
      let name = try await visit.held("R1")
      let raised = AcquirerAnswer.approved(Approval(acquirerReference: "I1"))
      #expect(try await visit.increment("I1", name, 250) == raised)
      #expect(try await visit.increment("I1", name, 250) == raised, "a repeat raises nothing again")
      #expect(await visit.inquire(.increment, "I1", 250, of: name) == .answer(raised))
      #expect(await visit.inquire(.increment, "I2", 250, of: name) == .notFound)
      #expect(await visit.capture("C1", name, 1500, isWhole: true).isApproved)
      #expect(try await visit.payments().first?["captured"] == 1500)
    }
  }

  @Test func `verifies a card without a payment, once, under the scope for it`() async throws {
    try await WorldlineAcquiringVisit.run(verifies: true) { visit async throws in
      #expect(visit.acquirer.capabilities.verifiesCards)
      let answer = try await visit.authorize("V1", .eur(0), cryptogram: "AAAAAAAAAAAAAAAAAAAAAAAAAAA=")
      guard case .approved(let approval) = answer else { throw WorldlineAcquiringVisit.NotApproved(answer: answer) }
      #expect(approval.acquirerReference == "V1" && approval.approvedAmount == nil)
      #expect(
        try await visit.authorize("V1", .eur(0), cryptogram: "AAAAAAAAAAAAAAAAAAAAAAAAAAA=") == answer,
        "a repeat gets the first answer")
      let declined = try await visit.authorize("V2", .eur(0), card: "visa-insufficient-funds")
      guard case .declined(let decline) = declined else { throw WorldlineAcquiringVisit.NotApproved(answer: declined) }
      #expect(decline.reason == .insufficientFunds)
      #expect(visit.transcripts.contains("/account-verifications") && !visit.transcripts.contains("/payments "))
      #expect(try await visit.payments().isEmpty)
    }
    try await WorldlineAcquiringVisit.run { visit async throws in #expect(!visit.acquirer.capabilities.verifiesCards) }
  }

  @Test func `a final authorization cannot be raised, and its capabilities say so`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      #expect(!visit.acquirer.capabilities.parts.contains(.increment))
      let name = try await visit.held("R1")
      #expect(try await !visit.increment("I1", name, 250).isApproved)
      #expect(try await visit.payments().first?["authorized"] == 1250)
    }
  }

  @Test func `captures all of it without a number`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let name = try await visit.held("R1")
      #expect(await visit.capture("C1", name, 1250, isWhole: true).isApproved)
      #expect(try await visit.payments().first?["status"] == "CONFIRMED")
      #expect(!visit.transcripts.contains("captureSequenceNumber"))
    }
  }

  @Test func `more than there is declines a capture, a void and a refund, and moves nothing`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let decline = AcquirerAnswer.declined(Decline(reason: .configuration, code: "13"))
      let name = try await visit.held("R1")
      #expect(await visit.capture("C1", name, 1251) == decline)
      #expect(await visit.void("V1", name, 1251) == decline)
      #expect(await visit.capture("C2", name, 1250, isWhole: true).isApproved)
      #expect(await visit.refund("F1", name, 1251) == decline)
      #expect(try await visit.payments().first?["refunded"] == 0)
    }
  }

  @Test func `a void releases the hold, in parts too, and a capture afterwards finds it ended`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let name = try await visit.held("R1")
      #expect(await visit.void("V1", name, 250).isApproved)
      #expect(try await visit.payments().first?["authorized"] == 1000)
      #expect(await visit.void("V2", name, 1000).isApproved)
      let ended = AcquirerAnswer.declined(Decline(reason: .holdEnded, code: "REVERSED"))
      #expect(await visit.capture("C1", name, 100) == ended)
      #expect(await visit.void("V3", name, 100) == ended)
    }
  }

  @Test func `a hold that is older than its lifetime has ended`() async throws {
    let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
    try await WorldlineAcquiringVisit.run(clock: clock.wall, lifetime: .seconds(86_400 * 30)) { visit async throws in
      let name = try await visit.held("R1")
      clock.advance(.seconds(86_400 * 7))
      #expect(
        await visit.capture("C1", name, 1250) == .declined(Decline(reason: .holdEnded, code: "CANCELLED")))
    }
  }

  @Test(arguments: [
    ("visa-insufficient-funds", DeclineReason.insufficientFunds, "51, advice 24, retry after PT1H"),
    ("visa-lost", .lostOrStolen, "41, advice 03"), ("mastercard-expired", .expiredCard, "54, advice 01"),
  ])
  func `a card's refusal has its reason, its advice and its pause`(
    card: String, reason: DeclineReason, code: String
  ) async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      #expect(try await visit.authorize("R1", card: card) == .declined(Decline(reason: reason, code: code)))
      #expect(try await visit.payments().first?["status"] == "NOT_AUTHORIZED")
    }
  }

  @Test func `a card of a network that Worldline does not take is not sent`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      #expect(try await visit.authorize("R1", card: "amex-do-not-honour") == .notTaken("card_network"))
      #expect(visit.acquirer.capabilities.networks?.contains(.amex) == false)
      #expect(try await visit.payments().isEmpty)
    }
  }

  @Test func `an approval of a part is none, since no part is asked for`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let answer = try await visit.authorize("R1", .eur(2010))
      #expect(answer == .declined(Decline(reason: .insufficientFunds, code: "51, advice 24, retry after PT1H")))
    }
  }

  @Test func `a pending authorization is resolved by an inquiry, by Worldline's name`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      guard case .pending(let pending) = try await visit.authorize("R1", card: "visa-pending") else { throw Wrong() }
      guard
        case .answer(.approved(let approval)) = await visit.inquire(
          .authorization, "R1", called: pending.acquirerReference)
      else { throw Wrong() }
      #expect(approval.acquirerReference == pending.acquirerReference && approval.authorizationCode?.count == 6)
      // Another amount, or another operation of ours, is not about this one.
      guard case .unavailable = await visit.inquire(.authorization, "R1", 1251, called: pending.acquirerReference),
        case .unavailable = await visit.inquire(.authorization, "R2", called: pending.acquirerReference)
      else { throw Wrong() }
    }
  }

  @Test func `the same reference is paid once, and its answer comes again`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let cryptogram = "AgAAAAAAAIR8CQrXcIhbQAAAAAA="
      let first = try await visit.authorize("R1", cryptogram: cryptogram)
      #expect(try await visit.authorize("R1", cryptogram: cryptogram) == first)
      guard case .approved(let approval) = first else { throw Wrong() }
      let name = approval.acquirerReference
      #expect(await visit.capture("C1", name, 500) == visit.capture("C1", name, 500))
      #expect(await visit.refund("F1", name, 100) == visit.refund("F1", name, 100))
      let payments = try await visit.payments()
      #expect(payments.map { $0["captured"] } == [500] && payments.map { $0["refunded"] } == [100])
      // A cryptogram is accepted once, and a name once.
      #expect(
        try await visit.authorize("R2", cryptogram: cryptogram)
          == .declined(Decline(reason: .cryptogramInvalid, code: "82")))
      guard case .unknown = try await visit.authorize("R1", .eur(1251), cryptogram: cryptogram) else { throw Wrong() }
    }
  }

  @Test func `an authorization without an answer is undone by our reference`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      guard case .unknown = try await visit.authorize("R1", card: "mastercard-answer-lost") else { throw Wrong() }
      #expect(await visit.inquire(.authorization, "R1") == .notFound)
      #expect(try await visit.payments().first?["status"] == "AUTHORIZED")
      #expect(await visit.reverse("R1") == .reversed)
      #expect(try await visit.payments().first?["status"] == "REVERSED")
      #expect(await visit.reverse("R1") == .reversed)
    }
  }

  @Test func `there is nothing to undo of what never arrived`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      guard case .unknown = try await visit.authorize("R1", card: "visa-no-answer") else { throw Wrong() }
      #expect(await visit.reverse("R1") == .nothingFound)
      #expect(try await visit.payments().isEmpty)
    }
  }

  @Test func `what was captured cannot be undone as an authorization`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let name = try await visit.held("R1")
      #expect(await visit.capture("C1", name, 1250, isWhole: true).isApproved)
      guard case .unavailable = await visit.reverse("R1") else { throw Wrong() }
      #expect(try await visit.payments().first?["captured"] == 1250)
    }
  }

  @Test(arguments: [InquiredOperation.capture, .void, .refund])
  func `an operation whose answer was lost is found by our reference`(kind: InquiredOperation) async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let name = try await visit.held("R1")
      if kind == .refund { #expect(await visit.capture("C0", name, 1250, isWhole: true).isApproved) }
      #expect(await visit.inquire(kind, "X1", 500, of: name) == .notFound)
      try await visit.inject("answer_lost")
      guard case .unknown = await visit.act(kind, "X1", name, 500) else { throw Wrong() }
      guard case .answer(.approved) = await visit.inquire(kind, "X1", 500, of: name) else { throw Wrong() }
      guard case .unavailable = await visit.inquire(kind, "X1", 501, of: name) else { throw Wrong() }
    }
  }

  @Test func `a refund is found by Worldline's name too, and only for its payment`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let (name, other) = (try await visit.held("R1"), try await visit.held("R2"))
      #expect(await visit.capture("C1", name, 1250, isWhole: true).isApproved)
      guard case .approved(let refund) = await visit.refund("F1", name, 400) else { throw Wrong() }
      let own = refund.acquirerReference
      #expect(
        await visit.inquire(.refund, "F1", 400, of: name, called: own)
          == .answer(.approved(Approval(acquirerReference: own))))
      guard case .unavailable = await visit.inquire(.refund, "F1", 400, of: other, called: own) else { throw Wrong() }
    }
  }

  @Test func `a pre-authorization says so`() async throws {
    try await WorldlineAcquiringVisit.run(preAuthorizes: true) { visit async throws in
      _ = try await visit.held("R1")
      #expect(visit.transcripts.contains(#""authorizationType":"PRE_AUTHORIZATION""#))
      #expect(visit.acquirer.capabilities.holdLifetime == .seconds(86_400 * 10))
    }
  }

  @Test(
    arguments: [true, false], [("PRE_AUTHORIZATION", AuthorizationType.preliminary), ("FINAL_AUTHORIZATION", .final)])
  func `a payment is authorized as it asks, whatever the route's usual is`(
    preAuthorizes: Bool, asked: (word: String, type: AuthorizationType)
  ) async throws {
    try await WorldlineAcquiringVisit.run(preAuthorizes: preAuthorizes) { visit async throws in
      _ = try await visit.authorize("R1", as: asked.type)
      #expect(visit.transcripts.contains("\"authorizationType\":\"\(asked.word)\""))
    }
  }

  @Test func `amounts have the decimals of their currency`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let (yen, dinar) = (try #require(Currency(code: "JPY")), try #require(Currency(code: "KWD")))
      #expect(try await visit.authorize("R1", Amount(minorUnits: 1200, currency: yen)).isApproved)
      #expect(try await visit.authorize("R2", Amount(minorUnits: 1250, currency: dinar)).isApproved)
      #expect(try await visit.payments().map { $0["amount"] } == [1200, 1250])
    }
  }

  @Test func `no transcript holds card data or credentials`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let name = try await visit.held("R1")
      _ = await visit.capture("C1", name, 1250, isWhole: true)
      #expect(visit.transcripts.contains("R1") && visit.transcripts.contains("CONFIRMED"))
      for secret in [WorldlineAcquiringVisit.secret, "4761739000000012", "sandbox.", "Bearer", "HARBOUR"] {
        #expect(!visit.transcripts.contains(secret), "\(secret)")
      }
    }
  }
}

private struct Wrong: Error {}

extension AcquirerAnswer {
  fileprivate var isApproved: Bool { if case .approved = self { true } else { false } }
}

extension WorldlineAcquiringVisit {
  fileprivate func act(
    _ kind: InquiredOperation, _ reference: String, _ payment: String, _ units: Int64
  ) async -> AcquirerAnswer {
    switch kind {
    case .capture: await capture(reference, payment, units)
    case .void: await void(reference, payment, units)
    default: await refund(reference, payment, units)
    }
  }
}

import AcquirerSandbox
import Acquiring
import HTTPTransport
import ProviderEmulators
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// The connector and the emulated Adyen together, over HTTP.
@Suite struct `Paying through Adyen` {
  @Test func `authorizes, captures in parts and refunds, and every result comes by event`() async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      guard case .pending = try await visit.capture("C1", name, 500) else { throw Wrong() }
      guard case .pending(let second) = try await visit.capture("C2", name, 750) else { throw Wrong() }
      #expect(Self.outcomes(try await visit.events()) == ["R1 true", "C1 true", "C2 true"])
      guard case .pending = try await visit.refund("F1", name, 1250) else { throw Wrong() }
      let events = try await visit.events()
      #expect(Self.outcomes(events) == ["F1 true"] && events.first?.amount == .eur(1250))
      #expect(second.acquirerReference != name)
      let row = try #require(try await visit.payments().first)
      #expect([row["authorised"], row["captured"], row["refunded"]] == [1250, 1250, 1250])
    }
  }

  @Test func `a capture of more than is held is received, and its event says no`() async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      guard case .pending = try await visit.capture("C1", name, 1251) else { throw Wrong() }
      let events = try await visit.events()
      #expect(Self.outcomes(events) == ["R1 true", "C1 false"])
      #expect(try await visit.payments().first?["captured"] == 0)
    }
  }

  @Test func `a void releases the hold, and a capture afterwards fails`() async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      guard case .pending = try await visit.void("V1", name, 1250) else { throw Wrong() }
      #expect(Self.outcomes(try await visit.events()) == ["R1 true", "V1 true"])
      _ = try await visit.capture("C1", name, 1250)
      #expect(Self.outcomes(try await visit.events()) == ["C1 false"])
      #expect(try await visit.payments().first?["state"] == "cancelled")
    }
  }

  @Test func `a sealed payment token is opened by Adyen, which compares the amount`() async throws {
    try await AdyenVisit.run { visit async throws in
      let token = try await visit.sealed(1250)
      guard case .approved = try await visit.authorize("R1", 1250, token) else { throw Wrong() }
      let other = try await visit.sealed(1)
      #expect(
        try await visit.authorize("R2", 1250, other) == .declined(Decline(reason: .configuration, code: "7")))
      // A cryptogram is accepted once, in whatever envelope.
      #expect(try await visit.authorize("R3", 1250, token) == .declined(Decline(reason: .doNotHonor, code: "2")))
    }
  }

  @Test(arguments: [
    ("visa-insufficient-funds", DeclineReason.insufficientFunds, "12"), ("visa-lost", .lostOrStolen, "5"),
    ("mastercard-expired", .expiredCard, "6"), ("amex-do-not-honour", .doNotHonor, "2"),
  ])
  func `a card's refusal has its reason`(card: String, reason: DeclineReason, code: String) async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      let decline = AcquirerAnswer.declined(Decline(reason: reason, code: code))
      #expect(try await visit.authorize("R1", card: card) == decline)
      let event = try #require(try await visit.events().first)
      #expect(event.content == .answer(decline) && event.subject == .operation(AttemptReference("R1")))
    }
  }

  @Test func `an authorization that is answered later is pending until its event`() async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      guard case .pending(let pending) = try await visit.authorize("R1", card: "visa-pending") else { throw Wrong() }
      let event = try #require(try await visit.events().first)
      guard case .answer(.approved(let approval)) = event.content else { throw Wrong() }
      #expect(approval.acquirerReference == pending.acquirerReference && event.amount == .eur(1250))
    }
  }

  @Test func `the same reference is paid once, and its answer comes again`() async throws {
    try await AdyenVisit.run { visit async throws in
      let first = try await visit.authorize("R1", cryptogram: "AAAA")
      #expect(try await visit.authorize("R1", cryptogram: "AAAA") == first)
      guard case .approved(let approval) = first else { throw Wrong() }
      let name = approval.acquirerReference
      #expect(try await visit.capture("C1", name, 500) == visit.capture("C1", name, 500))
      _ = try await visit.events()
      #expect(try await visit.payments().map { $0["captured"] } == [500])
      // Another amount under the same key is no new payment.
      guard case .unknown = try await visit.authorize("R1", 1251, cryptogram: "AAAA") else { throw Wrong() }
      #expect(try await visit.payments().count == 1)
    }
  }

  @Test func `an authorization without an answer is cancelled by our reference`() async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      guard case .unknown = try await visit.authorize("R1", card: "mastercard-answer-lost") else { throw Wrong() }
      guard case .accepted(let name) = try await visit.reverse("R1") else { throw Wrong() }
      let events = try await visit.events()
      let last = try #require(events.last)
      #expect(last.subject == .reversal(of: AttemptReference("R1"), called: name) && last.amount == .eur(1250))
      guard case .answer(.approved) = last.content else { throw Wrong() }
      #expect(try await visit.payments().first?["state"] == "cancelled")
    }
  }

  @Test func `the cancel of what never arrived is accepted, and its event says that nothing was cancelled`()
    async throws
  {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      guard case .unknown = try await visit.authorize("R1", card: "visa-no-answer") else { throw Wrong() }
      guard case .accepted(let first) = try await visit.reverse("R1") else { throw Wrong() }
      let event = try #require(try await visit.events().last)
      #expect(event.subject == .reversal(of: AttemptReference("R1"), called: first))
      guard case .answer(.declined) = event.content else { throw Wrong() }
      // Once the payment has arrived after all, a second cancel is a new one.
      _ = try await visit.authorize("R1")
      guard case .accepted(let second) = try await visit.reverse("R1") else { throw Wrong() }
      _ = try await visit.events()
      #expect(second != first)
      #expect(try await visit.payments().first?["state"] == "cancelled")
    }
  }

  @Test(arguments: [
    ("request_lost", 0), ("answer_lost", 1), ("answer_garbled", 1), ("answer_truncated", 1), ("failed_before", 0),
    ("failed_after", 1), ("in_progress", 0),
  ])
  func `a fault that may have moved money leaves the outcome unknown, and a repeat finds it`(
    fault: String, payments: Int
  ) async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.fault(fault)
      guard case .unknown = try await visit.authorize("R1", cryptogram: "AAAA") else { throw Wrong() }
      #expect(try await visit.payments().count == payments)
      guard case .approved = try await visit.authorize("R1", cryptogram: "AAAA") else { throw Wrong() }
      #expect(try await visit.payments().count == 1)
    }
  }

  @Test(arguments: [("too_many_requests", "HTTP 429"), ("unavailable", "703")])
  func `a fault that moved nothing is declined for now`(fault: String, code: String) async throws {
    try await AdyenVisit.run { visit async throws in
      let name = try await visit.held("R1")
      let decline = AcquirerAnswer.declined(Decline(reason: .issuerUnavailable, code: code))
      try await visit.fault(fault)
      #expect(try await visit.authorize("R2") == decline)
      try await visit.fault(fault)
      #expect(try await visit.capture("C1", name, 500) == decline)
      guard case .pending = try await visit.capture("C1", name, 500) else { throw Wrong() }
    }
  }

  @Test func `a capture that fails after it was done is answered twice`() async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1", 2093)
      _ = try await visit.capture("C1", name, 2093)
      let events = try await visit.events()
      #expect(Self.outcomes(events) == ["R1 true", "C1 true", "C1 returned"])
      #expect(Set(events.map(\.id)).count == 3)
    }
  }

  @Test func `a refund that comes back takes the first answer back`() async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      _ = try await visit.capture("C1", name, 1250)
      _ = try await visit.events()
      _ = try await visit.refund("F1", name, 300)
      #expect(Self.outcomes(try await visit.events()) == ["F1 true"])
      try await visit.dashboard("failures", name)
      #expect(Self.outcomes(try await visit.events()) == ["F1 returned"])
    }
  }

  @Test(
    arguments: [
      ("refunds", MoneyMovement.refund, 300), ("chargebacks", .chargeback, 400),
      ("chargeback-reversals", .chargebackReversed, 400),
    ] as [(String, MoneyMovement, Int64)])
  func `what no operation of ours asked for is a movement of the payment's money`(
    act: String, movement: MoneyMovement, value: Int64
  ) async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      _ = try await visit.capture("C1", name, 1250)
      _ = try await visit.events()
      try await visit.dashboard(act, name, value)
      let event = try #require(try await visit.events().last)
      #expect(event.content == .movement(movement) && event.subject == .authorization(name))
      #expect(event.amount == .eur(value))
    }
  }

  @Test(arguments: [("cancels", MoneyMovement.void), ("expiries", .holdExpired), ("captures", .capture)])
  func `a hold that ends without us is a movement too`(act: String, movement: MoneyMovement) async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      try await visit.dashboard(act, name)
      let event = try #require(try await visit.events().last)
      #expect(event.content == .movement(movement) && event.subject == .authorization(name))
      #expect(event.amount == .eur(1250))
    }
  }

  @Test func `events come lost, twice, out of order and together, and are told apart by their names`() async throws {
    try await AdyenVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      try await visit.fault("event_lost")
      _ = try await visit.events()
      #expect(try await visit.events().isEmpty)
      _ = try await visit.capture("C1", name, 100)
      try await visit.fault("event_twice")
      let twice = try await visit.events()
      #expect(twice.count == 2 && Set(twice).count == 1)
      for reference in ["C2", "C3"] { _ = try await visit.capture(reference, name, 100) }
      try await visit.fault("events_reversed")
      #expect(Self.outcomes(try await visit.events()) == ["C3 true", "C2 true"])
      for reference in ["C4", "C5"] { _ = try await visit.capture(reference, name, 100) }
      try await visit.fault("events_together")
      let batches = try await visit.batches()
      #expect(batches.count == 1)
      #expect(Self.outcomes(batches[0].events) == ["C4 true", "C5 true"])
      #expect(batches[0].acknowledgement == Acknowledgement(contentType: "text/plain", body: "[accepted]"))
    }
  }

  @Test func `credentials are checked without moving anything`() async throws {
    try await AdyenVisit.run { visit async throws in
      #expect(try await visit.acquirer().checkCredentials(.after(TestRun.whole)) == .accepted)
      for acquirer in [try visit.acquirer(apiKey: "wrong"), try visit.acquirer(merchantAccount: "Other")] {
        guard case .refused = await acquirer.checkCredentials(.after(TestRun.whole)) else { throw Wrong() }
      }
      #expect(try await visit.payments().isEmpty)
    }
  }

  @Test func `no card data and no credential is in any transcript`() async throws {
    try await AdyenVisit.run { visit async throws in
      let cryptogram = "AgAAAAAAAIR8CQrXcIhbQAAAAAA="
      _ = try await visit.authorize("R1", cryptogram: cryptogram)
      _ = try await visit.authorize("R2", 1250, try await visit.sealed(1250))
      _ = try await visit.capture("C1", try await visit.held("R3"), 500)
      _ = try await visit.reverse("R3")
      let text = visit.transcripts.text
      for reference in ["R1", "R2", "C1.capture", "Authorised", "received"] { #expect(text.contains(reference)) }
      let secrets = [
        "4761739000000012", cryptogram, AdyenVisit.account.apiKey, AdyenVisit.hmacKey, "2031", "EC_v1", "eyJ",
      ]
      for secret in secrets { #expect(!text.contains(secret), "\(secret)") }
    }
  }

  private static func outcomes(_ events: [AcquirerEvent]) -> [String] {
    events.map { event in
      if case .operation(let reference) = event.subject, case .returned = event.content {
        return "\(reference) returned"
      }
      return event.outcome.map { "\($0.0) \($0.1)" } ?? "?"
    }
  }
}

private struct Wrong: Error {}

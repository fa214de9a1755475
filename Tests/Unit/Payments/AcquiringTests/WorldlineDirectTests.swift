import AcquirerSandbox
import Acquiring
import DirectWire
import HTTPTransport
import ProviderEmulators
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// The connector and the emulated Worldline Direct together, over HTTP.
@Suite struct `Paying through Worldline Direct` {
  @Test func `authorizes, captures in parts and refunds, and events tell what was pending`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      #expect(name.hasSuffix("_0"))
      guard case .pending(let first) = try await visit.capture("C1", name, 500) else { throw Wrong() }
      guard case .pending(let second) = try await visit.capture("C2", name, 750) else { throw Wrong() }
      #expect([first, second].map(\.acquirerReference) == ["_1", "_2"].map { name.dropLast(2) + $0 })
      #expect(Self.outcomes(try await visit.events()) == ["R1 true", "C1 true", "C2 true"])
      guard case .pending = try await visit.refund("F1", name, 300) else { throw Wrong() }
      let events = try await visit.events()
      #expect(Self.outcomes(events) == ["F1 true"] && events.first?.amount == .eur(300))
      // A payment of which a part was given back is captured still.
      #expect(try await visit.state() == .captured)
      _ = try await visit.refund("F2", name, 950)
      #expect(Self.outcomes(try await visit.events()) == ["F2 true"])
      #expect(try await visit.state() == .refunded)
    }
  }

  @Test func `what exceeds the payment is declined for good`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      let name = try await visit.held("R1")
      let declined = AcquirerAnswer.declined(Decline(reason: .other, code: "50002015"))
      #expect(try await visit.capture("C1", name, 1251) == declined)
      #expect(try await visit.refund("F1", name, 1) == declined)
      _ = try await visit.capture("C2", name, 1250)
      #expect(try await visit.capture("C3", name, 1) == declined)
      #expect(try await visit.void("V1", name, 1) == declined)
    }
  }

  @Test func `a part is cancelled, the rest captured, and a final capture releases what is left`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      guard case .approved(let void) = try await visit.void("V1", name, 250) else { throw Wrong() }
      #expect(void.acquirerReference == name.dropLast(2) + "_1")
      #expect(try await visit.state() == .pendingCapture)
      #expect(Self.outcomes(try await visit.events()) == ["R1 true", "V1 true"])
      guard case .pending = try await visit.capture("C1", name, 400, isFinal: true) else { throw Wrong() }
      guard case .declined = try await visit.capture("C2", name, 1) else { throw Wrong() }
    }
  }

  @Test func `a whole void ends the hold, and says so to a capture`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      let name = try await visit.held("R1")
      guard case .approved = try await visit.void("V1", name, 1250, isWhole: true) else { throw Wrong() }
      #expect(try await visit.state() == .cancelled)
      #expect(
        try await visit.capture("C1", name, 1250) == .declined(Decline(reason: .holdEnded, code: "50002015")))
    }
  }

  @Test func `a sealed payment token goes through as Worldline documents it, and is opened there`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      let token = try await visit.sealed(1250)
      guard case .approved = try await visit.authorize("R1", 1250, .sealed(token)) else { throw Wrong() }
      let other = try await visit.sealed(1)
      #expect(
        try await visit.authorize("R2", 1250, .sealed(other))
          == .declined(Decline(reason: .configuration, code: "30131001")))
      // A cryptogram is accepted once, in whatever envelope.
      #expect(
        try await visit.authorize("R3", 1250, .sealed(token))
          == .declined(Decline(reason: .doNotHonor, code: "30051001")))
    }
  }

  @Test(arguments: [
    ("visa-insufficient-funds", DeclineReason.insufficientFunds, "30511001"),
    ("visa-lost", .lostOrStolen, "30411001"), ("mastercard-expired", .expiredCard, "30541001"),
    ("amex-do-not-honour", .doNotHonor, "30051001"),
  ])
  func `a card's refusal has its reason, also in its event`(
    card: String, reason: DeclineReason, code: String
  ) async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      try await visit.subscribe()
      let decline = AcquirerAnswer.declined(Decline(reason: reason, code: code))
      #expect(try await visit.authorize("R1", card: card) == decline)
      let event = try #require(try await visit.events().first)
      #expect(event.content == .answer(decline) && event.subject == .operation(AttemptReference("R1")))
    }
  }

  @Test func `the amounts that Worldline's test platform refuses are refused`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      try await visit.subscribe()
      #expect(
        try await visit.authorize("R1", 1302) == .declined(Decline(reason: .doNotHonor, code: "30041001")))
      let captured = try await visit.held("R2", 1309)
      guard case .pending = try await visit.capture("C1", captured, 1309) else { throw Wrong() }
      let refunded = try await visit.held("R3", 1303)
      _ = try await visit.capture("C2", refunded, 1303)
      #expect(Self.outcomes(try await visit.events()).suffix(2) == ["C1 false", "C2 true"])
      guard case .pending = try await visit.refund("F1", refunded, 1303) else { throw Wrong() }
      #expect(Self.outcomes(try await visit.events()) == ["F1 false"])
    }
  }

  @Test func `an authorization that is answered later is pending until its event, or an inquiry by its name`()
    async throws
  {
    try await WorldlineDirectVisit.run { visit async throws in
      try await visit.subscribe()
      guard case .pending(let pending) = try await visit.authorize("R1", card: "visa-pending") else { throw Wrong() }
      let name = pending.acquirerReference
      #expect(try await visit.inquire("R1", .authorization, called: name, 1250) == .answer(.pending(pending)))
      let event = try #require(try await visit.events().first)
      guard case .answer(.approved(let approval)) = event.content else { throw Wrong() }
      #expect(approval.acquirerReference == name && event.subject == .operation(AttemptReference("R1")))
      #expect(try await visit.inquire("R1", .authorization, called: name, 1250) == .answer(.approved(approval)))
    }
  }

  @Test func `operations are found by Worldline's name and never by our reference`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      let name = try await visit.held("R1")
      guard case .pending(let capture) = try await visit.capture("C1", name, 500) else { throw Wrong() }
      let called = capture.acquirerReference
      #expect(try await visit.inquire("C1", .capture, called: called, 500) == .answer(.pending(capture)))
      _ = try await visit.service.deliverEvents(after: .zero, by: .unavailable)
      let done = Inquiry.answer(.approved(Approval(acquirerReference: called)))
      #expect(try await visit.inquire("C1", .capture, called: called, 500) == done)
      guard case .unavailable = try await visit.inquire("C1", .capture, called: called, 501) else { throw Wrong() }
      for kind in InquiredOperation.allCases {
        guard case .unavailable = try await visit.inquire("C1", kind, called: nil, 500) else { throw Wrong() }
      }
    }
  }

  @Test func `the same key is done once, and its answer comes again with the time of the first`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      let first = try await visit.authorize("R1", cryptogram: "AAAA")
      #expect(try await visit.authorize("R1", cryptogram: "AAAA") == first)
      guard case .approved(let approval) = first else { throw Wrong() }
      let name = approval.acquirerReference
      #expect(try await visit.capture("C1", name, 500) == visit.capture("C1", name, 500))
      #expect(try await visit.payments().first?.operations?.count == 2)
      // The first outcome comes again whatever the contents: it is about another amount, and so it is none of ours.
      guard case .unknown = try await visit.authorize("R1", 1251, cryptogram: "AAAA") else { throw Wrong() }
      #expect(try await visit.payments().count == 1)
      let body = Array(#"{"amount":1}"#.utf8)
      let answers = [
        try await visit.call("POST", "/payments/\(name)/capture", body, key: "K1"),
        try await visit.call("POST", "/payments/\(name)/capture", Array("{}".utf8), key: "K1"),
      ]
      #expect(answers[0].header(Idempotence.requestTimestamp) == nil && answers[0].body == answers[1].body)
      #expect(answers[1].header(Idempotence.requestTimestamp).flatMap { Int64($0) } != nil)
    }
  }

  @Test(arguments: [
    ("request_lost", 0), ("answer_lost", 1), ("answer_garbled", 1), ("answer_truncated", 1), ("failed_before", 0),
    ("failed_after", 1), ("in_progress", 0), ("unavailable", 0),
  ])
  func `a fault that may have moved money leaves the outcome unknown, and a repeat finds it`(
    fault: String, payments: Int
  ) async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      try await visit.fault(fault)
      guard case .unknown = try await visit.authorize("R1", cryptogram: "AAAA") else { throw Wrong() }
      #expect(try await visit.payments().count == payments)
      guard case .approved = try await visit.authorize("R1", cryptogram: "AAAA") else { throw Wrong() }
      #expect(try await visit.payments().count == 1)
    }
  }

  @Test func `too many requests are declined for now`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      let name = try await visit.held("R1")
      try await visit.fault("too_many_requests")
      #expect(
        try await visit.capture("C1", name, 500) == .declined(Decline(reason: .issuerUnavailable, code: "HTTP 429")))
      guard case .pending = try await visit.capture("C1", name, 500) else { throw Wrong() }
    }
  }

  @Test(arguments: [("captures", MoneyMovement.capture), ("cancels", .void)])
  func `what a person does in the portal is found by Worldline's name, or moves the authorization's money`(
    act: String, movement: MoneyMovement
  ) async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      try await visit.portal(act, name, 300)
      let event = try #require(try await visit.events().last)
      #expect(
        event.subject
          == .operationOfAnyone(called: name.dropLast(2) + "_1", of: name, moving: movement))
      #expect(event.amount == .eur(300) && event.asMovement?.content == .movement(movement))
    }
  }

  @Test func `events come lost, twice and out of order, and are told apart by their ids`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      try await visit.subscribe()
      _ = try await visit.held("R1")
      try await visit.fault("event_lost")
      #expect(try await visit.events().isEmpty)
      _ = try await visit.held("R2")
      try await visit.fault("event_twice")
      let twice = try await visit.events()
      #expect(twice.count == 2 && Set(twice).count == 1)
      for reference in ["R3", "R4"] { _ = try await visit.held(reference) }
      try await visit.fault("events_reversed")
      #expect(Self.outcomes(try await visit.events()) == ["R4 true", "R3 true"])
    }
  }

  @Test func `credentials are checked without moving anything`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      #expect(try await visit.acquirer().checkCredentials(.after(TestRun.whole)) == .accepted)
      let late = WallClock { WallClock.system.now().adding(.seconds(-400)) }
      let others = [
        try visit.acquirer(secret: "wrong"), try visit.acquirer(merchant: "Other"), try visit.acquirer(clock: late),
      ]
      for acquirer in others {
        guard case .refused = await acquirer.checkCredentials(.after(TestRun.whole)) else { throw Wrong() }
      }
      #expect(try await visit.payments().isEmpty)
    }
  }

  @Test func `no card data and no credential is in any transcript`() async throws {
    try await WorldlineDirectVisit.run { visit async throws in
      let cryptogram = "AgAAAAAAAIR8CQrXcIhbQAAAAAA="
      _ = try await visit.authorize("R1", cryptogram: cryptogram)
      _ = try await visit.authorize("R2", 1250, .sealed(try await visit.sealed(1250)))
      _ = try await visit.capture("C1", try await visit.held("R3"), 500)
      let text = visit.transcripts.text
      for reference in ["R1", "R2", "C1.capture", "PENDING_CAPTURE", "CAPTURE_REQUESTED"] {
        #expect(text.contains(reference))
      }
      let account = WorldlineDirectVisit.account
      let dpan = try #require(SandboxCards.card(id: "visa-debit")).dpan.revealed
      for secret in [dpan, cryptogram, account.secretAPIKey, account.webhookSecret, "1231", "v1HMAC", "eyJ"] {
        #expect(!text.contains(secret), "\(secret)")
      }
    }
  }

  private static func outcomes(_ events: [AcquirerEvent]) -> [String] {
    events.map { event in event.outcome.map { "\($0.0) \($0.1)" } ?? "?" }
  }
}

private struct Wrong: Error {}

import Acquiring
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// What goes wrong between the connector and the emulated Worldline Acquiring.
@Suite struct `Worldline Acquiring's faults` {
  @Test(arguments: [
    ("request_lost", false), ("answer_lost", true), ("answer_garbled", true), ("answer_truncated", true),
    ("failed_before", false), ("failed_after", true), ("unavailable", false), ("in_progress", false),
  ])
  func `leave an authorization unknown, and undone it holds nothing`(fault: String, isDone: Bool) async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      try await visit.inject(fault)
      guard case .unknown = try await visit.authorize("R1") else { throw Wrong() }
      #expect(try await visit.payments().count == (isDone ? 1 : 0))
      #expect(await visit.reverse("R1") == (isDone ? .reversed : .nothingFound))
      #expect(try await visit.payments().allSatisfy { $0["authorized"] == 0 })
    }
  }

  @Test(arguments: ["answer_lost", "answer_garbled", "answer_truncated", "failed_after"])
  func `leave a capture unknown, and a repeat under its reference takes nothing twice`(fault: String) async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let name = try await visit.held("R1")
      try await visit.inject(fault)
      guard case .unknown = await visit.capture("C1", name, 500) else { throw Wrong() }
      #expect(await visit.capture("C1", name, 500) == .approved(Approval(acquirerReference: "C1")))
      #expect(try await visit.payments().first?["captured"] == 500)
    }
  }

  @Test func `that come too often are retried, because nothing was done`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      try await visit.inject("too_many_requests")
      let answer = try await visit.authorize("R1")
      #expect(answer == .declined(Decline(reason: .issuerUnavailable, code: "HTTP 429")))
      #expect(try await visit.payments().isEmpty)
    }
  }

  @Test func `a conflict over a capture that was done is resolved by asking`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let name = try await visit.held("R1")
      #expect(await visit.capture("C1", name, 500) == .approved(Approval(acquirerReference: "C1")))
      try await visit.inject("in_progress")
      #expect(await visit.capture("C1", name, 500) == .approved(Approval(acquirerReference: "C1")))
    }
  }

  @Test func `a conflict over a capture that was not done leaves it unknown`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let name = try await visit.held("R1")
      try await visit.inject("in_progress")
      guard case .unknown = await visit.capture("C1", name, 500) else { throw Wrong() }
      #expect(try await visit.payments().first?["captured"] == 0)
    }
  }

  @Test func `an inquiry that gets no answer that makes sense finds nothing out`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      let name = try await visit.held("R1")
      _ = await visit.capture("C1", name, 500)
      for fault in ["failed_before", "answer_garbled", "answer_truncated", "too_many_requests", "answer_lost"] {
        try await visit.inject(fault)
        guard case .unavailable = await visit.inquire(.capture, "C1", 500, of: name) else { throw Wrong() }
      }
      guard case .unavailable = await visit.inquire(.capture, "C1", 500, of: "pay:ch:etu:none") else { throw Wrong() }
    }
  }

  @Test func `credentials that are wrong are a matter of configuration, and nothing is sent`() async throws {
    try await WorldlineAcquiringVisit.run(secret: "another") { visit async throws in
      #expect(
        try await visit.authorize("R1") == .declined(Decline(reason: .configuration, code: "invalid_client")))
      guard case .refused = await visit.acquirer.checkCredentials(.after(TestRun.whole)) else { throw Wrong() }
    }
  }

  @Test func `an issuer of tokens that is down leaves nothing unknown`() async throws {
    try await WorldlineAcquiringVisit.run { visit async throws in
      try await visit.inject("tokens_unavailable")
      guard case .notSent = try await visit.authorize("R1") else { throw Wrong() }
      try await visit.inject("client_refused")
      #expect(
        try await visit.authorize("R2") == .declined(Decline(reason: .configuration, code: "invalid_client")))
      _ = try await visit.held("R3")
      #expect(await visit.acquirer.checkCredentials(.after(TestRun.whole)) == .accepted)
    }
  }
}

private struct Wrong: Error {}

import AcquirerSandbox
import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// What the connector makes of a Stripe that fails, and how it finds out what became of an operation.
@Suite struct `When Stripe fails` {
  @Test(arguments: ["request_lost", "answer_lost", "answer_garbled", "answer_truncated", "unavailable"])
  func `a call without an answer is unknown, and the same call again is done once`(fault: String) async throws {
    try await StripeVisit.run { visit async throws in
      try await visit.fault(fault)
      #expect(try await visit.authorize("R1", cryptogram: "AAAA").isUnknown)
      let name = try #require(try await visit.authorize("R1", cryptogram: "AAAA").name)
      for kind in ["capture", "refund"] {
        try await visit.fault(fault)
        let ask = {
          kind == "capture"
            ? try await visit.capture("C1", name, 1250, isWhole: true) : try await visit.refund("F1", name, 1250)
        }
        #expect(try await ask().isUnknown)
        #expect(try await ask().name != nil)
      }
      let rows = try await visit.payments()
      #expect(rows.map { $0["received"] } == [1250] && rows.map { $0["refunded"] } == [1250])
    }
  }

  @Test func `a failure of Stripe's own is kept under the key, and an inquiry finds what was done`() async throws {
    try await StripeVisit.run { visit async throws in
      try await visit.fault("failed_after")
      #expect(try await visit.authorize("R1", cryptogram: "AAAA").isUnknown)
      // The trap: the same key gets the same failure for a day.
      #expect(try await visit.authorize("R1", cryptogram: "AAAA").isUnknown)
      let name = try #require(try await visit.inquire(.authorization, "R1").name)
      try await visit.fault("failed_after")
      #expect(try await visit.capture("C1", name, 500).isUnknown)
      #expect(try await visit.inquire(.capture, "C1", 500, of: name).name == name)
      #expect(try await visit.inquire(.capture, "C2", 500, of: name) == .notFound)
      try await visit.fault("failed_after")
      #expect(try await visit.refund("F1", name, 500).isUnknown)
      #expect(try await visit.inquire(.refund, "F1", 500, of: name).name?.hasPrefix("re_") == true)
      #expect(try await visit.inquire(.refund, "F2", 500, of: name) == .notFound)
    }
  }

  @Test(arguments: [("too_many_requests", true), ("in_progress", false), ("failed_before", false)])
  func `nothing is done, and only for the rate is that certain`(fault: String, isCertain: Bool) async throws {
    try await StripeVisit.run { visit async throws in
      try await visit.fault(fault)
      let answer = try await visit.authorize("R1", cryptogram: "AAAA")
      if case .notSent = answer { #expect(isCertain) } else { #expect(!isCertain && answer.isUnknown) }
      #expect(try await visit.payments().isEmpty)
      #expect(try await visit.authorize("R1", cryptogram: "AAAA").name != nil)
    }
  }

  @Test(arguments: ["answer_lost", "answer_garbled", "too_many_requests", "failed_before"])
  func `the first step that fails has moved nothing`(fault: String) async throws {
    try await StripeVisit.run { visit async throws in
      let request = visit.request("R1", .eur(1250), try await visit.sealed(.eur(1250)))
      try await visit.fault(fault)
      guard case .failed? = try await visit.acquirer().prepare?(request, .after(TestRun.whole)) else { throw Wrong() }
      #expect(try await visit.payments().isEmpty)
    }
  }

  @Test func `an authorization is found in the listing before a search shows it`() async throws {
    try await StripeVisit.run(searchLag: .seconds(3_600)) { visit async throws in
      for number in 1...3 { _ = try await visit.held("R\(number)") }
      let name = try await visit.held("wanted")
      #expect(try await visit.inquire(.authorization, "wanted").name == name)
      #expect(try await visit.inquire(.authorization, "never") == .notFound)
      // Of another amount it is not the answer; without its time it cannot be looked for.
      #expect(try await visit.inquire(.authorization, "wanted", 1251).isUnavailable)
      #expect(try await visit.inquire(.authorization, "never", sentAgo: nil).isUnavailable)
      #expect(try await visit.inquire(.authorization, "wanted", sentAgo: 86_400) == .notFound)
    }
  }

  @Test func `a search finds the authorization whenever it was sent, and its state is read anew`() async throws {
    try await StripeVisit.run(searchLag: .zero) { visit async throws in
      let name = try await visit.held("R1")
      #expect(try await visit.inquire(.authorization, "R1", sentAgo: nil).name == name)
      #expect(visit.transcripts.text.contains("/v1/payment_intents/search?query=metadata%5B"))
      #expect(visit.transcripts.text.contains("/v1/payment_intents/\(name)?expand%5B0%5D=latest_charge"))
    }
  }

  @Test func `the listing is read to its end`() async throws {
    try await StripeVisit.run { visit async throws in
      let name = try await visit.held("first")
      for number in 1...101 { _ = try await visit.held("R\(number)") }
      #expect(try await visit.inquire(.authorization, "first").name == name)
    }
  }

  @Test(arguments: ["answer_garbled", "unavailable", "too_many_requests", "answer_truncated"])
  func `an inquiry that fails is asked again later`(fault: String) async throws {
    try await StripeVisit.run { visit async throws in
      let name = try await visit.held("R1")
      try await visit.fault(fault)
      #expect(try await visit.inquire(.void, "V1", of: name).isUnavailable)
      #expect(try await visit.inquire(.void, "V1", of: name) == .notFound)
    }
  }

  @Test func `a void is found by the intent's state, and so is what ended otherwise`() async throws {
    try await StripeVisit.run { visit async throws in
      let voided = try await visit.held("R1")
      try await visit.fault("answer_lost")
      #expect(try await visit.void("V1", voided).isUnknown)
      #expect(try await visit.inquire(.void, "V1", of: voided).name == voided)
      let expired = try await visit.held("R2")
      try await visit.dashboard("expiries", expired)
      let end = AcquirerAnswer.declined(Decline(reason: .holdEnded, code: "canceled"))
      #expect(try await visit.inquire(.void, "V2", of: expired) == .answer(end))
      #expect(try await visit.inquire(.capture, "C2", of: expired) == .answer(end))
      #expect(try await visit.inquire(.authorization, "R2") == .answer(end))
      let captured = try await visit.held("R3")
      try await visit.dashboard("captures", captured)
      let taken = AcquirerAnswer.declined(Decline(reason: .other, code: "succeeded"))
      #expect(try await visit.inquire(.void, "V3", of: captured) == .answer(taken))
      #expect(try await visit.inquire(.capture, "C3", of: captured) == .answer(taken))
    }
  }

  private struct Wrong: Error {}
}

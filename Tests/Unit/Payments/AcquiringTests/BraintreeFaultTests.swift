import Acquiring
import TenderPayments
import TenderTesting
import Testing

/// What Braintree's answers do to a payment when they are lost, late, broken or doubled.
@Suite struct `Faults of Braintree` {
  @Test(arguments: ["answer_lost", "answer_late", "answer_truncated", "failed_after"])
  func `an operation that was done without a sound answer is unknown, and found afterwards`(
    fault: String
  ) async throws {
    try await BraintreeVisit.run { visit async throws in
      // The emulator's late answer comes after 50 ms.
      let isAnswered = fault == "answer_late"
      try await visit.misbehave(fault)
      #expect(try await visit.hold("R1", .eur(1000)).isUnknown != isAnswered)
      let sale = try #require(await visit.inquire(.authorization, "R1", .eur(1000)).name)
      try await visit.misbehave(fault)
      #expect(await visit.capture("C1", sale, 600).isUnknown != isAnswered)
      let part = try #require(await visit.inquire(.capture, "C1", .eur(600), of: sale).name)
      try await visit.settle(part)
      try await visit.misbehave(fault)
      #expect(await visit.refund("F1", sale, of: part, 200).isUnknown != isAnswered)
      #expect(await visit.inquire(.refund, "F1", .eur(200), of: sale, capture: part).name != nil)
      try await visit.misbehave(fault)
      #expect(await visit.void("V1", sale, 400).isUnknown != isAnswered)
      #expect(await visit.inquire(.void, "V1", .eur(400), of: sale).name == sale)
      #expect(await visit.inquire(.capture, "C1", .eur(600), of: sale).name == part)
    }
  }

  @Test(arguments: ["request_lost", "page", "unavailable"])
  func `an operation that was not done and has no sound answer is unknown, and not found`(
    fault: String
  ) async throws {
    try await BraintreeVisit.run { visit async throws in
      try await visit.misbehave(fault)
      #expect(try await visit.hold("R1", .eur(1000)).isUnknown)
      #expect(await visit.inquire(.authorization, "R1", .eur(1000)) == .notFound)
      let sale = try await visit.held("R2", 1000)
      try await visit.misbehave(fault)
      #expect(await visit.capture("C1", sale, 600).isUnknown)
      #expect(await visit.inquire(.capture, "C1", .eur(600), of: sale) == .notFound)
      try await visit.misbehave(fault)
      #expect(await visit.void("V1", sale, 1000).isUnknown)
      #expect(await visit.inquire(.void, "V1", .eur(1000), of: sale) == .notFound)
    }
  }

  @Test func `above the rate nothing was sent`() async throws {
    try await BraintreeVisit.run { visit async throws in
      try await visit.misbehave("too_many_requests")
      guard case .notSent = try await visit.hold("R1", .eur(1000)) else { throw BraintreeVisit.NotApproved() }
      #expect(await visit.inquire(.authorization, "R1", .eur(1000)) == .notFound)
    }
  }

  @Test(arguments: ["answer_lost", "answer_truncated", "page", "too_many_requests", "unavailable", "failed_after"])
  func `an inquiry that gets no sound answer says nothing`(fault: String) async throws {
    try await BraintreeVisit.run { visit async throws in
      let sale = try await visit.held("R1", 1000)
      for kind in InquiredOperation.allCases {
        try await visit.misbehave(fault)
        #expect(await visit.inquire(kind, "X1", .eur(1000), of: sale).isUnavailable, "\(kind)")
      }
      try await visit.misbehave(fault)
      guard case .unavailable = await visit.acquirer.checkCredentials(.after(TestRun.whole)) else {
        throw BraintreeVisit.NotApproved()
      }
    }
  }

  @Test func `an authorization that arrives twice is authorized once`() async throws {
    try await BraintreeVisit.run { visit async throws in
      try await visit.misbehave("request_twice")
      let sale = try #require(try await visit.hold("R1", .eur(1000)).name)
      // The second one was declined, because its cryptogram was used.
      #expect(await visit.inquire(.authorization, "R1", .eur(1000)).name == sale)
    }
  }

  @Test func `a part that was captured twice is not reported as one`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let sale = try await visit.held("R1", 1000)
      try await visit.misbehave("request_twice")
      #expect(await visit.capture("C1", sale, 300).name != nil)
      #expect(await visit.inquire(.capture, "C1", .eur(300), of: sale).isUnavailable)
    }
  }

  @Test func `a rejected duplicate is unknown, and the first one is found`() async throws {
    try await BraintreeVisit.run(duplicates: .seconds(30)) { visit async throws in
      let sale = try await visit.held("R1", 1000)
      #expect(try await visit.hold("R1", .eur(1000)).isUnknown)
      #expect(await visit.inquire(.authorization, "R1", .eur(1000)).name == sale)
    }
  }

  @Test(arguments: ["answer_lost", "answer_truncated", "page", "unavailable"])
  func `a first step without a sound answer moved no money`(fault: String) async throws {
    try await BraintreeVisit.run { visit async throws in
      let request = visit.request("R1", .eur(1000), try visit.sealed(.eur(1000)))
      try await visit.misbehave(fault)
      guard case .failed? = await visit.acquirer.prepare?(request, .after(TestRun.whole)) else {
        throw BraintreeVisit.NotApproved()
      }
      #expect(await visit.inquire(.authorization, "R1", .eur(1000)) == .notFound)
    }
  }

  @Test(arguments: ["answer_lost", "answer_truncated", "failed_after"])
  func `a second step without a sound answer is unknown, and found`(fault: String) async throws {
    try await BraintreeVisit.run { visit async throws in
      var request = visit.request("R1", .eur(1000), try visit.sealed(.eur(1000)))
      guard case .ready(let name)? = await visit.acquirer.prepare?(request, .after(TestRun.whole)) else {
        throw BraintreeVisit.NotApproved()
      }
      request.prepared = name
      try await visit.misbehave(fault)
      #expect(await visit.acquirer.authorize(request, .after(TestRun.whole)).isUnknown)
      #expect(await visit.inquire(.authorization, "R1", .eur(1000)).name != nil)
    }
  }
}

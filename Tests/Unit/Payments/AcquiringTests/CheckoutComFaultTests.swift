import Acquiring
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// What Checkout.com's answers do to a payment when they are lost, late, broken or doubled.
@Suite struct `Faults of Checkout.com` {
  @Test(arguments: ["answer_lost", "answer_garbled", "answer_truncated", "failed_after"])
  func `an operation that was done without a sound answer is unknown, and found afterwards`(
    fault: String
  ) async throws {
    try await CheckoutComVisit.run { visit async throws in
      try await visit.fault(fault)
      #expect(try await visit.authorize("R1").isUnknown)
      let name = try #require(try await visit.inquire(.authorization, "R1").name)
      for (kind, reference, units) in [
        (InquiredOperation.capture, "C1", Int64(600)), (.refund, "F1", 200), (.void, "V1", 650),
      ] {
        try await visit.fault(fault)
        #expect(try await Self.act(visit, kind, reference, name, units).isUnknown, "\(kind)")
        try await visit.process()
        #expect(try await visit.inquire(kind, reference, units, of: name).name != nil, "\(kind)")
      }
    }
  }

  @Test(arguments: ["request_lost", "unavailable", "failed_before"])
  func `an operation that was not done and has no sound answer is unknown, and not found`(
    fault: String
  ) async throws {
    try await CheckoutComVisit.run { visit async throws in
      try await visit.fault(fault)
      #expect(try await visit.authorize("R1").isUnknown)
      #expect(try await visit.inquire(.authorization, "R1") == .notFound)
      let name = try await visit.held("R2")
      for kind in [InquiredOperation.capture, .void] {
        try await visit.fault(fault)
        #expect(try await Self.act(visit, kind, "X1", name, 1250).isUnknown)
        try await visit.process()
        #expect(try await visit.inquire(kind, "X1", 1250, of: name) == .notFound)
      }
    }
  }

  @Test func `a repeat of what was done and not answered gets its first answer`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      let name = try await visit.held("R1")
      try await visit.fault("answer_lost")
      #expect(try await visit.capture("C1", name, 600).isUnknown)
      let action = try #require(try await visit.capture("C1", name, 600).pendingName)
      try await visit.process()
      #expect(try await visit.inquire(.capture, "C1", 600, of: name).name == action)
      #expect(try await visit.payment(name)["balances"]?["total_captured"] == 600)
    }
  }

  /// Pesos are counted in hundredths on the wire.
  @Test func `an amount that its units do not hold is not sent`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      let peso = try #require(Currency(code: "CLP"))
      let answer = try await visit.authorize("R1", Amount(minorUnits: .max, currency: peso))
      #expect(answer == .notTaken("amount_too_large"))
      let capture = FollowUpRequest(
        reference: AttemptReference("C1"), authorization: "pay_1", amount: Amount(minorUnits: .max / 2, currency: peso))
      #expect(try await visit.acquirer().capture(capture, .after(TestRun.whole)) == .notTaken("amount_too_large"))
    }
  }

  @Test func `above the rate nothing was sent`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      try await visit.fault("too_many_requests")
      guard case .notSent = try await visit.authorize("R1") else { throw Wrong() }
      #expect(try await visit.inquire(.authorization, "R1") == .notFound)
    }
  }

  @Test func `a request that arrives twice is done once`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      try await visit.fault("request_twice")
      let name = try await visit.held("R1")
      try await visit.fault("request_twice")
      _ = try await visit.capture("C1", name, 300)
      try await visit.process()
      #expect(try await visit.count("R1") == 1)
      #expect(try await visit.payment(name)["balances"]?["total_captured"] == 300)
    }
  }

  @Test(arguments: ["answer_lost", "answer_garbled", "too_many_requests", "unavailable", "failed_after"])
  func `an inquiry that gets no sound answer says nothing`(fault: String) async throws {
    try await CheckoutComVisit.run { visit async throws in
      let name = try await visit.held("R1")
      for kind in InquiredOperation.allCases {
        try await visit.fault(fault)
        #expect(try await visit.inquire(kind, "R1", of: name).isUnavailable, "\(kind)")
      }
      try await visit.fault(fault)
      let check = try await visit.acquirer().checkCredentials(.after(TestRun.whole))
      guard case .unavailable = check else { throw Wrong() }
    }
  }

  @Test(arguments: ["answer_lost", "answer_garbled", "answer_truncated", "unavailable", "too_many_requests"])
  func `a first step without a sound answer moved no money`(fault: String) async throws {
    try await CheckoutComVisit.run { visit async throws in
      let request = visit.request("R1", .eur(1250), try await visit.sealed(1250))
      try await visit.fault(fault)
      guard case .failed = try await visit.prepare(request) else { throw Wrong() }
      #expect(try await visit.inquire(.authorization, "R1") == .notFound)
    }
  }

  @Test func `a second step without a sound answer is unknown, and found`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      var request = visit.request("R1", .eur(1250), try await visit.sealed(1250))
      guard case .ready(let token) = try await visit.prepare(request) else { throw Wrong() }
      request.prepared = token
      try await visit.fault("answer_lost")
      #expect(try await visit.acquirer().authorize(request, .after(TestRun.whole)).isUnknown)
      #expect(try await visit.inquire(.authorization, "R1").name != nil)
    }
  }

  @Test func `two approved payments under one reference are a person's to look at`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      _ = try await visit.held("R1")
      visit.clock.advance(.seconds(86_401))
      _ = try await visit.held("R1")
      #expect(try await visit.inquire(.authorization, "R1").isUnavailable)
    }
  }

  private static func act(
    _ visit: CheckoutComVisit, _ kind: InquiredOperation, _ reference: String, _ name: String, _ units: Int64
  ) async throws -> AcquirerAnswer {
    switch kind {
    case .capture: try await visit.capture(reference, name, units)
    case .refund: try await visit.refund(reference, name, units)
    default: try await visit.void(reference, name, units)
    }
  }
}

private struct Wrong: Error {}

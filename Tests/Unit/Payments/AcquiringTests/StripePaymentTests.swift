import AcquirerSandbox
import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// The connector and the emulated Stripe together, over HTTP.
@Suite struct `Paying through Stripe` {
  @Test func `a network token is authorized, captured in parts and refunded`() async throws {
    try await StripeVisit.run { visit async throws in
      guard case .approved(let approval) = try await visit.authorize("R1") else { throw Wrong() }
      #expect(approval.authorizationCode?.count == 6 && approval.networkTransactionID?.count == 15)
      let name = approval.acquirerReference
      #expect(name.hasPrefix("pi_"))
      #expect(try await visit.capture("C1", name, 500).name == name)
      #expect(try await visit.capture("C2", name, 700, isFinal: true).name == name)
      #expect(try await visit.refund("F1", name, 1000).name?.hasPrefix("re_") == true)
      #expect(try await visit.refund("F2", name, 201).reason == .configuration)
      #expect(try await visit.refund("F3", name, 200).name != nil)
      #expect(try await visit.refund("F4", name, 1).code == "charge_already_refunded")
      let row = try #require(try await visit.payments().first)
      #expect([row["received"], row["capturable"], row["refunded"]] == [1200, 0, 1200])
    }
  }

  @Test func `a capture of less releases the rest where the account has no multicapture`() async throws {
    try await StripeVisit.run { visit async throws in
      let acquirer = try visit.acquirer(multicapture: false)
      #expect(acquirer.capabilities.parts == [.capture, .refund])
      let answer = await acquirer.authorize(
        visit.request("R1", .eur(1250), try visit.network()), .after(TestRun.whole))
      let name = try #require(answer.name)
      #expect(await acquirer.capture(visit.followUp("C1", name, 500), .after(TestRun.whole)).name == name)
      #expect(
        await acquirer.capture(visit.followUp("C2", name, 500), .after(TestRun.whole))
          == .declined(Decline(reason: .other, code: "succeeded")))
      #expect(try await visit.payments().first?["received"] == 500)
    }
  }

  @Test func `a void releases the hold, and nothing is captured afterwards`() async throws {
    try await StripeVisit.run { visit async throws in
      let name = try await visit.held("R1")
      #expect(try await visit.void("V1", name).name == name)
      #expect(
        try await visit.capture("C1", name, 1250) == .declined(Decline(reason: .holdEnded, code: "canceled")))
      #expect(try await visit.payments().first?["status"] == "canceled")
    }
  }

  @Test func `a capture of more than is held is refused`() async throws {
    try await StripeVisit.run { visit async throws in
      let name = try await visit.held("R1")
      #expect(try await visit.capture("C1", name, 1251).code == "amount_too_large")
      #expect(try await visit.payments().first?["received"] == 0)
    }
  }

  @Test func `a payment token is opened by Stripe, and paid with in a second step`() async throws {
    try await StripeVisit.run { visit async throws in
      let acquirer = try visit.acquirer()
      var request = visit.request("R1", .eur(1250), try await visit.sealed(.eur(1250)))
      // Without the first step nothing is sent.
      guard case .notSent = await acquirer.authorize(request, .after(TestRun.whole)) else { throw Wrong() }
      guard case .ready(let token)? = await acquirer.prepare?(request, .after(TestRun.whole)) else { throw Wrong() }
      #expect(token.hasPrefix("tok_"))
      request.prepared = token
      let name = try #require(await acquirer.authorize(request, .after(TestRun.whole)).name)
      #expect(try await visit.capture("C1", name, 1250, isWhole: true).name == name)
      // The token is used up: what another payment with it comes to, the first one decides.
      var second = visit.request("R2", .eur(1250), request.instrument)
      second.prepared = token
      #expect(await acquirer.authorize(second, .after(TestRun.whole)).isUnknown)
      #expect(try await visit.payments().count == 1)
    }
  }

  @Test func `Stripe compares the payment token's amount`() async throws {
    try await StripeVisit.run { visit async throws in
      let acquirer = try visit.acquirer()
      var request = visit.request("R1", .eur(1250), try await visit.sealed(.eur(1)))
      guard case .ready(let token)? = await acquirer.prepare?(request, .after(TestRun.whole)) else { throw Wrong() }
      request.prepared = token
      #expect(
        await acquirer.authorize(request, .after(TestRun.whole))
          == .declined(Decline(reason: .limitExceeded, code: "invalid_amount")))
    }
  }

  @Test func `a payment token for another key is declined before anything is paid`() async throws {
    try await StripeVisit.run { visit async throws in
      let instrument = try await visit.sealed(.eur(1250), toOtherKey: true)
      let preparation = try await visit.acquirer().prepare?(
        visit.request("R1", .eur(1250), instrument), .after(TestRun.whole))
      #expect(preparation == .declined(Decline(reason: .configuration, code: "HTTP 400")))
      #expect(try await visit.payments().isEmpty)
    }
  }

  @Test(arguments: [
    ("visa-insufficient-funds", DeclineReason.insufficientFunds, "insufficient_funds"),
    ("visa-lost", .lostOrStolen, "lost_card"), ("mastercard-expired", .expiredCard, "expired_card"),
    ("amex-do-not-honour", .doNotHonor, "do_not_honor"),
  ])
  func `a card's decline has its reason, in the answer, the event and an inquiry`(
    card: String, reason: DeclineReason, code: String
  ) async throws {
    try await StripeVisit.run { visit async throws in
      try await visit.subscribe()
      let decline = AcquirerAnswer.declined(Decline(reason: reason, code: code))
      #expect(try await visit.authorize("R1", card: card) == decline)
      let event = try #require(try await visit.events().first)
      #expect(event.content == .answer(decline) && event.subject == .operation(AttemptReference("R1")))
      #expect(try await visit.inquire(.authorization, "R1") == .answer(decline))
    }
  }

  @Test func `a payment that waits for the shopper is declined for the operator, and ended at Stripe`() async throws {
    try await StripeVisit.run { visit async throws in
      try await visit.subscribe()
      let decline = AcquirerAnswer.declined(Decline(reason: .configuration, code: "requires_action"))
      #expect(try await visit.authorize("R1", token: "tok_threeDSecure2Required") == decline)
      #expect(try await visit.payments().map { $0["status"] } == ["canceled"])
      #expect(try await visit.events().map(\.content) == [.answer(decline)])
      #expect(try await visit.inquire(.authorization, "R1") == .answer(decline))
    }
  }

  @Test func `an authorization that is answered later is pending until its event`() async throws {
    try await StripeVisit.run { visit async throws in
      try await visit.subscribe()
      guard case .pending(let pending) = try await visit.authorize("R1", card: "visa-pending") else { throw Wrong() }
      let name = pending.acquirerReference
      #expect(try await visit.inquire(.authorization, "R1", called: name) == .answer(.pending(pending)))
      let event = try #require(try await visit.events().first)
      guard case .answer(.approved(let approval)) = event.content else { throw Wrong() }
      #expect(approval.acquirerReference == name && event.amount == .eur(1250))
      #expect(try await visit.inquire(.authorization, "R1", called: name).name == name)
    }
  }

  @Test func `a refund is pending until its event or an inquiry`() async throws {
    try await StripeVisit.run { visit async throws in
      let name = try #require(try await visit.authorize("R1", token: "tok_pendingRefund").name)
      _ = try await visit.capture("C1", name, 1250, isWhole: true)
      try await visit.subscribe()
      _ = try await visit.events()
      guard case .pending(let pending) = try await visit.refund("F1", name, 1250) else { throw Wrong() }
      let events = try await visit.events()
      #expect(events.map(\.subject) == [.operation(AttemptReference("F1"))] && events.first?.amount == .eur(1250))
      #expect(try await visit.inquire(.refund, "F1", of: name).name == pending.acquirerReference)
      let own = pending.acquirerReference
      #expect(try await visit.inquire(.refund, "F1", of: name, called: own).name == own)
    }
  }

  @Test func `the event of a refund that failed later says that it came back`() async throws {
    try await StripeVisit.run { visit async throws in
      let name = try #require(try await visit.authorize("R1", token: "tok_refundFail").name)
      _ = try await visit.capture("C1", name, 1250, isWhole: true)
      try await visit.subscribe()
      #expect(try await visit.refund("F1", name, 500).name != nil)
      let decline = Decline(reason: .other, code: "expired_or_canceled_card")
      let answers = try await visit.events().filter { $0.subject == .operation(AttemptReference("F1")) }.map(\.content)
      #expect(answers.count == 3 && Set(answers.suffix(2)) == [.returned(decline)])
      #expect(try await visit.inquire(.refund, "F1", 500, of: name) == .answer(.declined(decline)))
      #expect(try await visit.payments().first?["refunded"] == 0)
    }
  }

  @Test func `the same reference is paid once, and its answer comes again`() async throws {
    try await StripeVisit.run { visit async throws in
      let first = try await visit.authorize("R1", cryptogram: "AAAA")
      let name = try #require(first.name)
      #expect(try await visit.authorize("R1", cryptogram: "AAAA") == first)
      #expect(try await visit.capture("C1", name, 500) == visit.capture("C1", name, 500))
      #expect(try await visit.payments().map { $0["received"] } == [500])
      // Other parameters under the same key are refused, so the outcome is that of the first call.
      #expect(try await visit.authorize("R1", 1251, cryptogram: "AAAA").isUnknown)
      #expect(try await visit.capture("C1", name, 501).isUnknown)
      #expect(try await visit.payments().count == 1)
    }
  }

  @Test func `an amount goes out in Stripe's units, and comes back in ours`() async throws {
    try await StripeVisit.run { visit async throws in
      let acquirer = try visit.acquirer()
      for (code, units, theirs) in [("JPY", 500, 500), ("ISK", 5, 500), ("MGA", 1200, 12), ("KWD", 1230, 1230)]
        as [(String, Int64, Int64)]
      {
        let amount = Amount(minorUnits: units, currency: try #require(Currency(code: code)))
        let answer = await acquirer.authorize(
          visit.request("R-\(code)", amount, try visit.network()), .after(TestRun.whole))
        #expect(answer.name != nil, "\(code): \(answer)")
        #expect(try await visit.payments().last?["amount"] == .integer(theirs))
      }
      for (code, units) in [("KWD", 1235), ("MGA", 1234)] as [(String, Int64)] {
        let amount = Amount(minorUnits: units, currency: try #require(Currency(code: code)))
        #expect(acquirer.capabilities.toAcquirer(amount) == nil)
        let request = visit.request("R-fine", amount, try visit.network())
        #expect(await acquirer.authorize(request, .after(TestRun.whole)) == .notTaken("amount_too_fine"))
      }
      #expect(try await visit.payments().count == 4)
    }
  }

  @Test func `a connected account is paid for itself`() async throws {
    try await StripeVisit.run { visit async throws in
      let acquirer = try visit.acquirer(connected: ["acct_other"])
      #expect(acquirer.capabilities.merchantAccount(.euro) == "acct_other")
      var request = visit.request("R1", .eur(1250), try visit.network())
      request.sale.merchantAccount = "acct_other"
      #expect(await acquirer.authorize(request, .after(TestRun.whole)).name != nil)
      #expect(try await visit.payments().isEmpty)
      try await visit.subscribe(as: "acct_other")
      #expect(try await visit.events(connected: ["acct_other"]).map(\.amount) == [.eur(1250)])
      request.sale.merchantAccount = "acct_foreign"
      #expect(await acquirer.authorize(request, .after(TestRun.whole)) == .notTaken("other_account"))
    }
  }

  @Test func `the key, the mode and the account are checked`() async throws {
    try await StripeVisit.run { visit async throws in
      let deadline = Deadline.after(TestRun.whole)
      #expect(try await visit.acquirer().checkCredentials(deadline) == .accepted)
      #expect(try await visit.acquirer(key: "rk_test_shop").checkCredentials(deadline) == .accepted)
      guard case .refused = try await visit.acquirer(key: "sk_test_wrong").checkCredentials(deadline),
        case .refused = try await visit.acquirer(connected: ["acct_foreign"]).checkCredentials(deadline)
      else { throw Wrong() }
      // A restricted key that may only read.
      let answer = try await visit.acquirer(key: "rk_test_shop").authorize(
        visit.request("R1", .eur(1250), try visit.network()), deadline)
      #expect(answer == .declined(Decline(reason: .configuration, code: "HTTP 403")))
    }
  }

  @Test func `neither card data nor credentials stand in a transcript or on disk`() async throws {
    try await StripeVisit.run { visit async throws in
      let name = try #require(try await visit.authorize("R1", cryptogram: "c2VjcmV0IGNyeXB0b2dyYW0=").name)
      _ = try await visit.capture("C1", name, 1250, isWhole: true)
      _ = try await visit.refund("F1", name, 1250)
      _ = try await visit.inquire(.authorization, "R1")
      let request = visit.request("R2", .eur(1250), try await visit.sealed(.eur(1250)))
      _ = try await visit.acquirer().prepare?(request, .after(TestRun.whole))
      let text = visit.transcripts.text
      for secret in ["4761739000000012", "c2VjcmV0", "sk_test_shop", "Zoë", "ller", "EC_v1"] {
        #expect(!text.contains(secret), "\(secret)")
      }
      #expect(text.contains(name) && text.contains("requires_capture"))
      let disk = try visit.files.bytesOnDisk().map { String(decoding: $0, as: UTF8.self) }.joined()
      #expect(!disk.contains("4761739000000012") && !disk.contains("c2VjcmV0IGNyeXB0b2dyYW0="))
    }
  }

  private struct Wrong: Error {}
}

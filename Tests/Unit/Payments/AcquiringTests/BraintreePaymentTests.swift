import Acquiring
import Connectors
import HTTPTransport
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// The connector and the emulated Braintree together, over HTTP.
@Suite struct `Paying through Braintree` {
  @Test func `a network token is authorized, captured, settled and refunded in parts`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let sale = try await visit.held("R1", 1250)
      #expect(await visit.capture("C1", sale, 1250, isFinal: true, isWhole: true).name == sale)
      try await visit.settle(sale)
      #expect(await visit.refund("F1", sale, of: sale, 250).name != nil)
      #expect(await visit.refund("F2", sale, of: sale, 1001).code == "91521")
      #expect(await visit.refund("F3", sale, of: sale, 1000).name != nil)
      #expect(await visit.refund("F4", sale, of: sale, 1).code == "91512")
    }
  }

  @Test func `a payment token is opened by Braintree, and authorized in a second step`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let request = visit.request("R1", .eur(1250), try visit.sealed(.eur(1250)))
      let preparation = await visit.acquirer.prepare?(request, .after(TestRun.whole))
      guard case .ready(let name) = preparation else { throw BraintreeVisit.NotApproved() }
      var second = request
      second.prepared = name
      let answer = await visit.acquirer.authorize(second, .after(TestRun.whole))
      let sale = try #require(answer.name)
      #expect(await visit.inquire(.authorization, "R1", .eur(1250)).name == sale)
      #expect(await visit.capture("C1", sale, 1250, isWhole: true).name == sale)
      // The payment method was for one payment.
      #expect(await visit.acquirer.authorize(second, .after(TestRun.whole)).reason == .cryptogramInvalid)
    }
  }

  @Test func `a payment token for another key is declined before anything is authorized`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let key = try TokenRecipient(
        publicKeyPEM: otherKey, merchantIdentifier: BraintreeVisit.identifier)
      let request = visit.request("R1", .eur(1250), try visit.sealed(.eur(1250), to: key))
      let preparation = await visit.acquirer.prepare?(request, .after(TestRun.whole))
      #expect(preparation == .declined(Decline(reason: .configuration, code: "83512")))
      #expect(await visit.inquire(.authorization, "R1", .eur(1250)) == .notFound)
    }
  }

  @Test func `a payment token whose network is not known is not sent`() async throws {
    try await BraintreeVisit.run { visit async throws in
      var request = visit.request("R1", .eur(1250), try visit.sealed(.eur(1250)))
      request.sale.cardNetwork = nil
      let preparation = await visit.acquirer.prepare?(request, .after(TestRun.whole))
      #expect(preparation == .declined(Decline(reason: .configuration, code: "card_network_missing")))
      #expect(visit.transcripts.isEmpty)
    }
  }

  @Test(arguments: [
    ("visa-insufficient-funds", DeclineReason.insufficientFunds, "2001"), ("visa-lost", .lostOrStolen, "2012"),
    ("mastercard-expired", .expiredCard, "2004"), ("amex-do-not-honour", .doNotHonor, "2000"),
  ])
  func `a declined card is declined, sealed or not`(card: String, reason: DeclineReason, code: String) async throws {
    try await BraintreeVisit.run { visit async throws in
      let declined = AcquirerAnswer.declined(Decline(reason: reason, code: code))
      #expect(try await visit.hold("R1", .eur(1250), card: card) == declined)
      #expect(await visit.inquire(.authorization, "R1", .eur(1250)) == .answer(declined))
      var request = visit.request("R2", .eur(1250), try visit.sealed(.eur(1250), card: card))
      guard case .ready(let name)? = await visit.acquirer.prepare?(request, .after(TestRun.whole)) else {
        throw BraintreeVisit.NotApproved()
      }
      request.prepared = name
      #expect(await visit.acquirer.authorize(request, .after(TestRun.whole)) == declined)
    }
  }

  @Test(arguments: [
    (Int64(2_004_00), DeclineReason.expiredCard, "2004"), (2_999_99, .doNotHonor, "2999"),
    (3_000_00, .issuerUnavailable, "3000"), (5_001_00, .configuration, "application_incomplete"),
  ])
  func `Braintree's test amounts answer as its documentation says`(
    units: Int64, reason: DeclineReason, code: String
  ) async throws {
    try await BraintreeVisit.run { visit async throws in
      let answer = try await visit.hold("R1", .eur(units))
      #expect(answer == .declined(Decline(reason: reason, code: code)))
    }
  }

  @Test func `parts are transactions of their own, found by our reference`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let sale = try await visit.held("R1", 1000)
      let first = try #require(await visit.capture("C1", sale, 600).name)
      #expect(first != sale)
      #expect(await visit.capture("C2", sale, 500).code == "91522")
      #expect(await visit.inquire(.capture, "C1", .eur(600), of: sale).name == first)
      #expect(await visit.inquire(.capture, "C2", .eur(500), of: sale) == .notFound)
      let last = try #require(await visit.capture("C3", sale, 300, isFinal: true).name)
      #expect(await visit.capture("C4", sale, 100).code == "915103")
      try await visit.settle(last)
      #expect(await visit.refund("F1", sale, of: last, 301).code == "91521")
      let refund = try #require(await visit.refund("F2", sale, of: last, 300).name)
      #expect(await visit.inquire(.refund, "F2", .eur(300), of: sale, capture: last).name == refund)
    }
  }

  @Test func `a capture of less releases the rest where the account captures once`() async throws {
    try await BraintreeVisit.run(parts: false) { visit async throws in
      let sale = try await visit.held("R1", 1000)
      #expect(await visit.inquire(.capture, "C1", .eur(600), of: sale) == .notFound)
      #expect(await visit.capture("C1", sale, 600).name == sale)
      #expect(await visit.inquire(.capture, "C1", .eur(600), of: sale).name == sale)
      #expect(await visit.inquire(.capture, "C9", .eur(700), of: sale).isUnavailable)
      #expect(await visit.capture("C2", sale, 400).code == "91507")
      // The authorization was of the whole amount.
      #expect(await visit.inquire(.authorization, "R1", .eur(1000)).name == sale)
    }
  }

  @Test func `all of a capture is voided before it settles, and a part waits`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let sale = try await visit.held("R1", 1000)
      #expect(await visit.capture("C1", sale, 1000, isWhole: true).name == sale)
      let early = await visit.refund("F1", sale, of: sale, 400)
      #expect(early.code == "91506")
      #expect(early.reason?.declineClass == .retriable)
      #expect(await visit.inquire(.refund, "F2", .eur(1000), of: sale, capture: sale) == .notFound)
      #expect(await visit.refund("F2", sale, of: sale, 1000).name == sale)
      #expect(await visit.inquire(.refund, "F2", .eur(1000), of: sale, capture: sale).name == sale)
    }
  }

  @Test func `a capture without a name is the authorization's transaction, unless it was a part`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let (sale, other) = (try await visit.held("R1", 1000), try await visit.held("R2", 1000))
      _ = await visit.capture("C1", sale, 1000, isWhole: true)
      try await visit.settle(sale)
      #expect(await visit.refund("F1", sale, of: nil, 400).name != nil)
      let part = try #require(await visit.capture("C2", other, 600).name)
      try await visit.settle(part)
      let refused = await visit.refund("F2", other, of: nil, 600)
      #expect(refused.code == "capture_has_no_name" && refused.reason?.declineClass == .configuration)
      #expect(await visit.refund("F2", other, of: part, 600).name != nil)
    }
  }

  @Test func `a void is found by the authorization's status`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let sale = try await visit.held("R1", 1000)
      #expect(await visit.inquire(.void, "V1", .eur(1000), of: sale) == .notFound)
      #expect(await visit.void("V1", sale, 1000).name == sale)
      #expect(await visit.inquire(.void, "V1", .eur(1000), of: sale).name == sale)
      let ended = AcquirerAnswer.declined(Decline(reason: .holdEnded, code: "91504"))
      #expect(await visit.void("V2", sale, 1000) == ended)
      #expect(await visit.capture("C1", sale, 1000, isWhole: true).reason == .holdEnded)
      let gone = Inquiry.answer(.declined(Decline(reason: .holdEnded, code: "voided")))
      #expect(await visit.inquire(.authorization, "R1", .eur(1000)) == gone)
      #expect(await visit.inquire(.capture, "C1", .eur(1000), of: sale) == gone)
    }
  }

  @Test func `a hold ends after its lifetime`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let sale = try await visit.held("R1", 1000)
      visit.clock.advance(try #require(visit.acquirer.capabilities.holdLifetime))
      #expect(await visit.capture("C1", sale, 1000, isWhole: true).reason == .holdEnded)
    }
  }

  @Test(arguments: [("JPY", Int64(1200)), ("KWD", 12_345), ("EUR", 5)])
  func `amounts have the decimals of their currency`(code: String, units: Int64) async throws {
    try await BraintreeVisit.run { visit async throws in
      let amount = Amount(minorUnits: units, currency: try #require(Currency(code: code)))
      #expect(try await visit.hold("R1", amount).name != nil)
      #expect(await visit.inquire(.authorization, "R1", amount).name != nil)
      #expect(visit.transcripts.contains("<amount>\(amount.decimalString)</amount>"))
    }
  }

  @Test func `a currency without a merchant account is not sent`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let amount = Amount(minorUnits: 100, currency: try #require(Currency(code: "NZD")))
      #expect(try await visit.hold("R1", amount) == .notTaken("amount_too_fine"))
      #expect(visit.transcripts.isEmpty)
    }
  }

  @Test func `keys that Braintree does not know are refused, and do not stand in any message`() async throws {
    try await BraintreeVisit.run { visit async throws in
      #expect(await visit.acquirer.checkCredentials(.after(TestRun.whole)) == .accepted)
      var settings = visit.settings
      settings.privateKey = BraintreePrivateKey("wrong key")
      guard case .refused = await visit.acquirer(settings).checkCredentials(.after(TestRun.whole)) else {
        throw BraintreeVisit.NotApproved()
      }
      #expect(!"\(settings) \(String(reflecting: settings)) \(visit.transcripts)".contains("wrong key"))
    }
  }

  @Test func `Braintree's listing is a report of every operation`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let start = visit.clock.now
      let whole = try await visit.held("R1", 1000)
      _ = await visit.capture("C1", whole, 1000, isWhole: true)
      let parts = try await visit.held("R2", 1000)
      let part = try #require(await visit.capture("C2", parts, 600).name)
      try await visit.settle(part)
      _ = await visit.refund("F2", parts, of: part, 100)
      _ = await visit.void("V2", parts, 400)
      _ = try await visit.hold("R3", .eur(1000), card: "visa-lost")
      visit.clock.advance(.seconds(5))
      let report = BraintreeReport(visit.settings, http: visit.http) { operation, name in
        [whole: AttemptReference("C1"), parts: AttemptReference("V2")][name]
      }
      let lines = try await report.report(start..<visit.clock.now, .after(TestRun.whole)).lines
      let found = lines.map { "\($0.reference) \($0.operation.rawValue) \($0.amount.minorUnits) \($0.result.rawValue)" }
      #expect(
        found.sorted() == [
          "C1 capture 1000 approved", "C2 capture 600 approved", "F2 refund 100 approved",
          "R1 authorize 1000 approved", "R2 authorize 1000 approved", "R3 authorize 1000 declined",
          "V2 void 400 approved",
        ])
    }
  }

  @Test func `a listing of many pages is whole, and one that breaks off is no report`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let start = visit.clock.now
      for number in 1...60 { _ = try await visit.held("R\(number)", 1000) }
      visit.clock.advance(.seconds(5))
      let report = BraintreeReport(visit.settings, http: visit.http) { _, _ in nil }
      let period = start..<visit.clock.now
      #expect(try await report.report(period, .after(TestRun.whole)).lines.count == 60)
      try await visit.misbehave("answer_truncated")
      await #expect(throws: BraintreeReport.Unavailable.self) {
        try await report.report(period, .after(TestRun.whole))
      }
    }
  }

  @Test func `card, cryptogram and keys stand in no transcript and on no disk`() async throws {
    try await BraintreeVisit.run { visit async throws in
      let sale = try await visit.hold("R1", .eur(1000), cryptogram: BraintreeVisit.cryptogram)
      #expect(sale.name != nil)
      var request = visit.request("R2", .eur(1000), try visit.sealed(.eur(1000)))
      guard case .ready(let name)? = await visit.acquirer.prepare?(request, .after(TestRun.whole)) else {
        throw BraintreeVisit.NotApproved()
      }
      request.prepared = name
      _ = await visit.acquirer.authorize(request, .after(TestRun.whole))
      #expect(visit.transcripts.contains("R1") && visit.transcripts.contains("R2"))
      #expect(try visit.diskHolds("R1"))
      for secret in ["4761739000000012", BraintreeVisit.cryptogram, "sandbox_private_key", "z@example.com", name] {
        #expect(!visit.transcripts.contains(secret), "\(secret)")
        #expect(try !visit.diskHolds(secret), "\(secret)")
      }
    }
  }
}

private let otherKey = """
  -----BEGIN PUBLIC KEY-----
  MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEbtnjLDzkXy3qAaQL2GkNm9caQxx
  DZLMgQ+0jOD5jktvREciepqyF5zcvpE6612loGFHwANQUGXHnLYNoyD1UQ==
  -----END PUBLIC KEY-----
  """

import AcquirerSandbox
import Acquiring
import ApplePayToken
import Crypto
import HTTPTransport
import ProviderEmulators
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// The connector and the emulated Checkout.com together, over HTTP.
@Suite struct `Paying through Checkout.com` {
  @Test func `authorizes, captures in parts and refunds, and every result comes by event`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      let first = try #require(try await visit.capture("C1", name, 500).pendingName)
      let second = try #require(try await visit.capture("C2", name, 750, isFinal: true).pendingName)
      #expect(first != second && first != name)
      #expect(Self.outcomes(try await visit.events()) == ["R1 true", "C1 true", "C2 true"])
      #expect(try await visit.payment(name)["status"] == "Captured")
      #expect(try await visit.refund("F1", name, 300).pendingName != nil)
      let events = try await visit.events()
      #expect(Self.outcomes(events) == ["F1 true"] && events.first?.amount == .eur(300))
      #expect(try await visit.payment(name)["status"] == "Partially Refunded")
    }
  }

  @Test func `what is accepted is settled by the list of actions too`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      let name = try await visit.held("R1")
      let action = try #require(try await visit.capture("C1", name, 500).pendingName)
      #expect(try await visit.inquire(.capture, "C1", 500, of: name) == .notFound)
      try await visit.process()
      #expect(try await visit.inquire(.capture, "C1", 500, of: name).name == action)
      _ = try await visit.refund("F1", name, 200)
      let void = try await visit.void("V1", name, 750).pendingName
      try await visit.process()
      #expect(try await visit.inquire(.refund, "F1", 200, of: name).name != nil)
      #expect(try await visit.inquire(.void, "V1", 750, of: name).name == void)
      // One operation's answer is not another's, and not of another amount.
      #expect(try await visit.inquire(.capture, "F1", 200, of: name) == .notFound)
      #expect(try await visit.inquire(.capture, "C1", 501, of: name).isUnavailable)
    }
  }

  @Test func `a part that is not final leaves the rest, and a final one releases it`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      let name = try await visit.held("R1")
      _ = try await visit.capture("C1", name, 500)
      try await visit.process()
      #expect(try await visit.payment(name)["status"] == "Partially Captured")
      _ = try await visit.capture("C2", name, 100, isFinal: true)
      try await visit.process()
      #expect(try await visit.payment(name)["balances"]?["available_to_capture"] == 0)
      #expect(try await visit.capture("C3", name, 100) == .declined(Decline(reason: .other, code: "HTTP 403")))
    }
  }

  @Test func `a capture of more than is left, and a refund of more, are declined for good`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      let name = try await visit.held("R1")
      let more = "capture_value_greater_than_authorized"
      #expect(try await visit.capture("C1", name, 1251) == .declined(Decline(reason: .other, code: more)))
      _ = try await visit.capture("C2", name, 1000)
      let rest = "capture_value_greater_than_remaining_authorized"
      #expect(try await visit.capture("C3", name, 251) == .declined(Decline(reason: .other, code: rest)))
      try await visit.process()
      let balance = Decline(reason: .other, code: "amount_exceeds_balance")
      #expect(try await visit.refund("F1", name, 1001) == .declined(balance))
    }
  }

  @Test func `a void releases the hold, and whatever follows finds it ended`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try await visit.held("R1")
      #expect(try await visit.void("V1", name, 1250).pendingName != nil)
      #expect(Self.outcomes(try await visit.events()) == ["R1 true", "V1 true"])
      let ended = AcquirerAnswer.declined(Decline(reason: .holdEnded, code: "HTTP 403"))
      #expect(try await visit.capture("C1", name, 1250) == ended)
      #expect(try await visit.void("V2", name, 1250) == ended)
      let late = Inquiry.answer(.declined(Decline(reason: .holdEnded, code: "Voided")))
      #expect(try await visit.inquire(.void, "V2", of: name) == late)
      #expect(try await visit.inquire(.authorization, "R1") == late)
    }
  }

  @Test func `a sealed payment token is opened in two steps, and its token pays once`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      var request = visit.request("R1", .eur(1250), try await visit.sealed(1250))
      guard case .notSent = try await visit.acquirer().authorize(request, .after(TestRun.whole)) else { throw Wrong() }
      guard case .ready(let token) = try await visit.prepare(request) else { throw Wrong() }
      #expect(token.hasPrefix("tok_"))
      request.prepared = token
      let answer = try await visit.acquirer().authorize(request, .after(TestRun.whole))
      #expect(answer.name != nil)
      // Under another reference it is another payment, for which the token is used.
      let again = visit.request("R2", .eur(1250), request.instrument, prepared: token)
      let used = try await visit.acquirer().authorize(again, .after(TestRun.whole))
      #expect(used == .declined(Decline(reason: .cryptogramInvalid, code: "token_used")))
    }
  }

  @Test func `a token is too old after a quarter of an hour`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      var request = visit.request("R1", .eur(1250), try await visit.sealed(1250))
      guard case .ready(let token) = try await visit.prepare(request) else { throw Wrong() }
      request.prepared = token
      visit.clock.advance(.seconds(901))
      let answer = try await visit.acquirer().authorize(request, .after(TestRun.whole))
      #expect(answer == .declined(Decline(reason: .cryptogramInvalid, code: "token_invalid")))
    }
  }

  @Test func `a payment token for another key is declined in the first step`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      let key = P256.KeyAgreement.PrivateKey().publicKey.pemRepresentation
      let stranger = try TokenRecipient(publicKeyPEM: key, merchantIdentifier: "merchant.com.example.shop")
      let request = PaymentTokenRequest(
        card: try #require(SandboxCards.card(id: "visa-debit")), amount: .eur(1250), recipient: stranger)
      let issued = try PaymentTokenIssuer(pki: visit.pki, clock: visit.clock.wall).issue(request)
      let token = VerifiedPaymentToken(
        token: try EncryptedPaymentToken(json: issued.json), signingTime: visit.clock.now, environment: .simulated,
        use: .sample(1))
      let preparation = try await visit.prepare(visit.request("R1", .eur(1250), .sealed(token)))
      #expect(preparation == .declined(Decline(reason: .cryptogramInvalid, code: "token_data_invalid")))
    }
  }

  @Test(arguments: [
    ("visa-insufficient-funds", DeclineReason.insufficientFunds, "20051"), ("visa-lost", .lostOrStolen, "30041"),
    ("mastercard-expired", .expiredCard, "20054"), ("amex-do-not-honour", .doNotHonor, "20005"),
  ])
  func `a card's refusal has its reason, at once, by event and by inquiry`(
    card: String, reason: DeclineReason, code: String
  ) async throws {
    try await CheckoutComVisit.run { visit async throws in
      try await visit.subscribe()
      let decline = AcquirerAnswer.declined(Decline(reason: reason, code: code))
      #expect(try await visit.authorize("R1", card: card) == decline)
      let event = try #require(try await visit.events().first)
      #expect(event.content == .answer(decline) && event.subject == .operation(AttemptReference("R1")))
      #expect(try await visit.inquire(.authorization, "R1") == .answer(decline))
    }
  }

  @Test func `an authorization that is accepted is pending until its event, or until it is asked about`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      try await visit.subscribe()
      let name = try #require(try await visit.authorize("R1", card: "visa-pending").pendingName)
      #expect(try await visit.inquire(.authorization, "R1") == .answer(.pending(Pending(acquirerReference: name))))
      let event = try #require(try await visit.events().first)
      guard case .answer(.approved(let approval)) = event.content else { throw Wrong() }
      #expect(approval.acquirerReference == name && event.amount == .eur(1250))
      #expect(try await visit.inquire(.authorization, "R1").name == name)
    }
  }

  @Test func `the same reference is paid once within a day, and done anew afterwards`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      let first = try await visit.authorize("R1", cryptogram: "AAAA")
      #expect(try await visit.authorize("R1", cryptogram: "AAAA") == first)
      let name = try #require(first.name)
      let capture = try await visit.capture("C1", name, 500)
      #expect(try await visit.capture("C1", name, 500) == capture)
      // Checkout.com repeats its answer whatever the contents, so an answer about another amount is none.
      #expect(try await visit.authorize("R1", .eur(1251)).isUnknown)
      #expect(try await visit.count("R1") == 1)
      visit.clock.advance(.seconds(86_401))
      #expect(try await visit.capture("C1", name, 500) != capture)
      // Tender repeats nothing for so long.
      #expect(try visit.acquirer().capabilities.mayRepeat(after: .seconds(22 * 3_600)))
      #expect(try !visit.acquirer().capabilities.mayRepeat(after: .seconds(23 * 3_600)))
    }
  }

  @Test func `what was refused is tried anew under the same key, so authorizations are not repeated`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      let name = try await visit.held("R1")
      #expect(try await visit.refund("F1", name, 100).reason == .other)
      _ = try await visit.capture("C1", name, 1250)
      try await visit.process()
      #expect(try await visit.refund("F1", name, 100).pendingName != nil)
      #expect(try !visit.acquirer().capabilities.repeatsAuthorizations)
    }
  }

  @Test func `an authorization without an answer is found by our reference and voided`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      #expect(try await visit.authorize("R1", card: "mastercard-answer-lost").isUnknown)
      let name = try #require(try await visit.inquire(.authorization, "R1").name)
      #expect(try await visit.void("V1", name, 1250).pendingName != nil)
      try await visit.process()
      #expect(try await visit.payment(name)["status"] == "Voided")
      #expect(try await visit.authorize("R2", card: "visa-no-answer").isUnknown)
      #expect(try await visit.inquire(.authorization, "R2") == .notFound)
    }
  }

  @Test(arguments: [
    ("JPY", 1250, 1250, true), ("KWD", 12_500, 12_500, true), ("KWD", 12_501, 0, false), ("CLP", 125, 12_500, true),
    ("USD", 1250, 1250, true), ("TND", 1_010, 1_010, true),
  ])
  func `amounts are counted as Checkout.com counts them`(
    code: String, units: Int64, wire: Int64, isTaken: Bool
  ) async throws {
    try await CheckoutComVisit.run { visit async throws in
      let currency = try #require(Currency(code: code))
      let amount = Amount(minorUnits: units, currency: currency)
      #expect((try visit.acquirer().capabilities.toAcquirer(amount) != nil) == isTaken)
      let answer = try await visit.authorize("R1", amount)
      guard isTaken else { return #expect(answer == .notTaken("amount_too_fine")) }
      let name = try #require(answer.name)
      #expect(try await visit.payment(name)["amount"] == .integer(wire))
      let request = InquiryRequest(reference: AttemptReference("R1"), amount: amount)
      #expect(try await visit.acquirer().inquire(request, .after(TestRun.whole)).name == name)
    }
  }

  @Test func `each key is checked without moving anything`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      #expect(try await visit.acquirer().checkCredentials(.after(TestRun.whole)) == .accepted)
      let (account, other) = (CheckoutComVisit.account, String(repeating: "a", count: 27))
      for (acquirer, key) in [
        (try visit.acquirer(secretKey: "sk_sbox_" + other), "secret key"),
        (try visit.acquirer(publicKey: "pk_sbox_" + other), "public key"),
      ] {
        let check = await acquirer.checkCredentials(.after(TestRun.whole))
        #expect(check == .refused("Checkout.com does not know the \(key)"))
      }
      #expect(account.secretKey != account.publicKey)
    }
  }

  @Test func `no card data and no credential is in a transcript or on the emulator's disk`() async throws {
    try await CheckoutComVisit.run { visit async throws in
      let cryptogram = "AgAAAAAAAIR8CQrXcIhbQAAAAAA="
      _ = try await visit.authorize("R1", cryptogram: cryptogram)
      var request = visit.request("R2", .eur(1250), try await visit.sealed(1250))
      guard case .ready(let token) = try await visit.prepare(request) else { throw Wrong() }
      request.prepared = token
      _ = try await visit.acquirer().authorize(request, .after(TestRun.whole))
      _ = try await visit.capture("C1", try await visit.held("R3"), 500)
      _ = try await visit.inquire(.authorization, "R3")
      let text = visit.transcripts.text
      for shown in ["R1", "R2", "C1.capture", "Authorized", "act_"] { #expect(text.contains(shown), "\(shown)") }
      let account = CheckoutComVisit.account
      let secrets = [
        "4761739000000012", cryptogram, account.secretKey, account.publicKey, account.signatureKey, token, "EC_v1",
        "z@example.com", "50667",
      ]
      for secret in secrets { #expect(!text.contains(secret), "\(secret)") }
      for secret in ["4761739000000012", cryptogram] { #expect(try !visit.diskHolds(secret)) }
    }
  }

  static func outcomes(_ events: [AcquirerEvent]) -> [String] {
    events.map { event in event.outcome.map { "\($0.0) \($0.1)" } ?? "?" }
  }
}

private struct Wrong: Error {}

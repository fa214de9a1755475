import AcquirerSandbox
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import ProviderEmulators
import SandboxTesting
import StrictJSON
import Synchronization
import TenderPayments
import Testing
import TokenIssuer

@Suite struct `The emulated Stripe` {
  @Test func `authenticates a key, and lets each do what it may`() async throws {
    try await stripe { call async throws in
      for (key, status) in [
        ("sk_test_wrong", 401), ("rk_test_shop", 403), ("pk_test_shop", 403), ("sk_test_shop", 200),
      ] {
        let answer = try await call("POST", "/v1/payment_intents", Self.payment(), key: key)
        #expect(answer.status == status, "\(key)")
      }
      #expect(try await call("GET", "/v1/balance", "", key: "rk_test_shop").status == 200)
      #expect(try await call("GET", "/v1/balance", "", key: "pk_test_shop").status == 403)
    }
  }

  @Test(arguments: [
    ("amount=1250", "amount=0", "parameter_invalid_integer"),
    ("amount=1250", "amount=12.50", "parameter_invalid_integer"),
    ("amount=1250", "amount=9223372036854775807", "parameter_invalid_integer"),
    ("amount=1250&", "", "parameter_missing"), ("currency=eur&", "", "parameter_missing"),
    ("currency=eur", "currency=xxx", nil), ("currency=eur", "currency=isk", nil),
    ("confirm=true", "confirm=maybe", nil),
    ("capture_method=manual", "capture_method=never", nil), ("amount=1250", "amount=1250&amunt=1", "parameter_unknown"),
    ("[number]=4761739000000012", "[number]=1", "incorrect_number"), ("=apple_pay", "=google_pay", nil),
    ("commerce_indicator]=07", "commerce_indicator]=7", nil),
    ("[cryptogram]=AAAA", "[cryptogram]=&description=", "parameter_missing"),
    ("amount=1250", "amount=1250&statement_descriptor=SHOP", nil),
    (
      "amount=1250", "amount=1250&payment_method_data[billing_details][phone]=%2B1+780-555-0156+ext.+725", nil
    ),
    ("amount=1250", "amount=1250&payment_method_data[billing_details][email]=maud@example.c", "email_invalid"),
  ])
  func `refuses a payment request that Stripe refuses`(right: String, wrong: String, code: String?) async throws {
    try await stripe { call async throws in
      let text = Self.payment().replacing(right, with: wrong)
      let answer = try await call("POST", "/v1/payment_intents", text)
      #expect(answer.status == 400 && answer.body["error"]?["type"] == "invalid_request_error", "\(answer)")
      #expect(answer.body["error"]?["code"] == code.map(JSONValue.string))
      #expect(try await call("GET", "/v1/payment_intents", "").body["data"] == [])
    }
  }

  @Test func `captures at once where the request does not say manual`() async throws {
    try await stripe { call async throws in
      let text = Self.payment().replacing("&capture_method=manual", with: "")
      let intent = try await call("POST", "/v1/payment_intents", text).body
      #expect(intent["status"] == "succeeded" && intent["amount_received"] == 1250)
    }
  }

  @Test func `gives the first answer for a day, a decline too, and refuses other parameters`() async throws {
    let clock = StripeClock()
    try await stripe(clock) { call async throws in
      let declined = Self.payment(card: "4761739000000046")
      let first = try await call("POST", "/v1/payment_intents", declined, idempotencyKey: "K1")
      #expect(first.status == 402 && first.body["error"]?["decline_code"] == "lost_card")
      let again = try await call("POST", "/v1/payment_intents", declined, idempotencyKey: "K1")
      #expect(again.status == 402 && again.body == first.body)
      let other = try await call("POST", "/v1/payment_intents", Self.payment(), idempotencyKey: "K1")
      #expect(other.status == 400 && other.body["error"]?["type"] == "idempotency_error")
      // What does not pass the checks of its parameters is not kept.
      let wrong = Self.payment().replacing("currency=eur", with: "currency=xxx")
      #expect(try await call("POST", "/v1/payment_intents", wrong, idempotencyKey: "K2").status == 400)
      #expect(try await call("POST", "/v1/payment_intents", Self.payment(), idempotencyKey: "K2").status == 200)
      clock.advance(by: .seconds(86_401))
      let late = try await call("POST", "/v1/payment_intents", declined, idempotencyKey: "K1")
      #expect(late.body["error"]?["payment_intent"]?["id"] != first.body["error"]?["payment_intent"]?["id"])
    }
  }

  @Test func `accepts a cryptogram once`() async throws {
    try await stripe { call async throws in
      #expect(try await call("POST", "/v1/payment_intents", Self.payment(cryptogram: "BBBB")).status == 200)
      let again = try await call("POST", "/v1/payment_intents", Self.payment(cryptogram: "BBBB"))
      #expect(again.status == 402 && again.body["error"]?["decline_code"] == "generic_decline")
    }
  }

  @Test func `captures, releases and refunds no more than there is`() async throws {
    try await stripe { call async throws in
      let plain = try await call("POST", "/v1/payment_intents", Self.payment()).body
      let id = try #require(plain["id"]?.text)
      let more = try await call("POST", "/v1/payment_intents/\(id)/capture", "amount_to_capture=1&final_capture=false")
      #expect(more.status == 400 && more.body["error"]?["param"] == "final_capture")
      let captured = try await call("POST", "/v1/payment_intents/\(id)/capture", "amount_to_capture=1000").body
      #expect(captured["status"] == "succeeded" && captured["amount_received"] == 1000)
      let canceled = try await call("POST", "/v1/payment_intents/\(id)/cancel", "")
      #expect(canceled.body["error"]?["code"] == "payment_intent_unexpected_state")
      #expect(try await call("POST", "/v1/refunds", "payment_intent=\(id)&amount=1001").status == 400)
      let refund = try await call("POST", "/v1/refunds", "payment_intent=\(id)").body
      #expect(refund["amount"] == 1000 && refund["balance_transaction"] != .null)
      let list = try await call("GET", "/v1/refunds?payment_intent=\(id)", "").body["data"]?.elements ?? []
      // The release of the rest is a refund that no balance has felt.
      #expect(list.map { $0["amount"] } == [1000, 250] && list.last?["balance_transaction"] == .null)
      #expect(
        try await call("POST", "/v1/refunds", "payment_intent=\(id)").body["error"]?["code"]
          == "charge_already_refunded")
    }
  }

  @Test func `lists pages, the newest first, and searches what is old enough`() async throws {
    let clock = StripeClock()
    try await stripe(clock) { call async throws in
      for number in 1...3 {
        _ = try await call("POST", "/v1/payment_intents", Self.payment() + "&metadata[order]=\(number)")
      }
      let first = try await call("GET", "/v1/payment_intents?limit=2", "").body
      #expect(first["has_more"] == true)
      let ids = first["data"]?.elements.compactMap { $0["id"]?.text } ?? []
      let rest = try await call("GET", "/v1/payment_intents?limit=2&starting_after=\(ids[1])", "").body
      #expect(rest["has_more"] == false && rest["data"]?.elements.map { $0["metadata"] } == [["order": "1"]])
      let query = "/v1/payment_intents/search?query=metadata%5B%27order%27%5D%3A%273%27"
      #expect(try await call("GET", query, "").body["data"] == [])
      clock.advance(by: .seconds(61))
      #expect(try await call("GET", query, "").body["data"]?.elements.first?["id"]?.text == ids[0])
      for wrong in ["?limit=101", "?starting_after=pi_none", "?unknown=1", "/search?query=status", "/pi_none"] {
        #expect(try await call("GET", "/v1/payment_intents\(wrong)", "").status >= 400)
      }
    }
  }

  @Test func `knows one version, and no account that is not connected`() async throws {
    try await stripe { call async throws in
      #expect(try await call("GET", "/v1/balance", "", headers: ["Stripe-Version": "2010-01-01"]).status == 400)
      #expect(try await call("GET", "/v1/balance", "", headers: ["Stripe-Account": "acct_x"]).status == 403)
      #expect(try await call("GET", "/v1/balance", "", headers: ["Stripe-Account": "acct_other"]).status == 200)
    }
  }

  private static func payment(card: String = "4761739000000012", cryptogram: String? = nil) -> String {
    let data = "payment_method_data[card][network_token]"
    let options = "payment_method_options[card][network_token]"
    return "amount=1250&currency=eur&confirm=true&capture_method=manual&payment_method_data[type]=card"
      + "&\(data)[number]=\(card)&\(data)[exp_month]=12&\(data)[exp_year]=2031&\(data)[tokenization_method]=apple_pay"
      + "&\(options)[cryptogram]=\(cryptogram ?? fresh)&\(options)[electronic_commerce_indicator]=07"
  }

  /// `AAAA` and something else, so that each is its own.
  private static var fresh: String { "AAAA" + Hex.encode(RandomBytes.system.next(8)) }

  private func stripe(
    _ clock: StripeClock = StripeClock(), _ body: @escaping @Sendable (StripeCall) async throws -> Void
  ) async throws {
    let files = try TemporaryDirectory()
    let account = StripeAccount(
      id: "acct_shop", secretKey: "sk_test_shop", publishableKey: "pk_test_shop", restrictedKey: "rk_test_shop",
      signingSecret: "whsec_shop", connected: ["acct_other"])
    let service = try await StripeSandboxService(
      databasePath: files.path + "/stripe.sqlite", tokenRootPEM: try SandboxPKI().rootPEM, accounts: [account],
      clock: clock.wall,
      silence: .milliseconds(50))
    let router = Router()
    service.addRoutes(to: router)
    try await Application(router: router).test(.router) { client in try await body(StripeCall(client: client)) }
    await service.close()
  }
}

/// A call to the emulated Stripe, and its answer.
private struct StripeCall: Sendable {
  let client: any TestClientProtocol

  struct Answer: Sendable {
    let status: Int
    let body: JSONValue
  }

  func callAsFunction(
    _ method: String, _ path: String, _ form: String, key: String = "sk_test_shop",
    idempotencyKey: String? = nil, headers more: [String: String] = [:]
  ) async throws -> Answer {
    var headers: HTTPFields = [.authorization: "Bearer \(key)", .contentType: "application/x-www-form-urlencoded"]
    let named = idempotencyKey.map { more.merging(["Idempotency-Key": $0]) { $1 } } ?? more
    for (name, value) in named { headers[try #require(HTTPField.Name(name))] = value }
    let verb: HTTPRequest.Method = method == "GET" ? .get : .post
    return try await client.execute(uri: path, method: verb, headers: headers, body: ByteBuffer(string: form)) {
      Answer(status: $0.status.code, body: try JSONReader.read(Array($0.body.readableBytesView)))
    }
  }
}

private final class StripeClock: Sendable {
  private let time = Mutex(Timestamp(seconds: 1_800_000_000))
  var wall: WallClock { WallClock { self.time.withLock { $0 } } }
  func advance(by duration: Duration) { time.withLock { $0 = $0.adding(duration) } }
}

extension JSONValue {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
  fileprivate var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}

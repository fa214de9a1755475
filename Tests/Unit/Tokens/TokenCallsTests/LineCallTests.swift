import ApplePayToken
import StrictJSON
import TenderPayments
import Testing
import TokenCalls
import TokenVectors

@Suite struct `A call as a line of JSON` {
  @Test func `has the verdict of the library for every conformance vector`() throws {
    var keys: [String: TokenKeys] = [:]
    for vector in try CallFixtures.library.get().vectors {
      let own = try keys[vector.key] ?? CallFixtures.keys(vector)
      keys[vector.key] = own
      let answer = try own.answer("decrypt", vector)
      switch vector.expectation {
      case .opens:
        let inside = answer["paymentData"].map { String(decoding: $0.serialized(), as: UTF8.self) }
        #expect(answer["verified"] == true && inside == vector.paymentData, "\(vector.name)")
      case .refused(let stage, let code):
        #expect(answer["stage"]?.text == stage && answer["code"]?.text == code, "\(vector.name)")
        #expect(answer["paymentData"] == nil)
      }
    }
  }

  @Test func `spends a payment token once, and only if it pays what is expected`() throws {
    let vector = try CallFixtures.vector("application-data")
    let keys = try CallFixtures.keys(vector)
    let hash = Hex.encode(try #require(try EncryptedPaymentToken(bytes: vector.token).applicationDataHash))
    func pay(_ units: Int64, _ hash: JSONValue) throws -> JSONValue {
      try keys.answer(
        "decrypt", vector,
        ["confirm": ["amount": .integer(units), "currency": "EUR", "applicationDataHash": hash], "spend": true])
    }
    #expect(try pay(1251, .string(hash))["code"] == "amount_mismatch")
    #expect(try pay(1250, .null)["code"] == "application_data_mismatch")
    #expect(try pay(1250, .string(String(hash.reversed())))["code"] == "application_data_mismatch")
    let paid = try pay(1250, .string(hash))
    #expect(paid["confirmed"] == true && paid["spent"] == true && paid["amount"] == 1250 && paid["currency"] == "EUR")
    #expect(try pay(1250, .string(hash))["code"] == "token_already_used")
    #expect(try keys.answer("verify", vector, ["spend": true])["code"] == "token_already_used")
  }

  @Test(
    arguments: [
      (["confirm": .null], "$.confirm"), (["spend": .null], "$.spend"),
      (["confirm": ["amount": 1250]], "$.confirm.currency"),
      (["confirm": ["amount": 1250, "currency": "EUR"]], "$.confirm"),
      (["confirm": ["amount": "12.50", "currency": "EUR", "applicationDataHash": .null]], "$.confirm.amount"),
      (["confirm": ["amount": -1, "currency": "EUR", "applicationDataHash": .null]], "$.confirm"),
      (["confirm": ["amount": 1250, "currency": "XXX", "applicationDataHash": .null]], "$.confirm"),
      (["confirm": ["amount": 1250, "currency": "EUR", "applicationDataHash": "basket"]], "$.confirm"),
      (["at": "yesterday"], "$"), (["spent": true], "$"), (["token": "{}"], "$"),
      (["token": ["version": "EC_v1"]], "$.token"),
    ] as [(JSONObject, String)])
  func `that leaves a check out by mistake is refused`(_ members: JSONObject, _ field: String) throws {
    let vector = try CallFixtures.vector("ec-v1")
    let keys = try CallFixtures.keys(vector)
    let answer = try keys.answer("decrypt", vector, members)
    #expect(answer["stage"] == "call" && answer["code"] == "malformed_request", "\(answer)")
    #expect(answer["field"]?.text == field && answer["paymentData"] == nil, "\(answer)")
    #expect(try keys.answer("decrypt", vector, ["spend": true])["spent"] == true, "it was spent by a mistaken call")
  }

  @Test func `without application data must be expected to have none`() throws {
    let vector = try CallFixtures.vector("ec-v1")
    let keys = try CallFixtures.keys(vector)
    let some = String(repeating: "0", count: 64)
    let expected: JSONObject = ["amount": 1250, "currency": "EUR"]
    for (hash, code) in [(JSONValue.string(some), "application_data_missing"), (.null, nil)] {
      var confirm = expected
      confirm["applicationDataHash"] = hash
      #expect(try keys.answer("decrypt", vector, ["confirm": .object(confirm)])["code"]?.text == code)
    }
    #expect(try keys.answer("verify", vector, ["confirm": ["applicationDataHash": .null]])["confirmed"] == true)
    #expect(try keys.answer("verify", vector, ["confirm": .object(expected)])["stage"] == "call")
  }

  @Test func `is answered with its id, of whatever kind`() throws {
    let keys = TokenKeys([], trusting: .apple())
    for id: JSONValue in ["a", 7, [1, "b"], ["c": true]] {
      #expect(try keys.answer(["call": "version", "id": id]) == ["id": id, "version": "1"])
    }
    #expect(try keys.answer(["call": "close", "id": 1])["code"] == "unknown_call")
    #expect(try keys.answer(["id": 1])["field"] == "$.call")
  }

  @Test func `inspects without a key`() throws {
    let answer = try TokenKeys([], trusting: .apple()).answer([
      "call": "inspect", "token": .string(Base64.encode(try CallFixtures.vector("ec-v1").token)),
    ])
    #expect(answer["version"] == "EC_v1" && answer["certificates"]?.elements.count == 2 && answer["verified"] == nil)
  }
}

@Suite struct `The settings of keys` {
  @Test(arguments: [
    ("", "malformed_settings", nil), ("[]", "malformed_settings", "$"), (#"{"key": []}"#, "malformed_settings", "$"),
    (#"{"keys": {}}"#, "malformed_settings", "$.keys"),
    (#"{"keys": [{}]}"#, "malformed_settings", "$.keys[0].privateKey"),
    (#"{"keys": [{"privateKey": "x"}]}"#, "malformed_settings", "$.keys[0]"),
    (
      #"{"keys": [{"privateKey": "x", "merchantIdentifier": "m", "certificate": "c"}]}"#, "malformed_settings",
      "$.keys[0]"
    ),
    (#"{"keys": [{"privateKey": "x", "merchantIdentifier": "m"}]}"#, "unreadable_key", "$.keys[0]"),
    (#"{"environment": "live"}"#, "malformed_settings", "$"),
    (#"{"environment": "simulated"}"#, "malformed_settings", "$"),
    (#"{"root": "x"}"#, "malformed_settings", "$"),
    (#"{"environment": "simulated", "root": "x"}"#, "unreadable_root", nil),
    (#"{"replayWindow": 0}"#, "malformed_settings", "$"),
  ])
  func `are refused with the place of the mistake`(_ text: String, _ code: String, _ field: String?) {
    do {
      _ = try TokenKeys(settings: Array(text.utf8))
      Issue.record("they were taken")
    } catch let error as TokenCallError {
      #expect(error.code.rawValue == code && error.field == field, "\(error)")
    } catch let error as PaymentTokenError {
      #expect(error.code.rawValue == code && error.field == field, "\(error)")
    } catch {
      Issue.record(error)
    }
  }

  @Test func `trust the environment that they name, and production where they name none`() throws {
    let vector = try CallFixtures.vector("ec-v1")
    for settings in ["{}", #"{"environment": "production"}"#, #"{"environment": "apple-sandbox"}"#] {
      #expect(try TokenKeys(settings: Array(settings.utf8)).answer("verify", vector)["code"] == "untrusted_root")
    }
    #expect(try CallFixtures.keys(vector).answer("verify", vector)["verified"] == true)
  }

  @Test func `say how many payment tokens are remembered`() throws {
    let (first, second) = (try CallFixtures.vector("ec-v1"), try CallFixtures.vector("ec-v1-2014"))
    let keys = try TokenKeys(settings: CallFixtures.settings(first, window: 1))
    #expect(try keys.answer("verify", first, ["spend": true])["spent"] == true)
    #expect(try keys.answer("verify", second, ["spend": true])["code"] == "replay_window_full")
  }
}

import AcquirerSandbox
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import ProviderEmulators
import SandboxTesting
import StrictJSON
import TenderPayments
import Testing
import TokenIssuer

@Suite struct `The emulated Checkout.com` {
  private static let account = CheckoutComAccount.sandbox

  @Test func `takes the secret key for payments, and the public one for tokens alone`() async throws {
    try await checkout { call async throws in
      for key in [Self.account.publicKey, "sk_sbox_other", ""] {
        #expect(try await call("/payments", Self.payment(), as: key).status == 401)
      }
      let token: JSONValue = ["type": "applepay", "token_data": [:]]
      #expect(try await call("/tokens", token, as: Self.account.secretKey).status == 401)
      let invalid = try await call("/tokens", token, as: Self.account.publicKey)
      #expect(invalid.status == 422 && invalid.codes == ["token_data_invalid"])
    }
  }

  @Test(arguments: [
    ("source", "payment_source_required"), ("amount", "amount_invalid"), ("currency", "currency_required"),
    ("processing_channel_id", "processing_channel_id_required"),
  ])
  func `names what is missing`(member: String, code: String) async throws {
    try await checkout { call async throws in
      let answer = try await call("/payments", Self.payment([member: nil]))
      #expect(answer.status == 422 && answer.codes == [.string(code)] && answer.body["error_type"] == "request_invalid")
    }
  }

  @Test(
    arguments: [
      (["amount": -1], "amount_invalid"), (["amount": 1_000_000_000], "amount_invalid"),
      (["amount": 1001, "currency": "BHD"], "amount_invalid"), (["amount": 1001, "currency": "CLP"], "amount_invalid"),
      (["currency": "XXX"], "currency_invalid"), (["amount": "12"], "request_body_invalid"),
      (["reference": .string(String(repeating: "r", count: 81))], "reference_invalid"),
      (["customer": ["email": "maud@example.c"]], "customer_email_invalid"),
      (["authorization_type": "Later"], "authorization_type_invalid"),
      (["processing_channel_id": "pc_other"], "processing_channel_id_invalid"),
      (["billing_descriptor": ["name": "Harbour"]], "billing_descriptor_city_required"),
      (["billing_descriptor": ["name": "Harbour", "city": "A long city name"]], "billing_descriptor_city_invalid"),
      (["source": ["type": "card", "token": "4242424242424242"]], "payment_source_invalid"),
      (["source": ["type": "token", "token": "tok_unknown"]], "token_invalid"),
      (["source": ["type": "network_token", "token": "4761739000000012", "token_type": "vts"]], "token_type_invalid"),
      (["source": ["type": "network_token", "token": "1", "token_type": "applepay"]], "card_number_invalid"),
      (
        ["source": ["type": "network_token", "token": "4761739000000012", "token_type": "applepay"]],
        "cryptogram_invalid"
      ),
    ] as [([String: JSONValue], String)])
  func `refuses a payment request that Checkout.com refuses`(changes: [String: JSONValue], code: String) async throws {
    try await checkout { call async throws in
      let answer = try await call("/payments", Self.payment(changes.mapValues { $0 }))
      #expect(answer.status == 422 && answer.codes == [.string(code)], "\(answer)")
    }
  }

  @Test func `answers a decline with 201 and the same members as an approval`() async throws {
    try await checkout { call async throws in
      let approved = try await call("/payments", Self.payment())
      #expect(approved.status == 201 && approved.body["approved"] == true && approved.body["status"] == "Authorized")
      let declined = try await call("/payments", Self.payment(card: "visa-insufficient-funds"))
      #expect(declined.status == 201 && declined.body["approved"] == false && declined.body["status"] == "Declined")
      #expect(declined.body["response_code"] == "20051" && declined.body["auth_code"] == nil)
    }
  }

  @Test func `keeps what was done under its key for a day, whatever the contents, and no refusal`() async throws {
    try await checkout { call async throws in
      let invalid = Self.payment(["amount": -1])
      #expect(try await call("/payments", invalid, key: "k1").status == 422)
      let first = try await call("/payments", Self.payment(), key: "k1")
      #expect(first.status == 201)
      #expect(try await call("/payments", Self.payment(["amount": 99]), key: "k1").body == first.body)
      // Without a key it is another payment.
      #expect(try await call("/payments", Self.payment()).body["id"] != first.body["id"])
    }
  }

  @Test func `a cryptogram is accepted once`() async throws {
    try await checkout { call async throws in
      let payment = Self.payment()
      #expect(try await call("/payments", payment).body["approved"] == true)
      #expect(try await call("/payments", payment).body["response_code"] == "20005")
    }
  }

  @Test func `captures by itself unless the payment says not to`() async throws {
    try await checkout { call async throws in
      #expect(try await call("/payments", Self.payment(["capture": nil])).body["status"] == "Captured")
      #expect(try await call("/payments", Self.payment()).body["status"] == "Authorized")
    }
  }

  @Test func `lists an action only once it is processed, and refuses what the state does not allow`() async throws {
    try await checkout { call async throws in
      let name = try #require(try await call("/payments", Self.payment()).id)
      #expect(try await call("/payments/\(name)/refunds", [:]).status == 403)
      let capture = try await call("/payments/\(name)/captures", ["amount": 500, "capture_type": "NonFinal"])
      #expect(capture.status == 202 && capture.body["action_id"] != nil)
      #expect(try await call.get("/payments/\(name)/actions").count == 1)
      try await call.service.deliverEvents(after: .zero, by: .unavailable)
      let actions = try await call.get("/payments/\(name)/actions")
      #expect(actions.first?["type"] == "Capture" && actions.first?["id"] == capture.body["action_id"])
      #expect(actions.first?["approved"] == true && actions.last?["type"] == "Authorization")
      #expect(try await call("/payments/pay_other/voids", [:]).status == 404)
    }
  }

  private static func payment(_ changes: [String: JSONValue?] = [:], card: String = "visa-debit") -> JSONValue {
    var body: JSONObject = [
      "source": [
        "type": "network_token", "token": .string(SandboxCards.card(id: card)?.dpan.revealed ?? ""),
        "expiry_month": 12, "expiry_year": 2031, "token_type": "applepay",
        "cryptogram": .string(Base64.encode(RandomBytes.system.next(20))), "eci": "07",
      ],
      "amount": 1250, "currency": "EUR", "reference": "R1", "capture": false,
      "processing_channel_id": .string(account.processingChannel),
    ]
    for (name, value) in changes { body[name] = value }
    return .object(body)
  }

  private func checkout(_ body: @escaping @Sendable (CheckoutComCaller) async throws -> Void) async throws {
    let directory = try TemporaryDirectory()
    let service = try await CheckoutComSandbox(
      databasePath: "\(directory.path)/checkout-com.sqlite", tokenRootPEM: try SandboxPKI().rootPEM)
    let router = Router()
    service.addRoutes(to: router)
    try await Application(router: router).test(.router) {
      try await body(CheckoutComCaller(client: $0, service: service))
    }
    await service.close()
  }
}

private struct CheckoutComCaller: Sendable {
  struct Answer {
    let status: Int
    let body: JSONValue
    var id: String? { if case .string(let name) = body["id"] { name } else { nil } }
    var codes: JSONValue? { body["error_codes"] }
  }

  let client: any TestClientProtocol
  let service: CheckoutComSandbox

  func callAsFunction(
    _ path: String, _ body: JSONValue, as credential: String = CheckoutComAccount.sandbox.secretKey, key: String? = nil
  ) async throws -> Answer {
    var headers: HTTPFields = [.authorization: "Bearer \(credential)"]
    headers[try #require(HTTPField.Name("Cko-Idempotency-Key"))] = key
    return try await client.execute(
      uri: path, method: .post, headers: headers, body: ByteBuffer(bytes: body.serialized())
    ) {
      let bytes = Array($0.body.readableBytesView)
      return Answer(status: $0.status.code, body: bytes.isEmpty ? .null : try JSONReader.read(bytes))
    }
  }

  func get(_ path: String) async throws -> [JSONValue] {
    let headers: HTTPFields = [.authorization: "Bearer \(CheckoutComAccount.sandbox.secretKey)"]
    return try await client.execute(uri: path, method: .get, headers: headers) {
      try JSONField(JSONReader.read(Array($0.body.readableBytesView))).array.map(\.value)
    }
  }
}

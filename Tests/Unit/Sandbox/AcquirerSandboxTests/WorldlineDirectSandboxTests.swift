import AcquirerSandbox
import DirectWire
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import ProviderEmulators
import SandboxTesting
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

@Suite struct `The emulated Worldline Direct` {
  private static func payment(
    _ reference: String, input: [String: JSONValue?] = [:],
    amount: JSONValue = ["amount": 1250, "currencyCode": "EUR"],
    customer: JSONValue = [:]
  ) throws -> JSONValue {
    let card = try #require(SandboxCards.card(id: "visa-debit"))
    var mobile: JSONObject = [
      "paymentProductId": 302, "authorizationMode": "PRE_AUTHORIZATION",
      "decryptedPaymentData": [
        "dpan": .string(card.dpan.revealed), "expiryDate": "1231", "eci": 7,
        "cryptogram": .string(Base64.encode(RandomBytes.system.next(20))),
      ],
    ]
    for (key, value) in input { mobile[key] = value }
    return [
      "order": [
        "amountOfMoney": amount, "references": ["merchantReference": .string(reference)], "customer": customer,
      ],
      "mobilePaymentMethodSpecificInput": .object(mobile),
    ]
  }

  @Test func `rejects what is not signed by a key of this merchant, now`() async throws {
    try await worldline { call in
      for answer in [
        try await call("GET", "/services/testconnection", keyID: "OTHER"),
        try await call("GET", "/services/testconnection", secret: "other"),
        try await call("GET", "/services/testconnection", merchant: "Other"),
        try await call("GET", "/services/testconnection", at: WallClock.system.now().adding(.seconds(-301))),
      ] {
        #expect(answer.status == 403 && answer.error?["id"] == "ACCESS_TO_MERCHANT_NOT_ALLOWED")
        #expect(answer.error?["code"] == "9007")
      }
      let answer = try await call("GET", "/services/testconnection")
      #expect(answer.status == 200 && answer.body == ["result": "OK"])
    }
  }

  @Test(
    arguments: [
      (["paymentProductId": 320], "mobilePaymentMethodSpecificInput.paymentProductId"),
      (["paymentProductId": nil], "mobilePaymentMethodSpecificInput.paymentProductId"),
      (["authorizationMode": "LATER"], "mobilePaymentMethodSpecificInput.authorizationMode"),
      (["decryptedPaymentData": nil], "mobilePaymentMethodSpecificInput.encryptedPaymentData"),
      (["encryptedPaymentData": "AAAA"], "mobilePaymentMethodSpecificInput"),
      (
        ["decryptedPaymentData": nil, "encryptedPaymentData": "AAAA"],
        "mobilePaymentMethodSpecificInput.encryptedPaymentData"
      ),
      (
        ["decryptedPaymentData": ["dpan": "1", "expiryDate": "1231", "cryptogram": "AAAA"]],
        "mobilePaymentMethodSpecificInput.decryptedPaymentData.dpan"
      ),
    ] as [([String: JSONValue?], String)])
  func `names what is wrong with a payment request`(input: [String: JSONValue?], property: String) async throws {
    try await worldline { call in
      let answer = try await call("POST", "/payments", try Self.payment("R1", input: input))
      #expect(answer.status == 400 && answer.error?["propertyName"] == .string(property), "\(answer.body)")
      #expect(answer.error?["code"] != nil && answer.error?["errorCode"] != nil)
    }
  }

  @Test(
    arguments: [
      (["contactDetails": ["emailAddress": .string(String(repeating: "m", count: 71))]], "contactDetails.emailAddress"),
      (
        ["personalInformation": ["name": ["firstName": "Maximiliane-Marie"]]], "personalInformation.name.firstName"
      ),
      (["billingAddress": ["countryCode": "JA"]], "billingAddress.countryCode"),
    ] as [(JSONValue, String)])
  func `names what is wrong with a customer`(customer: JSONValue, property: String) async throws {
    try await worldline { call in
      let answer = try await call("POST", "/payments", try Self.payment("R1", customer: customer))
      #expect(answer.status == 400 && answer.error?["propertyName"] == .string("order.customer.\(property)"))
    }
  }

  @Test func `names an amount, a currency or a reference that is none`() async throws {
    try await worldline { call in
      for (amount, property) in [
        (["amount": 0, "currencyCode": "EUR"], "order.amountOfMoney.amount"),
        (["amount": "1", "currencyCode": "EUR"], "order.amountOfMoney.amount"),
        (["amount": .integer(.max), "currencyCode": "EUR"], "order.amountOfMoney.amount"),
        (["amount": 1, "currencyCode": "XXX"], "order.amountOfMoney.currencyCode"),
        (["amount": 1], "order.amountOfMoney.currencyCode"),
      ] as [(JSONValue, String)] {
        let answer = try await call("POST", "/payments", try Self.payment("R1", amount: amount))
        #expect(answer.status == 400 && answer.error?["propertyName"] == .string(property), "\(answer.body)")
      }
      let long = try await call("POST", "/payments", try Self.payment(String(repeating: "r", count: 41)))
      #expect(long.error?["propertyName"] == "order.references.merchantReference")
    }
  }

  @Test func `forgets a key after a day`() async throws {
    let directory = try TemporaryDirectory()
    let now = WallClock.system.now()
    for later in [0, 86_399, 86_401] as [Int64] {
      let clock = WallClock { now.adding(.seconds(later)) }
      try await worldline(in: directory, clock: clock) { call in
        let answer = try await call("POST", "/payments", try Self.payment("R1"), key: "K1", at: clock.now())
        #expect(answer.status == 201 && (answer.firstAt == nil) == (later != 86_399), "\(later)")
      }
    }
  }

  @Test func `answers 409 while the first call under a key runs`() async throws {
    let state = Mutex((isRunning: false, isReleased: false))
    let sleep: @Sendable (Duration) async throws -> Void = { _ in
      state.withLock { $0.isRunning = true }
      try await waitUntil("the release of the first call") { state.withLock { $0.isReleased } }
    }
    try await worldline(sleep: sleep) { call in
      let slow = try Self.payment("R1", amount: ["amount": 2070, "currencyCode": "EUR"])
      async let first = call("POST", "/payments", slow, key: "K1")
      defer { state.withLock { $0.isReleased = true } }
      try await waitUntil("the first call") { state.withLock { $0.isRunning } }
      let second = try await call("POST", "/payments", slow, key: "K1")
      #expect(second.status == 409 && second.error?["id"] == "DUPLICATE_REQUEST_IN_PROGRESS")
      state.withLock { $0.isReleased = true }
      #expect(try await first.status == 201)
    }
  }

  @Test func `keeps neither card number nor cryptogram`() async throws {
    let directory = try TemporaryDirectory()
    let cryptogram = "AgAAAAAAAIR8CQrXcIhbQAAAAAA="
    let card = try #require(SandboxCards.card(id: "visa-debit"))
    try await worldline(in: directory) { call in
      let data: JSONValue = [
        "dpan": .string(card.dpan.revealed), "expiryDate": "1231", "cryptogram": .string(cryptogram),
      ]
      let answer = try await call("POST", "/payments", try Self.payment("R1", input: ["decryptedPaymentData": data]))
      #expect(answer.status == 201)
    }
    for file in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(directory.path)/\(file)"))
      for secret in [card.dpan.revealed, cryptogram] {
        #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file)")
      }
    }
  }

  private func worldline(
    in directory: TemporaryDirectory? = nil, clock: WallClock = .system,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in },
    _ body: @escaping @Sendable (WorldlineDirectCaller) async throws -> Void
  ) async throws {
    let directory = try directory ?? TemporaryDirectory()
    let account = WorldlineDirectAccount(
      merchantID: "Shop", apiKeyID: "KEY1", secretAPIKey: "secret", webhookKeyID: "HOOK1", webhookSecret: "hook")
    let service = try await WorldlineDirectSandbox(
      databasePath: "\(directory.path)/worldline.sqlite", tokenRootPEM: try SandboxPKI().rootPEM, accounts: [account],
      clock: clock, sleep: sleep)
    let router = Router()
    service.addRoutes(to: router)
    try await Application(router: router).test(.router) { try await body(WorldlineDirectCaller(client: $0)) }
    await service.close()
  }
}

private struct WorldlineDirectCaller: Sendable {
  struct Answer {
    let status: Int
    let body: JSONValue
    let firstAt: String?
    var error: JSONValue? { if case .array(let all) = body["errors"] { all.first } else { nil } }
  }

  let client: any TestClientProtocol

  func callAsFunction(
    _ method: String, _ path: String, _ body: JSONValue? = nil, key: String? = nil, keyID: String = "KEY1",
    secret: String = "secret", merchant: String = "Shop", at time: Timestamp? = nil
  ) async throws -> Answer {
    let target = "/v2/\(merchant)\(path)"
    let date = HTTPDate.text(time ?? WallClock.system.now())
    let signed = key.map { [(name: Idempotence.key, value: $0)] } ?? []
    var headers: HTTPFields = [
      .authorization: RequestSigner(apiKeyId: keyID, secret: secret).authorization(
        method: method, contentType: body == nil ? "" : "application/json", date: date, gcsHeaders: signed,
        pathAndQuery: target),
      .date: date,
    ]
    if body != nil { headers[.contentType] = "application/json" }
    headers[try #require(HTTPField.Name(Idempotence.key))] = key
    let first = try #require(HTTPField.Name(Idempotence.requestTimestamp))
    return try await client.execute(
      uri: target, method: try #require(HTTPRequest.Method(method)), headers: headers,
      body: ByteBuffer(bytes: body?.serialized() ?? [])
    ) {
      Answer(
        status: $0.status.code, body: try JSONReader.read($0.body.readableBytesView), firstAt: $0.headers[first])
    }
  }
}

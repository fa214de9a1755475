import AcquirerSandbox
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import ProviderEmulators
import SandboxTesting
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

@Suite struct `The emulated Worldline Acquiring` {
  @Test(arguments: [
    ("amount", 400), ("operationId", 400), ("transactionTimestamp", 400), ("authorizationType", 400),
    ("references", 400), ("cardPaymentData", 400),
  ])
  func `names a required field that is missing`(field: String, status: Int) async throws {
    try await worldline { call async throws in
      let answer = try await call("payments", Self.payment([field: nil]))
      #expect(answer.status == status && answer.body["status"] == .integer(Int64(status)))
      #expect(answer.type == "application/problem+json")
      #expect(answer.body["detail"] == .string("\(field) is required"))
    }
  }

  @Test(
    arguments: [
      ["amunt": 1], ["operationId": "a/b"], ["transactionTimestamp": "yesterday"], ["authorizationType": "SALE"],
      ["amount": ["amount": 5, "currencyCode": "EUR", "numberOfDecimals": 3]],
      ["amount": ["amount": "5", "currencyCode": "EUR", "numberOfDecimals": 2]],
      ["amount": ["amount": 5, "currencyCode": "XXX", "numberOfDecimals": 2]],
      ["merchant": ["merchantCategoryCode": "5812"]], ["merchant": ["countryCode": "IRL"]],
    ] as [[String: JSONValue]])
  func `refuses a payment that Worldline's models do not describe`(changes: [String: JSONValue]) async throws {
    try await worldline { call async throws in
      let answer = try await call("payments", Self.payment(changes.mapValues { $0 }))
      #expect(answer.status == 400, "\(answer.body)")
      #expect(try await call.payments().isEmpty)
    }
  }

  @Test(
    arguments: [
      ["walletId": "327"], ["brand": "MASTERCARD"], ["networkTokenData": ["eci": "07"]],
      ["networkTokenData": ["cryptogram": "AgAAAAAAAIR8CQrXcIhbQAAAAAA=", "eci": "7"]],
      ["cardData": ["cardNumber": "4761739000000012", "expiryDate": "1231"]], ["cardEntryMode": "CHIP"],
    ] as [[String: JSONValue]])
  func `takes network tokens of Apple Pay, and nothing else`(changes: [String: JSONValue]) async throws {
    try await worldline { call async throws in
      #expect(try await call("payments", Self.payment(card: changes)).status == 400)
    }
  }

  @Test func `an access token ends after its lifetime, and opens what its scopes name`() async throws {
    let clock = ManualClock()
    try await worldline(clock: clock) { call async throws in
      #expect(try await call("payments", Self.payment()).status == 201)
      clock.advance(.seconds(3_600))
      let late = try await call("payments", Self.payment())
      #expect(late.status == 401 && late.challenge?.hasPrefix("Bearer") == true)
      let other = try await call.token(scope: "processing_refund")
      let text = try #require(other["access_token"])
      guard case .string(let token) = text else { return }
      #expect(try await call("payments", Self.payment(), token: token).status == 403)
    }
  }

  @Test(arguments: [
    ("grant_type=password&client_id=c&client_secret=s&scope=services_ping", "unsupported_grant_type"),
    ("grant_type=client_credentials&client_id=tender-sandbox&client_secret=x&scope=services_ping", "invalid_client"),
    (
      "grant_type=client_credentials&client_id=tender-sandbox&client_secret=sandbox-client-secret&scope=root",
      "invalid_scope"
    ),
  ])
  func `refuses a request of a token with the error of RFC 6749`(form: String, error: String) async throws {
    try await worldline { call async throws in
      let answer = try await call.token(form: form)
      #expect(answer["error"] == .string(error))
    }
  }

  @Test func `a repeat gets the first answer, and other contents under the same name a conflict`() async throws {
    try await worldline { call async throws in
      let request = Self.payment(["operationId": "R1"])
      let first = try await call("payments", request)
      #expect(first.status == 201 && first.body["status"] == "AUTHORIZED")
      #expect(try await call("payments", request).body == first.body)
      let later = Self.payment(["operationId": "R1", "transactionTimestamp": "2027-01-15T09:00+02:00"])
      #expect(try await call("payments", later).body == first.body)
      let other = Self.payment(["operationId": "R1", "references": ["merchantReference": "another"]])
      #expect(try await call("payments", other).status == 409)
    }
  }

  @Test func `parts are captured under numbers in any order, and the last one releases the rest`() async throws {
    try await worldline { call async throws in
      let name = try #require(try await call("payments", Self.payment()).name)
      func capture(_ units: Int64, _ number: Int64?, isFinal: Bool = false) async throws -> Int {
        var body: JSONObject = [
          "operationId": .string(RandomBytes.system.hex(8)), "transactionTimestamp": "2027-01-15T08:00:00Z",
          "amount": Self.money(units), "isFinal": .bool(isFinal),
        ]
        body["captureSequenceNumber"] = number.map(JSONValue.integer)
        return try await call("payments/\(name)/captures", .object(body)).status
      }
      #expect(try await capture(500, nil) == 400)
      #expect(try await capture(500, 1) == 201)
      #expect(try await capture(100, 1) == 400)
      #expect(try await capture(50, 3) == 201)
      #expect(try await capture(50, 2, isFinal: true) == 201)
      #expect(try await capture(100, 4) == 409)
      let payment = try #require(try await call.payments().first)
      #expect(payment["authorized"] == 600 && payment["captured"] == 600)
    }
  }

  @Test func `captures at once, where the payment says so`() async throws {
    try await worldline { call async throws in
      let answer = try await call("payments", Self.payment(card: ["captureImmediately": true]))
      #expect(answer.body["status"] == "CONFIRMED")
      #expect(try await call.payments().first?["captured"] == 1250)
    }
  }

  @Test func `approves a part only where the payment allows it`() async throws {
    try await worldline { call async throws in
      let total = ["amount": Self.money(2010)] as [String: JSONValue?]
      #expect(try await call("payments", Self.payment(total)).body["responseCode"] == "51")
      let allowed = try await call("payments", Self.payment(total, card: ["allowPartialApproval": true]))
      #expect(allowed.body["responseCodeCategory"] == "PARTIALLY_APPROVED")
      #expect(allowed.body["totalAuthorizedAmount"]?["amount"] == 1005)
    }
  }

  @Test func `increments a pre-authorization, and no final one`() async throws {
    try await worldline { call async throws in
      func increment(_ name: String) async throws -> Int {
        let body: JSONValue = [
          "operationId": .string(RandomBytes.system.hex(8)), "transactionTimestamp": "2027-01-15T08:00:00Z",
          "incrementAmount": Self.money(250),
        ]
        return try await call("payments/\(name)/increments", body).status
      }
      let pre = try await call("payments", Self.payment(["authorizationType": "PRE_AUTHORIZATION"]))
      #expect(try await increment(try #require(pre.name)) == 201)
      #expect(try await increment(try #require(try await call("payments", Self.payment()).name)) == 409)
      #expect(try await call.payments().map { $0["authorized"] } == [1500, 1250])
    }
  }

  @Test func `keeps no card number and no cryptogram`() async throws {
    let directory = try TemporaryDirectory()
    try await worldline(at: "\(directory.path)/ledger.sqlite") { call async throws in
      #expect(try await call("payments", Self.payment(["operationId": "R1"])).status == 201)
    }
    let contents = try FileManager.default.contentsOfDirectory(atPath: directory.path).map {
      String(decoding: try Data(contentsOf: URL(filePath: "\(directory.path)/\($0)")), as: UTF8.self)
    }.joined()
    #expect(contents.contains("pay:ch:etu:"))
    #expect(!contents.contains("4761739000000012") && !contents.contains("AgAAAAAAAIR8CQrXcIhbQAAAAAA="))
  }

  @Test func `shows its newest operations, and sends no events`() async throws {
    try await worldline { call async throws in
      _ = try await call("payments", Self.payment(["operationId": "R1"]))
      let recent = try #require(try await call.service.recentOperations(limit: 5).first)
      #expect((recent.reference, recent.kind, recent.result) == ("R1", "authorize", "response code 0"))
      #expect(recent.amount == .eur(1250) && recent.cardSuffix == "0012" && !recent.isRefused)
      #expect(try await call.service.recentEvents(limit: 5).isEmpty)
    }
  }
}

extension `The emulated Worldline Acquiring` {
  private static func money(_ units: Int64) -> JSONValue {
    ["amount": .integer(units), "currencyCode": "EUR", "numberOfDecimals": 2]
  }

  private static func payment(
    _ changes: [String: JSONValue?] = [:], card: [String: JSONValue] = [:]
  ) -> JSONValue {
    var data: JSONObject = [
      "brand": "VISA", "cardEntryMode": "ECOMMERCE", "cardholderVerificationMethod": "CARDHOLDER_DEVICE",
      "walletId": "103", "cardData": ["cardNumber": "4761739000000012", "expiryDate": "122031"],
      "networkTokenData": ["cryptogram": .string(Base64.encode(RandomBytes.system.next(20))), "eci": "07"],
    ]
    if changes["operationId"] != nil { data["networkTokenData"] = ["cryptogram": "AgAAAAAAAIR8CQrXcIhbQAAAAAA="] }
    for (name, value) in card { data[name] = value }
    var body: JSONObject = [
      "operationId": .string(RandomBytes.system.hex(8)), "transactionTimestamp": "2027-01-15T08:00:00Z",
      "authorizationType": "FINAL_AUTHORIZATION", "amount": money(1250), "references": ["merchantReference": "order"],
      "cardPaymentData": .object(data),
    ]
    for (name, value) in changes { body[name] = value }
    return .object(body)
  }

  private func worldline(
    at path: String? = nil, clock: ManualClock? = nil,
    _ body: @escaping @Sendable (WorldlineCaller) async throws -> Void
  ) async throws {
    let files = try TemporaryStore()
    let service = try await WorldlineAcquiringSandbox(
      databasePath: path ?? files.path, clock: clock?.wall ?? .system, silence: .milliseconds(50))
    let router = Router()
    service.addRoutes(to: router)
    try await Application(router: router).test(.router) { client in
      try await body(try await WorldlineCaller(client: client, service: service).authenticated())
    }
    await service.close()
  }
}

private struct WorldlineCaller: Sendable {
  struct Answer {
    let status: Int
    let type: String?
    let challenge: String?
    let body: JSONValue
    var name: String? { if case .string(let name) = body["paymentId"] { name } else { nil } }
  }

  let client: any TestClientProtocol
  let service: WorldlineAcquiringSandbox
  var token = ""

  func authenticated() async throws -> WorldlineCaller {
    var caller = self
    guard case .string(let text) = try await token(scope: "processing_payment services_ping")["access_token"] else {
      throw JSONError(.invalid, path: "$.access_token", "missing")
    }
    caller.token = text
    return caller
  }

  func token(scope: String) async throws -> JSONValue {
    let secret = "client_id=tender-sandbox&client_secret=sandbox-client-secret"
    return try await token(form: "grant_type=client_credentials&\(secret)&scope=\(scope)")
  }

  func token(form: String) async throws -> JSONValue {
    try await client.execute(
      uri: "/connect/token", method: .post, headers: [.contentType: "application/x-www-form-urlencoded"],
      body: ByteBuffer(string: form)
    ) { try JSONReader.read($0.body.readableBytesView) }
  }

  func callAsFunction(_ path: String, _ body: JSONValue, token: String? = nil) async throws -> Answer {
    try await client.execute(
      uri: "/processing/v1/100001/520000001/\(path)", method: .post,
      headers: [.authorization: "Bearer \(token ?? self.token)", .contentType: "application/json"],
      body: ByteBuffer(bytes: body.serialized())
    ) {
      Answer(
        status: $0.status.code, type: $0.headers[.contentType], challenge: $0.headers[.wwwAuthenticate],
        body: try JSONReader.read($0.body.readableBytesView))
    }
  }

  func payments() async throws -> [JSONValue] {
    let pair = Base64.encode(Array("tender-sandbox:sandbox-client-secret".utf8))
    return try await client.execute(
      uri: "/worldline-acquiring/payments", method: .get, headers: [.authorization: "Basic \(pair)"]
    ) { try JSONField(JSONReader.read($0.body.readableBytesView)).member("payments").array.map(\.value) }
  }
}

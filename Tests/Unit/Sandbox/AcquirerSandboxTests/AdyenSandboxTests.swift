import AcquirerSandbox
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
import Testing
import TokenIssuer

@Suite struct `The emulated Adyen` {
  @Test func `rejects an unknown API key and another merchant account with Adyen's codes`() async throws {
    try await adyen { call in
      let unknown = try await call("/v72/payments", Self.payment(), key: "another")
      #expect(unknown.status == 401 && unknown.body["errorCode"] == "000" && unknown.body["errorType"] == "security")
      let foreign = try await call("/v72/payments", Self.payment(["merchantAccount": "Another"]))
      #expect(foreign.status == 403 && foreign.body["errorCode"] == "901")
    }
  }

  @Test(arguments: ["merchantAccount", "reference", "amount", "returnUrl", "paymentMethod"])
  func `names a required field that is missing`(field: String) async throws {
    try await adyen { call in
      let answer = try await call("/v72/payments", Self.payment([field: nil]))
      #expect(answer.status == 422 && answer.body["errorType"] == "validation")
      #expect(answer.body["message"] == .string("Required field '\(field)' is not provided."))
    }
  }

  @Test(
    arguments: [
      (["amunt": 1], 422, "702"), (["reference": 5], 400, "702"),
      (["amount": ["currency": "EUR", "value": "5"]], 400, "702"),
      (["amount": ["currency": "EUR", "value": .integer(.max)]], 400, "702"),
      (["amount": ["currency": "EUR", "value": -1]], 422, "137"),
      (["amount": ["currency": "XXX", "value": 5]], 422, "138"),
      (["reference": .string(String(repeating: "r", count: 81))], 422, "702"),
      (["shopperEmail": .string(String(repeating: "m", count: 257))], 422, "702"),
      (["telephoneNumber": .string(String(repeating: "1", count: 65))], 422, "702"),
      (["shopperName": ["firstName": .string(String(repeating: "m", count: 81)), "lastName": "M"]], 422, "702"),
      (["shopperName": ["firstName": "Maud"]], 422, "100"),
      (["paymentMethod": ["type": "scheme", "number": "1", "expiryMonth": "12", "expiryYear": "2031"]], 422, "101"),
      (["paymentMethod": ["type": "applepay"]], 422, "100"),
      (["paymentMethod": ["type": "applepay", "applePayToken": "bm90IGpzb24="]], 422, "174"),
      (["additionalData": ["manualCapture": true]], 400, "702"),
    ] as [([String: JSONValue], Int, String)])
  func `refuses a payment request that Adyen's schema refuses`(
    changes: [String: JSONValue], status: Int, code: String
  ) async throws {
    try await adyen { call in
      let answer = try await call("/v72/payments", Self.payment(changes.mapValues { $0 }))
      #expect(answer.status == status && answer.body["errorCode"] == .string(code), "\(answer)")
    }
  }

  @Test func `refuses a body of more than 64 KiB`() async throws {
    try await adyen { call in
      let long = Self.payment(["reference": .string(String(repeating: "r", count: 65_536))])
      let answer = try await call("/v72/payments", long)
      #expect(answer.status == 413)
    }
  }

  @Test func `answers a refusal with 200, a result code and a refusal reason`() async throws {
    try await adyen { call in
      let answer = try await call("/v72/payments", Self.payment(card: "visa-insufficient-funds"))
      #expect(answer.status == 200 && answer.body["resultCode"] == "Refused")
      #expect(answer.body["refusalReasonCode"] == "12" && answer.body["refusalReason"] == "Not enough balance")
    }
  }

  @Test(arguments: [("2", "Refused"), ("4", "Error"), ("6", "Refused"), ("20", "Refused")])
  func `takes the refusal code that a test asks for`(code: String, result: String) async throws {
    try await adyen { call in
      let wanted = ["additionalData": ["RequestedTestAcquirerResponseCode": .string(code)] as JSONValue]
      let answer = try await call("/v72/payments", Self.payment(wanted))
      #expect(answer.body["refusalReasonCode"] == .string(code) && answer.body["resultCode"] == .string(result))
    }
  }

  @Test func `gives the first answer to a key again, and refuses other contents under it`() async throws {
    try await adyen { call in
      let request = Self.payment()
      let first = try await call("/v72/payments", request, idempotencyKey: "k1")
      #expect(first.body["resultCode"] == "Authorised" && first.key == "k1")
      #expect(try await call("/v72/payments", request, idempotencyKey: "k1").body == first.body)
      let other = try await call("/v72/payments", Self.payment(["reference": "R2"]), idempotencyKey: "k1")
      #expect(other.status == 422 && other.body["errorCode"] == "704")
      // Without a key it is another payment, whose cryptogram was used before.
      #expect(try await call("/v72/payments", request).body["resultCode"] == "Refused")
    }
  }

  @Test func `keeps a refused request under its key, and forgets it after seven days`() async throws {
    let clock = SettableClock()
    try await adyen(clock: clock.wall) { call in
      let invalid = Self.payment(["amount": ["currency": "EUR", "value": -1]])
      #expect(try await call("/v72/payments", invalid, idempotencyKey: "k1").status == 422)
      let early = try await call("/v72/payments", Self.payment(), idempotencyKey: "k1")
      #expect(early.body["errorCode"] == "704")
      clock.advance(.seconds(7 * 86_400))
      let late = try await call("/v72/payments", Self.payment(), idempotencyKey: "k1")
      #expect(late.body["resultCode"] == "Authorised")
    }
  }

  @Test func `captures by itself unless the payment says not to`() async throws {
    try await adyen { call in
      _ = try await call("/v72/payments", Self.payment())
      _ = try await call("/v72/payments", Self.payment(["additionalData": ["manualCapture": "true"]]))
      let payments = try await call.payments()
      #expect(payments.map { $0["captured"] } == [1250, 0])
    }
  }

  @Test func `a capture of a part releases the rest where several are not enabled`() async throws {
    for (enabled, rest) in [(true, 1250), (false, 500)] as [(Bool, JSONValue)] {
      try await adyen(multiplePartialCaptures: enabled) { call in
        let manual = Self.payment(["additionalData": ["manualCapture": "true"]])
        let name = try #require(try await call("/v72/payments", manual).psp)
        let capture: JSONValue = ["merchantAccount": "Shop", "amount": ["currency": "EUR", "value": 500]]
        #expect(try await call("/v72/payments/\(name)/captures", capture).body["status"] == "received")
        try await call.resolve()
        let payment = try #require(try await call.payments().first)
        #expect(payment["captured"] == 500 && payment["authorised"] == rest)
      }
    }
  }

  @Test func `approves a part only where the payment allows it`() async throws {
    try await adyen { call in
      let half: JSONValue = ["currency": "EUR", "value": 2010]
      let refused = try await call("/v72/payments", Self.payment(["amount": half]))
      #expect(refused.body["refusalReasonCode"] == "12")
      let allowed = try await call(
        "/v72/payments", Self.payment(["amount": half, "additionalData": ["allowPartialAuth": "true"]]))
      #expect(allowed.body["resultCode"] == "PartiallyAuthorised" && allowed.body["amount"]?["value"] == 1005)
    }
  }

  @Test func `a modification of a payment of another account finds nothing`() async throws {
    try await adyen { call in
      let answer = try await call("/v72/payments/BCDFGHJKLMNPQRST/cancels", ["merchantAccount": "Shop"])
      #expect(answer.status == 422 && answer.body["errorCode"] == "167")
    }
  }

  @Test func `has no account number and no cryptogram on its disk`() async throws {
    let directory = try TemporaryDirectory()
    let cryptogram = "c2VjcmV0IGNyeXB0b2dyYW0="
    try await adyen(in: directory) { call in
      _ = try await call("/v72/payments", Self.payment(cryptogram: cryptogram), idempotencyKey: "k1")
    }
    let text = try directory.contents()
    #expect(text.contains("R1"))
    for secret in ["4761739000000012", cryptogram] { #expect(!text.contains(secret)) }
  }

  @Test func `the report books every change of a payment`() async throws {
    try await adyen { call in
      let manual = Self.payment(["additionalData": ["manualCapture": "true"]])
      let name = try #require(try await call("/v72/payments", manual).psp)
      let capture: JSONValue = [
        "merchantAccount": "Shop", "amount": ["currency": "EUR", "value": 500], "reference": "C1",
      ]
      _ = try await call("/v72/payments/\(name)/captures", capture)
      try await call.resolve()
      let lines = try await call.report().split(separator: "\n").map { $0.split(separator: ",").map(String.init) }
      #expect(lines.dropFirst().map { $0[9] } == ["Received", "Authorised", "SentForSettle"])
      #expect(lines.dropFirst().map { $0[8] } == ["12.50", "12.50", "5.00"])
      #expect(lines.last?.last == "C1")
    }
  }

  private static func payment(
    _ changes: [String: JSONValue?] = [:], card: String = "visa-debit", cryptogram: String? = nil
  ) -> JSONValue {
    let cavv = cryptogram ?? Base64.encode(RandomBytes.system.next(20))
    var body: JSONObject = [
      "merchantAccount": "Shop", "reference": "R1", "amount": ["currency": "EUR", "value": 1250],
      "returnUrl": "https://shop.example/",
      "paymentMethod": [
        "type": "scheme", "number": .string(SandboxCards.card(id: card)?.dpan.revealed ?? ""), "expiryMonth": "12",
        "expiryYear": "2031",
      ], "mpiData": ["authenticationResponse": "Y", "directoryResponse": "Y", "cavv": .string(cavv), "eci": "07"],
    ]
    for (name, value) in changes { body[name] = value }
    return .object(body)
  }

  private func adyen(
    in directory: TemporaryDirectory? = nil, clock: WallClock = .system, multiplePartialCaptures: Bool = true,
    _ body: @escaping @Sendable (AdyenCaller) async throws -> Void
  ) async throws {
    let directory = try directory ?? TemporaryDirectory()
    let account = AdyenAccount(
      merchantAccount: "Shop", apiKey: "secret", hmacKey: String(repeating: "AB", count: 32),
      multiplePartialCaptures: multiplePartialCaptures)
    let service = try await AdyenSandboxService(
      databasePath: "\(directory.path)/adyen.sqlite", tokenRootPEM: try SandboxPKI().rootPEM, accounts: [account],
      clock: clock)
    let router = Router()
    service.addRoutes(to: router)
    try await Application(router: router).test(.router) { try await body(AdyenCaller(client: $0, service: service)) }
    await service.close()
  }
}

private struct AdyenCaller: Sendable {
  struct Answer {
    let status: Int
    let body: JSONValue
    let key: String?
    var psp: String? { if case .string(let name) = body["pspReference"] { name } else { nil } }
  }

  let client: any TestClientProtocol
  let service: AdyenSandboxService

  func callAsFunction(
    _ path: String, _ body: JSONValue, key: String = "secret", idempotencyKey: String? = nil
  ) async throws -> Answer {
    let (apiKey, idempotency) = (
      try #require(HTTPField.Name("X-API-Key")), try #require(HTTPField.Name("Idempotency-Key"))
    )
    var headers: HTTPFields = [apiKey: key]
    headers[idempotency] = idempotencyKey
    return try await client.execute(
      uri: path, method: .post, headers: headers, body: ByteBuffer(bytes: body.serialized())
    ) {
      Answer(
        status: $0.status.code, body: try JSONReader.read($0.body.readableBytesView), key: $0.headers[idempotency])
    }
  }

  func payments() async throws -> [JSONValue] {
    try JSONField(try JSONReader.read(Array(try await get("/adyen/payments").utf8))).member("payments").array.map(
      \.value)
  }

  func report() async throws -> String { try await get("/adyen/report") }

  private func get(_ path: String) async throws -> String {
    let headers: HTTPFields = [try #require(HTTPField.Name("X-API-Key")): "secret"]
    return try await client.execute(uri: path, method: .get, headers: headers) { String(buffer: $0.body) }
  }

  func resolve() async throws { try await service.deliverEvents(after: .zero, by: .unavailable) }
}

private final class SettableClock: Sendable {
  private let time = Mutex(Timestamp(seconds: 1_800_000_000))
  var wall: WallClock { WallClock { self.time.withLock { $0 } } }
  func advance(_ duration: Duration) { time.withLock { $0 = $0.adding(duration) } }
}

extension TemporaryDirectory {
  /// Every byte of its files.
  fileprivate func contents() throws -> String {
    try FileManager.default.contentsOfDirectory(atPath: path).map {
      String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\($0)")), as: UTF8.self)
    }.joined()
  }
}

import DirectWire
import Foundation
import HTTPTransport
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// A merchant without a page of its own, and a shopper on the platform's.
struct HostedShopper: Sendable {
  let system: TestSystem
  let merchant: String
  let id: String
  let returnMAC: String
  let redirectURL: String
  private let key: (merchant: String, id: String, secret: String)

  /// The merchant's server makes a checkout.
  ///
  /// - Parameters:
  ///   - input: members of `hostedCheckoutSpecificInput` to add, or to have other values.
  ///   - order: the same of `order`.
  static func enters(
    _ system: TestSystem, _ merchant: String = "market", input: [String: JSONValue] = [:],
    order: [String: JSONValue] = [:], mode: String = "SALE"
  ) async throws -> HostedShopper {
    let answer = try await create(system, merchant, input: input, order: order, mode: mode)
    try #require(answer.status == 201, "\(answer.errorText)")
    return HostedShopper(
      system: system, merchant: merchant, id: try #require(answer.body["hostedCheckoutId"]?.text),
      returnMAC: try #require(answer.body["RETURNMAC"]?.text),
      redirectURL: try #require(answer.body["redirectUrl"]?.text), key: try key(system, merchant))
  }

  static func create(
    _ system: TestSystem, _ merchant: String = "market", input: [String: JSONValue] = [:],
    order: [String: JSONValue] = [:], mode: String = "SALE", key: String? = nil
  ) async throws -> JSONClient.Answer {
    let page: JSONObjectLiteral = ["locale": "en_IE", "returnUrl": "http://localhost:8401/back?order=7"]
    let sale: JSONObjectLiteral = [
      "amountOfMoney": ["amount": 1450, "currencyCode": "EUR"], "references": ["merchantReference": "M-7"],
    ]
    return try await signed(
      system, merchant, "POST", "hostedcheckouts",
      [
        "order": .object(sale.merged(order)), "hostedCheckoutSpecificInput": .object(page.merged(input)),
        "mobilePaymentMethodSpecificInput": ["authorizationMode": .string(mode), "paymentProductId": 302],
      ], key: key)
  }

  static func signed(
    _ system: TestSystem, _ merchant: String, _ method: String, _ resource: String, _ body: JSONValue? = nil,
    key idempotencyKey: String? = nil
  ) async throws -> JSONClient.Answer {
    let key = try key(system, merchant)
    let path = "/v2/\(merchant)/\(resource)"
    let headers = RequestSigning.headers(
      key.id, key.secret, method, path, body, idempotencyKey, at: system.clock.wall.now())
    return try await JSONClient(system.server, sender: system.sender).call(method, path, body, headers: headers)
  }

  private static func key(
    _ system: TestSystem, _ merchant: String
  ) throws -> (merchant: String, id: String, secret: String) {
    try MerchantFolder.apiKey(at: "\(system.directory)/merchants/\(merchant)")
  }

  // The merchant's server

  func status() async throws -> JSONValue {
    let answer = try await Self.signed(system, merchant, "GET", "hostedcheckouts/\(id)")
    try #require(answer.status == 200, "\(answer.errorText)")
    return answer.body
  }

  // The browser

  static func load(
    _ system: TestSystem, _ path: String, _ method: String = "GET", host: String = TestSystem.hostedDomain,
    headers: [HTTPField] = []
  ) async throws -> (status: Int, text: String, headers: [HTTPField]) {
    let request = OutboundRequest(
      method: method, url: system.server + path, headers: [HTTPField("Host", host)] + headers)
    let answer = try await system.sender.send(request, TestRun.whole)
    return (answer.status, String(decoding: answer.body, as: UTF8.self), answer.headers)
  }

  func load(
    _ path: String = "", _ method: String = "GET", headers: [HTTPField] = []
  ) async throws -> (status: Int, text: String, headers: [HTTPField]) {
    try await Self.load(system, "/hosted/\(id)\(path)", method, headers: headers)
  }

  func location(_ path: String, _ method: String = "GET") async throws -> String {
    let answer = try await load(path, method)
    try #require(answer.status == 303, "\(answer.text)")
    return try #require(answer.headers.first { $0.name.lowercased() == "location" }?.value)
  }

  // The kit and the device

  var api: JSONClient {
    JSONClient(
      "\(system.server)/hosted/\(id)", sender: system.sender,
      headers: [HTTPField("Host", TestSystem.hostedDomain), HTTPField("Origin", "http://\(TestSystem.hostedDomain)")])
  }

  func sheet() async throws -> JSONValue { try await api.require("GET", "/applepay/basket/\(id)") }

  /// A token as a device makes it for the platform's key.
  func token(card: String = "visa-debit", applicationData: JSONValue? = nil) async throws -> JSONValue {
    let request = try await sheet()["request"] ?? .null
    let session = try await api.require("POST", "/applepay/validate", ["basketId": .string(id)])
    return try await system.sandbox.require(
      "POST", "/device/tokens",
      [
        "cardId": .string(card), "merchantSession": session, "amount": request["total"]?["amount"] ?? .null,
        "currency": request["currencyCode"] ?? .null,
        "applicationData": applicationData ?? request["applicationData"] ?? .null,
      ], headers: [.init("Origin", "http://\(TestSystem.hostedDomain)")])
  }

  func pays(card: String = "visa-debit") async throws -> JSONClient.Answer {
    try await pays(try await token(card: card))
  }

  func pays(_ token: JSONValue) async throws -> JSONClient.Answer {
    let quote = try await sheet()["quoteId"] ?? .null
    return try await api.call("POST", "/applepay/payment", ["basketId": .string(id), "quoteId": quote, "token": token])
  }
}

extension HostedShopper {
  /// A shopper on the page of a payment link.
  init(_ system: TestSystem, _ merchant: String, link id: String) throws {
    self.init(
      system: system, merchant: merchant, id: id, returnMAC: "", redirectURL: "", key: try Self.key(system, merchant))
  }
}

/// Members of a JSON object by name.
typealias JSONObjectLiteral = [String: JSONValue]

extension JSONObjectLiteral {
  func merged(_ other: JSONObjectLiteral) -> JSONObject {
    var object = JSONObject()
    for (name, value) in merging(other, uniquingKeysWith: { $1 }).sorted(by: { $0.key < $1.key }) {
      object[name] = value
    }
    return object
  }
}

enum RequestSigning {
  static func headers(
    _ id: String, _ secret: String, _ method: String, _ path: String, _ body: JSONValue?,
    _ idempotencyKey: String? = nil, at now: Timestamp
  ) -> [HTTPField] {
    let (type, date) = (body == nil ? "" : "application/json", HTTPDate.text(now))
    let named =
      [(name: ContentDigest.header, value: ContentDigest.text(of: body?.serialized() ?? []))]
      + (idempotencyKey.map { [(name: "X-GCS-Idempotence-Key", value: $0)] } ?? [])
    let authorization = RequestSigner(apiKeyId: id, secret: secret).authorization(
      method: method, contentType: type, date: date, gcsHeaders: named, pathAndQuery: path)
    return ([("Date", date), ("Authorization", authorization)] + named).map { HTTPField($0.0, $0.1) }
  }
}

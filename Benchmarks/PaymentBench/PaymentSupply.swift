import AppleSandbox
import CostFuzzer
import DirectWire
import Foundation
import HTTPTransport
import NIOCore
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import TokenIssuer

/// Payments that are ready to be sent: each has a basket that the API has stored and shown, and a new payment token. They
/// are made before the measurement begins.
struct PaymentSupply: Sendable {
  private let environment: BenchEnvironment
  private let store: ServedStore
  private let key: (merchant: String, id: String, secret: String)
  private let issuer: PaymentTokenIssuer
  private let recipient: TokenRecipient
  private let card: SandboxCard
  private let contact: JSONValue

  init(_ environment: BenchEnvironment, _ store: ServedStore) async throws {
    (self.environment, self.store) = (environment, store)
    key = try MerchantFolder.apiKey(at: environment.merchant)
    issuer = PaymentTokenIssuer(pki: environment.sandbox.pki)
    recipient = try TokenRecipient(
      certificatePEM: String(contentsOfFile: environment.merchant + "/processing/1.pem", encoding: .utf8))
    let contacts = try await JSONClient(environment.addresses.url, sender: environment.sender).require(
      "GET", "/device/contacts")
    guard let contact = contacts.elements.first, let card = SandboxCards.card(id: "visa-debit") else {
      throw BenchFailure("the simulated wallet is empty")
    }
    (self.contact, self.card) = (contact, card)
  }

  /// - Parameters:
  ///   - capture: `manual` is one call to the acquirer and two commits; `immediate` twice as many.
  ///   - items: of each basket.
  func payments(_ count: Int, capture: CaptureMode = .manual, items: Int = 1) async throws -> [ByteBuffer] {
    let content = BasketContent(capture: capture, items: items)
    return try await withThrowingTaskGroup(of: [ByteBuffer].self) { group in
      // So many at once that baskets share commits.
      let width = Suite.width
      for worker in 0..<width {
        group.addTask {
          var made: [ByteBuffer] = []
          for _ in stride(from: worker, to: count, by: width) { made.append(try await payment(content)) }
          return made
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  /// One payment token alone, as JSON.
  func token() throws -> [UInt8] {
    try issuer.issue(PaymentTokenRequest(card: card, amount: Self.amount, recipient: recipient)).json.serialized()
  }

  /// The target of hostile requests: a basket, and a payment of another basket whose payment token decrypts but names
  /// another amount.
  func costTarget() async throws -> CostTarget {
    let (basket, paid) = (RandomBytes.system.hex(16), RandomBytes.system.hex(16))
    _ = try await sheet(of: basket, BasketContent())
    let sheet = try await sheet(of: paid, BasketContent())
    let order = PaymentTokenRequest(card: card, amount: try Self.amount.times(2), recipient: recipient)
    let payment: JSONValue = [
      "basketId": .string(paid), "quoteId": sheet["quoteId"] ?? .null, "token": try issuer.issue(order).json,
      "shippingContact": contact,
    ]
    return CostTarget(
      port: store.port, process: store.process.id, origin: BenchEnvironment.origin, key: key, basket: basket,
      payment: payment,
      document: BasketContent().document(basket))
  }

  /// The calls that store a new basket, show it, and price it again with a coupon.
  func basketCalls() -> [ByteBuffer] {
    let basket = RandomBytes.system.hex(16)
    let body = BasketContent(takesCoupon: true).document(basket).serialized()
    let change: JSONValue = ["couponCode": .string(BasketContent.coupon)]
    let headers = signature("PUT", path(of: basket), body)
    return [
      Self.request("PUT", path(of: basket), body, headers), Self.request("GET", "/applepay/basket/\(basket)"),
      Self.request("POST", "/applepay/basket/\(basket)/update", change.serialized()),
    ]
  }

  private func payment(_ content: BasketContent) async throws -> ByteBuffer {
    let basket = RandomBytes.system.hex(16)
    let sheet = try await sheet(of: basket, content)
    guard let data = sheet["request"]?["applicationData"]?.text.flatMap({ Base64.decode($0) }),
      let quote = sheet["quoteId"]
    else { throw BenchFailure("the server showed no sheet") }
    let token = try issuer.issue(
      PaymentTokenRequest(card: card, amount: try Self.amount, recipient: recipient, applicationData: data))
    let body: JSONValue = [
      "basketId": .string(basket), "quoteId": quote, "token": token.json, "shippingContact": contact,
    ]
    return Self.request("POST", "/applepay/payment", body.serialized())
  }

  private func sheet(of basket: String, _ content: BasketContent) async throws -> JSONValue {
    let document = content.document(basket)
    let headers = signature("PUT", path(of: basket), document.serialized())
    let client = JSONClient(store.url, sender: store.sender)
    _ = try await client.require(
      "PUT", path(of: basket), document, headers: headers.map { HTTPField($0.name, $0.value) })
    return try await client.require("GET", "/applepay/basket/\(basket)")
  }

  private func path(of basket: String) -> String { "/v2/\(key.merchant)/baskets/\(basket)" }

  private func signature(_ method: String, _ path: String, _ body: [UInt8]) -> [(name: String, value: String)] {
    RequestSigner(apiKeyId: key.id, secret: key.secret).headers(
      method: method, contentType: "application/json", pathAndQuery: path, body: body, at: WallClock.system.now())
  }

  private static var amount: Amount {
    get throws { Amount(minorUnits: BasketContent.total, currency: try euro) }
  }

  private static var euro: Currency {
    get throws {
      guard let euro = Currency(code: "EUR") else { throw BenchFailure("there is no euro") }
      return euro
    }
  }

  private static func request(
    _ method: String, _ path: String, _ body: [UInt8] = [], _ headers: [(name: String, value: String)] = []
  ) -> ByteBuffer {
    let lines =
      ["\(method) \(path) HTTP/1.1", "Host: localhost", "Origin: \(BenchEnvironment.origin)"]
      + (body.isEmpty ? [] : ["Content-Type: application/json", "Content-Length: \(body.count)"])
      + headers.map { "\($0.name): \($0.value)" }
    var buffer = ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n")
    buffer.writeBytes(body)
    return buffer
  }
}

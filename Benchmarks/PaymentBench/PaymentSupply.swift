import AppleSandbox
import CostFuzzer
import DirectWire
import Foundation
import HTTPTransport
import NIOCore
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

  /// - Parameter capture: `manual` is one call to the acquirer and two commits; `immediate` twice as many.
  func payments(_ count: Int, capture: CaptureMode = .manual) async throws -> [ByteBuffer] {
    try await withThrowingTaskGroup(of: [ByteBuffer].self) { group in
      let width = 16
      for worker in 0..<width {
        group.addTask {
          var made: [ByteBuffer] = []
          for _ in stride(from: worker, to: count, by: width) { made.append(try await payment(capture)) }
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
    _ = try await sheet(of: basket, .manual)
    let sheet = try await sheet(of: paid, .manual)
    let order = PaymentTokenRequest(card: card, amount: try Self.amount.times(2), recipient: recipient)
    let payment: JSONValue = [
      "basketId": .string(paid), "quoteId": sheet["quoteId"] ?? .null, "token": try issuer.issue(order).json,
      "shippingContact": contact,
    ]
    return CostTarget(
      port: store.port, process: store.process.id, origin: BenchEnvironment.origin, key: key, basket: basket,
      payment: payment,
      document: document(basket, .manual))
  }

  private func payment(_ capture: CaptureMode) async throws -> ByteBuffer {
    let basket = RandomBytes.system.hex(16)
    let sheet = try await sheet(of: basket, capture)
    guard let data = sheet["request"]?["applicationData"]?.text.flatMap({ Base64.decode($0) }),
      let quote = sheet["quoteId"]
    else { throw BenchFailure("the server showed no sheet") }
    let token = try issuer.issue(
      PaymentTokenRequest(card: card, amount: try Self.amount, recipient: recipient, applicationData: data))
    return request([
      "basketId": .string(basket), "quoteId": quote, "token": token.json, "shippingContact": contact,
    ])
  }

  private func sheet(of basket: String, _ capture: CaptureMode) async throws -> JSONValue {
    let path = "/v2/\(key.merchant)/baskets/\(basket)"
    let document = document(basket, capture)
    let headers = RequestSigner(apiKeyId: key.id, secret: key.secret).headers(
      method: "PUT", contentType: "application/json", pathAndQuery: path, body: document.serialized(),
      at: WallClock.system.now())
    let client = JSONClient(store.url, sender: environment.sender)
    _ = try await client.require("PUT", path, document, headers: headers.map { HTTPField($0.name, $0.value) })
    return try await client.require("GET", "/applepay/basket/\(basket)")
  }

  private func document(_ basket: String, _ capture: CaptureMode) -> JSONValue {
    [
      "currencyCode": "EUR", "countryCode": "IE", "merchantReference": .string("BENCH-\(basket)"),
      "businessName": "Harbour Kitchen", "serviceTypes": ["collection"],
      "items": [["id": "item", "label": "One of everything", "unitAmount": 1250, "quantity": 1]],
      "capture": .string(capture.rawValue),
    ]
  }

  private static var amount: Amount {
    get throws { try Amount(decimal: "12.50", currency: euro) }
  }

  private static var euro: Currency {
    get throws {
      guard let euro = Currency(code: "EUR") else { throw BenchFailure("there is no euro") }
      return euro
    }
  }

  private func request(_ body: JSONValue) -> ByteBuffer {
    let bytes = body.serialized()
    var buffer = ByteBuffer()
    buffer.writeString(
      """
      POST /applepay/payment HTTP/1.1\r
      Host: localhost\r
      Origin: \(BenchEnvironment.origin)\r
      Content-Type: application/json\r
      Content-Length: \(bytes.count)\r
      \r

      """)
    buffer.writeBytes(bytes)
    return buffer
  }
}

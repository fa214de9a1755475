import Foundation
import HTTPTransport
import HTTPTypes
import DirectWire
import StrictJSON
import TenderPayments

/// Tender as the shop's backend sees it: signed calls of the platform API.
struct TenderClient: Sendable {
  private static let timeout = Duration.seconds(10)

  private let server: String
  private let merchantId: String
  private let signer: RequestSigner
  private let sender: HTTPSender
  private let clock: WallClock

  /// - Parameter key: nil for the shop's own.
  init(_ configuration: ShopConfiguration, as key: MerchantKey? = nil, sender: HTTPSender, clock: WallClock) {
    let key = key ?? configuration.key
    server = configuration.tenderServerURL
    merchantId = key.merchantId
    signer = RequestSigner(apiKeyId: key.apiKeyId, secret: key.secretApiKey)
    self.sender = sender
    self.clock = clock
  }

  /// `PUT /v2/{merchantId}/baskets/{basketId}`
  func store(_ basket: BasketDocument, as id: BasketID) async throws {
    _ = try await call("PUT", id, body: Array(JSONEncoder().encode(basket)))
  }

  /// `DELETE /v2/{merchantId}/baskets/{basketId}`: refused where a payment has begun.
  func cancel(_ id: BasketID) async throws { _ = try await call("DELETE", id) }

  /// `PUT /v2/{merchantId}/guests/{guestId}`
  func claim(_ guest: String, for customer: String) async throws {
    let body = Array(try JSONEncoder().encode(GuestClaim(merchantCustomerId: customer)))
    _ = try await call("PUT", to: "guests/\(guest)", body: body)
  }

  /// `GET /applepay/jwks.json`: the point of the key with this name; nil where there is none.
  func guestTokenKey(_ id: String) async throws -> [UInt8]? {
    let set = try await send(OutboundRequest(method: "GET", url: server + "/applepay/jwks.json"))
    let keys = try StrictJSONDecoder().decode([String: [[String: String]]].self, from: set)["keys"] ?? []
    let key = keys.first { $0["kid"]?.utf8.elementsEqual(id.utf8) == true }
    return key.map { key in ["x", "y"].flatMap { Base64URL.decode(key[$0] ?? "") ?? [] } }
  }

  /// `GET /v2/{merchantId}/baskets/{basketId}`
  func basket(_ id: BasketID) async throws -> BasketAnswer {
    try StrictJSONDecoder().decode(BasketAnswer.self, from: try await call("GET", id))
  }

  /// `POST /v2/{merchantId}/hostedcheckouts`
  func createCheckout(_ order: JSONValue) async throws -> CreateHostedCheckoutAnswer {
    let body = try await call("POST", to: "hostedcheckouts", body: order.serialized())
    return try StrictJSONDecoder().decode(CreateHostedCheckoutAnswer.self, from: body)
  }

  /// `GET /v2/{merchantId}/hostedcheckouts/{hostedCheckoutId}`
  func checkout(_ id: String) async throws -> HostedCheckoutAnswer {
    try StrictJSONDecoder().decode(HostedCheckoutAnswer.self, from: try await call("GET", to: "hostedcheckouts/\(id)"))
  }

  private func call(_ method: String, _ id: BasketID, body: [UInt8] = []) async throws -> [UInt8] {
    try await call(method, to: "baskets/\(id)", body: body)
  }

  private func call(_ method: String, to resource: String, body: [UInt8] = []) async throws -> [UInt8] {
    let path = "/v2/\(merchantId)/\(resource)"
    return try await send(
      OutboundRequest(method: method, url: server + path, headers: headers(method, path, body), body: body))
  }

  private func send(_ request: OutboundRequest) async throws -> [UInt8] {
    do {
      let answer = try await sender.send(request, Self.timeout)
      guard (200..<300).contains(answer.status) else { throw refusal(answer.status) }
      return answer.body
    } catch let error as TransportError {
      throw ShopError(.badGateway, "tender_unreachable", "Tender cannot be reached at \(server): \(error).")
    }
  }

  private func headers(_ method: String, _ path: String, _ body: [UInt8]) -> [HTTPTransport.HTTPField] {
    let contentType = body.isEmpty ? "" : "application/json"
    let signed = signer.headers(
      method: method, contentType: contentType, pathAndQuery: path, body: body, at: clock.now()
    ).map { HTTPTransport.HTTPField($0.name, $0.value) }
    return body.isEmpty ? signed : signed + [HTTPTransport.HTTPField("Content-Type", contentType)]
  }

  private func refusal(_ status: Int) -> ShopError {
    switch status {
    case 403: ShopError(.badGateway, "tender_refused", "Tender refused the shop's key or merchant id.")
    case 404: ShopError(.notFound, "order_not_found", "Tender has no such basket.")
    case 409: ShopError(.conflict, "basket_taken", "This order is being paid, was paid or was cancelled.")
    default: ShopError(.badGateway, "tender_refused", "Tender answered \(status).")
    }
  }
}

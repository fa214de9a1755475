package import HTTPTransport
import DirectWire
package import StrictJSON
package import TenderPayments
import TenderServer

/// The part of a merchant's server that signs calls of the platform API.
package struct SigningShop: Sendable {
  package let key: (merchant: String, id: String, secret: String)
  package let server: String
  package let sender: HTTPSender
  private let clock: WallClock

  package init(
    key: (merchant: String, id: String, secret: String), server: String, sender: HTTPSender,
    clock: WallClock = .system
  ) {
    self.key = key
    self.server = server
    self.sender = sender
    self.clock = clock
  }

  /// `PUT /v2/{merchantId}/baskets/{id}`, signed v1HMAC.
  package func store(_ basket: JSONValue, as id: String) async throws -> JSONClient.Answer {
    try await call("PUT", "/baskets/\(id)", basket)
  }

  /// - Parameter path: below `/v2/{merchantId}`.
  package func call(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONClient.Answer {
    let path = "/v2/\(key.merchant)\(path)"
    let headers = RequestSigner(apiKeyId: key.id, secret: key.secret).headers(
      method: method, contentType: body == nil ? "" : "application/json", pathAndQuery: path,
      body: body?.serialized() ?? [], at: clock.now())
    return try await JSONClient(server, sender: sender).call(
      method, path, body, headers: headers.map { HTTPField($0.name, $0.value) })
  }
}

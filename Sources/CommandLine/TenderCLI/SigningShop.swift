import HTTPTransport
import DirectWire
import StrictJSON
import TenderPayments
import TenderServer

/// The part of a merchant's server that signs calls of the platform API.
struct SigningShop: Sendable {
  let key: (merchant: String, id: String, secret: String)
  let server: String
  let sender: HTTPSender
  var clock = WallClock.system

  /// `PUT /v2/{merchantId}/baskets/{id}`, signed v1HMAC.
  func store(_ basket: JSONValue, as id: String) async throws -> JSONClient.Answer {
    try await call("PUT", "/baskets/\(id)", basket)
  }

  /// - Parameter path: below `/v2/{merchantId}`.
  func call(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONClient.Answer {
    let path = "/v2/\(key.merchant)\(path)"
    let headers = RequestSigner(apiKeyId: key.id, secret: key.secret).headers(
      method: method, contentType: body == nil ? "" : "application/json", pathAndQuery: path,
      body: body?.serialized() ?? [], at: clock.now())
    return try await JSONClient(server, sender: sender).call(
      method, path, body, headers: headers.map { HTTPField($0.name, $0.value) })
  }
}

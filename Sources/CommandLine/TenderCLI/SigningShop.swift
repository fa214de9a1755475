import HTTPTransport
import DirectWire
import StrictJSON
import TenderPayments
import TenderServer

/// The part of a merchant's server that stores a basket.
struct SigningShop: Sendable {
  let key: (merchant: String, id: String, secret: String)
  let server: String
  let sender: HTTPSender

  /// `PUT /v2/{merchantId}/baskets/{id}`, signed v1HMAC.
  func store(_ basket: JSONValue, as id: String) async throws -> JSONClient.Answer {
    let path = "/v2/\(key.merchant)/baskets/\(id)"
    let headers = RequestSigner(apiKeyId: key.id, secret: key.secret).headers(
      method: "PUT", contentType: "application/json", pathAndQuery: path, body: basket.serialized(),
      at: WallClock.system.now())
    return try await JSONClient(server, sender: sender).call(
      "PUT", path, basket, headers: headers.map { HTTPField($0.name, $0.value) })
  }
}

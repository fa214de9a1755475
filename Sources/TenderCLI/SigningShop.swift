import HTTPTransport
import PlatformAPI
import StrictJSON
import TenderPayments
import TenderServer

/// A merchant's server, as far as storing a basket goes.
struct SigningShop: Sendable {
  let key: (merchant: String, id: String, secret: String)
  let server: String
  let sender: HTTPSender

  /// `PUT /v2/{merchantId}/baskets/{id}`, signed v1HMAC.
  func store(_ basket: JSONValue, as id: String) async throws -> JSONClient.Answer {
    let path = "/v2/\(key.merchant)/baskets/\(id)"
    let date = HTTPDate.text(WallClock.system.now())
    let authorization = RequestSigner(apiKeyId: key.id, secret: key.secret).authorization(
      method: "PUT", contentType: "application/json", date: date, pathAndQuery: path)
    return try await JSONClient(server, sender: sender).call(
      "PUT", path, basket, headers: [HTTPField("Date", date), HTTPField("Authorization", authorization)])
  }
}

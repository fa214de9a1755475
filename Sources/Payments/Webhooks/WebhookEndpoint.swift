import DirectWire
package import HTTPTransport

/// A server of a merchant that receives events, and the key that they are signed with. Without one its events wait.
package struct WebhookEndpoint: Sendable {
  /// Unique within the merchant. Deliveries follow the id: what waits goes to the URL that the endpoint has now.
  package let id: String
  package let url: String
  /// Whether its events carry the order: whom it is for and where it goes.
  package let includesOrder: Bool
  let key: WebhookKey?

  /// - Parameter id: "1" is the id of a merchant's only endpoint.
  package init(id: String = "1", url: String, key: WebhookKey?, includesOrder: Bool = false) {
    self.id = id
    self.includesOrder = includesOrder
    self.url = url
    self.key = key
  }
}

/// Signs webhooks the way Worldline Direct signs them, so that its SDKs' helpers check them unmodified.
package struct WebhookKey: Sendable {
  package let id: String
  private let key: WebhookSignature

  /// - Parameter secret: taken as the text it is, not as base64.
  package init(id: String, secret: String) {
    self.id = id
    self.key = WebhookSignature(secret: secret)
  }

  /// base64(HMAC-SHA256(secret, body)), over the bytes as they are sent.
  package func signature(of body: [UInt8]) -> String { key.signature(of: body) }

  /// The request that carries `body` to `url`, each header exactly once, because the SDKs refuse a second.
  package func request(carrying body: [UInt8], to url: String) -> OutboundRequest {
    OutboundRequest(
      method: "POST", url: url,
      headers: [
        HTTPField("Content-Type", "application/json"), HTTPField("User-Agent", "Tender"),
        HTTPField(WebhookSignature.keyHeader, id), HTTPField(WebhookSignature.header, signature(of: body)),
      ], body: body)
  }
}

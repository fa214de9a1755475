import DirectWire
package import HTTPTransport
package import TenderPayments

/// A server of a merchant that receives events, and the key that they are signed with. Without one its events wait.
package struct WebhookEndpoint: Sendable {
  /// Unique within the merchant. Deliveries follow the id: what waits goes to the URL that the endpoint has now.
  package let id: String
  package let url: String
  /// Whether its events carry the order: whom it is for and where it goes.
  package let includesOrder: Bool
  package let signature: Signature
  let key: WebhookKey?

  /// How its events are signed.
  package enum Signature: Sendable, Hashable {
    /// As Worldline Direct signs them.
    case worldline
    /// As Standard Webhooks says.
    case standard
  }

  /// - Parameter id: "1" is the id of a merchant's only endpoint.
  package init(
    id: String = "1", url: String, key: WebhookKey?, includesOrder: Bool = false, signature: Signature = .worldline
  ) {
    self.id = id
    self.includesOrder = includesOrder
    self.signature = signature
    self.url = url
    self.key = key
  }
}

/// Signs webhooks the way Worldline Direct signs them, so that its SDKs' helpers check them unmodified; and, where the
/// endpoint wants that, as Standard Webhooks says.
package struct WebhookKey: Sendable {
  package let id: String
  private let key: WebhookSignature
  private let standard: StandardSignature?

  /// - Parameter secret: taken as the text it is, not as base64; for Standard Webhooks as base64.
  package init(id: String, secret: String) {
    self.id = id
    self.key = WebhookSignature(secret: secret)
    self.standard = StandardSignature(secret: secret)
  }

  package func canSign(for signature: WebhookEndpoint.Signature) -> Bool {
    switch signature {
    case .worldline: true
    case .standard: standard != nil
    }
  }

  /// base64(HMAC-SHA256(secret, body)), over the bytes as they are sent.
  package func signature(of body: [UInt8]) -> String { key.signature(of: body) }

  /// The request that carries `body` to `url`, each header exactly once, because the SDKs refuse a second.
  ///
  /// - Parameters:
  ///   - event: the id in the body.
  ///   - now: of this try.
  /// - Returns: nil where the key cannot sign in this way.
  package func request(
    carrying body: [UInt8], of event: String, to url: String, signed signature: WebhookEndpoint.Signature,
    at now: Timestamp
  ) -> OutboundRequest? {
    guard let signed = headers(body, event, signature, now) else { return nil }
    let usual = [HTTPField("Content-Type", "application/json"), HTTPField("User-Agent", "Tender")]
    return OutboundRequest(method: "POST", url: url, headers: usual + signed, body: body)
  }

  private func headers(
    _ body: [UInt8], _ event: String, _ form: WebhookEndpoint.Signature, _ now: Timestamp
  ) -> [HTTPField]? {
    switch form {
    case .worldline:
      [HTTPField(WebhookSignature.keyHeader, id), HTTPField(WebhookSignature.header, signature(of: body))]
    case .standard: standard?.headers(of: body, event, at: now)
    }
  }
}

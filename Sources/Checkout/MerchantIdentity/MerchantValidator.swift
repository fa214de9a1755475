package import HTTPTransport

/// Asks Apple's gateway for merchant sessions, in the name of one merchant.
package struct MerchantValidator: Sendable {
  let sender: HTTPSender
  let gateway: ApplePayGateway

  /// The whole call, from the name's resolution to the answer's last byte.
  static let timeout: Duration = .seconds(10)

  /// - Parameter sender: presents the merchant's ``MerchantIdentityCertificate``, follows no redirect, and refuses
  ///   answers over 64 KiB.
  package init(sender: HTTPSender, gateway: ApplePayGateway) {
    self.sender = sender
    self.gateway = gateway
  }

  /// One session for one payment sheet. A failed call may be repeated: an unused session expires.
  package func session(for request: MerchantSessionRequest) async throws(MerchantSessionError) -> MerchantSession {
    let answer = try await ask(request)
    guard answer.status == 200 else { throw MerchantSessionError(answer: answer, to: request) }
    guard let session = MerchantSession(json: answer.body) else {
      throw MerchantSessionError(.invalidSession, status: answer.status)
    }
    return session
  }

  private func ask(_ request: MerchantSessionRequest) async throws(MerchantSessionError) -> InboundResponse {
    let outbound = OutboundRequest(
      method: "POST", url: gateway.paymentSessionURL,
      headers: [HTTPField("Content-Type", "application/json"), HTTPField("Accept", "application/json")],
      body: request.body)
    do {
      return try await sender.send(outbound, Self.timeout)
    } catch {
      throw MerchantSessionError(error)
    }
  }
}

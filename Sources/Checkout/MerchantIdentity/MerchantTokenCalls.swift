import HTTPTransport
import StrictJSON
package import TenderPayments

/// Apple's Merchant Token Management API: what has happened to a merchant token, and that it is charged no more.
///
/// The calls go to the gateway of the merchant sessions, under the same certificate. Repeating one does no harm.
package struct MerchantTokenCalls: Sendable {
  let sender: HTTPSender
  let gateway: ApplePayGateway

  /// What Apple answered.
  package enum Answer<Value: Sendable>: Sendable {
    case given(Value)
    /// Apple has no such event, or no such token, of this merchant: to ask again changes nothing. Its words, bounded.
    case refused(String)
    /// No answer that can be used; a later one may be.
    case unavailable(String)
  }

  /// What an event is about.
  ///
  /// - Parameters:
  ///   - id: as Apple's notification named it; letters, digits and `-_.`.
  ///   - request: new for every call.
  package func news(of id: String, to merchant: MerchantIdentifier, request: String) async -> Answer<MerchantTokenNews>
  {
    let outbound = outbound("GET", "event/\(Self.inPath(id))", merchant, request)
    switch await ask(outbound) {
    case .given(let answer):
      guard let news = MerchantTokenNews(json: answer.body) else {
        return .unavailable("Apple's answer is no event of a merchant token")
      }
      return .given(news)
    case .refused(let words): return .refused(words)
    case .unavailable(let words): return .unavailable(words)
    }
  }

  /// Tells Apple that the merchant charges the token no more.
  package func unlink(_ token: String, of merchant: MerchantIdentifier, request: String) async -> Answer<Void> {
    let body = JSONValue.object(["merchantTokenIdentifier": .string(token)]).serialized()
    switch await ask(outbound("POST", "unlink", merchant, request, body)) {
    case .given: return .given(())
    case .refused(let words): return .refused(words)
    case .unavailable(let words): return .unavailable(words)
    }
  }

  private func outbound(
    _ method: String, _ call: String, _ merchant: MerchantIdentifier, _ request: String, _ body: [UInt8] = []
  ) -> OutboundRequest {
    OutboundRequest(
      method: method, url: gateway.merchantTokenURL + "\(Self.name(merchant))/merchantToken/\(call)",
      headers: [
        HTTPField("Content-Type", "application/json"), HTTPField("Accept", "application/json"),
        HTTPField("x-request-id", request),
      ], body: body)
  }

  /// Apple takes at most 64 characters: the identifier, or its hash.
  private static func name(_ merchant: MerchantIdentifier) -> String {
    merchant.text.utf8.count <= 64 ? inPath(merchant.text) : merchant.uppercaseHexHash
  }

  private static func inPath(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte]).uppercased()
    }.joined()
  }

  private func ask(_ outbound: OutboundRequest) async -> Answer<InboundResponse> {
    let answer: InboundResponse
    do throws(TransportError) { answer = try await sender.send(outbound, MerchantValidator.timeout) } catch {
      return .unavailable(MerchantSessionError(error).code.rawValue)
    }
    switch answer.status {
    case 200..<300: return .given(answer)
    case 400, 404: return .refused(Self.words(answer))
    default: return .unavailable(Self.words(answer))
    }
  }

  private static func words(_ answer: InboundResponse) -> String {
    let error = MerchantSessionError(
      .gatewayRejected, status: answer.status, gatewayMessage: MerchantSessionError.statusMessage(answer.body))
    return [String(answer.status), error.gatewayMessage].compactMap(\.self).joined(separator: " ")
  }
}

extension MerchantValidator {
  /// The other API of the gateway, in the name of the same merchant.
  package var merchantTokens: MerchantTokenCalls { MerchantTokenCalls(sender: sender, gateway: gateway) }
}

extension MerchantTokenNews {
  /// Nil unless the bytes are an event: one object with a type and a token. What else is missing or too long is left out.
  init?(json: [UInt8]) {
    guard case .object(let members)? = try? JSONReader.read(json),
      let type = Self.text(members["eventType"], most: 64), !type.isEmpty,
      case .string(let token)? = members["merchantTokenIdentifier"], (1...64).contains(token.utf8.count)
    else { return nil }
    self.init(
      type, of: token, because: Self.text(members["reason"], most: 256) ?? "",
      card: Self.card(members["merchantTokenMetadata"]))
  }

  private static func card(_ metadata: JSONValue?) -> MerchantTokenCard? {
    guard case .object(let members)? = metadata, case .object(let card)? = members["cardMetadata"] else { return nil }
    return MerchantTokenCard(
      suffix: text(card["fpanSuffix"], most: 4), expiry: text(card["expirationDate"], most: 8),
      name: text(card["shortDescription"], most: 64) ?? text(card["longDescription"], most: 128),
      country: text(card["cardCountry"], most: 2))
  }

  /// What comes from outside may not write lines or directions into a page or a log.
  private static func text(_ value: JSONValue?, most: Int) -> String? {
    guard case .string(let text)? = value else { return nil }
    let visible = text.unicodeScalars.filter { scalar in
      ![.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }
    var kept = String.UnicodeScalarView()
    kept.append(contentsOf: visible.prefix(most))
    return String(kept)
  }
}

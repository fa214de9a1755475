import Administration
import DirectWire
import HTTPServing
import Hummingbird
import MerchantIdentity

/// Merchant sessions for a page that opens Apple's sheet by itself: its server asks, under the merchant's key.
struct ProductSessionController: Sendable {
  let sessions: MerchantSessions

  /// `POST /v2/{merchantId}/products/302/sessions`
  func create(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    let input = try await RequestBody.decode(ProductSessionRequest.self, request)
      .paymentProductSession302SpecificInput
    let session = try await sessions.session(of: call.merchant, basket: nil) { merchant in
      try .web(Self.domain(input.domainName, of: merchant), of: merchant.identifier, named: Self.name(input, merchant))
    }
    let answer = ProductSessionAnswer(session: String(decoding: session.json, as: UTF8.self))
    return JSONAnswer.response(answer, status: .created)
  }

  /// Compared as bytes, with the port or without, so that no session is made for a domain of another merchant.
  private static func domain(_ name: String, of merchant: Merchant) throws -> Domain {
    let wanted = Array(name.lowercased().utf8)
    let site = merchant.sites.first { Array($0.domain.name.utf8) == wanted || Array($0.domain.host.utf8) == wanted }
    guard let site else {
      throw Problem(
        .badRequest, "domain_unknown", "The merchant has no such domain. Add it to the merchant's domains.",
        field: "paymentProductSession302SpecificInput.domainName")
    }
    return site.domain
  }

  private static func name(_ input: ProductSessionRequest.Input, _ merchant: Merchant) throws -> DisplayName {
    guard let name = input.displayName else { return merchant.displayName }
    do { return try DisplayName(name) } catch {
      throw Problem(
        .badRequest, "display_name_invalid", "\(error)", field: "paymentProductSession302SpecificInput.displayName")
    }
  }
}

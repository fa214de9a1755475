import Crypto
import DirectWire
import HTTPServing
import Hummingbird
import StrictJSON
import TenderPayments

/// Signs a guest in who has paid: the guest token, which Tender has signed, says whose order it was, and the order has the
/// contact that the shopper confirmed in the payment sheet.
struct GuestAccounts: Sendable {
  let tender: TenderClient
  let shoppers: Shoppers
  let kitchen: Kitchen
  let clock: WallClock

  /// `POST /api/shopper/guest` `{guestToken}` → 200 with a cookie.
  func signIn(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let claims = try await claims(of: try await request.decode(GuestSignIn.self).guestToken)
    guard let claims, claims.exp > clock.now().seconds, let order = try await order(of: claims),
      order.status?.isLive == true, let guest = order.customer?.guestId, guest.utf8.elementsEqual(claims.guest.utf8)
    else { throw ShopError(.forbidden, "guest_token_refused", "The guest token is none of Tender's, or has expired.") }
    // The account is the guest's own: an e-mail address that was typed proves nothing about another account.
    let account = Shoppers.Regular(customer: "guest-\(guest)", name: order.shopperName ?? "A guest")
    try await tender.claim(guest, for: account.customer)
    return shoppers.signIn(account)
  }

  /// The kitchen's, which the receipt has looked up a moment ago, or else Tender's.
  private func order(of claims: Claims) async throws -> OrderAnswer? {
    let known = kitchen.tickets.first { $0.order.orderId == claims.sub }?.order
    return if let known { known } else { try await tender.basket(claims.basket).order }
  }

  /// Verified with the key that the token's header names (RFC 7515, ES256); nil for any other token.
  private func claims(of token: String) async throws -> Claims? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    let bytes = parts.compactMap { Base64URL.decode($0) }
    guard parts.count == 3, bytes.count == 3,
      let head = try? StrictJSONDecoder().decode([String: String].self, from: bytes[0]),
      head["alg"] == "ES256",
      let point = try await tender.guestTokenKey(head["kid"] ?? ""),
      let key = try? P256.Signing.PublicKey(rawRepresentation: point),
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes[2]),
      key.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
    else { return nil }
    return try? StrictJSONDecoder().decode(Claims.self, from: bytes[1])
  }

  private struct Claims: Decodable {
    let sub: OrderID
    let basket: BasketID
    let guest: String
    /// Seconds since 1970.
    let exp: Int64
  }
}

private struct GuestSignIn: Decodable {
  let guestToken: String
}

extension OrderAnswer {
  /// As confirmed in the payment sheet.
  var shopperName: String? {
    let name = shipping?.address.name ?? customer?.personalInformation?.name
    let text = [name?.firstName, name?.surname].compactMap { $0 }.joined(separator: " ")
    return text.isEmpty ? nil : text
  }
}

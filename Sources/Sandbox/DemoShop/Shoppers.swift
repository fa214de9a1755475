import Foundation
import HTTPTypes
import HTTPServing
import Hummingbird
import Synchronization
import TenderPayments

/// The shoppers who have signed in. The shop has three customers, and guests who have paid; being a demo, it has no
/// passwords.
final class Shoppers: Sendable {
  /// A customer of the shop.
  struct Regular: Sendable, Encodable {
    /// The customer reference that goes with the basket to Tender.
    let customer: String
    let name: String
  }

  static let regulars = [
    Regular(customer: "customer-1001", name: "Ada Sandford"),
    Regular(customer: "customer-1002", name: "Konrad Größe"),
    Regular(customer: "customer-1003", name: "花子 砂場"),
  ]

  private static let cookie = "shopper"
  /// Beyond this many, the oldest session is removed.
  private static let most = 500

  private let random: RandomBytes
  private let signedIn = Mutex<(shoppers: [String: Regular], order: [String])>(([:], []))

  init(random: RandomBytes) { self.random = random }

  /// Nil for a guest.
  func regular(_ request: Request) -> Regular? {
    guard let session = request.cookies[Self.cookie]?.value else { return nil }
    return signedIn.withLock { $0.shoppers[session] }
  }

  /// `GET /api/shopper` → `{shopper?, regulars}`.
  func current(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    JSONAnswer.response(ShopperAnswer(shopper: regular(request)))
  }

  /// `POST /api/shopper` `{customer}` → 200 with a cookie.
  func signIn(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let wanted = try await request.decode(SignIn.self).customer
    guard let regular = Self.regulars.first(where: { $0.customer == wanted }) else {
      throw ShopError(.notFound, "unknown_shopper", "The shop knows no such shopper.")
    }
    return signIn(regular)
  }

  /// 200 with a cookie.
  func signIn(_ regular: Regular) -> Response {
    let session = random.hex(16)
    signedIn.withLock { sessions in
      sessions.shoppers[session] = regular
      sessions.order.append(session)
      if sessions.order.count > Self.most { sessions.shoppers[sessions.order.removeFirst()] = nil }
    }
    var response = JSONAnswer.response(ShopperAnswer(shopper: regular))
    response.setCookie(Cookie(name: Self.cookie, value: session, path: "/", httpOnly: true, sameSite: .strict))
    return response
  }

  /// `DELETE /api/shopper`: a guest again.
  func signOut(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    if let session = request.cookies[Self.cookie]?.value {
      signedIn.withLock { sessions in
        sessions.shoppers[session] = nil
        sessions.order.removeAll { $0 == session }
      }
    }
    var response = JSONAnswer.response(ShopperAnswer(shopper: nil))
    response.setCookie(
      Cookie(name: Self.cookie, value: "", maxAge: 0, path: "/", httpOnly: true, sameSite: .strict))
    return response
  }
}

private struct SignIn: Decodable {
  let customer: String
}

private struct ShopperAnswer: Encodable {
  let shopper: Shoppers.Regular?
  let regulars = Shoppers.regulars
}

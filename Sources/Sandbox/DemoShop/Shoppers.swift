import Foundation
import HTTPTypes
import HTTPServing
import Hummingbird
import Synchronization
import TenderPayments

/// The shoppers who have signed in. The shop has three customers and, being a demo, no passwords.
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
  private let signedIn = Mutex<(names: [String: String], order: [String])>(([:], []))

  init(random: RandomBytes) { self.random = random }

  /// Nil for a guest.
  func regular(_ request: Request) -> Regular? {
    guard let session = request.cookies[Self.cookie]?.value else { return nil }
    let customer = signedIn.withLock { $0.names[session] }
    return Self.regulars.first { $0.customer == customer }
  }

  /// `GET /api/shopper` → `{shopper?, regulars}`.
  func current(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    JSONAnswer.response(ShopperAnswer(shopper: regular(request)))
  }

  /// `POST /api/shopper` `{customer}` → 200 with a cookie.
  func signIn(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let signIn = try await request.decoded(SignIn.self)
    guard let regular = Self.regulars.first(where: { $0.customer == signIn.customer }) else {
      throw ShopError(.notFound, "unknown_shopper", "The shop knows no such shopper.")
    }
    let session = random.hex(16)
    signedIn.withLock { sessions in
      sessions.names[session] = regular.customer
      sessions.order.append(session)
      if sessions.order.count > Self.most { sessions.names[sessions.order.removeFirst()] = nil }
    }
    var response = JSONAnswer.response(ShopperAnswer(shopper: regular))
    response.setCookie(Cookie(name: Self.cookie, value: session, path: "/", httpOnly: true, sameSite: .strict))
    return response
  }

  /// `DELETE /api/shopper`: a guest again.
  func signOut(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    if let session = request.cookies[Self.cookie]?.value {
      signedIn.withLock { sessions in
        sessions.names[session] = nil
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

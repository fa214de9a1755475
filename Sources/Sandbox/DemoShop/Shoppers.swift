import Foundation
import HTTPTypes
import Hummingbird
import Synchronization
import TenderPayments

/// Who has signed in. The shop knows three regulars, and asks nobody for a password: it is a demo.
final class Shoppers: Sendable {
  /// A shopper as the shop's own customer file has them.
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
  /// More visitors than a demo has; the sign-in that came first is forgotten.
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
  func who(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    try JSONAnswer.response(ShopperShown(shopper: regular(request)))
  }

  /// `POST /api/shopper` `{customer}` → 200 with a cookie.
  func signIn(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let wish = try await RequestBody.decode(SignIn.self, request)
    guard let regular = Self.regulars.first(where: { $0.customer == wish.customer }) else {
      throw ShopError(.notFound, "unknown_shopper", "The shop knows no such shopper.")
    }
    let session = random.hex(16)
    signedIn.withLock { book in
      book.names[session] = regular.customer
      book.order.append(session)
      if book.order.count > Self.most { book.names[book.order.removeFirst()] = nil }
    }
    var response = try JSONAnswer.response(ShopperShown(shopper: regular))
    response.setCookie(Cookie(name: Self.cookie, value: session, path: "/", httpOnly: true, sameSite: .strict))
    return response
  }

  /// `DELETE /api/shopper`: a guest again.
  func signOut(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    if let session = request.cookies[Self.cookie]?.value {
      signedIn.withLock { book in
        book.names[session] = nil
        book.order.removeAll { $0 == session }
      }
    }
    var response = try JSONAnswer.response(ShopperShown(shopper: nil))
    response.setCookie(
      Cookie(name: Self.cookie, value: "", maxAge: 0, path: "/", httpOnly: true, sameSite: .strict))
    return response
  }
}

private struct SignIn: Decodable {
  let customer: String
}

private struct ShopperShown: Encodable {
  let shopper: Shoppers.Regular?
  let regulars = Shoppers.regulars
}

import Foundation
import HTTPTypes
import Hummingbird
import Synchronization
import TenderPayments

/// The shoppers who have signed in. The shop has three regular customers and asks for no password, because it is a
/// demo.
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
  /// How many sign-ins are kept; a new one replaces the oldest.
  private static let limit = 500

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
    try JSONResponse.response(ShopperResponse(shopper: regular(request)))
  }

  /// `POST /api/shopper` `{customer}` → 200 with a cookie.
  func signIn(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let body = try await RequestBody.decode(SignInRequest.self, request)
    guard let regular = Self.regulars.first(where: { $0.customer == body.customer }) else {
      throw ShopError(.notFound, "unknown_shopper", "The shop knows no such shopper.")
    }
    let session = random.hex(16)
    signedIn.withLock { state in
      state.names[session] = regular.customer
      state.order.append(session)
      if state.order.count > Self.limit { state.names[state.order.removeFirst()] = nil }
    }
    var response = try JSONResponse.response(ShopperResponse(shopper: regular))
    response.setCookie(Cookie(name: Self.cookie, value: session, path: "/", httpOnly: true, sameSite: .strict))
    return response
  }

  /// `DELETE /api/shopper`: a guest again.
  func signOut(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    if let session = request.cookies[Self.cookie]?.value {
      signedIn.withLock { state in
        state.names[session] = nil
        state.order.removeAll { $0 == session }
      }
    }
    var response = try JSONResponse.response(ShopperResponse(shopper: nil))
    response.setCookie(
      Cookie(name: Self.cookie, value: "", maxAge: 0, path: "/", httpOnly: true, sameSite: .strict))
    return response
  }
}

private struct SignInRequest: Decodable {
  let customer: String
}

private struct ShopperResponse: Encodable {
  let shopper: Shoppers.Regular?
  let regulars = Shoppers.regulars
}

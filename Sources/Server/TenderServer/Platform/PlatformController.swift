import HTTPServing
import HTTPTypes
import Hummingbird
import Orders
import DirectWire
import Telemetry
import TenderPayments

/// The platform API: what a merchant's server asks, signed v1HMAC, in Worldline Direct's manner.
struct PlatformController: Sendable {
  let orderService: OrderService
  let authentication: PlatformAuthentication

  /// `PUT /v2/{merchantId}/baskets/{basketId}`
  func putBasket(_ request: Request, _ context: ServerContext) async throws -> Response {
    let document = try await RequestBody.decode(BasketDocument.self, request)
    let basket = try Self.basket(context)
    let answer = try await orderService.put(document, as: basket, of: try Self.merchant(context))
    Activity.current?.concerns(basket)
    return JSONAnswer.response(answer)
  }

  /// `GET /v2/{merchantId}/baskets/{basketId}`
  func showBasket(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await orderService.basket(try Self.basket(context), of: try Self.merchant(context)))
  }

  /// `DELETE /v2/{merchantId}/baskets/{basketId}`: the same moment as the page's cancel.
  func deleteBasket(_ request: Request, _ context: ServerContext) async throws -> Response {
    try await orderService.cancel(try Self.basket(context), of: try Self.merchant(context))
    return Response(status: .noContent)
  }

  /// `GET /v2/{merchantId}/guests/{guestId}`: a shopper without an account, and the orders.
  func showGuest(_ request: Request, _ context: ServerContext) async throws -> Response {
    let guest = try context.parameters.require("guest")
    return JSONAnswer.response(try await orderService.guest(guest, of: try Self.merchant(context)))
  }

  /// `PUT /v2/{merchantId}/guests/{guestId}`: the guest has become the merchant's customer.
  func claimGuest(_ request: Request, _ context: ServerContext) async throws -> Response {
    let claim = try await RequestBody.decode(GuestClaim.self, request)
    let guest = try context.parameters.require("guest")
    return JSONAnswer.response(
      try await orderService.claim(guest, of: try Self.merchant(context), for: claim.merchantCustomerId))
  }

  /// `GET /v2/{merchantId}/services/testconnection`: ``authentication`` has verified the call.
  func testConnection(_ request: Request, _ context: ServerContext) -> Response {
    JSONAnswer.response(ConnectionAnswer())
  }

  private static func basket(_ context: ServerContext) throws -> BasketID {
    BasketID(try context.parameters.require("basket"))
  }

  private static func merchant(_ context: ServerContext) throws -> MerchantID {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    return call.merchant
  }
}

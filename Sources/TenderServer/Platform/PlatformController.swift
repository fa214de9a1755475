import HTTPTypes
import Hummingbird
import Logging
import MerchantIdentity
import Orders
import PlatformAPI
import StrictJSON
import TenderPayments

/// The platform API: what a merchant's server asks, signed v1HMAC, in Worldline Direct's manner.
struct PlatformController: Sendable {
  let desk: OrderDesk
  let keys: PlatformKeys
  let clock: WallClock

  var authentication: PlatformAuthentication { PlatformAuthentication(keys: keys, clock: clock) }
  var errors: PlatformErrors { PlatformErrors() }

  /// `PUT /v2/{merchantId}/baskets/{basketId}`
  func putBasket(_ request: Request, _ context: ServerContext) async throws -> Response {
    let document = try await RequestBody.decode(BasketDocument.self, request)
    let basket = try Self.basket(context)
    let answer = try await desk.put(document, as: basket, of: try Self.merchant(context))
    CallWitness.current?.concerns(basket)
    return JSONAnswer.response(answer)
  }

  /// `GET /v2/{merchantId}/baskets/{basketId}`
  func showBasket(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await desk.basket(try Self.basket(context), of: try Self.merchant(context)))
  }

  /// `DELETE /v2/{merchantId}/baskets/{basketId}`: the same moment as the page's cancel.
  func deleteBasket(_ request: Request, _ context: ServerContext) async throws -> Response {
    try await desk.cancel(try Self.basket(context), of: try Self.merchant(context))
    return Response(status: .noContent)
  }

  /// `GET /v2/{merchantId}/services/testconnection`
  func testConnection(_ request: Request, _ context: ServerContext) -> Response {
    JSONAnswer.response(["result": "OK"])
  }

  private static func basket(_ context: ServerContext) throws -> BasketID {
    BasketID(try context.parameters.require("basket"))
  }

  private static func merchant(_ context: ServerContext) throws -> MerchantID {
    guard let merchant = context.authenticatedMerchant else { throw PlatformAuthentication.refusal }
    return merchant
  }
}

/// The API keys of all merchants: the secret, and whose it is.
struct PlatformKeys: Sendable {
  private let keys: [String: (secret: String, merchant: MerchantID)]

  init(_ folders: [MerchantFolder]) {
    var keys: [String: (String, MerchantID)] = [:]
    for folder in folders {
      for (id, secret) in folder.apiKeys { keys[id] = (secret, folder.merchant.id) }
    }
    self.keys = keys
  }

  func secret(_ keyID: String) -> String? { keys[keyID]?.secret }
  func merchant(_ keyID: String) -> MerchantID? { keys[keyID]?.merchant }
}

/// Believes a request of a merchant's server, or answers 403 and says no more.
struct PlatformAuthentication: RouterMiddleware {
  static let refusal = Problem(
    .forbidden, "signature_refused",
    "The request is not signed by a key of this merchant. Check key id, secret, clock and the string to sign.")

  let keys: PlatformKeys
  let clock: WallClock

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    do { context.authenticatedMerchant = try merchant(of: request, context) } catch let refusal as SignatureRefusal {
      context.logger.notice("signature refused", metadata: ["reason": .string(refusal.code)])
      throw Self.refusal
    }
    return try await next(request, context)
  }

  private func merchant(of request: Request, _ context: ServerContext) throws -> MerchantID {
    let signed = try SignedRequest(
      method: request.method.rawValue, target: request.uri.description,
      headers: request.headers.map { ($0.name.rawName, $0.value) })
    let caller = try RequestAuthenticator().authenticate(signed, secret: keys.secret(signed.apiKeyID), at: clock.now())
    guard let merchant = keys.merchant(caller.apiKeyID), merchant.rawValue == context.parameters.get("merchantId")
    else {
      throw Self.refusal
    }
    return merchant
  }
}

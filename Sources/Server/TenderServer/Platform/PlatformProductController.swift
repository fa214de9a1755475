import DirectWire
import HTTPServing
import Hummingbird
import PlatformAPI
import TenderPayments
import Webhooks

/// Payment products of the platform API and of the client API, see ``PlatformProducts``.
struct PlatformProductController: Sendable {
  let merchants: PlatformMerchants

  /// `GET /v2/{merchantId}/products`
  func list(_ request: Request, _ context: ServerContext) async throws -> Response {
    Response(try products(context).list(Self.query(request)))
  }

  /// `GET /v2/{merchantId}/products/{id}`
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    Response(try products(context).show(Self.id(context), Self.query(request)))
  }

  /// `GET /v2/{merchantId}/products/{id}/networks`
  func networks(_ request: Request, _ context: ServerContext) async throws -> Response {
    Response(try products(context).networks(Self.id(context), Self.query(request)))
  }

  private func products(_ context: ServerContext) throws -> PlatformProducts {
    guard let id = context.signedCall?.merchant ?? context.clientSession?.merchant, let merchant = merchants[id] else {
      throw PlatformAuthentication.refusal
    }
    return PlatformProducts(merchant)
  }

  private static func id(_ context: ServerContext) -> String {
    context.parameters.get("product") ?? "\(MobilePaymentInput.applePay)"
  }

  private static func query(_ request: Request) -> ProductQuery {
    ProductQuery(request.query.pairs)
  }
}

/// A merchant's own checks of its webhooks.
struct PlatformWebhookController: Sendable {
  let dispatcher: WebhookDispatcher
  let merchants: PlatformMerchants
  let clock: WallClock

  /// `POST /v2/{merchantId}/webhooks/validateCredentials`
  func validate(_ request: Request, _ context: ServerContext) async throws -> Response {
    let call = try PlatformPaymentController.call(context)
    let body = try await RequestBody.decode(WebhookCredentialsRequest.self, request)
    let isValid = merchants.isWebhookKey(body.key, body.secret, of: call.merchant)
    return Response(try PlatformAnswer(WebhookCredentialsAnswer(isValid: isValid)))
  }

  /// `POST /v2/{merchantId}/webhooks/sendtest`: 204 once the endpoint has acknowledged the event.
  func sendTest(_ request: Request, _ context: ServerContext) async throws -> Response {
    let call = try PlatformPaymentController.call(context)
    guard let url = try await RequestBody.decode(TestWebhookRequest.self, request).url, !url.isEmpty else {
      throw PlatformRefusal(.missing("url"))
    }
    guard let merchant = merchants[call.merchant] else { throw PlatformAuthentication.refusal }
    if let reason = merchant.refusalOfWebhook(url) { throw PlatformRefusal(.invalidValue("url", reason)) }
    if let reason = try await dispatcher.sendTest(to: url, of: call.merchant, at: clock.now()) {
      throw PlatformRefusal(.invalidValue("url", "The test event was not acknowledged: \(reason)"))
    }
    return Response(status: .noContent)
  }
}

import DirectWire
import HTTPServing
import HostedCheckout
import Hummingbird
import Ledger
import MerchantIdentity
import Telemetry
import TenderPayments

/// The platform's own pages over HTTP.
struct HostedController: Sendable {
  let checkouts: HostedCheckouts
  let pages: HostedPages
  let merchants: LiveMerchants

  /// `GET /hosted/{id}`
  func page(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let id = id(request, context) else { return try pages.missing(request) }
    Activity.current?.concerns(id)
    return try await pages.page(id, request)
  }

  func goBack(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let id = id(request, context) else { return try pages.missing(request) }
    return try await pages.goBack(id, request)
  }

  func cancel(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let id = id(request, context) else { return try pages.missing(request) }
    return try await pages.cancel(id, request)
  }

  func handOver(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let id = id(request, context) else { return try pages.missing(request) }
    return try await pages.handOver(id, request)
  }

  func state(_ request: Request, _ context: ServerContext) async throws -> Response {
    try await pages.state(try await checkout(request, context).id)
  }

  func style(_ request: Request, _ context: ServerContext) async throws -> Response {
    try await pages.style(try await checkout(request, context).id)
  }

  func logo(_ request: Request, _ context: ServerContext) async throws -> Response {
    try await pages.logo(try await checkout(request, context).id)
  }

  /// `GET /hosted-codes/{code}.svg`
  func picture(_ request: Request, _ context: ServerContext) async throws -> Response {
    let name = context.parameters.get("file") ?? ""
    return try await pages.picture(name.hasSuffix(".svg") ? String(name.dropLast(4)) : "")
  }

  /// `GET /hosted-continue/{code}`
  func arrive(_ request: Request, _ context: ServerContext) async throws -> Response {
    try await pages.arrive(context.parameters.get("code") ?? "", request)
  }

  /// `GET /hosted-files/{file}`
  func file(_ request: Request, _ context: ServerContext, _ name: String) throws -> Response {
    guard let file = HostedPages.files[name] else { throw HTTPError(.notFound) }
    return file.response(to: request, caching: "no-cache")
  }

  /// The checkout that the path names.
  func checkout(_ request: Request, _ context: ServerContext) async throws -> HostedCheckout {
    guard let id = id(request, context) else {
      throw HostedCheckoutError(.checkoutUnknown, "there is no such checkout")
    }
    return try await checkouts.checkout(id)
  }

  /// Nil on the domain of a merchant: the pages are the platform's.
  private func id(_ request: Request, _ context: ServerContext) -> BasketID? {
    let (host, merchants) = (request.head.authority, merchants.current)
    guard merchants.platform.site.isAsked(host) || host.flatMap({ merchants.directory.merchant(host: $0) }) == nil
    else { return nil }
    return context.parameters.get("checkout").map { BasketID($0) }
  }
}

/// What a merchant's server asks about hosted checkouts and payment links.
struct HostedPlatformController: Sendable {
  let checkouts: HostedCheckouts

  /// `POST /v2/{merchantId}/hostedcheckouts`
  func create(_ request: Request, _ context: ServerContext) async throws -> Response {
    let body = try await RequestBody.decode(CreateHostedCheckoutRequest.self, request)
    let answer = try await checkouts.create(body, of: try merchant(context), try call(context))
    Activity.current?.concerns(BasketID(answer.hostedCheckoutId))
    return JSONAnswer.response(answer, status: .created)
  }

  /// `GET /v2/{merchantId}/hostedcheckouts/{hostedCheckoutId}`
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await checkouts.answer(try id(context), of: try merchant(context)))
  }

  /// `POST /v2/{merchantId}/paymentlinks`
  func createLink(_ request: Request, _ context: ServerContext) async throws -> Response {
    let body = try await RequestBody.decode(CreatePaymentLinkRequest.self, request)
    let answer = try await checkouts.createLink(body, of: try merchant(context), try call(context))
    Activity.current?.concerns(BasketID(answer.paymentLinkId))
    return JSONAnswer.response(answer, status: .created)
  }

  /// `GET /v2/{merchantId}/paymentlinks/{paymentLinkId}`
  func showLink(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await checkouts.link(try id(context), of: try merchant(context)))
  }

  /// `POST /v2/{merchantId}/paymentlinks/{paymentLinkId}/cancel`
  func cancelLink(_ request: Request, _ context: ServerContext) async throws -> Response {
    try await checkouts.cancelLink(try id(context), of: try merchant(context))
    return Response(status: .noContent)
  }

  private func id(_ context: ServerContext) throws -> BasketID { BasketID(try context.parameters.require("id")) }

  private func call(_ context: ServerContext) throws -> CreatingCall? {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    return call.hasKey ? CreatingCall(call.idempotent.call, call.idempotent.key) : nil
  }

  private func merchant(_ context: ServerContext) throws -> MerchantID {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    return call.merchant
  }
}

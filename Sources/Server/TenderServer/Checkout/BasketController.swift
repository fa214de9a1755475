import HTTPServing
import HTTPTypes
import Hummingbird
import MerchantIdentity
import Orders
import StrictJSON
import TenderCheckoutAPI
import TenderPayments
import TenderSheet

/// The basket as the payment sheet sees it: what to show, and what a change of the shopper's makes of it.
struct BasketController: Sendable {
  let orderService: OrderService
  let baskets: BasketLookup

  /// `GET /applepay/basket/{id}`
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    let (basket, merchant) = try await baskets.require(request, context)
    let body = JSONAnswer.bytes(try await sheet(basket, merchant))
    let etag = JSONAnswer.etag(body)
    if request.headers[.ifNoneMatch] == etag { return Response(status: .notModified, headers: [.eTag: etag]) }
    var response = JSONAnswer.response(bytes: body)
    response.headers[.eTag] = etag
    return response
  }

  /// `PUT /applepay/basket/{id}/details`
  func prepare(_ request: Request, _ context: ServerContext) async throws -> Response {
    let (basket, merchant) = try await baskets.require(request, context)
    let details = try await RequestBody.decode(OrderDetails.self, request)
    try await orderService.prepare(basket, of: merchant, details)
    return JSONAnswer.response(try await sheet(basket, merchant))
  }

  /// `POST /applepay/basket/{id}/update`
  func update(_ request: Request, _ context: ServerContext) async throws -> Response {
    let (basket, merchant) = try await baskets.require(request, context)
    let change = try await RequestBody.decode(SheetChange.self, request)
    CallWitness.current?.isAbout("\(change.moment)")
    let (quote, update) = try await orderService.update(basket, of: merchant, change)
    return JSONAnswer.response(UpdateAnswer(quoteId: quote.id, update: update))
  }

  /// `POST /applepay/basket/{id}/validatepostalcode`
  func validatePostalCode(_ request: Request, _ context: ServerContext) async throws -> Response {
    let (basket, merchant) = try await baskets.require(request, context)
    let call = try await RequestBody.decode(PostalCodeCall.self, request)
    let deliverable = try await orderService.checkPostalCode(
      call.postalCode, country: call.countryCode, basket, of: merchant)
    return JSONAnswer.response(PostalCodeAnswer(deliverable: deliverable))
  }

  private func sheet(_ basket: BasketID, _ merchant: MerchantID) async throws -> BasketSheetAnswer {
    let sheet = try await orderService.sheet(basket, of: merchant)
    return BasketSheetAnswer(
      basketId: basket, quoteId: sheet.quote.id, applePayVersion: MetadataController.applePayVersion,
      request: sheet.request)
  }
}

/// Finds whose basket a call is about. Whoever knows a basket's id may pay it; but a page of one merchant never sees
/// another's, and is told nothing about it.
struct BasketLookup: Sendable {
  let orderService: OrderService
  let callers: Callers

  /// The basket that the path names.
  func require(_ request: Request, _ context: ServerContext) async throws -> (BasketID, MerchantID) {
    let basket = BasketID(context.parameters.get("basket") ?? "")
    return (basket, try await merchant(of: basket, request, context))
  }

  func merchant(of basket: BasketID, _ request: Request, _ context: ServerContext) async throws -> MerchantID {
    let owner = try await orderService.merchant(of: basket)
    if let caller = caller(request, context), caller != owner {
      throw OrderError(.basketUnknown, "no such basket")
    }
    CallWitness.current?.concerns(basket)
    return owner
  }

  /// Whose page or app calls; nil for a host that nobody registered, which is the server's own: apps call it. A call
  /// without an Origin is judged by the host that it asked, so that no session of one merchant is made for the domain of
  /// another.
  func caller(_ request: Request, _ context: ServerContext) -> MerchantID? {
    callers.find(request, context)?.0.id
  }
}

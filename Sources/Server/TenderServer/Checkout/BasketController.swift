import HTTPServing
import HTTPTypes
import Hummingbird
import MerchantIdentity
import Orders
import StrictJSON
import Telemetry
import TenderCheckoutAPI
import TenderPayments
import TenderSheet

/// The basket in the payment sheet: what to show, and what each change of the shopper's does to it.
struct BasketController: Sendable {
  let orderService: OrderService
  let baskets: BasketLookup

  /// `GET /applepay/basket/{id}`
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    let (basket, merchant) = try await baskets.fetch(request, context)
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
    Activity.current?.note(.moment("\(change.moment)"))
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
      request: sheet.request, locale: sheet.locale, addressRules: sheet.addressRules)
  }
}

/// Finds the merchant of a basket. Its id is the right to pay it, but a page of one merchant gets no answer about
/// another's basket.
struct BasketLookup: Sendable {
  let orderService: OrderService
  let callers: Callers

  /// The basket that the path names.
  func require(_ request: Request, _ context: ServerContext) async throws -> (BasketID, MerchantID) {
    let basket = BasketID(context.parameters.get("basket") ?? "")
    return (basket, try await merchant(of: basket, request, context))
  }

  /// The basket that the request names. One that is not here is fetched from the `basketSource` of the page's

  /// merchant.
  func fetch(_ request: Request, _ context: ServerContext) async throws -> (BasketID, MerchantID) {
    do { return try await require(request, context) } catch let error as OrderError where error.code == .basketUnknown {
      guard context.hosted == nil, let merchant = caller(request, context) else { throw error }
      try await orderService.pull(BasketID(context.parameters.get("basket") ?? ""), of: merchant)
      return try await require(request, context)
    }
  }

  func merchant(of basket: BasketID, _ request: Request, _ context: ServerContext) async throws -> MerchantID {
    try requireOwn(basket, context)
    let owner = try await orderService.merchant(of: basket)
    if let caller = caller(request, context), caller != owner {
      throw OrderError(.basketUnknown, "no such basket")
    }
    Activity.current?.concerns(basket)
    return owner
  }

  /// The page of a checkout is answered about its own basket alone.
  func requireOwn(_ basket: BasketID, _ context: ServerContext) throws {
    guard let hosted = context.hosted, hosted.checkout != basket else { return }
    throw OrderError(.basketUnknown, "no such basket")
  }

  /// The merchant of the calling page, by Origin, or by the requested host when there is none, so that no session of
  /// one merchant is made for the domain of another. Nil for the server's own host, which apps call.
  func caller(_ request: Request, _ context: ServerContext) -> MerchantID? {
    callers.find(request, context)?.0.id
  }
}

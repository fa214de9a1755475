import Administration
import ApplePayToken
import Gateway
import HTTPServing
import HTTPTypes
import Hummingbird
import Orders
import StrictJSON
import Telemetry
import TenderCheckoutAPI
import TenderPayments
import TenderSheet

/// One payment: paid, asked about, cancelled.
struct PaymentController: Sendable {
  let orderService: OrderService
  let baskets: BasketLookup
  let metrics: Metrics
  let admission: PaymentAdmission
  /// Only in `simulated`.
  let traces: TraceBook?
  let clock: WallClock
  /// Made before the body is read: from its headers on, the sheet waits for this call.
  let newDeadline: @Sendable () -> Deadline

  /// `POST /applepay/payment`: decode, find the basket, place the order, render the outcome.
  func pay(_ request: Request, _ context: ServerContext) async throws -> Response {
    let deadline = newDeadline()
    let body = try await RequestBody.bytes(request)
    let slot = try admission.begin(on: context.connection)
    defer { slot.release() }
    return try await AdmissionSlot.$current.withValue(slot) {
      try await pay(body, request, context, before: deadline)
    }
  }

  private func pay(
    _ body: [UInt8], _ request: Request, _ context: ServerContext, before deadline: Deadline
  ) async throws -> Response {
    let call = try PaymentCall(try RequestBody.read(body))
    try baskets.requireOwn(call.order.basket, context)
    let caller = baskets.caller(request, context)
    let arrived = clock.now()
    let placed = try await concerning(call.order.basket) {
      try await orderService.place(call.order, of: caller, before: deadline)
    }
    traces?.keep(
      SpentToken(token: call.order.token, merchant: placed.order.merchant, arrived: arrived), of: call.order.basket)
    metrics.placements.count(["outcome": placed.payment.status.rawValue])
    return try await render(placed)
  }

  /// Notes that the attempt is about its basket, unless the page may not see the basket.
  private func concerning(
    _ basket: BasketID, _ work: () async throws -> PlacedOrder
  ) async throws -> PlacedOrder {
    do {
      let placed = try await work()
      Activity.current?.concerns(basket)
      return placed
    } catch {
      if (error as? OrderError)?.code != .basketUnknown { Activity.current?.concerns(basket) }
      let refusal = await ShopperRefusal(error) { await locale(of: basket) }
      throw refusal ?? error
    }
  }

  /// `GET /applepay/payment/{basketId}`: after a reload, the back button, or a connection lost after sending.
  func outcome(_ request: Request, _ context: ServerContext) async throws -> Response {
    let (basket, merchant) = try await baskets.require(request, context)
    guard let placed = try await orderService.resolve(basket, of: merchant) else {
      throw Problem(.notFound, "payment_not_found", "Nobody has tried to pay this basket yet.")
    }
    return try await render(placed)
  }

  /// `DELETE /applepay/payment/{basketId}`: possible until an acquirer may have heard of it.
  func cancel(_ request: Request, _ context: ServerContext) async throws -> Response {
    let (basket, merchant) = try await baskets.require(request, context)
    try await orderService.closeSheet(basket, of: merchant)
    return Response(status: .noContent)
  }

  /// A decline is an answer to the payment and a refusal to the page: 402 keeps the sheet open for another card. So is
  /// *failure*, reported while the outcome was open: recovery reverses a late approval.
  private func render(_ placed: PlacedOrder) async throws -> Response {
    let payment = placed.payment
    switch placed.status {
    case .declined:
      let reason = payment.decline?.reason.text ?? .declined
      throw Problem(Self.paymentRequired, "declined", await text(reason, placed))
    case .failed:
      throw Problem(
        .serviceUnavailable, "acquirer_unreachable", await text(.notReached, placed), retryAfter: 5)
    case .authorizing, .pending, .unknown, .voided:
      guard payment.reportedOutcome != .failure else {
        throw Problem(Self.paymentRequired, "not_confirmed", await text(.notConfirmed, placed))
      }
      return JSONAnswer.response(answer(placed), status: placed.status == .voided ? .ok : .accepted)
    default:
      return JSONAnswer.response(answer(placed))
    }
  }

  /// A text in the language of the basket's shopper; in English if the store cannot be read, because the outcome counts.
  private func text(_ text: ShopperText, _ placed: PlacedOrder) async -> String {
    await locale(of: placed.order.basket).text(text)
  }

  private func locale(of basket: BasketID) async -> ShopperLocale {
    (try? await orderService.locale(of: basket)) ?? .english
  }

  private static let paymentRequired = HTTPResponse.Status(code: 402, reasonPhrase: "Payment Required")

  private func answer(_ placed: PlacedOrder) -> PaymentAnswer {
    PaymentAnswer(
      orderId: placed.order.id, paymentId: placed.payment.id, status: placed.status,
      guestToken: placed.guestToken, transactionIdentifier: placed.payment.transactionIdentifier,
      card: placed.payment.card, receipt: Self.receipt(placed))
  }

  private static func receipt(_ placed: PlacedOrder) -> PaymentAnswer.Receipt {
    let (amount, dates) = (placed.payment.amount, placed.receipt.expectedDates)
    return PaymentAnswer.Receipt(
      amount: amount.decimalString, currency: amount.currency.code, merchantReference: placed.order.merchantReference,
      estimated: placed.receipt.isEstimate ? true : nil,
      lines: placed.receipt.lines.map {
        .init(label: $0.label, amount: $0.amount.decimalString, pending: $0.kind == .pending ? true : nil)
      },
      expectedDates: dates.isEmpty
        ? nil : .init(dispatch: dates["dispatch"], arrival: dates["arrival"], collection: dates["collection"]),
      orderURL: placed.receipt.orderURL)
  }
}

extension DeclineReason {
  /// What the page learns of the reason: what the shopper can act upon. That a card was reported lost, or that fraud is
  /// suspected, is for the operator alone.
  fileprivate var text: ShopperText {
    switch self {
    case .insufficientFunds: .declinedFunds
    case .expiredCard: .declinedExpired
    case .limitExceeded: .declinedLimit
    case .authenticationRequired: .declinedAuthentication
    case .issuerUnavailable: .declinedUnreachable
    case .doNotHonor, .lostOrStolen, .suspectedFraud, .notPermitted, .invalidCard, .cryptogramInvalid, .configuration,
      .holdEnded, .approvedForLess, .other:
      .declined
    }
  }
}

/// The body of `POST /applepay/payment`.
///
/// The payment token is read from the strict reader's own value, so that no second reading can differ from the first.
private struct PaymentCall {
  let order: PlaceOrderRequest

  init(_ body: JSONField) throws {
    order = try RequestBody.refusing {
      PlaceOrderRequest(
        basket: BasketID(try body.member("basketId").string), quote: QuoteID(try body.member("quoteId").string),
        token: try EncryptedPaymentToken(json: try body.member("token").value),
        billingContact: try Self.contact("billingContact", body),
        shippingContact: try Self.contact("shippingContact", body), card: Self.card(try body.member("token").value),
        guestToken: try body.memberIfPresent("guestToken")?.value.text)
    }
  }

  /// Nothing signs it and nothing depends on it but a route, so what cannot be read counts as missing.
  private static func card(_ token: JSONValue) -> NamedCard {
    let method = token["paymentMethod"]
    let type = method?["type"]?.text.flatMap(PaymentMethodType.init(rawValue:))
    return NamedCard(
      name: method?["displayName"]?.text, network: method?["network"]?.text.flatMap(CardNetwork.init(rawValue:)),
      type: type == .unknown ? nil : type)
  }

  private static func contact(_ key: String, _ body: JSONField) throws -> FullContact? {
    guard let field = try body.memberIfPresent(key), field.value != .null else { return nil }
    do { return try StrictJSONDecoder().decode(FullContact.self, from: field.value) } catch let error as JSONError {
      throw JSONError(error.code, path: field.path + (error.path ?? "$").dropFirst(), error.reason)
    }
  }
}

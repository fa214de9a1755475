import HTTPServing
import Hummingbird
import DirectWire
import TenderPayments

/// The calls of the shop's pages about orders, and the basket of the smallest page.
struct OrderController: Sendable {
  let menu: Menu
  let tender: TenderClient
  let shoppers: Shoppers
  let orders: OrderStore
  let kitchen: Kitchen
  let clock: WallClock
  let random: RandomBytes

  /// `POST /api/baskets` `{serviceType, items: [{id, quantity}], requestedFor?, note?, couponCode?}` → 201
  /// `{basketId}`.
  func makeBasket(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let order = try await request.decode(OrderRequest.self)
    let basket = try await store(order, of: shoppers.regular(request), at: request.head.authority)
    return JSONAnswer.response(BasketCreated(basketId: basket), status: .created)
  }

  /// A new basket of one dish, to be collected.
  func smallestBasket(_ request: Request) async throws -> BasketID {
    let items = menu.dishes.prefix(1).map { OrderRequest.Item(id: $0.id, quantity: 1) }
    return try await store(OrderRequest(serviceType: "collection", items: items), of: nil, at: request.head.authority)
  }

  /// `GET /api/orders/{basketId}`: the order that was placed with a basket, as Tender has it.
  func order(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let (id, order) = try await requireOrder(context)
    return JSONAnswer.response(Receipt(order, orders[id]))
  }

  /// `POST /api/orders/{basketId}/cash` `{name, email, phone, street?, city?, postcode?}`: the shopper takes the other way
  /// to pay, cash at the door or at the counter, which nobody collects here. What the sheet would have opened with is the
  /// price. First the basket is cancelled at Tender, so that it is not paid twice.
  func orderForCash(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let contact = try await request.decode(CashContact.self)
    guard let text = context.parameters.get("basketId"), Self.isBasketID(text), let kept = orders[BasketID(text)] else {
      throw ShopError(.notFound, "order_not_found", "This shop has no such order.")
    }
    try contact.check(isDelivered: kept.basket.serviceType == "delivery")
    let id = BasketID(text)
    if kept.cash == nil {
      let total = try await tender.basket(id).total
      try await tender.cancel(id)
      orders.note(cash: try contact.order(of: kept.basket, for: total, as: id, at: clock.now()), for: id)
    }
    return Response(status: .created)
  }

  /// `POST /api/codes` `{code}` → `{code, label}`: whether a promo code is good, before the sheet opens.
  func checkCode(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let coupon = try menu.coupon(try await request.decode(PromoCode.self).code, at: clock.now())
    return JSONAnswer.response(["code": coupon.code, "label": coupon.label])
  }

  /// - Parameter host: of the shop, as the shopper's browser calls it.
  private func store(_ order: OrderRequest, of shopper: Shoppers.Regular?, at host: String?) async throws -> BasketID {
    let reference = "\(menu.referencePrefix)-\(random.hex(4).uppercased())"
    var basket = try menu.basket(for: order, of: shopper?.customer, reference: reference, at: clock.now())
    // The id is the right to pay the basket, so it holds 128 random bits.
    let id = BasketID(random.hex(16))
    basket.orderURL = host.map { "http://\($0)/order/\(id)" }
    try await tender.store(basket, as: id)
    orders.keep(basket, shopper: shopper?.name, as: id)
    return id
  }

  private func requireOrder(_ context: BasicRequestContext) async throws -> (BasketID, OrderAnswer) {
    guard let id = context.parameters.get("basketId"), Self.isBasketID(id) else {
      throw ShopError(.notFound, "order_not_found", "This shop has no such order.")
    }
    if let order = orders[BasketID(id)]?.cash { return (BasketID(id), order) }
    guard let order = try await tender.basket(BasketID(id)).order else {
      throw ShopError(.notFound, "order_not_found", "Nothing was ordered with this basket.")
    }
    if let payment = order.paymentId, let status = order.status {
      kitchen.take(.init(order: order, status: status, sequence: 0), of: payment)
    }
    return (BasketID(id), order)
  }

  static func isBasketID(_ text: String) -> Bool { text.utf8.count == 32 && Hex.decode(text) != nil }
}

private struct BasketCreated: Encodable {
  let basketId: BasketID
}

/// Who orders for cash, and where it goes.
private struct CashContact: Decodable {
  let name: String
  let email: String
  let phone: String
  var street: String?
  var city: String?
  var postcode: String?

  func check(isDelivered: Bool) throws {
    let needed = [name, email, phone] + (isDelivered ? [street, city, postcode] : []).map { $0 ?? "" }
    guard needed.allSatisfy({ (1...200).contains($0.utf8.count) }) else {
      throw ShopError(.badRequest, "contact_incomplete", "Say who you are, and where it goes.")
    }
  }

  func order(
    of basket: BasketDocument, for total: WireAmount, as id: BasketID, at now: Timestamp
  ) throws -> OrderAnswer {
    func amount(_ minorUnits: Int64) -> Amount { Amount(minorUnits: minorUnits, currency: total.currencyCode) }
    let goods = try basket.items.map { ($0, try amount($0.unitAmount).times($0.quantity)) }
    let other = try amount(total.amount).subtracting(goods.map(\.1).total(in: total.currencyCode))
    var order = OrderAnswer(
      orderId: OrderID(id.rawValue), paymentId: nil, merchantReference: basket.merchantReference, status: nil,
      amount: total,
      lines: goods.map { item, amount in
        .init(label: item.quantity > 1 ? "\(item.quantity) × \(item.label)" : item.label, amount: amount.minorUnits)
      })
    if other.minorUnits != 0 {
      order.lines?.append(.init(label: "Delivery, fees and discount", amount: other.minorUnits))
    }
    order.placedAt = WireTime(now)
    var customer = OrderAnswer.Customer()
    customer.contactDetails = .init(emailAddress: email, phoneNumber: phone)
    customer.personalInformation = .init(name: .init(firstName: nil, surname: name))
    order.customer = customer
    (order.expectedDates, order.orderURL) = (basket.expectedDates, basket.orderURL)
    return order
  }
}

private struct PromoCode: Decodable {
  let code: String
}

/// The receipt on the page.
private struct Receipt: Encodable {
  let orderId: OrderID
  let paymentId: PaymentID?
  let reference: String
  let placedAt: WireTime?
  let status: PaymentStatus?
  /// Decimal text in major units: `"12.90"`, `"880"`.
  let amount: String
  /// Whether the amount is what is held until the final one is known.
  let estimated: Bool
  let currency: Currency
  let lines: [Line]
  /// Dishes that cannot be delivered to the address.
  let unavailable: [String]
  let serviceType: String?
  let requestedFor: String?
  let note: String?
  let expectedDates: ExpectedDates?
  let orderURL: String?
  let shopper: String?
  /// As the sheet showed it.
  let card: String?
  /// Apple's.
  let transactionIdentifier: String?
  /// Whether it is to be paid in cash, and not through Tender.
  let isCash: Bool

  struct Line: Encodable {
    let label: String
    /// Nil while it is not known.
    let amount: String?
  }

  init(_ order: OrderAnswer, _ kept: OrderStore.Entry?) {
    let currency = order.amount.currencyCode
    let decimal = { (minorUnits: Int64) in Amount(minorUnits: minorUnits, currency: currency).decimalString }
    (orderId, paymentId, reference) = (order.orderId, order.paymentId, order.merchantReference)
    (status, amount, self.currency) = (order.status, decimal(order.amount.amount), currency)
    estimated = order.estimated == true
    lines = (order.lines ?? []).map { Line(label: $0.label, amount: $0.pending == true ? nil : decimal($0.amount)) }
    unavailable = (order.unavailableItems ?? []).map { id in kept?.basket.items.first { $0.id == id }?.label ?? id }
    (serviceType, requestedFor, note) = (kept?.basket.serviceType, kept?.basket.requestedFor, kept?.basket.note)
    (placedAt, expectedDates, orderURL) = (order.placedAt, order.expectedDates, order.orderURL)
    (shopper, card, isCash) = (kept?.shopper ?? kept?.cash?.shopperName, order.card, kept?.cash != nil)
    transactionIdentifier = order.transactionIdentifier
  }
}

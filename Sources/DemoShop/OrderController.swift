import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PlatformAPI
import StrictJSON
import TenderPayments

/// The two calls of the shop's page, and the basket of the smallest one.
struct OrderController: Sendable {
  let menu: Menu
  let tender: TenderClient
  let random: RandomBytes

  /// `POST /api/baskets` `{serviceType, items: [{id, quantity}], note?}` → 201 `{basketId}`.
  func makeBasket(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    try JSONAnswer.response(BasketMade(basketId: try await store(wish(request))), status: .created)
  }

  /// A new basket of one dish, to be collected.
  func smallestBasket() async throws -> BasketID {
    try await store(
      OrderWish(serviceType: "collection", items: menu.dishes.prefix(1).map { .init(id: $0.id, quantity: 1) }))
  }

  /// `GET /api/orders/{basketId}`: what became of a basket, in Tender's words and not the browser's.
  func order(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    guard let id = context.parameters.get("basketId"), Self.isBasketID(id) else {
      throw ShopError(.notFound, "order_not_found", "This shop has no such order.")
    }
    let basket = try await tender.basket(BasketID(id))
    guard let order = basket.order else {
      throw ShopError(.notFound, "order_not_found", "Nothing was ordered with this basket.")
    }
    return try JSONAnswer.response(OrderShown(order))
  }

  private func store(_ wish: OrderWish) async throws -> BasketID {
    let basket = try menu.basket(for: wish, reference: "\(menu.referencePrefix)-\(random.hex(4).uppercased())")
    // Whoever knows the id may pay the basket, so it holds 128 random bits.
    let id = BasketID(random.hex(16))
    try await tender.store(basket, as: id)
    return id
  }

  private func wish(_ request: Request) async throws -> OrderWish {
    guard request.headers[.contentType]?.hasPrefix("application/json") == true else {
      throw ShopError(.unsupportedMediaType, "unsupported_media_type", "Send the body as application/json.")
    }
    do {
      let body = try await request.body.collect(upTo: 16_384)
      return try StrictJSONDecoder().decode(OrderWish.self, from: Array(body.readableBytesView))
    } catch is NIOTooManyBytesError {
      throw ShopError(.contentTooLarge, "body_too_large", "An order is at most 16 KiB.")
    } catch let error as JSONError {
      throw ShopError(.badRequest, "invalid_order", "\(error)")
    }
  }

  private static func isBasketID(_ text: String) -> Bool { text.utf8.count == 32 && Hex.decode(text) != nil }
}

/// What the page asks for: dishes by name, never prices.
struct OrderWish: Decodable {
  let serviceType: String
  let items: [Item]
  var note: String?

  struct Item: Decodable {
    let id: String
    let quantity: Int64
  }
}

private struct BasketMade: Encodable {
  let basketId: BasketID
}

/// The receipt on the page.
private struct OrderShown: Encodable {
  let orderId: OrderID
  let reference: String
  let status: PaymentStatus?
  /// Decimal text in major units: `"12.90"`, `"880"`.
  let amount: String
  let currency: Currency

  init(_ order: OrderAnswer) {
    orderId = order.orderId
    reference = order.merchantReference
    status = order.status
    amount = Amount(minorUnits: order.amount.amount, currency: order.amount.currencyCode).decimalString
    currency = order.amount.currencyCode
  }
}

extension Menu {
  static let serviceTypes = ["delivery", "collection"]
  static let largestQuantity: Int64 = 20

  /// The basket that Tender is given. The prices are this menu's, whatever the page showed.
  func basket(for wish: OrderWish, reference: String) throws -> BasketDocument {
    guard let currency = Currency(code: currencyCode) else {
      throw ShopError(.internalServerError, "misconfigured", "The menu's currency is none.")
    }
    guard Self.serviceTypes.contains(wish.serviceType) else {
      throw ShopError(.badRequest, "unknown_service_type", "Choose delivery or collection.")
    }
    guard !wish.items.isEmpty else { throw ShopError(.badRequest, "empty_order", "Choose a dish first.") }
    return BasketDocument(
      currencyCode: currency, countryCode: countryCode, merchantReference: reference, businessName: title,
      serviceTypes: Self.serviceTypes, serviceType: wish.serviceType, items: try wish.items.map(item), fees: fees,
      zones: zones, shippingMethods: methods, coupons: coupons, note: wish.note)
  }

  private func item(_ wish: OrderWish.Item) throws -> BasketDocument.Item {
    guard let dish = dish(wish.id) else {
      throw ShopError(.badRequest, "unknown_dish", "There is no dish “\(wish.id)” on the menu.")
    }
    guard (1...Self.largestQuantity).contains(wish.quantity) else {
      throw ShopError(.badRequest, "bad_quantity", "Order between 1 and \(Self.largestQuantity) of a dish.")
    }
    return BasketDocument.Item(
      id: dish.id, label: dish.name, unitAmount: dish.amount, quantity: wish.quantity, availableIn: dish.availableIn)
  }
}

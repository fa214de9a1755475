import HTTPTypes
import DirectWire
import TenderPayments

/// An order of a page: dishes by id, never prices.
struct OrderRequest: Decodable {
  let serviceType: String
  let items: [Item]
  /// `2026-05-01T18:30`, the shop's own time; nil for as soon as possible.
  var requestedFor: String?
  var note: String?
  var couponCode: String?

  struct Item: Decodable {
    let id: String
    let quantity: Int64
  }
}

extension Menu {
  static let serviceTypes = ["delivery", "collection"]
  static let largestQuantity: Int64 = 20
  static let longestNote = 400

  /// The basket for Tender, with this menu's prices.
  ///
  /// - Parameter customer: of a shopper who has signed in; nil for a guest.
  func basket(
    for request: OrderRequest, of customer: String?, reference: String, at now: Timestamp
  ) throws -> BasketDocument {
    guard let currency = Currency(code: currencyCode) else {
      throw ShopError(.internalServerError, "misconfigured", "The menu's currency is none.")
    }
    guard Self.serviceTypes.contains(request.serviceType) else {
      throw ShopError(.badRequest, "unknown_service_type", "Choose delivery or collection.")
    }
    guard !request.items.isEmpty else { throw ShopError(.badRequest, "empty_order", "Choose a dish first.") }
    return BasketDocument(
      currencyCode: currency, countryCode: countryCode, merchantReference: reference, businessName: title,
      serviceTypes: Self.serviceTypes, serviceType: request.serviceType, items: try request.items.map(item), fees: fees,
      zones: zones, shippingMethods: methods, coupons: coupons,
      couponCode: try request.couponCode.map { try coupon($0, at: now).code },
      requestedFor: try request.requestedFor.map(Self.time), note: try request.note.flatMap(Self.note),
      customer: customer)
  }

  /// - Throws: the message for the shopper, if the code is not usable.
  func coupon(_ code: String, at now: Timestamp) throws -> BasketDocument.Coupon {
    let wanted = code.filter { !$0.isWhitespace }.uppercased()
    guard let coupon = coupons.first(where: { $0.code == wanted }) else {
      throw ShopError(.notFound, "unknown_code", "We do not know this code.")
    }
    if let end = coupon.expiresAt?.timestamp, end <= now {
      throw ShopError(.conflict, "expired_code", "This code has expired.")
    }
    return coupon
  }

  private func item(_ request: OrderRequest.Item) throws -> BasketDocument.Item {
    guard let dish = dish(request.id) else {
      throw ShopError(.badRequest, "unknown_dish", "There is no dish “\(request.id)” on the menu.")
    }
    guard (1...Self.largestQuantity).contains(request.quantity) else {
      throw ShopError(.badRequest, "bad_quantity", "Order between 1 and \(Self.largestQuantity) of a dish.")
    }
    return BasketDocument.Item(
      id: dish.id, label: dish.name, unitAmount: dish.amount, quantity: request.quantity, availableIn: dish.availableIn)
  }

  private static func time(_ text: String) throws -> String {
    guard text.wholeMatch(of: /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/) != nil else {
      throw ShopError(.badRequest, "bad_time", "Choose a time from the list.")
    }
    return text
  }

  /// Nil for an empty note.
  private static func note(_ text: String) throws -> String? {
    guard text.contains(where: { !$0.isWhitespace }) else { return nil }
    guard text.count <= longestNote else {
      throw ShopError(.badRequest, "long_note", "A note has at most \(longestNote) characters.")
    }
    return text
  }
}

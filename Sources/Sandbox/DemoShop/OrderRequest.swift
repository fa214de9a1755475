import HTTPTypes
import DirectWire
import TenderPayments

/// What the page asks for: dishes by name, never prices.
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

  /// The basket to store at Tender, with this menu's prices.
  ///
  /// - Parameter customer: of a shopper who has signed in; nil for a guest.
  func basket(
    for order: OrderRequest, of customer: String?, reference: String, at now: Timestamp
  ) throws -> BasketDocument {
    guard let currency = Currency(code: currencyCode) else {
      throw ShopError(.internalServerError, "misconfigured", "The menu's currency is none.")
    }
    guard Self.serviceTypes.contains(order.serviceType) else {
      throw ShopError(.badRequest, "unknown_service_type", "Choose delivery or collection.")
    }
    guard !order.items.isEmpty else { throw ShopError(.badRequest, "empty_order", "Choose a dish first.") }
    var document = BasketDocument(
      currencyCode: currency, countryCode: countryCode, merchantReference: reference, businessName: title,
      serviceTypes: Self.serviceTypes, items: try order.items.map(item))
    document.serviceType = order.serviceType
    (document.fees, document.zones, document.shippingMethods, document.coupons) = (fees, zones, methods, coupons)
    if order.requestedFor == nil { addExpectedDates(to: &document, from: now) }
    document.couponCode = try order.couponCode.map { try coupon($0, at: now).code }
    document.requestedFor = try order.requestedFor.map(Self.checkedTime)
    document.note = try order.note.flatMap(Self.note)
    document.customer = customer
    return document
  }

  /// When an order that is made now can be expected, for its receipt.
  private func addExpectedDates(to document: inout BasketDocument, from now: Timestamp) {
    let after = { (minutes: Int64) in WireTime(now.adding(.seconds(minutes * 60))).timestamp.description }
    document.expectedDates = ExpectedDates(dispatch: after(Self.cooking), collection: after(Self.cooking))
    for (index, method) in document.shippingMethods.enumerated() {
      document.shippingMethods[index].expectedDates = travel[method.identifier].map {
        ExpectedDates(arrival: after(Self.cooking + $0))
      }
    }
  }

  /// Minutes until an order can leave.
  private static let cooking: Int64 = 15

  /// Minutes on the way, by shipping method.
  private var travel: [String: Int64] { ["bike": 30, "van": 60, "courier": 2_880, "express": 1_440] }

  /// - Throws: ``ShopError`` with what the page shows the shopper about an unknown or expired code.
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

  private func item(_ item: OrderRequest.Item) throws -> BasketDocument.Item {
    guard let dish = dish(item.id) else {
      throw ShopError(.badRequest, "unknown_dish", "There is no dish “\(item.id)” on the menu.")
    }
    guard (1...Self.largestQuantity).contains(item.quantity) else {
      throw ShopError(.badRequest, "bad_quantity", "Order between 1 and \(Self.largestQuantity) of a dish.")
    }
    return BasketDocument.Item(
      id: dish.id, label: dish.name, unitAmount: dish.amount, quantity: item.quantity, availableIn: dish.availableIn)
  }

  private static func checkedTime(_ text: String) throws -> String {
    guard text.wholeMatch(of: /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/) != nil else {
      throw ShopError(.badRequest, "bad_time", "Choose a time from the list.")
    }
    return text
  }

  /// Nil for a blank note.
  private static func note(_ text: String) throws -> String? {
    guard text.contains(where: { !$0.isWhitespace }) else { return nil }
    guard text.count <= longestNote else {
      throw ShopError(.badRequest, "long_note", "A note has at most \(longestNote) characters.")
    }
    return text
  }
}

import DirectWire
import Foundation
import JWTKit
import Ledger
import Orders
import Storage
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

@Suite struct `Orders of a shopper` {
  private static let words = [
    "Aoife", "Byrne", "aoife@example.com", "555 0100", "North Quay", "ring twice", "19:30", "c-7",
  ]
  private static let unpaid = BasketID("8a2f41c07be95d36e1480fb7c29d5a63")

  /// A shop in which a signed-in shopper has paid, with a coupon, and has put another basket.
  private func shop(customer: String? = "c-7") async throws -> (Shop, PlacedOrder) {
    let shop = try await Shop(guestTokenKey: ES256PrivateKey().pemRepresentation)
    var document = BasketDocument.dinner
    (document.customer, document.note, document.requestedFor) = (customer, "ring twice", "19:30")
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    let quote = try await shop.opens()
    _ = try await shop.orderService.update(Shop.basket, of: Shop.merchant, .couponCode("LUNCH10"))
    let shown = try await shop.orderService.update(Shop.basket, of: Shop.merchant, .couponCode("FIVER")).quote.id
    #expect(shown != quote)
    let placed = try await shop.pays(quote: shown)
    document.merchantReference = "HK-2000"
    try await shop.orderService.put(document, as: Self.unpaid, of: Shop.merchant)
    return (shop, placed)
  }

  /// By e-mail address, customer, id and reference.
  private func found(
    _ order: OrderID, of merchants: [MerchantID]?, in database: Database
  ) async throws -> [[OrderID]] {
    try await database.read { store in
      try [
        ShopperOrders.with(email: "Aoife@Example.com", of: merchants, in: store),
        ShopperOrders.with(customer: "c-7", of: merchants, in: store),
        ShopperOrders.with(order: order.rawValue, of: merchants, in: store),
        ShopperOrders.with(order: "HK-1042", of: merchants, in: store),
      ].map { $0.map(\.id) }
    }
  }

  private func unpaid(_ customer: String, of merchants: [MerchantID]?, in database: Database) async throws -> [BasketID]
  {
    try await database.read {
      try ShopperOrders.baskets(of: customer, merchants, after: "", in: $0).found.map(\.basket)
    }
  }

  @Test(arguments: [nil, [Shop.merchant]])
  func `are found by whom and what they are for, among those of the merchants asked for`(
    _ merchants: [MerchantID]?
  ) async throws {
    let (shop, placed) = try await shop()
    let order = placed.order.id
    #expect(try await found(order, of: merchants, in: shop.database) == Array(repeating: [order], count: 4))
    #expect(try await found(order, of: ["another"], in: shop.database) == Array(repeating: [], count: 4))
    #expect(try await unpaid("c-7", of: merchants, in: shop.database) == [Self.unpaid])
    #expect(try await unpaid("c-8", of: merchants, in: shop.database) == [])
    #expect(try await unpaid("c-7", of: ["another"], in: shop.database) == [])
    for (part, isThere) in [("k-10", true), ("IFE@EX", true), ("%", false), ("_", false)] {
      let orders = try await shop.database.read {
        try MerchantReferences.orders(containing: part, of: merchants, limit: 5, in: $0)
      }
      #expect(orders == (isThere ? [order] : []), "\(part)")
    }
  }

  @Test func `of a guest are the customer's who has claimed the guest`() async throws {
    let (shop, placed) = try await shop(customer: nil)
    let guest = try #require(placed.order.guest)
    _ = try await shop.orderService.claim(guest, of: Shop.merchant, for: "c-7")
    let orders = try await shop.database.read { try ShopperOrders.with(customer: "c-7", of: nil, in: $0).map(\.id) }
    #expect(orders == [placed.order.id])
    try await shop.database.write { try OrderErasure.strip(placed.order.id, in: $0) }
    #expect(try await shop.count("guests") == 0)
  }

  @Test func `keep what was sold and nothing that names the shopper, once they are erased`() async throws {
    let (shop, placed) = try await shop()
    let (database, order) = (shop.database, placed.order.id)
    let open = try await database.read { try #require(try FoundOrder.find(Self.openOrder(in: $0), in: $0)).id }
    for id in [order, open] {
      #expect(try await database.write { try OrderErasure.strip(id, in: $0) })
      for _ in 0..<2 { try await database.write { try OrderErasure.note(id, in: $0) } }
    }
    #expect(try await database.read { try OrderErasure.findErased(in: $0) } == [order.rawValue, open.rawValue])
    #expect(try await !database.write { try OrderErasure.strip(OrderID("none"), in: $0) })
    #expect(try await found(order, of: nil, in: database) == [[], [], [order], [order]])
    #expect(try await unpaid("c-7", of: nil, in: database) == [])
    for table in ["orders", "order_contacts", "baskets", "quotes", "guests"] {
      let rows = try await database.read { "\(try $0.rows("SELECT * FROM \(table)"))" }
      // The basket offers the coupon still; no quote says that the shopper took it.
      for word in Self.words + (table == "quotes" ? ["FIVER"] : []) {
        #expect(!rows.contains(word), "\(word) in \(table)")
      }
    }
    let answer = try await shop.orderService.basket(Shop.basket, of: Shop.merchant)
    #expect(answer.order?.merchantReference == "HK-1042" && answer.order?.customer?.merchantCustomerId == nil)
    await refusal(.basketCancelled) { try await shop.orderService.sheet(Self.unpaid, of: Shop.merchant) }
  }

  private static func openOrder(in store: Transaction) throws -> String {
    try #require(
      try store.row("SELECT order_id FROM baskets WHERE id = $1", .text(unpaid.rawValue))?.text("order_id"))
  }

  @Test func `that stood in clear are sealed step by step, and still found`() async throws {
    let (shop, placed) = try await shop()
    let folder = try TemporaryStore()
    let keys = RowKeys.Files(folder.directory + "/contacts.keys", copy: nil)
    let database = shop.database.sealed(under: try RowKeys(keys))
    func isInClear() async throws -> [Bool] {
      try await database.read {
        [
          "\(try $0.rows("SELECT * FROM order_contacts"))".contains("North Quay"),
          try !OrderContacts.hasSealed(in: $0),
        ]
      }
    }
    #expect(try await isInClear() == [true, true])
    while try await !database.write({ try OrderContacts.sealSome(atMost: 1, in: $0) }) {}
    #expect(try await isInClear() == [false, false])
    let address = try await database.read { try OrderContacts.email(of: placed.order.id, in: $0) }
    #expect(address == "aoife@example.com")
    #expect(try await found(placed.order.id, of: nil, in: database)[0] == [placed.order.id])
    let soon = shop.clock.wall.now().adding(.seconds(1))
    let due = try await database.write { try OrderErasure.due(before: soon, atMost: 5, in: $0) }
    #expect(due == [placed.order.id])
  }
}

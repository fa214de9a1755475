import Orders
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Old baskets` {
  private static let day = Duration.seconds(86_400)

  @Test func `go when nobody tried to pay them, and so do the quotes that no order was placed with`() async throws {
    let shop = try await Shop()
    let (unpaid, new) = (BasketID("8a2f41c07be95d36e1480fb7c29d5a63"), BasketID("f06b93d8215ea74cb36d0e9f58417c2a"))
    _ = try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    _ = try await shop.pays()
    _ = try await shop.orderService.put(.dinner, as: unpaid, of: Shop.merchant)
    _ = try await shop.orderService.sheet(unpaid, of: Shop.merchant)
    #expect(try await shop.count("quotes") > 2)
    shop.clock.move(Self.day * 40)
    _ = try await shop.orderService.put(.dinner, as: new, of: Shop.merchant)
    func forget(before end: Timestamp) async throws {
      while try await !shop.database.write({ try OrderService.forgetBaskets(before: end, atMost: 1, in: $0) }) {}
    }
    try await forget(before: shop.clock.wall.now().adding(.zero - Self.day * 60))
    #expect(try await shop.count("baskets") == 3)
    try await forget(before: shop.clock.wall.now().adding(.zero - Self.day * 30))
    let left = try await shop.database.read { try $0.rows("SELECT id FROM baskets").map { try $0.text("id") } }
    #expect(Set(left) == [Shop.basket.rawValue, new.rawValue])
    #expect(try await shop.count("quotes") == 1)
    #expect(try await shop.count("orders") == 1)
  }
}

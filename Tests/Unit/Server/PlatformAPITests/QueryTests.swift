import PlatformAPI
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A query of the platform API` {
  private func refused(_ values: (String, String)...) -> String? {
    do {
      _ = try PaymentQuery(values.map { (name: $0.0, value: $0.1) }, of: MerchantID("harbour"))
      return nil
    } catch { return (error as? QueryRefused)?.parameter }
  }

  @Test func `takes every condition once`() {
    #expect(refused() == nil)
    #expect(
      refused(
        ("merchantReference", "order-1"), ("orderId", "o1"), ("paymentId", "p1_0"), ("status", "partially_captured"),
        ("amount", "1250"), ("currencyCode", "EUR"), ("from", "2026-11-01T00:00:00Z"),
        ("until", "2026-12-01T00:00:00Z"), ("limit", "100"), ("cursor", PaymentQuery.cursor(PaymentID("p1")))) == nil)
    #expect(refused(("status", "captured"), ("status", "refunded")) == "status")
  }

  @Test(arguments: [
    ("state", "captured"), ("status", "CAPTURED"), ("amount", "12.50"), ("currencyCode", "euro"), ("from", "yesterday"),
    ("limit", "0"), ("limit", "101"), ("cursor", "p1+"),
  ])
  func `names the parameter that it cannot read`(name: String, value: String) {
    #expect(refused((name, value)) == name)
  }

  @Test func `for events may name several types, and goes on where a cursor says`() {
    func refused(_ values: [(String, String)]) -> String? {
      do {
        _ = try EventQuery(values.map { (name: $0.0, value: $0.1) }, of: MerchantID("harbour"))
        return nil
      } catch { return (error as? QueryRefused)?.parameter }
    }
    #expect(
      refused([("type", "payment.captured"), ("type", "payment.refunded"), ("since", "2026-11-01T00:00:00Z")]) == nil)
    #expect(refused([("cursor", "bm9uZQ")]) == "cursor" && refused([("types", "x")]) == "types")
  }
}

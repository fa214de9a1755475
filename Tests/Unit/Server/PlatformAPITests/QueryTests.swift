import Ledger
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import Webhooks

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
    ("limit", "0"), ("limit", "101"), ("cursor", "p1+"), ("cursor", "AA"), ("cursor", "YQBi"), ("cursor", "w6k"),
    ("cursor", ""),
  ])
  func `names the parameter that it cannot read`(name: String, value: String) {
    #expect(refused((name, value)) == name)
  }

  @Test func `for events goes on behind one that a later version has written, and says where it is`() async throws {
    let platform = try await Platform()
    _ = try await platform.made()
    try await platform.journal.database.write { store in
      _ = try OutboxEvent.take(for: .webhooks, payments: 8, in: store)
      try store.run("UPDATE outbox SET status = 'of a later version' WHERE seq = 1")
    }
    let query = try EventQuery([], of: Platform.merchant)
    let (page, passed) = try await platform.journal.database.read { store in
      var passed: [Int64] = []
      let page = try query.page(.none, in: store) { passed.append($0.position) }
      return (page, passed)
    }
    #expect(page["events"]?.elements.compactMap { $0["type"]?.text } == ["payment.pending_capture"], "\(page)")
    #expect(passed == [1] && page["cursor"]?.text == Base64URL.encode(Array("2".utf8)))
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

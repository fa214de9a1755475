import Foundation
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `The webhooks of a payment` {
  @Test func `every change, from the first attempt to the capture`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection")
    let answer = try await shopper.pays()
    let id = try #require(answer.body["paymentId"]?.text, "\(answer.errorText)")
    #expect(try await received(id, 3) == ["payment.created", "payment.pending_capture", "payment.captured"])
  }

  @Test func `at the endpoint that the configuration names`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection")
    let id = try #require(try await shopper.pays().body["paymentId"]?.text)
    _ = try await received(id, 3)
    let listed = try await system.admin("GET", "/webhooks/deliveries?state=delivered&limit=500").elements
    let own = listed.filter { $0["payment"]?.text == id }
    #expect(!own.isEmpty && own.allSatisfy { $0["endpoint"] == "orders" && $0["url"] == "http://localhost:9/hooks" })
    #expect(own.allSatisfy { $0["merchantReference"]?.text == shopper.reference && $0["order"]?.text != nil })
    #expect(own.allSatisfy { $0["basket"]?.text == shopper.basket })
  }

  @Test func `and of a decline, that it was rejected`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection")
    _ = try await shopper.pays(card: "visa-insufficient-funds")
    let id = try #require(
      try await system.admin("GET", "/payments?limit=500")["payments"]?.elements.first {
        $0["basket"]?.text == shopper.basket
      }?["id"]?.text)
    #expect(try await received(id, 2) == ["payment.created", "payment.rejected"])
  }

  @Test func `can be followed from a place in time, and nothing is listed as dead`() async throws {
    let system = try await TestSystem.shared.value
    var cursor = try #require(try await system.admin("GET", "/webhooks/events")["cursor"]?.text)
    let shopper = try await Shopper.enters(system, service: "collection")
    let id = try #require(try await shopper.pays().body["paymentId"]?.text)
    _ = try await received(id, 3)
    var own: [JSONValue] = []
    // Other tests pay meanwhile, and a page has a hundred events.
    try await waitUntil("three events of the payment") {
      let feed = try await system.admin("GET", "/webhooks/events?after=\(cursor)")
      own += (feed["events"]?.elements ?? []).filter { $0["payment"]?.text == id }
      cursor = try #require(feed["cursor"]?.text)
      return own.count >= 3
    }
    #expect(own.compactMap { $0["sequence"]?.whole } == [1, 2, 3])
    let bodies = try own.compactMap { $0["body"]?.text }.map { try JSONReader.read(Array($0.utf8)) }
    #expect(bodies.allSatisfy { $0["tender"]?["merchantReference"]?.text == shopper.reference })
    #expect(try await system.admin("GET", "/webhooks/deliveries?state=dead").elements.isEmpty)
    #expect(try await system.admin("POST", "/webhooks/replay")["replayed"] == 0)
    #expect(try await system.admin("POST", "/webhooks/replay?payment=nobody")["code"] == "nothing_to_replay")
    let misspelt = try await system.admin("POST", "/webhooks/replay?to=nobody")
    #expect(misspelt["code"] == "unknown_endpoint" && misspelt["detail"]?.text?.contains("there are: ") == true)
  }

  @Test func `and the acquirer's own report agrees with the journal about everything`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection")
    let id = try #require(try await shopper.pays().body["paymentId"]?.text)
    for format in ["jsonl", "csv"] {
      let request = OutboundRequest(
        method: "GET", url: system.sandbox.base + "/acquirer/v1/report?format=\(format)",
        headers: [HTTPField("Authorization", "Bearer sandbox-acquirer-key")])
      let report = try await system.sender.send(request, TestRun.whole).body
      #expect(String(decoding: report, as: UTF8.self).contains("capture"))
      let found = try await system.admin("POST", "/reconcile", report).elements
      // Other tests pay meanwhile; what is still being asked is not a difference that concerns this payment.
      #expect(!found.contains { difference in difference["payment"]?.text == id })
      let misspelt = try await system.admin("POST", "/reconcile?route=sandbix", report)
      #expect(misspelt["code"] == "unknown_route" && misspelt["detail"]?.text?.contains("sandbox") == true)
    }
    let head = Array("reference,operation,amount,currency,result,time\n".utf8)
    #expect(try await system.admin("POST", "/reconcile", head)["code"] == "nothing_to_compare")
    #expect(try await system.admin("POST", "/reconcile", Array("nonsense\nline\n".utf8))["code"] == "unreadable_report")
  }

  @Test func `is counted`() async throws {
    let system = try await TestSystem.shared.value
    let text = try await system.metrics()
    #expect(text.contains("tender_webhooks_waiting") && text.contains("tender_webhooks_oldest_seconds"))
  }

  /// The types that the merchant's server has been sent for a payment, once there are so many.
  private func received(_ payment: String, _ count: Int) async throws -> [String] {
    let system = try await TestSystem.shared.value
    return try await waitFor("\(count) webhooks of \(payment)") {
      let bodies = try system.webhooks.text.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
      return bodies.filter { $0["tender"]?["paymentId"]?.text == payment }.compactMap { $0["type"]?.text }
    } until: {
      $0.count >= count
    }
  }
}

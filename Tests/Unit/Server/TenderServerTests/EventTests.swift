import Crypto
import Foundation
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `What an acquirer says by itself` {
  @Test func `gets 503 when an earlier event is missing`() async throws {
    let system = try await TestSystem.shared.value
    let payment = try await paid(system)
    let capture = try #require(try await operations(system, payment).first { $0["kind"] == "capture" })
    _ = try await system.admin("POST", "/payments/\(payment)/refund?amount=3.00")
    let refund = try #require(try await operations(system, payment).first { $0["kind"] == "refund" })

    // That the capture has failed says more than the balances allow while a part of it counts as given back.
    let failed = returned(capture)
    let early = try await said(system, failed)
    #expect(early.status == 503 && early.body["code"] == "event_early", "\(early.errorText)")
    #expect(early.headers.contains { $0.name.lowercased() == "retry-after" && $0.value == "60" })
    #expect(try await system.admin("GET", "/payments/\(payment)")["captured"] == 1250)

    #expect(try await said(system, returned(refund)).status == 200)
    #expect(try await said(system, failed).status == 200)
    let after = try await system.admin("GET", "/payments/\(payment)")
    #expect(after["captured"] == 0 && after["refunded"] == 0, "\(after)")
    // A third time it is acknowledged and changes nothing.
    #expect(try await said(system, failed).status == 200)
    #expect(try await system.admin("GET", "/payments/\(payment)") == after)
  }

  @Test func `is refused when another key signs it, or more than five minutes before or after its time`() async throws {
    let system = try await TestSystem()
    let payment = try await paid(system)
    let capture = try #require(try await operations(system, payment).first { $0["kind"] == "capture" })
    // While a clock runs, an event from the future becomes a little less so.
    system.clock.stop()
    #expect(try await said(system, returned(capture), key: "another-key").status == 401)
    for late in [-301, 301] as [Int64] {
      #expect(try await said(system, returned(capture), late: late).status == 401, "\(late) s late")
    }
    #expect(try await system.admin("GET", "/payments/\(payment)")["captured"] == 1250)
    for late in [-300, 300] as [Int64] {
      #expect(try await said(system, returned(capture), late: late).status == 200, "\(late) s late")
    }
    #expect(try await system.admin("GET", "/payments/\(payment)")["captured"] == 0)
  }

  @Test func `raises an alarm that the operator gets by mail, once a day`() async throws {
    let system = try await TestSystem()
    let payment = try await paid(system)
    let capture = try #require(try await operations(system, payment).first { $0["kind"] == "capture" })
    #expect(try await said(system, returned(capture)).status == 200)
    // The server may have looked by itself already.
    _ = try await system.admin("POST", "/mail/warnings")
    let isDigest = { (mail: JSONValue) in mail["subject"]?.text == "Payments that need attention: 1" }
    try await waitUntil("the mail to the operator") { try await !system.mails(where: isDigest).isEmpty }
    #expect(try await system.admin("POST", "/mail/warnings")["queued"] == 0)
    let mails = try await system.mails(where: isDigest)
    #expect(mails.count == 1)
    #expect(mails.first?["recipients"]?.elements == ["operator@pay.example"])
    let text = try #require(mails.first?["text"]?.text)
    #expect(text.contains(payment) && text.contains("capture_returned"), "\(text)")
  }

  @Test func `is accepted at its own connector's path alone`() async throws {
    let system = try await TestSystem.shared.value
    let answer = try await said(system, "{}", connector: "another")
    #expect(answer.status == 404 && answer.body["code"] == "not_found")
  }
}

extension `What an acquirer says by itself` {
  private func paid(_ system: TestSystem) async throws -> String {
    let shopper = try await Shopper.enters(system, service: "collection")
    let answer = try await shopper.pays()
    let id = try #require(answer.body["paymentId"]?.text, "\(answer.errorText)")
    try await waitFor("the capture", { try await system.admin("GET", "/payments/\(id)") }) { $0["captured"] == 1250 }
    return id
  }

  private func operations(_ system: TestSystem, _ payment: String) async throws -> [JSONValue] {
    try await system.admin("GET", "/payments/\(payment)")["operations"]?.elements ?? []
  }

  /// That an operation which had succeeded has not.
  private func returned(_ operation: JSONValue) -> JSONValue {
    [
      "id": .string("event-" + (operation["reference"]?.text ?? "")), "reference": operation["reference"] ?? .null,
      "amount": operation["amount"] ?? .null, "currency": "EUR", "result": "declined", "responseCode": "05",
    ]
  }

  private func said(
    _ system: TestSystem, _ event: JSONValue, key: String = "sandbox-acquirer-key", late: Int64 = 0,
    connector: String = "sandbox"
  ) async throws -> JSONClient.Answer {
    let (body, time) = (event.serialized(), system.clock.wall.now().seconds - late)
    let code = HMAC<SHA256>.authenticationCode(
      for: Array("\(time).".utf8) + body, using: SymmetricKey(data: Array(key.utf8)))
    let request = OutboundRequest(
      method: "POST", url: system.server + "/acquirers/\(connector)/events",
      headers: [
        HTTPField("Content-Type", "application/json"),
        HTTPField("Sandbox-Signature", "t=\(time),v1=\(Hex.encode(Array(code)))"),
      ], body: body)
    return JSONClient.Answer(try await system.sender.send(request, TestRun.whole))
  }
}

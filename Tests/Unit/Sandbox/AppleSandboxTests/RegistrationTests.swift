import AppleSandbox
import HTTPTransport
import HTTPTypes
import SandboxTesting
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// Apple's Web Merchant Registration API, called by the sandbox's one merchant as a platform.
@Suite struct `The registration API` {
  private static let call: JSONValue = [
    "domainNames": ["a.localhost:8401", "b.localhost:8401"], "encryptTo": .string(Merchant.identifier),
    "partnerInternalMerchantIdentifier": "stall-1", "partnerMerchantName": "Market Stall",
  ]

  /// The sandbox's merchant with the API, and its file on both domains.
  private func platform(_ body: @escaping @Sendable (ListeningSandbox) async throws -> Void) async throws {
    try await ListeningSandbox.run { place in
      let file = try await place.testSandbox.calls { portal in
        try await portal.post("/portal/merchants/\(Merchant.identifier)/platform")["associationFile"] ?? ""
      }
      for host in ["a", "b"] {
        place.testSandbox.web.serve(
          file, at: "http://\(host).localhost:8401/.well-known/apple-developer-merchantid-domain-association.txt")
      }
      try await body(place)
    }
  }

  @Test func `registers domains, shows them and forgets the merchant with the last one`() async throws {
    try await platform { place in
      let registered = try await place.ask(Self.call.serialized(), path: "/paymentservices/registerMerchant")
      #expect(registered.status == 200 && registered.text.isEmpty, "\(registered.text)")
      let details = try await place.get("/paymentservices/merchant/stall-1")
      #expect(details.json["domainNames"]?.elements.compactMap(\.text) == ["a.localhost", "b.localhost"])
      #expect(
        details["encryptTo"] == "C23073D7F46B012BFD60FE9E90EF578910B808069D52539A291A62DF9FECDD1B")
      for (host, status) in [("a", 200), ("b", 400)] {
        let end: JSONValue = [
          "domainNames": [.string("\(host).localhost:8401")], "partnerInternalMerchantIdentifier": "stall-1",
          "reason": "closed",
        ]
        let answer = try await place.ask(end.serialized(), path: "/paymentservices/unregisterMerchant")
        #expect(answer.status == 200)
        #expect(try await place.get("/paymentservices/merchant/stall-1").status == status)
      }
    }
  }

  @Test func `opens sessions for a registered merchant, in the platform's name, on its domains alone`() async throws {
    try await platform { place in
      _ = try await place.ask(Self.call.serialized(), path: "/paymentservices/registerMerchant")
      let session = ListeningSandbox.request.with("merchantIdentifier", "stall-1")
      let answer = try await place.ask(session.with("initiativeContext", "a.localhost").serialized())
      #expect(answer.status == 200, "\(answer.text)")
      let refused = try await place.ask(session.with("initiativeContext", "c.localhost").serialized())
      #expect(refused.status == 400 && refused.text.contains("not registered for domain="))
    }
  }

  @Test(arguments: ["domainNames", "encryptTo", "partnerInternalMerchantIdentifier", "partnerMerchantName"])
  func `refuses a call without`(_ member: String) async throws {
    try await platform { place in
      let answer = try await place.ask(
        Self.call.with(member, nil).serialized(), path: "/paymentservices/registerMerchant")
      #expect(answer.status == 400 && answer.text.contains(member))
    }
  }

  @Test func `refuses a hundred domains, one twice, a bad name and a domain without the file`() async throws {
    try await platform { place in
      let bad: [(String, JSONValue)] = [
        ("domainNames", .array((0..<100).map { .string("d\($0).localhost:8401") })),
        ("domainNames", ["a.localhost:8401", "A.localhost:8401"]), ("partnerInternalMerchantIdentifier", "a b c"),
        ("partnerInternalMerchantIdentifier", "ab"), ("domainNames", ["c.localhost:8401"]),
        ("encryptTo", "merchant.com.example.other"),
      ]
      for (member, value) in bad {
        let answer = try await place.ask(
          Self.call.with(member, value).serialized(), path: "/paymentservices/registerMerchant")
        #expect(answer.status == 400, "\(member) \(answer.text)")
      }
      #expect(try await place.get("/paymentservices/merchant/stall-1").status == 400)
    }
  }

  @Test func `is for platforms that Apple has given it to`() async throws {
    try await ListeningSandbox.run { place in
      let answer = try await place.ask(Self.call.serialized(), path: "/paymentservices/registerMerchant")
      #expect(answer.status == 401)
    }
  }
}

@Suite struct `A verified domain` {
  private static let url =
    "http://shop.localhost:8401/.well-known/apple-developer-merchantid-domain-association.txt"

  private func opens(_ place: ListeningSandbox) async throws -> Bool { try await place.ask().status == 200 }

  @Test func `is looked at again before its certificate ends, and lapses when every look has failed`() async throws {
    try await ListeningSandbox.run { place in
      place.testSandbox.web.serve("another file", at: Self.url)
      // 15 and 7 days before the end, and after it.
      for (days, isOpen) in [(75, true), (8, true), (8, false)] {
        place.testSandbox.clock.advance(.seconds(days * 86_400))
        let opened = try await opens(place)
        #expect(opened == isOpen, "after \(days) days more")
      }
    }
  }

  @Test func `stays verified while the file is there`() async throws {
    try await ListeningSandbox.run { place in
      for _ in 0..<6 {
        place.testSandbox.clock.advance(.seconds(80 * 86_400))
        let opened = try await opens(place)
        #expect(opened)
      }
    }
  }
}

extension ListeningSandbox {
  fileprivate func get(_ path: String) async throws -> Caller.Answer {
    let client = try LiveHTTPClient(identity: identity, trust: .pem(testSandbox.sandbox.tlsRootPEM))
    let url = addresses.gatewayURL + path
    let response: InboundResponse
    do { response = try await client.sender.send(OutboundRequest(method: "GET", url: url), TestRun.whole) } catch {
      try await client.shutdown()
      throw error
    }
    try await client.shutdown()
    return Caller.Answer(
      status: response.status, headers: [:], text: String(decoding: response.body, as: UTF8.self))
  }
}

import AcquirerSandbox
import AppleSandbox
import HTTPTransport
import HTTPTypes
import SandboxTesting
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// The merchant's server, which keeps what it is called with.
private final class Server: Sendable {
  private let state = Mutex<(calls: [String], failures: Int)>(([], 0))

  var calls: [String] { state.withLock(\.calls) }
  func fails(times: Int) { state.withLock { $0.failures = times } }

  @Sendable func get(_ url: String) -> Bool {
    state.withLock { state in
      state.calls.append(url)
      guard state.failures > 0 else { return true }
      state.failures -= 1
      return false
    }
  }
}

@Suite struct `Apple's side of merchant tokens, simulated` {
  private static let url = "https://pay.example/t"

  private let server = Server()

  /// A sandbox whose wallet has given the merchant a token.
  private func run(_ body: @escaping @Sendable (ListeningSandbox, String) async throws -> Void) async throws {
    let events = EventDelivery(get: server.get, post: { _, _, _ in false })
    try await ListeningSandbox.run(events: events) { sandbox in
      let token = try await sandbox.testSandbox.calls { caller in
        let given = try await caller.post(
          "/device/tokens",
          [
            "cardId": "visa-credit", "publicKeyOf": .string(Merchant.identifier), "amount": "12.50",
            "currency": "EUR", "agreement": true, "agreementText": "Box", "tokenNotificationURL": .string(Self.url),
          ])
        given.expect(status: 200)
        return try #require(
          try await caller.get("/agreements/list").json.elements.first?["merchantTokenIdentifier"]?.text)
      }
      try await body(sandbox, token)
    }
  }

  private func happens(
    _ event: String, to token: String, _ delivery: String = "at_once", in sandbox: ListeningSandbox
  ) async throws -> Caller.Answer {
    try await sandbox.testSandbox.calls {
      try await $0.post(
        "/agreements/\(token)", ["event": .string(event), "by": "user", "delivery": .string(delivery)])
    }
  }

  /// The ids of the notifications so far.
  private func heard() -> [String] { server.calls.compactMap { $0.split(separator: "/").last.map(String.init) } }

  private static let path = "/paymentservices/v1/merchantId/\(Merchant.identifier)/merchantToken"

  @Test func `notifies the address of the sheet, and tells at the gateway what happened`() async throws {
    try await run { sandbox, token in
      try await self.happens("UPDATED_METADATA", to: token, in: sandbox).expect(status: 200)
      try await waitUntil("the notification") { !self.heard().isEmpty }
      let id = try #require(self.heard().first)
      #expect(self.server.calls == ["\(Self.url)/notification/merchantToken/\(id)"])
      let told = try await sandbox.get(Self.path + "/event/\(id)")
      told.expect(status: 200)
      #expect(told["eventType"] == "UPDATED_METADATA" && told["merchantTokenIdentifier"] == token)
      #expect(told.json["merchantTokenMetadata"]?["cardMetadata"]?["fpanSuffix"] == "1437")
    }
  }

  @Test func `is as strict as Apple`() async throws {
    try await run { sandbox, token in
      try await self.happens("UPDATED_CARD_ART", to: token, in: sandbox).expect(status: 200)
      try await waitUntil("the notification") { !self.heard().isEmpty }
      let id = try #require(self.heard().first)
      let wrong: [(String, [HTTPTransport.HTTPField])] = [
        (Self.path + "/event/\(id)", [.init("Content-Type", "application/json")]),
        (Self.path + "/event/\(id)", [.init("x-request-id", "r")]),
        (Self.path + "/event/none", ListeningSandbox.tokenHeaders),
        ("/paymentservices/v1/merchantId/merchant.other/merchantToken/event/\(id)", ListeningSandbox.tokenHeaders),
      ]
      for (path, headers) in wrong {
        let refused = try await sandbox.get(path, headers)
        refused.expect(status: 400)
        #expect(refused.json["statusCode"] == 400)
      }
      sandbox.testSandbox.clock.advance(.seconds(7 * 86_400 + 1))
      try await sandbox.get(Self.path + "/event/\(id)").expect(status: 400)
    }
  }

  @Test func `tells of a late event for seven days after its notification, not after it happened`() async throws {
    try await run { sandbox, token in
      let answer = try await self.happens("UNLINK", to: token, "late", in: sandbox)
      let id = try #require(answer.json["events"]?.elements.first?["id"]?.text)
      sandbox.testSandbox.clock.advance(.seconds(20 * 86_400))
      try await waitUntil("the notification") { self.heard() == [id] }
      try await sandbox.get(Self.path + "/event/\(id)").expect(status: 200)
      sandbox.testSandbox.clock.advance(.seconds(7 * 86_400))
      try await sandbox.get(Self.path + "/event/\(id)").expect(status: 200)
      sandbox.testSandbox.clock.advance(.seconds(60))
      try await sandbox.get(Self.path + "/event/\(id)").expect(status: 400)
    }
  }

  @Test func `notifies before a server hears that the clock was moved on`() async throws {
    try await run { sandbox, token in
      _ = try await self.happens("UNLINK", to: token, "late", in: sandbox)
      try await sandbox.testSandbox.calls { caller in
        guard case .integer(let now)? = try await caller.get("/sandbox/clock").json["nowMicroseconds"] else { return }
        async let asked = caller.get("/sandbox/clock?follower=one&move=0")
        _ = try await asked
        async let moving = caller.post("/sandbox/clock", ["toMicroseconds": .integer(now + 86_400_000_000)])
        let told = try await caller.get("/sandbox/clock?follower=one&move=0")
        #expect(told.json["move"] == 1 && self.server.calls.count == 1)
        _ = try await caller.get("/sandbox/clock?follower=one&move=1")
        try await moving.expect(status: 200)
      }
    }
  }

  @Test func `unlinks for the merchant once, and has no news of it afterwards`() async throws {
    try await run { sandbox, token in
      let body: JSONValue = ["merchantTokenIdentifier": .string(token)]
      let unlink = Self.path + "/unlink"
      try await sandbox.ask(JSONValue.object([:]).serialized(), path: unlink, also: ListeningSandbox.tokenHeaders)
        .expect(status: 400)
      try await sandbox.ask(body.serialized(), path: unlink, also: ListeningSandbox.tokenHeaders).expect(status: 204)
      try await sandbox.ask(body.serialized(), path: unlink, also: ListeningSandbox.tokenHeaders).expect(status: 400)
      try await self.happens("UNLINK", to: token, in: sandbox).expect(status: 409)
    }
  }

  @Test func `sends notifications twice, after the next one, late and never`() async throws {
    try await run { sandbox, token in
      func tell(_ delivery: String) async throws -> String {
        let answer = try await self.happens("UPDATED_CARD_ART", to: token, delivery, in: sandbox)
        return try #require(answer.json["events"]?.elements.first?["id"]?.text)
      }
      let twice = try await tell("twice")
      try await waitUntil("both") { self.heard() == [twice, twice] }
      let (never, held) = (try await tell("never"), try await tell("out_of_order"))
      let next = try await tell("at_once")
      try await waitUntil("the two") { self.heard().count == 4 }
      #expect(self.heard().suffix(2) == [next, held] && !self.heard().contains(never))
      let late = try await tell("late")
      let after = try await tell("at_once")
      try await waitUntil("what happened after it") { self.heard().count == 5 }
      #expect(self.heard().last == after)
      sandbox.testSandbox.clock.advance(.seconds(31))
      try await waitUntil("the late one") { self.heard().last == late }
    }
  }

  @Test func `tries three times more where the server fails, and then never`() async throws {
    server.fails(times: 10)
    try await run { sandbox, token in
      try await self.happens("UPDATED_CARD_ART", to: token, in: sandbox).expect(status: 200)
      try await waitUntil("four tries") { self.heard().count == 4 }
      let first = self.heard()
      try await self.happens("UPDATED_CARD_ART", to: token, in: sandbox).expect(status: 200)
      try await waitUntil("four tries of the next") { self.heard().count == 8 }
      #expect(Set(first).count == 1 && Set(self.heard().suffix(4)).isDisjoint(with: first))
    }
  }

  @Test func `takes no odd request of its wallet`() async throws {
    try await run { sandbox, token in
      try await self.happens("NOTHING", to: token, in: sandbox).expect(status: 400)
      try await self.happens("UNLINK", to: token, "sometimes", in: sandbox).expect(status: 400)
      try await self.happens("UNLINK", to: "MT-0", in: sandbox).expect(status: 404)
      try await self.happens("UNLINK", to: token, in: sandbox).expect(status: 200)
      try await self.happens("UPDATED_METADATA", to: token, in: sandbox).expect(status: 409)
      for url in ["ftp://a", "http://10.0.0.1:80", "https://" + String(repeating: "a", count: 260)] {
        try await sandbox.testSandbox.calls {
          let answer = try await $0.post(
            "/device/tokens",
            [
              "cardId": "visa-credit", "publicKeyOf": .string(Merchant.identifier), "amount": "1", "currency": "EUR",
              "agreement": true, "tokenNotificationURL": .string(url),
            ])
          answer.expect(status: 400)
        }
      }
    }
  }
}

extension ListeningSandbox {
  fileprivate static let tokenHeaders = [
    HTTPTransport.HTTPField("Content-Type", "application/json"), .init("x-request-id", "8f14e45f"),
  ]

  fileprivate func get(
    _ path: String, _ headers: [HTTPTransport.HTTPField] = tokenHeaders
  ) async throws -> Caller.Answer {
    try await ask([], path: path, method: "GET", also: headers)
  }
}

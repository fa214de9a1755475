import Foundation
import HTTPTransport
import Logging
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import Testing

@Suite struct `The trace of a simulated payment` {
  @Test func `has every call and its spans, in order and to the microsecond`() async throws {
    let system = try await TestSystem.shared.value
    var shopper = try await Shopper.enters(system)
    try await shopper.chooses()
    #expect(try await shopper.pays().body["status"] == "captured")
    let calls = try await trace(of: shopper)["calls"]?.elements ?? []
    #expect(
      calls.compactMap { $0["name"]?.text } == [
        "PUT /v2/{merchantId}/baskets/{basket}", "GET /applepay/basket/{basket}",
        "POST /applepay/basket/{basket}/update", "POST /applepay/basket/{basket}/update", "POST /applepay/validate",
        "POST /applepay/payment",
      ])
    #expect(calls.compactMap { $0["about"]?.text } == ["contactSelection", "shippingMethodSelection"])
    #expect(
      spans(calls[5]) == [
        "open_token", "claim", "ask authorize approved", "record", "claim", "ask capture approved", "record",
      ])
    #expect(spans(calls[4]) == ["merchant_session"])
    for call in calls {
      let whole = try #require(call["microseconds"]?.whole)
      var end: Int64 = 0
      for part in call["spans"]?.elements ?? [] {
        let (at, time) = (try #require(part["at"]?.whole), try #require(part["microseconds"]?.whole))
        // Each is told in whole microseconds.
        #expect(at + 2 >= end && time >= 0 && at + time <= whole + 2)
        end = at + time
      }
    }
    let begins = calls.compactMap { $0["at"]?.whole }
    #expect(begins == begins.sorted() && begins.first == 0)
  }

  @Test func `has its calls as they began, also one that was answered after a later one`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system)
    let body = #"{"shippingMethod":"bike"}"#
    let head = """
      POST /applepay/basket/\(shopper.basket)/update HTTP/1.1
      Host: localhost
      Origin: \(system.harbour.origin)
      Content-Type: application/json
      Content-Length: \(body.utf8.count)
      Expect: 100-continue


      """
    let slow = try RawConnection.Shared(port: system.harbour.port)
    let begun = try await RawConnection.onThread {
      try slow.value.send(head)
      return try slow.value.answers(1)
    }
    #expect(begun.map(\.status) == [100])
    _ = try await shopper.outcome()
    _ = try await RawConnection.onThread {
      try slow.value.send(body)
      return try slow.value.answers(1)
    }
    let calls = try await trace(of: shopper)["calls"]?.elements ?? []
    let last = Set(calls.suffix(2).compactMap { $0["name"]?.text })
    #expect(last == ["POST /applepay/basket/{basket}/update", "GET /applepay/payment/{basket}"])
    let begins = calls.compactMap { $0["at"]?.whole }
    #expect(begins == begins.sorted())
  }

  @Test func `shows what stood in the payment token, and no secret of it`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection")
    let token = try await shopper.token(card: "visa-credit")
    let secrets = try Secrets(of: token, system)
    _ = try await shopper.pays(try await shopper.payment(token))
    let trace = try await trace(of: shopper)
    #expect(secrets.found(in: Data(trace.serialized())).isEmpty)
    let opened = try #require(trace["payment"])
    #expect(opened["transactionId"]?.text == token["transactionIdentifier"]?.text?.lowercased())
    #expect(opened["publicKeyHash"] == token["paymentData"]?["header"]?["publicKeyHash"])
    let inside = try #require(opened["paymentData"])
    #expect(inside["applicationPrimaryAccountNumber"]?.text == "•••• 0020")
    #expect(inside["paymentData"]?["onlinePaymentCryptogram"]?.text == "•••")
    #expect(inside["transactionAmount"] == .integer(1250) && inside["currencyCode"]?.text == "978")
  }

  @Test func `has the declined card and then the card that paid`() async throws {
    let shopper = try await Shopper.enters(try await TestSystem.shared.value, service: "collection")
    _ = try await shopper.pays(card: "visa-insufficient-funds")
    _ = try await shopper.pays(card: "mastercard-debit")
    let payments = try await (trace(of: shopper)["calls"]?.elements ?? []).filter {
      $0["name"]?.text == "POST /applepay/payment"
    }
    #expect(payments.compactMap { $0["status"]?.whole } == [402, 200])
    #expect(spans(try #require(payments.first)).contains("ask authorize declined"))
  }

  @Test func `is readable for the basket's own page alone`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system)
    let path = "/applepay/payment/\(shopper.basket)/trace"
    #expect(try await system.harbour.page.call("GET", path).status == 200)
    #expect(try await system.kitsune.page.call("GET", path).body["code"] == "basket_unknown")
    let other = try await system.harbour.page.call("GET", "/applepay/payment/nobody/trace")
    #expect(other.body["code"] == "basket_unknown")
  }

  @Test(arguments: [TenderPayments.Environment.appleSandbox, .production])
  func `is kept by no other environment`(environment: TenderPayments.Environment) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tender-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: directory + "/merchants", withIntermediateDirectories: true)
    let configuration = ServerConfiguration(
      environment: environment, directory: directory, host: "127.0.0.1", port: 0, sandboxURL: nil,
      acquirer: .init(connector: "sandbox", baseURL: "http://127.0.0.1:1", apiKey: "key"))
    let client = try LiveHTTPClient()
    let answer = await Result {
      try await Self.asked("/applepay/payment/any/trace", configuration, client.sender.unhurried)
    }
    try await client.shutdown()
    try FileManager.default.removeItem(atPath: directory)
    // A server with traces would answer that the basket is unknown, not the address.
    let refusal = try answer.get()
    #expect(refusal.status == 404 && refusal.body["code"] == "not_found", "\(refusal.errorText)")
  }

  @Test func `is forgotten when newer ones need its place`() {
    var newest = NewestOnly<Int, String>(most: 3)
    for number in 1...5 { newest[number] = "\(number)" }
    newest[4] = "four"
    #expect(newest.count == 3 && newest[2] == nil && newest[3] == "3" && newest[4] == "four")
  }

  /// What a server of its own answers, which ends afterwards.
  private static func asked(
    _ path: String, _ configuration: ServerConfiguration, _ sender: HTTPSender
  ) async throws -> JSONClient.Answer {
    let ready = Mailbox<Int>()
    let server = try await TenderServer(
      configuration, network: Network(plain: sender, identified: { _, _ in sender }),
      logger: Logger(label: "ends") { _ in SwiftLogNoOpLogHandler() }
    ) { ready.put($0) }
    let running = ready.start { try await server.run() }
    let answer = await Result {
      try await JSONClient("http://127.0.0.1:\(try await ready.awaited)", sender: sender).call("GET", path)
    }
    running.cancel()
    _ = await running.result
    return try answer.get()
  }

  private func trace(of shopper: Shopper) async throws -> JSONValue {
    try await shopper.shop.page.require("GET", "/applepay/payment/\(shopper.basket)/trace")
  }

  private func spans(_ call: JSONValue) -> [String] {
    (call["spans"]?.elements ?? []).compactMap { span in
      span["name"]?.text.map { name in [name, span["outcome"]?.text].compactMap { $0 }.joined(separator: " ") }
    }
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

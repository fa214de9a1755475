import HTTPTransport
import MerchantIdentity
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Asking Apple for a merchant session` {
  @Test func `the request says who asks, for whom and from where`() async throws {
    let gateway = Gateway(answering: 200, Self.session)
    _ = try await gateway.validator.session(for: request("shop.example.com"))
    let sent = try #require(gateway.requests.first)
    #expect(sent.method == "POST")
    #expect(sent.url == "https://apple-pay-gateway.apple.com/paymentservices/paymentSession")
    #expect(sent.headers.contains(HTTPField("Content-Type", "application/json")))
    #expect(
      String(decoding: sent.body, as: UTF8.self)
        == #"{"merchantIdentifier":"merchant.com.example.store","displayName":"The \"Store\"","initiative":"web","initiativeContext":"shop.example.com"}"#
    )
  }

  @Test func `a port of this machine is not sent to Apple`() throws {
    #expect(try request("localhost:8401").initiativeContext == "localhost")
  }

  @Test func `an app is known by its team`() throws {
    let request = try MerchantSessionRequest.app(
      TeamIdentifier("PNR9X9TVFG"), of: MerchantIdentifier(Portal.merchant), named: DisplayName("Store"))
    #expect(request.initiative.rawValue == "in_app")
    #expect(request.initiativeContext == "PNR9X9TVFG")
  }

  @Test func `the session passes through byte for byte`() async throws {
    let odd = #" {"z":1.50,"nonce" : "9f3c01ab","displayName":"Caf\u00e9","a":null} "#
    let session = try await Gateway(answering: 200, odd).validator.session(for: request())
    #expect(session.json == Array(odd.utf8))
  }

  @Test(arguments: ["", "null", "[]", "\"{}\"", "{", "{}{}", "<html></html>"])
  func `an answer that is not one JSON object is no session`(_ body: String) async throws {
    #expect(try await refusal(200, body) == .invalidSession)
  }

  @Test func `an answer over 64 KiB is no session`() async throws {
    let long = #"{"signature":"\#(String(repeating: "a", count: 65_536))"}"#
    #expect(try await refusal(200, long) == .invalidSession)
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect is an error and is not followed`(_ status: Int) async throws {
    let gateway = Gateway(answering: status, "", headers: [HTTPField("Location", "https://127.0.0.1/")])
    #expect(try await refusal(gateway) == .gatewayRedirected)
    #expect(gateway.requests.count == 1)
  }

  @Test func `Apple's refusals have names`() async throws {
    #expect(
      try await refusal(400, apple("merchantId=\(Self.own) not registered for domain=shop.example.com"))
        == .domainNotRegistered)
    #expect(
      try await refusal(
        417,
        apple(
          #"merchantId=\#(Self.other) unauthorized to service on behalf of merchantId=\#(Self.own) reason=\"The latter is not registered for Apple Pay on the web\""#
        ))
        == .wrongCertificate)
    #expect(
      try await refusal(
        417,
        apple(
          "merchantId=\(Self.own) unauthorized to process transactions on behalf of merchantId=\(Self.own) reason=\(Self.own) never authorized mass enablement transactions to occur via \(Self.own)"
        ))
        == .merchantNotRegistered)
    #expect(try await refusal(417, "") == .merchantNotRegistered)
    #expect(try await refusal(400, "{}") == .gatewayRejected)
    #expect(try await refusal(404, "<html>") == .gatewayRejected)
    #expect(try await refusal(500, "oops") == .gatewayFailed)
  }

  @Test func `the network's failures have names`() async throws {
    let failures: [(TransportError, MerchantSessionError.Code)] = [
      (.notSent("connection refused"), .gatewayUnreachable), (.interrupted("alert"), .gatewayInterrupted),
      (.timedOut, .gatewayTimeout), (.responseTooLarge, .invalidSession),
    ]
    for (failure, expected) in failures {
      #expect(try await refusal(Gateway { () throws(TransportError) in throw failure }) == expected)
    }
  }

  @Test func `the gateway has ten seconds`() async throws {
    let gateway = Gateway(answering: 200, Self.session)
    _ = try await gateway.validator.session(for: request())
    #expect(gateway.timeouts == [.seconds(10)])
  }

  @Test func `what Apple wrote stays out of reason and advice, and is harmless in a log`() async throws {
    let validator = Gateway(answering: 400, #"{"statusMessage":"evil\u001b[31m\nline","statusCode":"400"}"#).validator
    let error = try await #require(throws: MerchantSessionError.self) {
      try await validator.session(for: request())
    }
    #expect(!error.description.contains("evil"))
    #expect(error.gatewayMessage == "evil[31mline")
    #expect(error.status == 400)
  }

  private static let session = #"{"merchantSessionIdentifier":"SSH","nonce":"9f3c01ab"}"#
  private static let own = "C23073D7F46B012BFD60FE9E90EF578910B808069D52539A291A62DF9FECDD1B"
  private static let other = "12953B72A8DB15CF4A079B49A87DDD5EED1B0BA2EB249C7907265A7B04CFF6CE"

  private func apple(_ message: String) -> String {
    #"{"statusMessage":"Payment Services Exception \#(message)","statusCode":"400"}"#
  }

  private func request(_ domain: String = "shop.example.com") throws -> MerchantSessionRequest {
    try .web(Domain(domain), of: MerchantIdentifier(Portal.merchant), named: DisplayName("The \"Store\""))
  }

  private func refusal(_ status: Int, _ body: String) async throws -> MerchantSessionError.Code? {
    try await refusal(Gateway(answering: status, body))
  }

  private func refusal(_ gateway: Gateway) async throws -> MerchantSessionError.Code? {
    do {
      _ = try await gateway.validator.session(for: request())
      return nil
    } catch let error as MerchantSessionError {
      return error.code
    }
  }
}

/// Apple's gateway, reduced to one answer, and what it was asked.
private final class Gateway: Sendable {
  private let asked = Mutex<[(OutboundRequest, Duration)]>([])
  private let answer: @Sendable () throws(TransportError) -> InboundResponse

  init(_ answer: @escaping @Sendable () throws(TransportError) -> InboundResponse) { self.answer = answer }

  convenience init(answering status: Int, _ body: String, headers: [HTTPField] = []) {
    self.init { InboundResponse(status: status, headers: headers, body: Array(body.utf8)) }
  }

  var requests: [OutboundRequest] { asked.withLock { $0.map(\.0) } }
  var timeouts: [Duration] { asked.withLock { $0.map(\.1) } }

  var validator: MerchantValidator {
    MerchantValidator(
      sender: HTTPSender { request, timeout throws(TransportError) in
        self.asked.withLock { $0.append((request, timeout)) }
        return try self.answer()
      }, gateway: ApplePayHosts.production.global)
  }
}

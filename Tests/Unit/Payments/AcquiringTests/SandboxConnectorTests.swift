import Acquiring
import Connectors
import HTTPTransport
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// The connector alone: bytes out, answer in.
@Suite struct `The sandbox's connector` {
  private let wire = Wire()
  private let dpan = "4761739000000012"
  private let cryptogram = "AgAAAAAAAIR8CQrXcIhbQAAAAAA="

  private func authorize() async throws -> AcquirerAnswer {
    let card = NetworkToken(
      dpan: try #require(DPAN(dpan)), expiry: try #require(CardExpiry(yymm: "3112")),
      cryptogram: Cryptogram(base64: cryptogram), eci: "7")
    let request = AuthorizationRequest(
      reference: AttemptReference("R1"), merchantReference: "order 1", amount: .eur(1250), instrument: .network(card))
    return await wire.acquirer.authorize(request, .after(TestRun.whole))
  }

  private func answer(_ body: String) async throws -> AcquirerAnswer { try await answer(200, body) }

  private func answer(_ status: Int, _ body: String) async throws -> AcquirerAnswer {
    wire.answers(.success(InboundResponse(status: status, body: Array(body.utf8))))
    return try await authorize()
  }

  private let approval = #"""
    {"reference":"R1","acquirerReference":"A1","result":"approved","responseCode":"00","authorizationCode":"B2C3D4","networkTransactionId":"123456789012345","amount":1250,"currency":"EUR"}
    """#

  @Test func `an authorization goes out as the acquirer wants it, byte for byte`() async throws {
    _ = try await answer(approval)
    let request = try #require(wire.requests.first)
    #expect(request.method == "POST")
    #expect(request.url == "http://sandbox/acquirer/v1/authorizations")
    #expect(request.headers.contains(HTTPField("Authorization", "Bearer key")))
    #expect(
      String(decoding: request.body, as: UTF8.self) == #"""
        {"reference":"R1","merchantReference":"order 1","amount":1250,"currency":"EUR","dpan":"4761739000000012","expiry":"3112","cryptogram":"AgAAAAAAAIR8CQrXcIhbQAAAAAA=","eci":"7"}
        """#)
  }

  @Test func `a capture names the authorization in its address`() async throws {
    let capture = FollowUpRequest(reference: AttemptReference("R2"), authorization: "A1", amount: .eur(500))
    _ = await wire.acquirer.capture(capture, .after(TestRun.whole))
    let request = try #require(wire.requests.first)
    #expect(request.url == "http://sandbox/acquirer/v1/authorizations/A1/captures")
    #expect(String(decoding: request.body, as: UTF8.self) == #"{"reference":"R2","amount":500,"currency":"EUR"}"#)
  }

  @Test func `an approval is an approval`() async throws {
    #expect(
      try await answer(approval)
        == .approved(
          Approval(
            acquirerReference: "A1", authorizationCode: "B2C3D4", networkTransactionID: "123456789012345")))
  }

  private func answer(approving units: String, of code: String) async throws -> AcquirerAnswer {
    try await answer(
      #"{"reference":"R1","acquirerReference":"A1","result":"approved","responseCode":"\#(code)","amount":1250,"currency":"EUR","approvedAmount":\#(units)}"#
    )
  }

  @Test(arguments: ["10", "00"]) func `an approval for less says how much`(code: String) async throws {
    #expect(
      try await answer(approving: "500", of: code)
        == .approved(Approval(acquirerReference: "A1", approvedAmount: .eur(500))))
  }

  @Test func `an approval that names the amount that was asked for is of the whole`() async throws {
    #expect(try await answer(approving: "1250", of: "00") == .approved(Approval(acquirerReference: "A1")))
  }

  @Test(arguments: [
    ("1251", "10"), ("1251", "00"), ("0", "10"), ("-500", "10"), ("500.0", "10"), ("\"500\"", "10"), ("1250", "10"),
    ("null", "10"),
  ])
  func `an approval for an amount that makes no sense is no answer`(units: String, code: String) async throws {
    guard case .unknown = try await answer(approving: units, of: code) else {
      Issue.record("\(units) \(code)")
      return
    }
  }

  @Test(arguments: [
    ("51", DeclineReason.insufficientFunds), ("41", .lostOrStolen), ("54", .expiredCard), ("05", .doNotHonor),
    ("1A", .authenticationRequired), ("91", .issuerUnavailable), ("N7", .cryptogramInvalid), ("03", .configuration),
  ])
  func `a response code says why`(code: String, reason: DeclineReason) async throws {
    let answer = try await answer(
      #"{"reference":"R1","acquirerReference":"A1","result":"declined","responseCode":"\#(code)","amount":1250,"currency":"EUR"}"#
    )
    #expect(answer == .declined(Decline(reason: reason, code: code)))
  }

  @Test(arguments: [
    (DeclineClass.retriable, ["91", "92", "96"]), (.configuration, ["03", "06", "12", "13", "30", "58"]),
    (.final, ["04", "05", "14", "25", "41", "51", "54", "57", "61"]),
  ])
  func `a response code says whether the same request may be approved later`(
    declineClass: DeclineClass, codes: [String]
  ) async throws {
    for code in codes {
      let answer = try await answer(
        #"{"reference":"R1","acquirerReference":"A1","result":"declined","responseCode":"\#(code)","amount":1250,"currency":"EUR"}"#
      )
      guard case .declined(let decline) = answer else {
        Issue.record("\(code): \(answer)")
        continue
      }
      #expect(decline.declineClass == declineClass, "\(code)")
    }
  }

  @Test(arguments: [
    ("R1", "R2"), ("1250", "1251"), ("1250", "1250.0"), ("1250", "\"1250\""), ("EUR", "USD"), ("EUR", "eur"),
    ("approved", "declined"), ("approved", "pending"), ("approved", "Approved"), (#""00""#, #""51""#),
    (#""00""#, #""68""#), (#""00""#, #""10""#), (#""00""#, #"null"#),
    ("A1", ""), ("A1", "../../refunds"), ("A1", "A 1"),
    (#""currency""#, #""result""#), ("}", ",}"), ("}", ""), ("}", "}}"), ("{", "["),
    (#"{"reference":"R1""#, #"{"reference":"R2","reference":"R1""#),
  ])
  func `an answer with one thing wrong is no answer`(right: String, wrong: String) async throws {
    let broken = approval.split(separator: right, maxSplits: 1, omittingEmptySubsequences: false)
      .joined(separator: wrong)
    guard case .unknown = try await answer(broken) else {
      Issue.record("\(broken)")
      return
    }
  }

  @Test(arguments: ["94", "68", "10", "00", "ZZ", ""])
  func `a decline with a code that is none leaves the outcome unknown`(code: String) async throws {
    let answer = try await answer(
      #"{"reference":"R1","acquirerReference":"A1","result":"declined","responseCode":"\#(code)","amount":1250,"currency":"EUR"}"#
    )
    guard case .unknown(let interruption) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(interruption.kind == .acquirerUncertain)
  }

  @Test(arguments: [100, 201, 202, 204, 301, 302, 409, 429, 500, 502, 503, 504])
  func `an approval under another status than 200 is none`(status: Int) async throws {
    guard case .unknown = try await answer(status, approval) else {
      Issue.record("\(status)")
      return
    }
  }

  @Test func `an acquirer's HTTP error is a decline that an operator must look at`() async throws {
    let answer = try await answer(401, #"{"code":"unauthorized","detail":"…"}"#)
    #expect(answer == .declined(Decline(reason: .configuration, code: "unauthorized")))
    guard case .unknown = try await self.answer(403, "<html>a proxy speaks</html>") else {
      Issue.record("a proxy's page was taken for the acquirer's word")
      return
    }
  }

  @Test func `only what provably never left was not sent`() async throws {
    wire.answers(.failure(.notSent("connection refused")))
    #expect(try await authorize() == .notSent("connection refused"))
    for (error, kind) in [
      (TransportError.timedOut, Interruption.Kind.timeout), (.interrupted("reset"), .connectionLost),
      (.responseTooLarge, .unintelligibleAnswer),
    ] {
      wire.answers(.failure(error))
      guard case .unknown(let interruption) = try await authorize() else { throw error }
      #expect(interruption.kind == kind)
    }
  }

  @Test func `with no time left nothing is sent`() async throws {
    let capture = FollowUpRequest(reference: AttemptReference("R2"), authorization: "A1", amount: .eur(500))
    guard case .notSent = await wire.acquirer.capture(capture, .after(.zero)) else { throw TransportError.timedOut }
    #expect(wire.requests.isEmpty)
  }

  @Test func `an inquiry tells "not known" from "cannot say"`() async throws {
    let question = InquiryRequest(reference: AttemptReference("R1"), amount: .eur(1250))
    func inquire(_ status: Int, _ body: String) async -> Inquiry {
      wire.answers(.success(InboundResponse(status: status, body: Array(body.utf8))))
      return await wire.acquirer.inquire(question, .after(TestRun.whole))
    }
    #expect(await inquire(404, #"{"code":"not_found"}"#) == .notFound)
    guard case .answer(.approved) = await inquire(200, approval) else { throw TransportError.timedOut }
    for (status, body) in [(404, "not here"), (500, approval), (200, "{}"), (404, #"{"code":"no_such_page"}"#)] {
      guard case .unavailable = await inquire(status, body) else {
        Issue.record("\(status) \(body)")
        continue
      }
    }
  }

  @Test func `neither card nor key nor anything new is in the transcript`() async throws {
    _ = try await answer(approval.replacing("\"amount\"", with: "\"surprise\":\"4761739000000012\",\"amount\""))
    let transcript = wire.transcripts.map { $0.request + $0.response }.joined()
    #expect(transcript.contains("R1"))
    for secret in [dpan, cryptogram, "Bearer", "3112"] { #expect(!transcript.contains(secret)) }
  }
}

/// A network for these tests: it gives prepared answers, and keeps what was sent.
private final class Wire: Sendable {
  private struct State {
    var answer: Result<InboundResponse, TransportError> = .failure(.timedOut)
    var requests: [OutboundRequest] = []
    var transcripts: [Transcript] = []
  }

  private let state = Mutex(State())

  func answers(_ answer: Result<InboundResponse, TransportError>) { state.withLock { $0.answer = answer } }
  var requests: [OutboundRequest] { state.withLock { $0.requests } }
  var transcripts: [Transcript] { state.withLock { $0.transcripts } }

  var acquirer: Acquirer {
    .sandbox(
      baseURL: "http://sandbox", apiKey: "key",
      http: HTTPSender { request, _ throws(TransportError) in
        try self.state.withLock { state in
          state.requests.append(request)
          return state.answer
        }.get()
      },
      log: { transcript in self.state.withLock { $0.transcripts.append(transcript()) } })
  }
}

import AcquirerSandbox
import Acquiring
import Connectors
import HTTPTransport
import Hummingbird
import HummingbirdTesting
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// The connector and the sandbox's acquirer together, over HTTP.
@Suite struct `The sandbox's acquirer` {
  @Test func `holds, takes and gives back, and never more than there is`() async throws {
    try await Visit.run { visit async throws in
      let hold = try await visit.hold("R1", 1000)
      guard case .approved(let approval) = hold else { throw Unexpected(answer: hold) }
      let name = approval.acquirerReference
      #expect(approval.authorizationCode?.count == 6)
      #expect(await visit.capture("C1", name, 600).isApproved)
      #expect(await visit.capture("C2", name, 500) == .declined(Decline(reason: .configuration, code: "13")))
      #expect(await visit.refund("F1", name, 601) == .declined(Decline(reason: .configuration, code: "13")))
      #expect(await visit.refund("F2", name, 600).isApproved)
      #expect(await visit.void("V1", name, 400).isApproved)
      #expect(await visit.capture("C3", name, 1) == .declined(Decline(reason: .configuration, code: "13")))
      let row = try #require(try await visit.ledger().first)
      #expect(row["status"] == "refunded")
      #expect([row["authorized"], row["captured"], row["refunded"]] == [600, 600, 600])
    }
  }

  @Test func `says that nothing is held any more when a hold was voided`() async throws {
    try await Visit.run { visit async throws in
      let hold = try await visit.hold("R1", 1000)
      guard case .approved(let approval) = hold else { throw Unexpected(answer: hold) }
      #expect(await visit.void("V1", approval.acquirerReference, 1000).isApproved)
      let ended = AcquirerAnswer.declined(Decline(reason: .holdEnded, code: "25"))
      #expect(await visit.void("V2", approval.acquirerReference, 1000) == ended)
      #expect(await visit.capture("C1", approval.acquirerReference, 1000) == ended)
    }
  }

  @Test func `does a reference once, and refuses another request under it`() async throws {
    try await Visit.run { visit async throws in
      let first = try await visit.hold("R1", 1000, cryptogram: "AAAA")
      #expect(try await visit.hold("R1", 1000, cryptogram: "AAAA") == first)
      guard case .unknown = try await visit.hold("R1", 1001, cryptogram: "AAAA") else {
        throw Unexpected(answer: first)
      }
      #expect(try await visit.ledger().count == 1)
      guard case .approved(let approval) = first else { throw Unexpected(answer: first) }
      let taken = await visit.capture("C1", approval.acquirerReference, 400)
      #expect(await visit.capture("C1", approval.acquirerReference, 400) == taken)
      #expect(try await visit.ledger().first?["captured"] == 400)
    }
  }

  @Test func `holds what it approved where that is less, and never takes more`() async throws {
    try await Visit.run { visit async throws in
      let hold = try await visit.hold("R1", 2010, cryptogram: "AAAA")
      guard case .approved(let approval) = hold else { throw Unexpected(answer: hold) }
      #expect(approval.approvedAmount == .eur(1005))
      #expect(try await visit.hold("R1", 2010, cryptogram: "AAAA") == hold)
      let name = approval.acquirerReference
      #expect(await visit.capture("C1", name, 1006) == .declined(Decline(reason: .configuration, code: "13")))
      let held = try #require(try await visit.ledger().first)
      #expect([held["amount"], held["authorized"], held["captured"]] == [2010, 1005, 0])
      #expect(await visit.reverse("R1") == .reversed)
      #expect(try await visit.ledger().first?["authorized"] == 0)
    }
  }

  @Test func `accepts a cryptogram once`() async throws {
    try await Visit.run { visit async throws in
      #expect(try await visit.hold("R1", 1000, cryptogram: "AAAA").isApproved)
      #expect(
        try await visit.hold("R2", 1000, cryptogram: "AAAA") == .declined(Decline(reason: .doNotHonor, code: "05")))
      #expect(try await visit.hold("R3", 1000, card: "visa-credit", cryptogram: "AAAA").isApproved)
    }
  }

  @Test(arguments: SandboxCards.all)
  func `treats every card as the wallet says`(card: SandboxCard) async throws {
    try await Visit.run { visit async throws in
      let answer = try await visit.hold("R1", 1000, card: card.id)
      try visit.check(answer, is: card.outcome, await visit.inquire("R1", 1000))
    }
  }

  @Test(arguments: SandboxAmounts.all.filter { $0.delay == .zero })
  func `treats every listed total as the list says`(amount: SandboxAmount) async throws {
    try await Visit.run { visit async throws in
      let answer = try await visit.hold("R1", amount.minorUnits)
      try visit.check(answer, is: amount.outcome, await visit.inquire("R1", amount.minorUnits))
    }
  }

  @Test func `reverses by our reference, before or after the authorization arrived`() async throws {
    try await Visit.run { visit async throws in
      #expect(try await visit.hold("R1", 1000).isApproved)
      #expect(await visit.reverse("R1") == .reversed)
      #expect(await visit.reverse("R1") == .reversed)
      #expect(await visit.reverse("R2") == .nothingFound)
      #expect(try await !visit.hold("R2", 1000).isApproved)
      let rows = try await visit.ledger()
      #expect(rows.map { $0["status"] } == ["declined", "reversed"])
      #expect(rows.map { $0["authorized"] } == [0, 0])
    }
  }

  @Test func `tells one merchant nothing of another`() async throws {
    try await Visit.run { visit async throws in
      guard case .approved(let approval) = try await visit.hold("R1", 1000) else { return }
      let other = visit.other
      #expect(await other.inquire("R1", 1000) == .notFound)
      #expect(await !other.capture("C1", approval.acquirerReference, 100).isApproved)
      #expect(try await other.ledger().isEmpty)
      let unauthenticated = await visit.unauthenticated.capture("C1", approval.acquirerReference, 100)
      #expect(unauthenticated == .declined(Decline(reason: .configuration, code: "unauthorized")))
    }
  }

  @Test func `has no account number and no cryptogram on its disk, and the search would find them`() async throws {
    try await Visit.run { visit async throws in
      let cryptogram = "c2VjcmV0IGNyeXB0b2dyYW0="
      #expect(try await visit.hold("R1", 1000, cryptogram: cryptogram).isApproved)
      #expect(try visit.diskHolds("R-of-shop"))
      #expect(try !visit.diskHolds("4761739000000012"))
      #expect(try !visit.diskHolds(cryptogram))
    }
  }
}

private struct Unexpected: Error {
  let answer: AcquirerAnswer
}

extension AcquirerAnswer {
  fileprivate var isApproved: Bool { if case .approved = self { true } else { false } }
}

/// A merchant at the sandbox's acquirer.
struct Visit: Sendable {
  let files: TemporaryStore
  let origin: String
  let http: HTTPSender
  var apiKey = "key of shop"

  private var acquirer: Acquirer { .sandbox(baseURL: origin, apiKey: apiKey, http: http) }

  var other: Visit { with("key of other") }
  var unauthenticated: Visit { with("no key") }

  private func with(_ apiKey: String) -> Visit {
    var visit = self
    visit.apiKey = apiKey
    return visit
  }

  static func run(
    profile: IdempotencyProfile = .strict, clock: WallClock = .system,
    _ body: @escaping @Sendable (Visit) async throws -> Void
  ) async throws {
    let files = try TemporaryStore()
    // A call without an answer ends with a gateway's 504 here, before the client gives up: the outcome is as unknown
    // as after a timeout, and the test does not depend on how fast the machine is.
    let service = try await SandboxAcquirerService(
      databasePath: files.path, apiKeys: ["key of shop": "shop", "key of other": "other"], clock: clock,
      silence: .milliseconds(50), profile: profile)
    let router = Router()
    service.addRoutes(to: router)
    let http = try LiveHTTPClient()
    let sender = http.sender
    do {
      try await Application(router: router).test(.live) { client in
        try await body(Visit(files: files, origin: "http://localhost:\(client.port ?? 0)", http: sender))
      }
    } catch {
      try await http.shutdown()
      throw error
    }
    try await http.shutdown()
    await service.close()
  }

  func hold(
    _ reference: String, _ units: Int64, card: String = "visa-debit", cryptogram: String? = nil
  ) async throws -> AcquirerAnswer {
    let card = try #require(SandboxCards.card(id: card))
    let token = NetworkToken(
      dpan: card.dpan, expiry: try #require(CardExpiry(applePayDate: card.expirationDate)),
      cryptogram: Cryptogram(base64: cryptogram ?? Base64.encode(RandomBytes.system.next(20))), eci: nil)
    let request = AuthorizationRequest(
      reference: AttemptReference(reference), merchantReference: "R-of-shop", amount: .eur(units),
      instrument: .network(token))
    return await acquirer.authorize(request, .after(TestRun.whole))
  }

  func capture(_ reference: String, _ hold: String, _ units: Int64) async -> AcquirerAnswer {
    await acquirer.capture(followUp(reference, hold, units), .after(TestRun.whole))
  }

  func void(_ reference: String, _ hold: String, _ units: Int64) async -> AcquirerAnswer {
    await acquirer.void(followUp(reference, hold, units), .after(TestRun.whole))
  }

  func refund(_ reference: String, _ hold: String, _ units: Int64) async -> AcquirerAnswer {
    await acquirer.refund(followUp(reference, hold, units), .after(TestRun.whole))
  }

  private func followUp(_ reference: String, _ hold: String, _ units: Int64) -> FollowUpRequest {
    FollowUpRequest(reference: AttemptReference(reference), authorization: hold, amount: .eur(units))
  }

  func inquire(_ reference: String, _ units: Int64) async -> Inquiry {
    await acquirer.inquire(
      InquiryRequest(reference: AttemptReference(reference), amount: .eur(units)), .after(TestRun.whole))
  }

  func reverse(_ reference: String) async -> Reversal {
    await acquirer.reverse(
      InquiryRequest(reference: AttemptReference(reference), amount: .eur(1)), .after(TestRun.whole))
  }

  func ledger() async throws -> [JSONValue] {
    let request = OutboundRequest(
      method: "GET", url: origin + "/acquirer/v1/authorizations",
      headers: [HTTPField("Authorization", "Bearer \(apiKey)")])
    let answer = try JSONReader.read(try await http.send(request, TestRun.whole).body)
    return try JSONField(answer).member("authorizations").array.map(\.value)
  }

  func diskHolds(_ text: String) throws -> Bool {
    try files.bytesOnDisk().contains { String(decoding: $0, as: UTF8.self).contains(text) }
  }

  /// The answer, and what an inquiry finds afterwards.
  func check(_ answer: AcquirerAnswer, is outcome: SandboxOutcome, _ found: Inquiry) throws {
    switch (outcome, answer) {
    case (.approve, .approved), (.noAnswerAfterApproval, .unknown), (.pending, .pending):
      guard case .answer(.approved) = found else { throw Unexpected(answer: answer) }
    case (.approveForLess, .approved(let approval)):
      #expect(approval.approvedAmount != nil)
      #expect(found == .answer(answer))
    case (.decline(let code), .declined(let decline)):
      #expect(decline.code == code)
      #expect(found == .answer(answer))
    case (.noAnswer, .unknown): #expect(found == .notFound)
    default: throw Unexpected(answer: answer)
    }
  }
}

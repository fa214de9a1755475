import AcquirerSandbox
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import SandboxTesting
import StrictJSON
import TenderPayments
import Testing
import TokenIssuer

@Suite struct `The acquirer's API` {
  @Test func `rejects a caller without an API key`() async throws {
    try await acquirer { call in
      let answer = try await call("/acquirer/v1/authorizations", Self.hold(), key: "")
      #expect(answer.status == 401 && answer.body["code"] == "unauthorized")
    }
  }

  @Test(arguments: SandboxCards.all.filter { ["approve", "decline 51", "pending"].contains($0.outcome.code) })
  func `answers an authorization as its card says`(card: SandboxCard) async throws {
    try await acquirer { call in
      let answer = try await call("/acquirer/v1/authorizations", Self.hold(card: card))
      let expected: JSONValue = card.outcome == .approve ? "00" : card.outcome == .pending ? "09" : "51"
      #expect(answer.status == 200 && answer.body["responseCode"] == expected)
    }
  }

  @Test func `repeats the first answer to a reference, and rejects another request under it`() async throws {
    try await acquirer { call in
      let (path, request) = ("/acquirer/v1/authorizations", Self.hold())
      let first = try await call(path, request)
      #expect(try await call(path, request).body == first.body)
      let other = try await call(path, Self.hold(amount: 1251))
      #expect(other.status == 409 && other.body["code"] == "duplicate_reference")
    }
  }

  @Test func `rejects a body of more than 64 KiB`() async throws {
    try await acquirer { call in
      let request: JSONValue = ["reference": .string(String(repeating: "r", count: 65_536))]
      let answer = try await call("/acquirer/v1/authorizations", request)
      #expect(answer.status == 413 && answer.body["code"] == "too_large")
    }
  }

  @Test(arguments: ["dpan", "expiry", "cryptogram", "currency", "amount", "reference"])
  func `names the member that is not usable`(member: String) async throws {
    try await acquirer { call in
      guard case .object(var request) = Self.hold() else { return }
      request[member] = member == "amount" ? -1 : ""
      let answer = try await call("/acquirer/v1/authorizations", .object(request))
      #expect(answer.status == 400 && answer.body["code"] == "invalid_request")
    }
  }

  private static func hold(card: SandboxCard? = SandboxCards.card(id: "visa-debit"), amount: Int64 = 1250)
    -> JSONValue
  {
    [
      "reference": "one", "merchantReference": "order 1", "amount": .integer(amount), "currency": "EUR",
      "dpan": .string(card?.dpan.revealed ?? ""), "expiry": "3112", "cryptogram": "AgAAAAAAAIR8CQrXcIhbQAAAAAA=",
    ]
  }

  private typealias Answer = (status: Int, body: JSONValue)

  /// An acquirer with a database of its own.
  private func acquirer(_ body: @escaping @Sendable (Caller) async throws -> Void) async throws {
    let directory = try TemporaryDirectory()
    let service = try await SandboxAcquirerService(
      databasePath: "\(directory.path)/acquirer.sqlite", apiKeys: ["secret": "store"])
    let router = Router()
    service.addRoutes(to: router)
    try await Application(router: router).test(.router) { try await body(Caller(client: $0)) }
    await service.close()
  }

  private struct Caller: Sendable {
    let client: any TestClientProtocol

    func callAsFunction(_ path: String, _ body: JSONValue, key: String = "secret") async throws -> Answer {
      let headers: HTTPFields = [.authorization: "Bearer \(key)"]
      return try await client.execute(
        uri: path, method: .post, headers: headers, body: ByteBuffer(bytes: body.serialized())
      ) { ($0.status.code, try JSONReader.read($0.body.readableBytesView)) }
    }
  }
}

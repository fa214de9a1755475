import Administration
import ApplePayToken
import AppleSandbox
import Foundation
import HTTPTransport
import Ledger
import LoadGenerator
import Storage
import StrictJSON
import TenderPayments
import TenderServer

/// What a payment is made of, each part alone, with as much at once as the whole has: how many a second, and what one
/// costs of a processor's time, on both sides of the wire.
struct Parts: Sendable {
  struct Cost: Sendable {
    /// A second, with all processors.
    var rate: Double
    /// Seconds of one processor.
    var processor: Double

    /// The better of two measurements, figure by figure: what disturbed the other is not ours.
    func better(_ other: Cost?) -> Cost {
      guard let other else { return self }
      return Cost(rate: max(rate, other.rate), processor: min(processor, other.processor))
    }
  }

  let environment: BenchEnvironment
  let store: ServedStore
  let width: Int
  let length: Duration

  /// A request parsed, routed, logged and answered.
  func exchange() async throws -> Cost {
    let request = LoadGenerator.greeting
    let (own, server) = (ProcessorTime.own, try store.processorTime())
    let report = try await store.generator.closedLoop(
      Array(repeating: request, count: 200_000), width: width, for: length)
    let used = ProcessorTime.own - own + (try store.processorTime()) - server
    let good = report.count { $0 == 200 }
    return Cost(rate: Double(good) / report.elapsed.seconds, processor: used / Double(good))
  }

  /// A payment token read from JSON, verified and decrypted, as the server does it: keys in memory, the certificates'
  /// signatures known.
  func token(_ bytes: [UInt8]) throws -> Cost {
    let opener = try opener()
    let (start, before, now) = (ContinuousClock.now, ProcessorTime.own, WallClock.system.now())
    var count = 0
    while ContinuousClock.now - start < length / 2 {
      _ = try opener.open(EncryptedPaymentToken(bytes: bytes), for: Self.merchant, at: now)
      count += 1
    }
    let elapsed = (ContinuousClock.now - start).seconds
    return Cost(rate: Double(count) / elapsed, processor: (ProcessorTime.own - before) / Double(count))
  }

  private func opener() throws -> TokenOpener {
    func text(_ file: String) throws -> String {
      try String(contentsOfFile: environment.merchant + file, encoding: .utf8)
    }
    let key = try ProcessingKey(
      privateKeyPEM: text("/processing/1.key"), certificatePEM: text("/processing/1.pem"))
    return TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: environment.sandbox.rootPEM)),
      keys: ProcessingKeyRing([Self.merchant: [key]]))
  }

  /// The two durable writes of a payment in groups, on the same disk: claim and answer.
  func journal() async throws -> Cost {
    try await withJournal { journal in try await atOnce { try await Self.commitPayment($0, in: journal) {} } }
  }

  /// All parts of a payment in sequence, and nothing between them. The machine does less of everything at once than the
  /// sum of the parts suggests: its processors share caches and more.
  func together(_ bytes: [UInt8]) async throws -> Cost {
    let (opener, now, call) = (try opener(), WallClock.system.now(), try acquirerCall())
    let server = try store.processorTime()
    var cost = try await withJournal { journal in
      try await atOnce { number in
        guard await store.generator.status(of: LoadGenerator.greeting) == 200 else { throw BenchFailure("no answer") }
        _ = try opener.open(EncryptedPaymentToken(bytes: bytes), for: Self.merchant, at: now)
        try await Self.commitPayment(number, in: journal) { try await ask(call) }
      }
    }
    cost.processor += (try store.processorTime() - server) / (cost.rate * length.seconds)
    return cost
  }

  private func withJournal(_ work: (Journal) async throws -> Cost) async throws -> Cost {
    let path = "\(environment.directory)/journal-\(RandomBytes.system.hex(4))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let database = try await Database.sqlite(path: path + "/tender.db", migrations: ServerStore.migrations)
    let cost = try await work(Journal(database))
    await database.close()
    return cost
  }

  private static func commitPayment(_ number: Int, in journal: Journal, _ asking: () async throws -> Void) async throws
  {
    guard
      case .new(let attempt) = try await journal.claim(
        try order(number), spending: use(), card: CardSummary(deviceAccountSuffix: nil, expiry: nil, hasECI: true))
    else { throw BenchFailure("a claim of a new order was refused") }
    try await asking()
    let approval = Approval(acquirerReference: "A", authorizationCode: "Z01234", networkTransactionID: "N")
    _ = try await journal.record(.approved(approval), for: attempt)
  }

  /// A request to the acquirer with the client that the server uses; the answer is not parsed.
  func outbound() async throws -> Cost {
    let call = try acquirerCall()
    return try await atOnce { _ in try await ask(call) }
  }

  private func acquirerCall() throws -> OutboundRequest {
    let body: JSONValue = ["reference": "bench", "amount": 1250, "currency": "EUR", "dpan": "4761739000000012"]
    return OutboundRequest(
      method: "POST", url: environment.acquirer.url + "/acquirer/v1/authorizations",
      headers: [HTTPField("Content-Type", "application/json")], body: body.serialized())
  }

  private func ask(_ call: OutboundRequest) async throws {
    guard try await environment.sender.send(call, .seconds(20)).status == 200 else {
      throw BenchFailure("the acquirer refused")
    }
  }

  private func atOnce(_ body: @escaping @Sendable (Int) async throws -> Void) async throws -> Cost {
    let (start, before) = (ContinuousClock.now, ProcessorTime.own)
    let count = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<width {
        group.addTask {
          var count = 0
          while ContinuousClock.now - start < length {
            try await body(count)
            count += 1
          }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
    let elapsed = (ContinuousClock.now - start).seconds
    return Cost(rate: Double(count) / elapsed, processor: (ProcessorTime.own - before) / Double(count))
  }

  private static let merchant = MerchantID(rawValue: BenchEnvironment.merchantID)

  private static func use() -> TokenUse {
    TokenUse(transactionID: RandomBytes.system.hex(32), payloadHash: RandomBytes.system.hex(32))
  }

  private static func order(_ number: Int) throws -> Order {
    let id = RandomBytes.system.timeOrderedID(.system)
    guard let euro = Currency(code: "EUR") else { throw BenchFailure("there is no euro") }
    return Order(
      id: OrderID(id), merchant: merchant, basket: BasketID(id),
      amount: Amount(minorUnits: 1250, currency: euro), applicationDataHash: [], merchantReference: id,
      capture: .manual)
  }
}

import HTTPTransport
import Ledger
import Storage
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing
import Webhooks

/// A journal with payments in it, a dispatcher, and a merchant's server with prepared answers.
struct Post: Sendable {
  static let url = "https://shop.example/hooks"
  static let key = WebhookKey(id: "hook-1", secret: "webhook-secret")

  let clock = ManualClock()
  let database: Database
  let journal: Journal
  let server = MerchantServer()
  let dispatcher: WebhookDispatcher
  private let waits: [Duration]
  private let orders: OrderReader
  private let files: TemporaryStore

  init(
    urls: [String] = [url], orders: OrderReader = .none, waits: [Duration] = [.seconds(10), .seconds(100)],
    destinations: DestinationGuard = .open()
  ) async throws {
    files = try TemporaryStore()
    database = try await files.open(Journal.migrations + WebhookDispatcher.migrations, clock: clock.wall)
    journal = Journal(database, random: .seeded(1))
    self.waits = waits
    self.orders = orders
    dispatcher = Self.dispatcher(
      database, server, waits, destinations, orders, clock.wall,
      { _ in urls.enumerated().map { WebhookEndpoint(id: "\($0 + 1)", url: $1, key: Self.key) } })
  }

  /// A process that starts with other endpoints in the merchant's configuration.
  ///
  /// - Parameter endpoints: nil where it does not serve the merchant.
  func restarted(with endpoints: [WebhookEndpoint]?) -> WebhookDispatcher {
    restarted { _ in endpoints }
  }

  func restarted(with endpoints: @escaping @Sendable (MerchantID) -> [WebhookEndpoint]?) -> WebhookDispatcher {
    Self.dispatcher(database, server, waits, .open(), orders, clock.wall, endpoints)
  }

  private static func dispatcher(
    _ database: Database, _ server: MerchantServer, _ waits: [Duration], _ destinations: DestinationGuard,
    _ orders: OrderReader, _ clock: WallClock, _ endpoints: @escaping @Sendable (MerchantID) -> [WebhookEndpoint]?
  ) -> WebhookDispatcher {
    WebhookDispatcher(
      database: database, endpoints: endpoints, keys: { _ in Self.key }, destinations: destinations,
      network: DeliveryNetwork { _ in .init(server.sender) }, orders: orders, schedule: RetrySchedule(waits: waits),
      random: .seeded(2), clock: clock)
  }

  /// Authorizes an order and captures its money: three events.
  @discardableResult
  func pays(_ number: Int = 1, at merchant: MerchantID = "shop") async throws -> Payment {
    guard
      case .new(let attempt) = try await journal.claim(
        .sample("order-\(number)", merchant: merchant), spending: .sample(number), card: .sample)
    else { throw Unexpected() }
    let payment = try await journal.record(.approved(Approval(acquirerReference: "A\(number)")), for: attempt).payment
    let capture = try await journal.reserve(.capture, nil, of: payment.id)
    return try await journal.record(.approved(Approval(acquirerReference: "C\(number)")), for: capture).payment
  }

  /// Rounds, with hours between them, until nothing waits.
  func runsDry() async throws {
    for _ in 0..<20 {
      try await dispatcher.round()
      guard try await backlog.waiting > 0 else { return }
      clock.advance(.seconds(3_600))
    }
  }

  var backlog: WebhookBacklog { get async throws { try await WebhookDispatcher.backlog(in: database) } }
}

struct Unexpected: Error {}

/// An IPv4 address, or the groups of an IPv6 one written out in full.
func address(_ text: String) throws -> NetworkAddress {
  let isV6 = text.contains(":")
  let digits = isV6 ? text.split(separator: ":").flatMap { [$0.prefix(2), $0.suffix(2)] } : text.split(separator: ".")
  let bytes = digits.compactMap { UInt8($0, radix: isV6 ? 16 : 10) }
  return try #require(NetworkAddress(bytes: bytes))
}

extension DestinationGuard {
  /// Every name leads to one public address.
  static func open() -> DestinationGuard {
    DestinationGuard(allowsPrivate: false) { _ in [(try address("93.184.215.14"), "93.184.215.14")] }
  }
}

/// The merchant's side of the wire: it remembers what came and answers by a script.
final class MerchantServer: Sendable {
  typealias Script = @Sendable (_ sequence: Int64, _ tries: Int) throws(TransportError) -> Int

  private struct State {
    var script: Script = { _, _ in 200 }
    var received: [(request: OutboundRequest, body: JSONValue)] = []
  }
  private let state = Mutex(State())

  func answers(_ script: @escaping Script) { state.withLock { $0.script = script } }

  var requests: [OutboundRequest] { state.withLock { $0.received.map(\.request) } }
  var bodies: [JSONValue] { state.withLock { $0.received.map(\.body) } }
  /// `payment/sequence` of everything that came, in order.
  var sequences: [Int64] { bodies.compactMap { $0["tender"]?["sequence"]?.whole } }

  var sender: HTTPSender {
    HTTPSender { request, _ throws(TransportError) in
      let body = (try? JSONReader.read(request.body)) ?? .null
      let sequence = body["tender"]?["sequence"]?.whole ?? 0
      let (script, tries) = self.state.withLock { state in
        state.received.append((request, body))
        return (state.script, state.received.count { $0.request.body == request.body })
      }
      return InboundResponse(status: try script(sequence, tries))
    }
  }
}

extension JSONValue {
  var whole: Int64? { if case .integer(let value) = self { value } else { nil } }
  var text: String? { if case .string(let value) = self { value } else { nil } }
}

import Hummingbird
import Ledger
public import Storage
public import TenderPayments
public import Webhooks

/// What `tender webhooks` asks of a running server.
struct WebhookAdminController: Sendable {
  let office: WebhookOffice

  func add(to router: Router<ServerContext>) {
    router.get("/webhooks/deliveries", use: deliveries)
    router.get("/webhooks/events", use: events)
    router.post("/webhooks/replay", use: replay)
  }

  /// `?state=dead&limit=50`
  private func deliveries(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.uri.queryParameters
    let state = query.get("state").flatMap(Delivery.State.init) ?? .dead
    return JSONAnswer.response(try await office.deliveries(state, limit: query.get("limit", as: Int.self) ?? 50))
  }

  /// `?after=CURSOR`
  private func events(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await office.events(after: request.uri.queryParameters.get("after")))
  }

  /// `?payment=ID&sequence=N&to=ENDPOINT`, each of them optional.
  private func replay(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.uri.queryParameters
    let count = try await office.replay(
      query.get("payment"), sequence: query.get("sequence", as: Int64.self), to: query.get("to"))
    return JSONAnswer.response(["replayed": count])
  }
}

/// The answers behind `tender webhooks`, whether a server holds the store or the command line itself.
public struct WebhookOffice: Sendable {
  private let database: Database
  private let clock: WallClock

  public init(_ database: Database, clock: WallClock = .system) {
    self.database = database
    self.clock = clock
  }

  public func deliveries(_ state: Delivery.State, limit: Int) async throws -> [DeliveryReport] {
    try await WebhookCourier.deliveries(state, limit: min(500, max(1, limit)), in: database).map(DeliveryReport.init)
  }

  public func replay(_ payment: String?, sequence: Int64?, to endpoint: String?) async throws -> Int {
    try await WebhookCourier.replay(
      payment.map { PaymentID($0) }, sequence: sequence, to: endpoint, in: database)
  }

  /// What happened since `cursor`; without one nothing, and a cursor for what happens from now on.
  public func events(after cursor: String?) async throws -> WebhookFeed {
    guard let place = cursor.flatMap(OutboxEvent.Cursor.init(text:)) else {
      return WebhookFeed(events: [], cursor: OutboxEvent.Cursor(time: clock.now()).text)
    }
    let events = try await database.read { try OutboxEvent.after(place, limit: 100, in: $0) }
    return WebhookFeed(events: events.map(WebhookFeed.Item.init), cursor: (events.last?.cursor ?? place).text)
  }
}

/// A delivery as the command line shows it.
public struct DeliveryReport: Codable, Sendable {
  public let payment: PaymentID
  public let sequence: Int64
  public let merchant: MerchantID
  public let endpoint: String
  public let url: String
  public let state: Delivery.State
  public let tries: Int64
  public let nextTry: String
  public let result: String?

  init(_ delivery: Delivery) {
    payment = delivery.payment
    sequence = delivery.sequence
    merchant = delivery.merchant
    endpoint = delivery.endpoint
    url = delivery.url
    state = delivery.state
    tries = delivery.tries
    nextTry = delivery.nextTry.description
    result = delivery.result
  }
}

/// Events for somebody who watches, in the form in which merchants get them.
public struct WebhookFeed: Codable, Sendable {
  public struct Item: Codable, Sendable {
    public let merchant: MerchantID
    public let payment: PaymentID
    public let sequence: Int64
    public let type: String
    /// The body as it is sent; a signature is over exactly these bytes.
    public let body: String

    init(_ event: OutboxEvent) {
      let body = WebhookBody(event)
      merchant = event.merchant
      payment = event.payment
      sequence = event.sequence
      type = body.type
      self.body = String(decoding: body.bytes, as: UTF8.self)
    }
  }

  public let events: [Item]
  /// Where to go on.
  public let cursor: String
}

extension OutboxEvent.Cursor {
  fileprivate var text: String { "\(time.microseconds)-\(payment)-\(sequence)" }

  fileprivate init?(text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let time = Int64(parts[0]), let sequence = Int64(parts[2]) else { return nil }
    self.init(time: Timestamp(microseconds: time), payment: String(parts[1]), sequence: sequence)
  }
}

package import Ledger
package import Storage
package import StrictJSON
package import TenderPayments
package import Webhooks

/// The query of `GET /v2/{merchantId}/events`. Each event is the body of its webhook, whether a webhook was sent or not.
/// A cursor may be used again, so that a merchant reads what it has lost.
package struct EventQuery: Sendable {
  /// How many events an answer looks at, however few of them are of the types.
  private static let window = 500

  private let merchant: MerchantID
  private let cursor: OutboxEvent.Cursor?
  private let since: Timestamp?
  /// Empty for all.
  private let types: Set<String>
  private let limit: Int

  /// - Throws: ``QueryRefused``
  package init(_ values: [(name: String, value: String)], of merchant: MerchantID) throws {
    let query = try QueryParameters(values, known: ["cursor", "since", "type", "limit"], repeated: ["type"])
    self.merchant = merchant
    cursor = try query.read("cursor", "the answer before gave it", OutboxEvent.Cursor.init(text:))
    since = try query.time("since")
    types = Set(query.all("type"))
    limit = Int(try query.limit())
  }

  /// `{"events": […], "cursor": "…"}`
  ///
  /// - Parameter passedOver: is told of the place behind an event that only a later version can read.
  package func page(
    _ orders: OrderReader, in store: Transaction, passedOver: (OutboxEvent.Cursor) -> Void
  ) throws -> JSONValue {
    let window = types.isEmpty ? limit : Self.window
    let start = try start(in: store)
    var (found, place) = ([JSONValue](), start)
    for (event, next) in try OutboxEvent.after(start, of: merchant, limit: window, in: store) where found.count < limit
    {
      place = next
      guard let event else {
        passedOver(next)
        continue
      }
      let body = try WebhookBody(event, order: orders.read(event, false, store))
      if types.isEmpty || types.contains(body.type) { found.append(try JSONReader.read(body.bytes)) }
    }
    return ["cursor": .string(place.text), "events": .array(found)]
  }

  private func start(in store: Transaction) throws -> OutboxEvent.Cursor {
    if let cursor { return cursor }
    return try since.map { try .before($0, in: store) } ?? .start
  }
}

extension EventQuery {
  /// Finds one event by the id of its webhook, for `GET /v2/{merchantId}/events/{eventId}`.
  ///
  /// - Returns: the event as in a page, with `tender.deliveries`; nil if the merchant has none of this id.
  package static func find(
    _ id: String, of merchant: MerchantID, _ orders: OrderReader, in store: Transaction
  ) throws -> JSONValue? {
    guard let event = try WebhookBody.findEvent(id, of: merchant, in: store) else { return nil }
    let body = try JSONReader.read(WebhookBody(event, order: orders.read(event, false, store)).bytes)
    guard case .object(var members) = body, case .object(var extras)? = members["tender"] else { return body }
    let deliveries = try WebhookDispatcher.deliveries(of: event.payment, in: store)
    extras["deliveries"] = .array(deliveries.filter { $0.sequence == event.sequence }.map(\.members))
    members["tender"] = .object(extras)
    return .object(members)
  }
}

extension Delivery {
  fileprivate var members: JSONValue {
    var members: JSONObject = ["endpoint": .string(endpoint), "state": .string(state.rawValue)]
    members["acknowledged"] = acknowledgedAt.map { .string($0.description) }
    return .object(members)
  }
}

extension OutboxEvent.Cursor {
  /// Opaque to callers.
  fileprivate var text: String { Base64URL.encode(Array("\(position)".utf8)) }

  fileprivate init?(text: String) {
    guard let plain = Base64URL.decode(text).flatMap({ String(validating: $0, as: UTF8.self) }),
      let position = Int64(plain), position >= 0
    else { return nil }
    self.init(position: position)
  }
}

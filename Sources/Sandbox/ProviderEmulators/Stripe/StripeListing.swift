import Storage
import StrictJSON
import TenderPayments

/// The parameters by which a listing is paged and limited.
struct StripePage: Sendable {
  let limit: Int
  let after: String?
  let from: Int64
  let until: Int64
  let intent: String?

  init(_ query: String, known: Set<String> = []) throws(StripeProblem) {
    let fields = try StripeParameters(query, known: Self.known.union(known))
    let limit = try fields.integer("limit") ?? 10
    guard (1...100).contains(limit) else {
      throw .invalid("limit", "Limit is between 1 and 100.")
    }
    self.limit = Int(limit)
    after = fields["starting_after"]
    from = max(try fields.integer("created[gte]") ?? 0, (try fields.integer("created[gt]") ?? -1) + 1)
    let last = try fields.integer("created[lte]") ?? .max - 1
    until = min(last + 1, try fields.integer("created[lt]") ?? .max)
    intent = fields["payment_intent"]
  }

  private static let known: Set<String> = [
    "created[gt]", "created[gte]", "created[lt]", "created[lte]", "ending_before", "expand[]", "limit",
    "starting_after",
  ]

  /// One page of what is listed, the newest first.
  func list<Item>(
    _ items: [Item], at url: String, id: (Item) -> String, created: (Item) -> Timestamp, json: (Item) -> JSONValue
  ) throws(StripeProblem) -> JSONValue {
    var rest = items[...]
    if let after {
      guard let index = items.firstIndex(where: { id($0) == after }) else {
        throw .unknown("object", after, parameter: "starting_after", status: 400)
      }
      rest = items[(index + 1)...]
    }
    let found = rest.filter { (from..<until).contains(created($0).seconds) }
    return [
      "object": "list", "data": .array(found.prefix(limit).map(json)), "has_more": .bool(found.count > limit),
      "url": .string(url),
    ]
  }
}

extension StripeStore {
  func intents(_ page: StripePage, of account: String) async throws -> JSONValue {
    let all = try await database.read { try StripeIntent.all(of: account, in: $0) }
    return try page.list(all, at: "/v1/payment_intents", id: \.id, created: \.createdAt) { $0.json() }
  }

  func refunds(_ page: StripePage, of account: String) async throws -> JSONValue {
    let all = try await database.read { try StripeRefund.all(of: account, in: $0) }
    let wanted = all.filter { page.intent == nil || page.intent == $0.intent }
    return try page.list(wanted, at: "/v1/refunds", id: \.id, created: \.createdAt, json: \.json)
  }

  /// Intents by one metadata value: `metadata['order']:'7'`. The index lags behind, as Stripe's does.
  ///
  /// - Parameter lag: how old an intent must be to be found.
  func search(_ query: String, of account: String, lag: Duration) async throws -> JSONValue {
    let fields = try StripeParameters(query, known: ["expand[]", "limit", "page", "query"])
    let text = try fields.text("query")
    guard let match = text.wholeMatch(of: /metadata\[['"]([^'"]+)['"]\]:['"]([^'"]*)['"]/) else {
      throw StripeProblem.invalid("query", "The sandbox searches by metadata['key']:'value' only.")
    }
    let (key, value) = (String(match.output.1), String(match.output.2))
    let found = try await database.read { transaction in
      let latest = transaction.now.adding(.zero - lag)
      return try StripeIntent.all(of: account, in: transaction).filter {
        $0.metadata[key] == value && $0.createdAt <= latest
      }
    }
    return [
      "object": "search_result", "data": .array(found.prefix(100).map { $0.json() }), "has_more": false,
      "next_page": .null, "url": "/v1/payment_intents/search",
    ]
  }
}

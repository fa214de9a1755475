import AcquirerSandbox
import StrictJSON
import TenderPayments

/// The values of the page of recent activity, each list with the newest first; the template escapes every text.
struct RecentPage {
  struct Section {
    let id: String
    let title: String
    let rows: [Row]
    let isEmpty: Bool

    init(_ id: String, _ title: String, _ rows: [Row]) {
      (self.id, self.title, self.rows, isEmpty) = (id, title, rows, rows.isEmpty)
    }
  }

  struct Row {
    let time: String
    let subject: String
    let detail: String
    let result: String
    let isRefused: Bool
  }

  let sections: [Section]

  init(_ activity: RecentActivity, _ services: [any RecentlyActive]) async throws {
    var (payments, events) = ([RecentOperation](), [RecentEvent]())
    for service in services {
      payments += try await service.recentOperations(limit: Int64(RecentActivity.limit))
      events += try await service.recentEvents(limit: Int64(RecentActivity.limit))
    }
    sections = [
      Section("sessions", "Merchant sessions", activity.entries(.sessions).map(Row.init)),
      Section("tokens", "Payment tokens", activity.entries(.tokens).map(Row.init)),
      Section("payments", "Payments", Self.newest(payments, \.time).map(Row.init)),
      Section("events", "Events", Self.newest(events, \.time).map(Row.init)),
    ]
  }

  private static func newest<Item>(_ items: [Item], _ time: (Item) -> Timestamp) -> ArraySlice<Item> {
    items.sorted { time($0) > time($1) }.prefix(RecentActivity.limit)
  }

  /// The page for programs: an array of rows by list.
  var json: JSONValue {
    var object: JSONObject = [:]
    for section in sections { object[section.id] = .array(section.rows.map(\.json)) }
    return .object(object)
  }
}

extension RecentPage.Row {
  init(_ entry: RecentActivity.Entry) {
    self.init(
      time: entry.time.description, subject: entry.subject, detail: entry.detail, result: entry.refusal ?? "accepted",
      isRefused: entry.refusal != nil)
  }

  init(_ operation: RecentOperation) {
    self.init(
      time: operation.time.description, subject: operation.reference,
      detail: "\(operation.kind) \(operation.amount), card ending \(operation.cardSuffix)",
      result: operation.result, isRefused: operation.isRefused)
  }

  init(_ event: RecentEvent) {
    self.init(
      time: event.time.description, subject: event.reference, detail: event.result,
      result: event.isDelivered ? "delivered" : "not delivered, tries: \(event.tries)", isRefused: false)
  }

  var json: JSONValue {
    [
      "time": .string(time), "subject": .string(subject), "detail": .string(detail), "result": .string(result),
      "refused": .bool(isRefused),
    ]
  }
}

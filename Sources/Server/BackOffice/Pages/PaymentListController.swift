import Administration
import HTTPServing
import HTTPTypes
import Hummingbird
import Ledger
import NIOCore
import Orders
import Storage
import TenderPayments

/// The page on which payments are found, and the same as CSV.
struct PaymentListController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] {
    [
      .get("/payments", .role(.viewer), on: showNone, list), .get("/payments.csv", .role(.viewer), csv),
      .post("/payments/filters", .role(.viewer), on: list, keep),
    ]
  }

  private func list(_ call: OfficeCall) async throws -> Response {
    let query = try PaymentQuery(call)
    let (page, references) = try await rows(query, limit: 50)
    let none = page.items.isEmpty ? try await unknownMerchant(call) : nil
    return try await show(
      page.items.map { Self.row($0, references[$0.payment.order], call.format) }, next: page.next,
      none ?? "No payment fits", call,
      understood: query.understood(call.format))
  }

  /// What is wrong with the merchant that was asked for, who has no payments here. One that was removed has them still.
  private func unknownMerchant(_ call: OfficeCall) async throws -> String? {
    guard let wanted = call.query("merchant").map({ MerchantID($0) }) else { return nil }
    let isAllowed = try call.user.merchants.map { $0.contains(wanted) } ?? true
    if isAllowed, try await office.services.merchants.merchant(wanted) != nil { return nil }
    return "There is no merchant \(wanted)"
  }

  /// The search without payments: none is what was asked for.
  private func showNone(_ call: OfficeCall) async throws -> Response { try await show([], next: nil, nil, call) }

  /// - Parameter none: what the page says where it has no payment.
  private func show(
    _ rows: [[String: Any]], next: PaymentID?, _ none: String?, _ call: OfficeCall, understood: String? = nil
  ) async throws -> Response {
    let (fields, user) = (PaymentQuery.fields(call), try call.user)
    var values: [String: Any] = [
      "payments": rows, "hasPayments": !rows.isEmpty, "statuses": Self.statuses(call.query("status")),
      "csvQuery": Self.address(fields), "place": call.format.place,
    ]
    if rows.isEmpty { values["none"] = none }
    values["understood"] = understood
    values["hasConditions"] = fields.contains { $0.name != "q" }
    values["followsNewest"] = user.everywhere != nil && office.services.sequences != nil
    values["filters"] = try await office.database.read { try SavedFilters(store: $0).all(of: user.name) }.map {
      ["name": $0.name, "query": $0.query]
    }
    for (name, value) in fields { values["field_\(name)"] = value }
    if let next { values["next"] = Self.address(fields + [("before", next.rawValue)]) }
    return try office.pages.page("payments", "Payments", call, values)
  }

  private static let longestName = 120
  private static let longestQuery = 1_024

  /// Keeps a search under a name for the user alone, or forgets it.
  private func keep(_ call: OfficeCall) async throws -> Response {
    let (user, name) = (try call.user.name, call.form["name"])
    guard (1...Self.longestName).contains(name.utf8.count) else {
      throw OfficeRefusal.badRequest("Give the search a name of at most \(Self.longestName) bytes.", at: "name")
    }
    guard call.form["query"].utf8.count <= Self.longestQuery, let form = OfficeForm(Array(call.form["query"].utf8), "")
    else {
      throw OfficeRefusal.badRequest("The search cannot be read.")
    }
    let fields = PaymentQuery.names.map { (name: $0, value: form[$0]) }.filter { !$0.value.isEmpty }
    let (query, isRemoved) = (Self.address(fields), call.form.isChecked("remove"))
    try await office.database.write { store in
      let filters = SavedFilters(store: store)
      try isRemoved ? filters.remove(name, of: user) : filters.keep(name, query, of: user)
    }
    return .redirect(to: "/payments?\(isRemoved ? "" : query)", type: .normal)
  }

  private func rows(_ query: PaymentQuery, limit: Int) async throws -> (PaymentPage, [OrderID: String]) {
    try await office.database.read { store in
      let page = try query.page(limit: limit, in: store)
      var references: [OrderID: String] = [:]
      for item in page.items {
        references[item.payment.order] = try MerchantReferences.reference(of: item.payment.order, in: store)
      }
      return (page, references)
    }
  }

  private static func row(
    _ item: PaymentPage.Item, _ reference: String?, _ format: OfficeFormat
  ) -> [String: Any] {
    let payment = item.payment
    return [
      "id": payment.id.rawValue, "began": format.moment(payment.createdAt), "merchant": payment.merchant.rawValue,
      "reference": reference ?? "–", "amount": format.amount(payment.amount), "status": payment.status.shown,
      "statusClass": payment.status.rawValue, "parts": payment.decline?.reason.shown ?? payment.parts(format),
      "card": payment.card.name ?? "–",
      "route": item.route,
      "alarm": (item.alarm ?? "").spaced,
    ]
  }

  private static func statuses(_ chosen: String?) -> [[String: Any]] {
    PaymentStatus.allCases.map { ["value": $0.rawValue, "name": $0.shown, "isChosen": $0.rawValue == chosen] }
  }

  /// The query of an address. Every byte but letters and digits is escaped.
  static func address(_ fields: [(name: String, value: String)]) -> String {
    fields.map { name, value in
      let text = value.utf8.map { byte -> String in
        let isPlain =
          (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
          || byte == UInt8(ascii: "-")
        return isPlain ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte])
      }
      return "\(name)=\(text.joined())"
    }.joined(separator: "&")
  }
}

// CSV (RFC 4180), written page by page while it is read.
extension PaymentListController {
  private static let columns = [
    "payment", "began", "merchant", "reference", "order", "status", "currency", "amount", "authorized", "captured",
    "refunded", "charged back", "card", "route", "decline", "alarm", "released",
  ]
  /// How many rows are read at once; at first few, so that the answer begins soon.
  private static let batch = 500
  private static let firstBatch = 50

  private func csv(_ call: OfficeCall) async throws -> Response {
    let query = try PaymentQuery(call)
    let (first, references) = try await rows(query, limit: Self.firstBatch)
    let body = ResponseBody { writer in
      try await writer.write(ByteBuffer(string: CSV.line(Self.columns)))
      var (page, references) = (first, references)
      while true {
        let text = page.items.map { CSV.line(Self.fields($0, references[$0.payment.order])) }.joined()
        try await writer.write(ByteBuffer(string: text))
        guard let next = page.next else { break }
        (page, references) = try await rows(query.after(next), limit: Self.batch)
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok,
      headers: [
        .contentType: MediaType.csv + "; charset=utf-8", .contentDisposition: "attachment; filename=\"payments.csv\"",
      ], body: body)
  }

  private static func fields(_ item: PaymentPage.Item, _ reference: String?) -> [String] {
    let (payment, currency) = (item.payment, item.payment.amount.currency)
    func decimal(_ units: Int64) -> String { Amount(minorUnits: units, currency: currency).decimalString }
    return [
      payment.id.rawValue, payment.createdAt.description, payment.merchant.rawValue, reference ?? "",
      payment.order.rawValue, payment.status.rawValue, currency.code, payment.amount.decimalString,
      decimal(payment.authorized), decimal(payment.captured), decimal(payment.refunded), decimal(payment.chargedBack),
      payment.card.name ?? "", item.route, payment.decline?.reason.rawValue ?? "", item.alarm ?? "",
      decimal(payment.released),
    ]
  }
}

extension PaymentQuery {
  /// The query from another place on.
  func after(_ place: PaymentID) -> PaymentQuery { PaymentQuery(self, before: place) }
}

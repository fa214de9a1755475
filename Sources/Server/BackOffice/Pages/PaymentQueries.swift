import Hummingbird
import Ledger
import Orders
import Storage
import TenderPayments

/// What a person asks for on the page of payments: the address's query.
struct PaymentQuery: Sendable {
  /// A payment's id, an order, a basket, the merchant's reference, the shopper's e-mail address, or the last four digits
  /// of the card.
  let text: String?
  private(set) var filter = PaymentFilter()
  let before: PaymentID?
  /// What the address holds, to write it again.
  let fields: [(name: String, value: String)]
  /// Why a field is not understood.
  private(set) var refusal: OfficeRefusal?

  /// Bytes of a part of a reference or an e-mail address.
  private static let shortestPart = 3

  static let names = ["q", "merchant", "status", "route", "amount", "from", "until", "alarm"]

  init(_ call: OfficeCall) throws {
    let typed = call.query("q").map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    text = typed?.isEmpty == true ? nil : typed
    before = call.query("before").map { PaymentID($0) }
    fields = Self.names.compactMap { name in call.query(name).map { (name, $0) } }
    filter.merchants = try Self.merchants(call)
    filter.status = call.query("status").flatMap(PaymentStatus.init(rawValue:))
    filter.route = call.query("route")
    filter.isAlarmed = call.query("alarm") != nil
    filter.from = day(call, "from")
    filter.until = day(call, "until")?.adding(.seconds(86_400))
    read(amount: call.query("amount"))
  }

  init(_ query: PaymentQuery, before place: PaymentID) {
    (text, filter, fields, refusal) = (query.text, query.filter, query.fields, query.refusal)
    before = place
  }

  /// Those that the person may see, or the one of them that was asked for; none for another.
  private static func merchants(_ call: OfficeCall) throws -> [MerchantID]? {
    let allowed = try call.user.merchants
    guard let wanted = call.query("merchant").map({ MerchantID($0) }) else { return allowed }
    guard let allowed else { return [wanted] }
    return allowed.filter { $0 == wanted }
  }

  private mutating func day(_ call: OfficeCall, _ name: String) -> Timestamp? {
    guard let text = call.query(name) else { return nil }
    let day = Timestamp(day: text)
    if day == nil { refusal = .badRequest("Write the day as 2026-11-23.", at: name) }
    return day
  }

  private mutating func read(amount text: String?) {
    guard let words = text?.split(separator: " "), !words.isEmpty else { return }
    guard words.count == 2, let currency = Currency(code: words[1].uppercased()),
      let amount = try? Amount(decimal: String(words[0]), currency: currency)
    else {
      refusal = .badRequest("Write the amount with its currency, such as 12.50 EUR.", at: "amount")
      return
    }
    (filter.amount, filter.currency) = (amount.minorUnits, currency.code)
  }

  /// The payments, newest first. A text finds what it names, as it is written, in small letters or in capitals; where it
  /// names nothing, what has it as a part of the reference or the e-mail address.
  func page(limit: Int = 50, in store: Transaction) throws -> PaymentPage {
    guard let text else { return try filter.page(before: before, limit: limit, in: store) }
    if text.utf8.count == 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      var filter = filter
      filter.lastFour = text
      let found = try filter.page(before: before, limit: limit, in: store)
      if !found.items.isEmpty || found.next != nil { return found }
    }
    for spelling in [text, text.lowercased(), text.uppercased()] {
      let found = try named(spelling, in: store)
      if !found.isEmpty { return PaymentPage(items: found) }
    }
    guard text.utf8.count >= Self.shortestPart else { return PaymentPage(items: []) }
    let orders = try MerchantReferences.orders(containing: text, of: filter.merchants, limit: 50, in: store)
    return PaymentPage(items: try payments(of: orders, in: store))
  }

  private func payments(of orders: [OrderID], in store: Transaction) throws -> [PaymentPage.Item] {
    try orders.flatMap { try PaymentPage.Item.all(.order, $0.rawValue, of: filter.merchants, in: store) }
  }

  private func named(_ text: String, in store: Transaction) throws -> [PaymentPage.Item] {
    let merchants = filter.merchants
    if let payment = try PaymentPage.Item.find(PaymentID(text), in: store), isVisible(payment) { return [payment] }
    for column in [PaymentPage.Item.Column.order, .basket] {
      let found = try PaymentPage.Item.all(column, text, of: merchants, in: store)
      if !found.isEmpty { return found }
    }
    let isEmail = text.utf8.contains(UInt8(ascii: "@"))
    let orders =
      isEmail
      ? try OrderContacts.orders(ofEmail: text, of: merchants, limit: 50, in: store)
      : try MerchantReferences.orders(with: text, of: merchants, limit: 50, in: store)
    return try payments(of: orders, in: store)
  }

  private func isVisible(_ item: PaymentPage.Item) -> Bool {
    filter.merchants.map { $0.contains(item.payment.merchant) } ?? true
  }
}

extension Timestamp {
  /// - Parameter text: `2026-11-23`, the beginning of that day in UTC.
  init?(day text: String) {
    let parts = text.split(separator: "-").compactMap { Int64($0) }
    guard parts.count == 3 else { return nil }
    self.init(year: parts[0], month: parts[1], day: parts[2])
  }
}

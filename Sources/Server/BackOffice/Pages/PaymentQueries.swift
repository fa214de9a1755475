import Administration
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

  /// Bytes of a part of a reference or an e-mail address.
  private static let shortestPart = 3

  static let names = ["q", "merchant", "status", "route", "amount", "from", "until", "alarm"]

  /// - Throws: ``OfficeRefusal`` for a field that is not understood: a search without it would find too much.
  init(_ call: OfficeCall) throws {
    let typed = call.query("q").map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    text = typed?.isEmpty == true ? nil : typed
    before = call.query("before").map { PaymentID($0) }
    fields = Self.fields(call)
    filter.merchants = try Self.merchants(call)
    filter.status = try call.query("status").map(Self.status)
    filter.route = call.query("route")
    filter.isAlarmed = call.query("alarm") != nil
    filter.from = try Self.day(call, "from")
    filter.until = try Self.day(call, "until")?.adding(.seconds(86_400))
    if let from = filter.from, let until = filter.until, until <= from {
      throw OfficeRefusal.badRequest("The last day is before the first.", at: "until")
    }
    try read(amount: call.query("amount"))
  }

  init(_ query: PaymentQuery, before place: PaymentID) {
    (text, filter, fields) = (query.text, query.filter, query.fields)
    before = place
  }

  static func fields(_ call: OfficeCall) -> [(name: String, value: String)] {
    names.compactMap { name in call.query(name).map { (name, $0) } }
  }

  private static func status(_ text: String) throws -> PaymentStatus {
    guard let status = PaymentStatus(rawValue: text) else {
      throw OfficeRefusal.badRequest("“\(text)” is no status: choose one.", at: "status")
    }
    return status
  }

  /// Those that the person may see, or the one of them that was asked for; none for another.
  private static func merchants(_ call: OfficeCall) throws -> [MerchantID]? {
    let allowed = try call.user.merchants
    guard let wanted = call.query("merchant").map({ MerchantID($0) }) else { return allowed }
    guard let allowed else { return [wanted] }
    return allowed.filter { $0 == wanted }
  }

  private static func day(_ call: OfficeCall, _ name: String) throws -> Timestamp? {
    try call.query(name).map { text in
      guard let day = Timestamp(day: text) else {
        throw OfficeRefusal.badRequest("Write the day as 2026-11-23.", at: name)
      }
      return day
    }
  }

  private mutating func read(amount text: String?) throws {
    guard let text, text.contains(where: { !$0.isWhitespace }) else { return }
    do throws(MistypedAmount) {
      let amount = try Amount(typed: text, in: nil, least: 0)
      (filter.amount, filter.currency) = (amount.minorUnits, amount.currency.code)
    } catch {
      throw OfficeRefusal.badRequest("\(error)", at: "amount")
    }
  }

  /// How many orders a text finds at the most, the newest ones.
  private static let mostOrders = 200

  /// The payments that fit every condition, newest first. A text finds what it names, as it is written, in small letters and in capitals, and of four
  /// digits the cards that end with them; where it names nothing, what has it as a part of the reference or the e-mail address.
  func page(limit: Int = 50, in store: Transaction) throws -> PaymentPage {
    guard let text else { return try filter.page(before: before, limit: limit, in: store) }
    var named: [PaymentPage.Item] = []
    for spelling in [text, text.lowercased(), text.uppercased()] {
      named += try self.find(spelling, in: store).filter { item in
        !named.contains { $0.payment.id == item.payment.id }
      }
    }
    if text.utf8.count == 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      var filter = filter
      filter.lastFour = text
      let page = try filter.page(before: before, limit: limit, in: store)
      let others = named.filter { item in
        before == nil && filter.fits(item) && !page.items.contains { $0.payment.id == item.payment.id }
      }
      if !page.items.isEmpty || page.next != nil { return PaymentPage(items: others + page.items, next: page.next) }
    }
    guard named.isEmpty else { return page(of: named, limit: limit) }
    guard text.utf8.count >= Self.shortestPart else {
      throw OfficeRefusal.badRequest(
        "No payment has this name. Of a reference or an e-mail address write at least \(Self.shortestPart) letters.",
        at: "q")
    }
    let orders = try MerchantReferences.orders(
      containing: text, of: filter.merchants, limit: Self.mostOrders, in: store)
    return page(of: try payments(of: orders, in: store), limit: limit)
  }

  /// Those of the found payments that fit the other conditions too.
  private func page(of found: [PaymentPage.Item], limit: Int) -> PaymentPage {
    let items = found.filter { item in
      filter.fits(item) && before.map { item.payment.id.rawValue < $0.rawValue } ?? true
    }
    .sorted { $0.payment.id.rawValue > $1.payment.id.rawValue }
    guard items.count > limit else { return PaymentPage(items: items) }
    return PaymentPage(items: Array(items.prefix(limit)), next: items[limit - 1].payment.id)
  }

  private func payments(of orders: [OrderID], in store: Transaction) throws -> [PaymentPage.Item] {
    try orders.flatMap { try PaymentPage.Item.all(.order, $0.rawValue, of: filter.merchants, in: store) }
  }

  private func find(_ text: String, in store: Transaction) throws -> [PaymentPage.Item] {
    let merchants = filter.merchants
    if let payment = try PaymentPage.Item.find(PaymentID(text), in: store), isVisible(payment) { return [payment] }
    for column in [PaymentPage.Item.Column.order, .basket] {
      let found = try PaymentPage.Item.all(column, text, of: merchants, in: store)
      if !found.isEmpty { return found }
    }
    let isEmail = text.utf8.contains(UInt8(ascii: "@"))
    let orders =
      isEmail
      ? try OrderContacts.orders(ofEmail: text, of: merchants, limit: Self.mostOrders, in: store)
      : try MerchantReferences.orders(with: text, of: merchants, limit: Self.mostOrders, in: store)
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

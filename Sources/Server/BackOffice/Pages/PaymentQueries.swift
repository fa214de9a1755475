import Administration
import Hummingbird
import Ledger
import Orders
import Storage
import TenderPayments

/// What a person asks for on the page of payments: the address's query.
struct PaymentQuery: Sendable {
  /// A payment's id, an order, a basket, the merchant's reference, the shopper's e-mail address, the last four digits of
  /// the card, an amount, or a day.
  let text: String?
  /// What the text is where nothing has it as its name.
  private let meaning: Meaning?
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
    meaning = text.flatMap { Meaning($0, call.format) }
    before = call.query("before").map { PaymentID($0) }
    fields = Self.fields(call)
    filter.merchants = try Self.merchants(call)
    filter.status = try call.query("status").map(Self.status)
    filter.route = call.query("route")
    filter.isAlarmed = call.query("alarm") != nil
    filter.from = try Self.day(call, "from")
    filter.until = try Self.day(call, "until", isEnd: true)
    if let from = filter.from, let until = filter.until, until <= from {
      throw OfficeRefusal.badRequest("The last day is before the first.", at: "until")
    }
    try read(amount: call.query("amount"))
  }

  init(_ query: PaymentQuery, before place: PaymentID) {
    (text, meaning, filter, fields) = (query.text, query.meaning, query.filter, query.fields)
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

  /// A day by the operator's clock, or the moment that a chart leads to.
  private static func day(_ call: OfficeCall, _ name: String, isEnd: Bool = false) throws -> Timestamp? {
    try call.query(name).map { text in
      if let moment = Timestamp(rfc3339: text) { return moment }
      guard let day = call.format.midnight(of: text) else {
        throw OfficeRefusal.badRequest("Write the day as 2026-11-23.", at: name)
      }
      return isEnd ? call.format.nextMidnight(after: day) : day
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

  /// The payments that fit every condition, newest first. A text finds what it names, as it is written, in small letters
  /// and in capitals, and of four digits the cards that end with them; where it names nothing, the amount or the day that
  /// it is, or what has it as a part of the reference or the e-mail address.
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
    if let meaning { return try meaning.filter(filter).page(before: before, limit: limit, in: store) }
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

extension PaymentQuery {
  /// What was looked for, in words; nil where every payment is listed.
  func understood(_ format: OfficeFormat) -> String? {
    var parts: [String] = []
    if let text { parts.append(meaning?.words(format) ?? Self.kind(of: text)) }
    if let amount = filter.amount, let currency = filter.currency {
      parts.append("of \(format.amount(amount, currency))")
    }
    if let merchant = fields.first(where: { $0.name == "merchant" })?.value { parts.append("at \(merchant)") }
    if let status = filter.status { parts.append("now \(status.shown)") }
    if let from = filter.from { parts.append("from \(format.time(from))") }
    if let until = filter.until { parts.append("before \(format.time(until))") }
    if let route = filter.route { parts.append("by the route \(route)") }
    if filter.isAlarmed { parts.append("with an alarm") }
    return parts.isEmpty ? nil : "Payments " + parts.joined(separator: ", ")
  }

  private static func kind(of text: String) -> String {
    if text.utf8.contains(UInt8(ascii: "@")) { return "of the shopper \(text)" }
    if text.utf8.count == 32, Hex.decode(text) != nil { return "with the id \(text)" }
    if text.utf8.count == 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return "whose card ends with \(text), or whose name it is"
    }
    return "with “\(text)” in a reference, an id or an address"
  }

  /// An amount or a day, typed into the one field.
  enum Meaning: Sendable {
    case amount(Amount)
    case day(Range<Timestamp>)

    private static let signs = ["€": "EUR", "£": "GBP", "$": "USD", "¥": "JPY"]

    init?(_ text: String, _ format: OfficeFormat) {
      if let day = text.utf8.count == 10 ? format.midnight(of: text) : nil {
        self = .day(day..<format.nextMidnight(after: day))
        return
      }
      let code = Self.signs.first { text.hasPrefix($0.key) || text.hasSuffix($0.key) }
      let plain = code.map { text.replacing($0.key, with: "") + " \($0.value)" } ?? text
      guard let parts = plain.firstMatch(of: /^ ?([0-9]+(?:[.][0-9]+)?) ?([A-Za-z]{3})$/)?.output,
        let amount = try? Amount(typed: "\(parts.1) \(parts.2)", in: nil, least: 0)
      else { return nil }
      self = .amount(amount)
    }

    func filter(_ filter: PaymentFilter) -> PaymentFilter {
      var filter = filter
      switch self {
      case .amount(let amount): (filter.amount, filter.currency) = (amount.minorUnits, amount.currency.code)
      case .day(let day):
        filter.from = max(filter.from ?? day.lowerBound, day.lowerBound)
        filter.until = min(filter.until ?? day.upperBound, day.upperBound)
      }
      return filter
    }

    func words(_ format: OfficeFormat) -> String {
      switch self {
      case .amount(let amount): "of \(format.amount(amount))"
      case .day(let day): "begun on \(format.day(day.lowerBound)) in \(format.place)"
      }
    }
  }
}

package import DirectWire
import Foundation
import HTTPTypes
package import HostedCheckout
import Ledger
import Mail
package import Orders
import PlatformAPI
package import Storage
package import TenderPayments

/// Whose data is asked for: one of an e-mail address, a customer, an order.
package struct PrivacySubject: Codable, Sendable, Hashable {
  /// Without regard to case.
  package var email: String?
  /// The merchant's reference of a signed-in shopper.
  package var customer: String?
  /// An order's id, or the merchant's reference of it.
  package var order: String?
  /// Nil for every merchant.
  package var merchant: MerchantID?

  package init() {}

  /// - Throws: ``Problem`` unless it is exactly one.
  package func check() throws {
    let named = [("email", email), ("customer", customer), ("order", order)].filter { $0.1 != nil }
    guard named.count == 1, let text = named[0].1, text.contains(where: { !$0.isWhitespace }), text.utf8.count <= 1_024
    else {
      throw Problem(
        .badRequest, "privacy_subject", "Name one person: an e-mail address, a customer, or an order.",
        field: named.first?.0)
    }
  }

  /// The text by which the person is known.
  fileprivate var name: String { email ?? customer ?? order ?? "" }
}

/// What is kept of a person: for who asks what it is.
package struct PrivacyExport: Codable, Sendable {
  package struct Order: Codable, Sendable {
    package var merchant: MerchantID
    /// Whom it is for, what was bought, and what became of the payment.
    package var order: OrderAnswer
    package var payments: [PaymentReport]
    /// The name on the card, where the platform API has taken it over.
    package var cardholderName: String?
    package var hostedCheckout: HostedCheckout.Kept?
    package var mails: [MailReportRow]

    package var merchantReference: String { order.merchantReference }
  }

  /// A basket of a customer that nobody has tried to pay.
  package struct Basket: Codable, Sendable {
    package var merchant: MerchantID
    package var basketId: BasketID
    package var hostedCheckout: HostedCheckout.Kept?
  }

  package var orders: [Order] = []
  package var baskets: [Basket] = []
}

/// What was erased.
package struct PrivacyErasure: Codable, Sendable, Hashable {
  package let orders: [OrderID]
  package let mails: Int

  /// Where nothing is kept.
  package static let nothing = PrivacyErasure(orders: [], mails: 0)
}

/// Shows and erases what names a person, whether a server holds the store or the command line itself.
///
/// What is booked stays: payments with their amounts, references and the last digits of the card, the audit chains,
/// what was sold. Nothing of it says whose it was any more.
package struct Privacy: Sendable {
  private let database: Database

  package init(_ database: Database) { self.database = database }

  /// - Parameter merchants: whose orders are looked at; nil for every merchant's.
  /// - Throws: ``Problem`` also where a customer's reference is one of several merchants.
  package func find(_ subject: PrivacySubject, of merchants: [MerchantID]? = nil) async throws -> [FoundOrder] {
    try subject.check()
    try await requireKeys()
    let merchants = subject.merchant.map { named in (merchants ?? [named]).filter { $0 == named } } ?? merchants
    let found =
      try await database.read { store in
        if let email = subject.email { return try ShopperOrders.with(email: email, of: merchants, in: store) }
        if let customer = subject.customer {
          return try ShopperOrders.with(customer: customer, of: merchants, in: store)
        }
        return try ShopperOrders.with(order: subject.order ?? "", of: merchants, in: store)
      } + (try await baskets(subject, merchants))
    let owners = Set(found.map(\.merchant))
    guard subject.email != nil || owners.count <= 1 else {
      let names = owners.map(\.rawValue).sorted().joined(separator: ", ")
      throw Problem(
        .conflict, "privacy_merchant", "Several merchants have this reference: \(names). Name the merchant.",
        field: "merchant")
    }
    return found.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  package func export(_ subject: PrivacySubject, of merchants: [MerchantID]? = nil) async throws -> PrivacyExport {
    let found = try await find(subject, of: merchants)
    var export = PrivacyExport()
    for order in found {
      try await database.read { store in try Self.report(order, in: store) }.add(to: &export)
    }
    return export
  }

  /// Erases the data, and destroys the keys of the contacts. The office's audit chain says who did it and why.
  ///
  /// - Parameter asked: without what is found.
  package func erase(
    _ subject: PrivacySubject, of merchants: [MerchantID]? = nil, _ asked: OfficeAction
  ) async throws -> PrivacyErasure {
    try Self.check(reason: asked.reason, says: subject.name)
    // Who asks again at another node wants this one's keys destroyed too.
    _ = try await reportUnwritable { try await Self.reconcile(database) }
    let found = try await find(subject, of: merchants)
    guard !found.isEmpty else { return .nothing }
    var asked = asked
    asked.merchant = Set(found.map(\.merchant.rawValue)).sorted().joined(separator: " ")
    asked.subject = found.count == 1 ? found[0].id.rawValue : "\(found.count) orders"
    asked.before = found.map(\.id.rawValue).joined(separator: " ")
    return try await OfficeAudit.attempt(asked, in: database, outcome: { "erased with \($0.mails) messages" }) {
      try await erase(found, searchedBy: subject.email ?? subject.customer)
    }
  }

  /// What a second person has approved.
  package func erase(ids: [String]) async throws -> PrivacyErasure {
    let orders = try await database.read { store in try ids.compactMap { try FoundOrder.find($0, in: store) } }
    return try await erase(orders)
  }

  /// The keys are destroyed first: the next start goes on with what their file lists as erased.
  ///
  /// - Parameter name: by what the orders were found. Kept searches of the office for it go, as do those for what the orders
  ///   say of their shoppers.
  /// - Throws: ``Problem`` where the keys cannot be destroyed; then nobody is erased, unless it says so.
  package func erase(_ orders: [FoundOrder], searchedBy name: String? = nil) async throws -> PrivacyErasure {
    let addresses = try await database.read { store in try orders.map { try OrderContacts.email(of: $0.id, in: store) }
    }
    try await reportUnwritable { try database.rowKeys?.destroy(orders.map(\.id.rawValue)) }
    var mails = 0
    for (order, address) in zip(orders, addresses) {
      mails += try await database.write { store in try Self.erase(order, writtenTo: address, in: store) }
    }
    if let name { try await database.write { store in try OfficeFilters.forget([name], nil, in: store) } }
    await database.emptyLog()
    return PrivacyErasure(orders: orders.map(\.id), mails: mails)
  }

  private func reportUnwritable<R>(_ work: () async throws -> R) async throws -> R {
    do { return try await work() } catch let error as PrivateFileError {
      throw Problem(
        .serviceUnavailable, "contact_keys_unwritable",
        "Nobody was erased, because the keys of the contacts are destroyed in their file and in its copy: \(error).")
    } catch let error as RowKeysError {
      throw Problem(
        .serviceUnavailable, "contact_keys_unwritable",
        "Erase again once both files can be written, or the next start does: \(error).")
    }
  }

  /// Takes out of old orders whose they were: one step. Their keys stay, so a restored order is old as well, and is
  /// treated so again.
  ///
  /// - Parameter limit: how many orders.
  /// - Returns: whether all is done for now.
  package static func forgetContacts(before end: Timestamp, atMost limit: Int, in store: Transaction) throws -> Bool {
    try RetentionProgress.advance(.contacts, in: store) { progress in
      let due = try OrderErasure.due(before: end, atMost: limit, in: store)
      for order in due { if let found = try FoundOrder.find(order.rawValue, in: store) { try strip(found, in: store) } }
      progress.removed += Int64(due.count)
      if let last = due.last { progress.markDone(last.rawValue, before: end) }
      let ended = try Journal.forgetAgreements(endedBefore: end, atMost: limit, in: store)
      progress.removed += Int64(ended)
      guard due.count < limit, ended < limit else { return false }
      progress.until = max(progress.until, end)
      return true
    }
  }

  /// Everything of an order, in one commit. What was erased before stays so.
  private static func erase(_ order: FoundOrder, writtenTo address: String?, in store: Transaction) throws -> Int {
    let names = try OrderErasure.findNames(of: order.id, in: store) + [address].compactMap(\.self)
    try OfficeFilters.forget(names, try OrderContacts.mark(of: order.id, in: store), in: store)
    try strip(order, in: store)
    try Journal.forgetAgreement(of: order.id, because: "the shopper's data was erased", in: store)
    try OrderErasure.note(order.id, in: store)
    return try MailOutbox.forget(order.id, to: address, in: store)
  }

  private static func strip(_ order: FoundOrder, in store: Transaction) throws {
    try OrderErasure.strip(order.id, in: store)
    try HostedCheckout.strip(order.basket, in: store)
    try PlatformOrder.strip(order.id, in: store)
  }

  /// The reason stays for good, so it must not name the person.
  package static func check(reason: String, says name: String) throws {
    guard reason.contains(where: { !$0.isWhitespace }) else {
      throw Problem(.badRequest, "reason_missing", "Say why: the reason stays in the audit chain.", field: "reason")
    }
    guard !reason.lowercased().contains(name.lowercased()) else {
      throw Problem(
        .badRequest, "reason_names_person", "The reason stays for good: write it without naming the person.",
        field: "reason")
    }
  }

  /// Without its keys a store says neither whose an order is nor can it forget one.
  private func requireKeys() async throws {
    guard database.rowKeys == nil, try await database.read({ try OrderContacts.hasSealed(in: $0) }) else { return }
    throw Problem(
      .conflict, "contact_keys_missing",
      "The contacts are sealed, and their keys are not here: put contacts.keys or its copy in its place, or name the "
        + "server's configuration by --config.")
  }

  private func baskets(_ subject: PrivacySubject, _ merchants: [MerchantID]?) async throws -> [FoundOrder] {
    guard let customer = subject.customer else { return [] }
    var (found, next): ([FoundOrder], String?) = ([], "")
    while let last = next {
      let page = try await database.read { try ShopperOrders.baskets(of: customer, merchants, after: last, in: $0) }
      (found, next) = (found + page.found, page.next)
      try Task.checkCancellation()
    }
    return found
  }
}

// What an order says of its shopper.
extension Privacy {
  private enum Reported {
    case order(PrivacyExport.Order)
    case basket(PrivacyExport.Basket)

    func add(to export: inout PrivacyExport) {
      switch self {
      case .order(let order): export.orders.append(order)
      case .basket(let basket): export.baskets.append(basket)
      }
    }
  }

  private static func report(_ found: FoundOrder, in store: Transaction) throws -> Reported {
    let checkout = try HostedCheckout.findKept(of: found.basket, in: store)
    guard let order = try OrderService.order(of: found.basket, in: store) else {
      return .basket(.init(merchant: found.merchant, basketId: found.basket, hostedCheckout: checkout))
    }
    var lookup = PaymentLookup()
    lookup.order = found.id
    let address = try OrderContacts.email(of: found.id, in: store)
    return .order(
      .init(
        merchant: found.merchant, order: order, payments: try lookup.find(in: store),
        cardholderName: try PlatformOrder.find(found.id, in: store)?.cardholderName, hostedCheckout: checkout,
        mails: try MailOutbox.list(of: found.id, to: address, in: store).map { MailReportRow($0, isWhole: true) }))
  }
}

// After a restore.
extension Privacy {
  /// At how many rows one step of ``forgetEverybody(in:)`` looks.
  private static let batch = 100

  /// Takes out of every order and basket whose it was, where the keys of the contacts are lost: nobody reads the
  /// contacts any more, and nobody knows who was erased.
  static func forgetEverybody(in database: Database) async throws {
    var last = ""
    while true {
      let (found, next) = try await database.write { [last] in try forgetSome(after: last, in: $0) }
      guard found > 0 else { break }
      last = next
    }
    try await database.write { store in
      try MailOutbox.forgetShoppers(in: store)
      try Journal.forgetCustomersOfAgreements(in: store)
    }
    await database.emptyLog()
  }

  /// - Returns: how many orders it was, and the last one of them.
  private static func forgetSome(after last: String, in store: Transaction) throws -> (found: Int, last: String) {
    let ids = try store.rows(
      """
      SELECT id FROM orders WHERE id > $1 UNION SELECT order_id FROM baskets WHERE order_id > $1
      ORDER BY id LIMIT $2
      """, .text(last), .integer(Int64(batch))
    ).map { try $0.text("id") }
    for id in ids {
      guard let order = try FoundOrder.find(id, in: store) else { continue }
      try strip(order, in: store)
    }
    return (ids.count, ids.last ?? last)
  }

  /// How many orders are noted as erased whose keys are not destroyed in a file of this node's, and the other way round, by
  /// the file. A file that is missing or unreadable is not told.
  package static func countKeysOfErased(
    in files: RowKeys.Files?, _ database: Database
  ) async throws -> [String: Int]? {
    guard let files, try await database.tableNames().contains("erased_orders") else { return nil }
    let noted = try await database.read { try OrderErasure.findErased(in: $0) }
    let counts = [files.path, files.copy].compactMap(\.self).compactMap { path -> (String, Int)? in
      guard let destroyed = (try? RowKeys.destroyed(inFile: path)) ?? nil else { return nil }
      return (path, noted.symmetricDifference(destroyed).count)
    }
    return Dictionary(counts) { $1 }
  }

  /// Erases again what a restored database brings back: the file of the contact keys lists what was erased. And
  /// destroys the keys here of what another node has erased.
  ///
  /// - Returns: how many orders were erased again.
  @discardableResult
  package static func reconcile(_ database: Database) async throws -> Int {
    guard let keys = database.rowKeys else { return 0 }
    let noted = try await database.read { try OrderErasure.findErased(in: $0) }
    try keys.destroyAgain(noted)
    let back = keys.destroyed.subtracting(noted).sorted()
    for id in back {
      try await database.write { store in
        let found = try FoundOrder.find(id, in: store)
        _ = try erase(
          found ?? FoundOrder(id: OrderID(id), merchant: MerchantID(""), basket: BasketID(id)), writtenTo: nil,
          in: store)
      }
    }
    if !back.isEmpty { await database.emptyLog() }
    return back.count
  }
}

/// The searches that users of the office have kept.
private enum OfficeFilters {
  /// Forgets whom the searches name: those for the person go, and others that are called by the person get another name.
  ///
  /// - Parameters:
  ///   - names: of the person, as whole words, without regard to case: a search for the order R-10 is none for R-1.
  ///   - mark: of the e-mail address, as the orders' index has it: after a restore nobody reads the address.
  static func forget(_ names: [String], _ mark: String?, in store: Transaction) throws {
    for row in try store.rows("SELECT user_name, name, query FROM office_filters") {
      let (user, name) = (try row.text("user_name"), try row.text("name"))
      let (fields, filters) = (fields(of: try row.text("query")), SavedFilters(store: store))
      guard !fields.contains(where: { !conditions.contains($0.name) && has(names, mark, in: $0.value, store) }) else {
        try filters.remove(name, of: user)
        continue
      }
      // What the search's own conditions say names nobody.
      let others = fields.filter { conditions.contains($0.name) }.map { $0.value.lowercased() }
      let names = names.filter { name in !others.contains { has(name.lowercased(), in: $0) } }
      if has(names, mark, in: name, store) { try filters.rename(name, to: "search", of: user) }
    }
  }

  /// What a search may have beside the text for which it looks: no status and no route is a shopper's name.
  private static let conditions: Set = ["merchant", "status", "route", "amount", "from", "until", "alarm"]

  /// The fields of an address's query, as they are written.
  private static func fields(of query: String) -> [(name: String, value: String)] {
    query.split(separator: "&").map { field in
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.replacing("+", with: " ").removingPercentEncoding ?? String($0) }
      return (parts[0], parts.count == 2 ? parts[1] : "")
    }
  }

  private static func has(_ names: [String], _ mark: String?, in text: String, _ store: Transaction) -> Bool {
    let text = text.lowercased()
    guard !names.contains(where: { has($0.lowercased(), in: text) }) else { return true }
    guard let mark else { return false }
    let words = text.split { $0.isWhitespace || "<>()\",;:".contains($0) }.map(String.init)
    return ([text] + words).contains { OrderContacts.mark($0, in: store) == mark || $0 == mark }
  }

  private static func has(_ name: String, in text: String) -> Bool {
    guard !name.isEmpty else { return false }
    func isWord(_ character: Character?) -> Bool { character.map { $0.isLetter || $0.isNumber } ?? false }
    return text.ranges(of: name).contains { range in
      let before = range.lowerBound == text.startIndex ? nil : text[text.index(before: range.lowerBound)]
      let after = range.upperBound == text.endIndex ? nil : text[range.upperBound]
      return !(isWord(before) && isWord(name.first)) && !(isWord(after) && isWord(name.last))
    }
  }
}

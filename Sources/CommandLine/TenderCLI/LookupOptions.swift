import Administration
import ArgumentParser
import CommandSupport
import Ledger
import TenderPayments
import TenderServer

/// Which payments are listed.
struct LookupOptions: ParsableArguments {
  @Option(help: "The merchant's reference of the order.") var reference: String?
  @Option(help: "The shopper's e-mail address.") var email: String?
  @Option(parsing: .unconditional, help: "What the payment was begun for, with its currency: \"12.50 EUR\".")
  var amount: String?
  @Option(help: "The order's id.") var order: String?
  @Option(help: "The basket's id.") var basket: String?
  @Option(help: "The merchant's id.") var merchant: String?
  @Option(help: "The payment's status.") var status: StatusName?
  @Option(help: "Begun at this moment or later: 2026-11-21, which begins at 00:00 UTC, or 2026-11-21T08:00:00Z.")
  var from: Moment?
  @Option(help: "Begun before this moment.") var until: Moment?
  @Flag(help: "Only those with an alarm.") var alarmed = false
  @Option(help: "How many, at most 500; 20 by default.") var limit: Int?

  func validate() throws {
    guard [reference, email, order, basket].compactMap({ $0 }).count <= 1 else {
      throw ValidationError("Give one of --reference, --email, --order and --basket.")
    }
    do throws(MistypedAmount) { _ = try typedAmount() } catch { throw ValidationError("--amount \(error).") }
    if let limit { try Limit.check(limit) }
    try Moment.require(from, before: until)
  }

  private func typedAmount() throws(MistypedAmount) -> Amount? {
    guard let amount else { return nil }
    return try Amount(typed: amount, in: nil, least: 0)
  }

  /// How many payments are shown without --limit. One more is asked for, to know whether there are more.
  static let shown = 20

  var lookup: PaymentLookup {
    var lookup = PaymentLookup()
    let amount = try? typedAmount()
    (lookup.email, lookup.amount, lookup.currency) = (email, amount?.minorUnits, amount?.currency.code)
    (lookup.reference, lookup.order, lookup.basket) = (
      reference, order.map { OrderID($0) }, basket.map { BasketID($0) }
    )
    (lookup.merchant, lookup.status) = (merchant.map { MerchantID($0) }, status?.status)
    (lookup.from, lookup.until, lookup.alarmed, lookup.limit) = (
      from?.time, until?.time, alarmed, limit ?? Self.shown + 1
    )
    return lookup
  }

  /// A status as it is typed.
  struct StatusName: ExpressibleByArgument, CaseIterable {
    let status: PaymentStatus
    static let allCases = PaymentStatus.allCases.map { StatusName(status: $0) }
    static var allValueStrings: [String] { PaymentStatus.allCases.map(\.rawValue) }

    private init(status: PaymentStatus) { self.status = status }

    init?(argument: String) {
      guard let status = PaymentStatus(rawValue: argument) else { return nil }
      self.status = status
    }
  }
}

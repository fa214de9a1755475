import Administration
import Hummingbird
import Ledger
import TenderPayments

/// Every part that the pages are made of, for who changes them. Only where everything is simulated.
struct PartsController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] { [.get("/parts", .everywhere(.viewer), show)] }

  private func show(_ call: OfficeCall) throws -> Response {
    guard office.settings.isSimulated else { throw OfficeRefusal.nothing }
    let (format, euro) = (call.format, Currency(code: "EUR") ?? Currency.all[0])
    let counts: [Int64] = [12, 18, 9, 0, 24, 31, 28]
    let chart = TimeChart(
      title: "A chart over time, payments", summary: "122; the 7 days before: 97",
      columns: counts.enumerated().map { number, count in
        .init(
          label: format.shortDay(office.clock.now().seconds / Figures.day - 6 + Int64(number)),
          parts: [("approved", Double(count)), ("declined", 2), ("open", count == 31 ? 3 : 0)], before: 15,
          text: format.number(count), beforeText: format.number(15), path: "/payments")
      }, least: 1, tick: { format.short($0) },
      legend: [("approved", "approved"), ("declined", "declined"), ("open", "outcome open")])
    let ranks = RankChart(
      title: "Values by name",
      rows: [("visa", 0.94), ("mastercard", 0.91), ("amex", 0.72)].map { name, share in
        .init(name: name, share: share, text: format.share(share), before: format.share(share - 0.02))
      })
    let payment = Payment(
      id: PaymentID(""), order: OrderID(""), merchant: MerchantID("shop"), basket: BasketID(""),
      status: .partiallyRefunded, amount: Amount(minorUnits: 12_500, currency: euro), authorized: 11_000,
      captured: 9_000, refunded: 2_500, authorizationCode: nil, decline: nil,
      card: CardSummary(deviceAccountSuffix: nil, expiry: nil, hasECI: false), createdAt: office.clock.now(),
      updatedAt: office.clock.now())
    return try office.pages.page(
      "parts", "Parts", call,
      [
        "amount": format.amount(payment.amount), "money": MoneyBar(payment, format).values, "chart": chart.values,
        "ranks": ranks.values, "now": format.moment(office.clock.now()), "time": format.time(office.clock.now()),
        "statuses": PaymentStatus.allCases.map { ["class": $0.rawValue, "name": $0.shown] },
        "colours": Self.colours.map { ["name": $0] },
      ])
  }

  /// Their names in `tokens.css`.
  private static let colours = [
    "page", "surface", "raised", "tint", "good-tint", "wait-tint", "bad-tint", "accent", "before", "line", "edge",
  ]
}

import Auditing
import Gateway
import Ledger
import Orders
import DirectWire
import Storage
import TenderPayments
import TenderSheet

// Orders that are placed as a checkout places them: a basket, the quote that the shopper saw, and the order in the
// commit that claims its payment.

extension Supplies.Purchase {
  /// The basket as the merchant puts it: one thing for the order's amount, to be collected.
  fileprivate func document(_ agreement: AgreementDocument?) -> BasketDocument {
    var document = BasketDocument(
      currencyCode: order.amount.currency, countryCode: "IE", merchantReference: order.merchantReference,
      businessName: "Harbour Kitchen", serviceTypes: ["collection"],
      items: [.init(id: "all", label: "All of it", unitAmount: order.amount.minorUnits)])
    document.capture = order.capture
    document.agreement = agreement
    return document
  }
}

extension EngineLife {
  /// Puts the basket and opens its sheet.
  func open(
    _ purchase: Supplies.Purchase, _ agreement: AgreementDocument?, _ shown: @escaping (QuoteID) -> Void
  ) {
    let shown = Carried(shown)
    Task.detached { [orderService] in
      let (basket, merchant) = (purchase.order.basket, purchase.order.merchant)
      _ = try await orderService.put(purchase.document(agreement), as: basket, of: merchant)
      shown.value(try await orderService.sheet(basket, of: merchant).quote.id)
    }
  }

  func place(_ purchase: Supplies.Purchase, _ token: Int, _ quote: QuoteID, _ reply: @escaping (Answer) -> Void) {
    let request = PlaceOrderRequest(
      basket: purchase.order.basket, quote: quote, token: purchase.tokens[token], shippingContact: .shopper)
    begin(reply) { [orderService, gateway] in
      try await orderService.place(request, of: purchase.order.merchant, before: gateway.newDeadline()).payment
    }
  }
}

extension FullContact {
  fileprivate static let shopper = FullContact(
    givenName: "Aoife", familyName: "Byrne", phoneNumber: "+353 1 555 0100", emailAddress: "aoife@example.com")
}

extension SimulatedWorld {
  /// Opens the sheets of the orders that are placed, which are those without an idempotency key.
  func openSheets() {
    for purchase in supplies.purchases where !purchase.isKeyed { openSheet(of: purchase) }
    thread.run(until: thread.uptime + .seconds(2))
  }

  func openSheet(of purchase: Supplies.Purchase) {
    let agreement = hasAgreements ? purchase.agreement(isScheduled: hasSchedules) : nil
    engine?.open(purchase, agreement) { self.quotes[purchase.order.basket] = $0 }
  }
}

extension Evidence {
  /// What shoppers agreed to pay, under the ids that the orders got when they were placed. A charge of an agreement is for
  /// what its first order was.
  mutating func readPlacedOrders(_ store: Transaction, of purchases: [Supplies.Purchase]) throws {
    for row in try store.rows("SELECT id, merchant_reference FROM orders") {
      let (id, name) = (try row.text("id"), try row.text("merchant_reference"))
      guard let order = purchases.first(where: { $0.order.merchantReference == name.nameOfOrder })?.order
      else { continue }
      orders.append(
        PlannedOrder(id: id, amount: order.amount.minorUnits, currency: order.amount.currency.code))
    }
  }
}

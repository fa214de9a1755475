import Acquiring
import ApplePayToken
import Crypto
import DirectWire
import Gateway
import Ledger
import Storage
import Telemetry
package import TenderPayments
package import TenderSheet

/// What the page or app sends after the shopper authorized in the sheet.
package struct PlaceOrderRequest: Sendable {
  package let basket: BasketID
  /// The quote whose total the shopper saw last.
  package let quote: QuoteID
  package let token: EncryptedPaymentToken
  package let billingContact: FullContact?
  package let shippingContact: FullContact?
  /// The card as the device names it; nothing signs it.
  package let card: NamedCard
  /// The guest token of the last order from the same browser.
  package let guestToken: String?

  package init(
    basket: BasketID, quote: QuoteID, token: EncryptedPaymentToken, billingContact: FullContact? = nil,
    shippingContact: FullContact? = nil, card: NamedCard = NamedCard(), guestToken: String? = nil
  ) {
    self.guestToken = guestToken
    self.card = card
    self.basket = basket
    self.quote = quote
    self.token = token
    self.billingContact = billingContact
    self.shippingContact = shippingContact
  }
}

/// `paymentMethod` of Apple's payment token: what the page or app may show of the card.
package struct NamedCard: Sendable, Hashable {
  /// Such as `Visa 0492`.
  package let name: String?
  package let network: CardNetwork?
  package let type: PaymentMethodType?

  /// - Parameter name: counts as missing where it cannot be a card's.
  package init(name: String? = nil, network: CardNetwork? = nil, type: PaymentMethodType? = nil) {
    self.name = name.flatMap { Self.isName($0) ? $0 : nil }
    self.network = network
    self.type = type
  }

  /// Receipts show it, and operators read it on terminals, which take control characters for commands. A name with the
  /// digits of a whole card number, which has at least twelve, is never stored.
  private static func isName(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    return (1...64).contains(text.utf8.count) && scalars.contains { !$0.properties.isWhitespace }
      && scalars.count { $0.properties.numericType != nil } < 12
      && scalars.allSatisfy {
        !$0.properties.isDefaultIgnorableCodePoint && !unreadable.contains($0.properties.generalCategory)
      }
  }

  private static let unreadable: Set<Unicode.GeneralCategory> = [
    .control, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
  ]

  /// Without a network that neither this release knows nor the merchant takes: anybody can write such a name.
  fileprivate func on(_ terms: MerchantTerms) -> NamedCard {
    let isNamed = network.map { $0.facts != nil || terms.supportedNetworks.contains($0) } ?? false
    return NamedCard(name: name, network: isNamed ? network : nil, type: type)
  }
}

/// An order that was placed, whatever the outcome of its payment: a decline is an answer.
package struct PlacedOrder: Sendable, Hashable {
  package let order: OrderRecord
  /// As it is now.
  package let payment: Payment
  /// As it was reported to the shopper: the first final answer, given again whatever the merchant does with the payment
  /// afterwards. While there is none, as it is now.
  package var status: PaymentStatus { payment.reportedStatus ?? payment.status }
  /// For guests, once the payment is good.
  package let guestToken: String?
  package let receipt: OrderReceipt
}

/// An order as it is stored, and what its shopper gets of it.
struct KeptOrder: Sendable {
  var record: OrderRecord
  let receipt: OrderReceipt
}

extension OrderService {
  /// Places the order of a basket: already placed? quote still good? contact complete? does it go there at this price?
  /// Then the money.
  ///
  /// The basket makes it idempotent: while its payment lives, every further call gets that payment's answer, whatever
  /// payment token, clock or quote it comes with; only while the outcome is open another payment token has to wait. A
  /// payment token that was declined gets the same answer again.
  ///
  /// - Parameters:
  ///   - merchant: whose page or app asks; nil when the call does not say. The basket's id is what allows to pay it,
  ///     but never on another merchant's page.
  ///   - deadline: made when the shopper's call began. The merchant's price and the acquirer's answer have what is left
  ///     of it, so that together they keep within the time in which the sheet waits.
  package func place(
    _ request: PlaceOrderRequest, of merchant: MerchantID?, before deadline: Deadline
  ) async throws -> PlacedOrder {
    let (snapshot, named) = try await snapshotAndQuote(request, of: merchant)
    let merchant = snapshot.record.basket.merchant
    if let payment = try await earlier(snapshot, request.token) {
      return try await again(payment, snapshot, request.token)
    }
    try snapshot.checkOpen(at: clock.now())
    let quote = try goodQuote(named, snapshot.record)
    let amount = try amount(of: snapshot.record.basket, at: quote)
    let contact = try completeContact(request, snapshot.record.basket, quote)
    let terms = await terms(merchant)
    if let code = terms.refusal(clock.now()) { throw OrderError(code, "the merchant \(merchant) takes no Apple Pay") }
    try await confirmPrice(snapshot.record.basket, quote, at: contact.address, terms, before: deadline)
    let record = try await newOrder(amount, quote, snapshot.record, request.guestToken)
    let order = record.forGateway(snapshot.record.basket, terms, signedFor: quote.total)
    let kept = KeptOrder(record: record, receipt: OrderReceipt(quote, snapshot.record.basket.document))
    let agreement = snapshot.record.basket.newAgreement(terms)
    return try await pay(
      kept, contact, order, request, agreement,
      choosing: RouteChoice(contact, request.card.on(terms), record, order, snapshot.record.basket),
      deadline)
  }

  /// Opens the payment token, claims the order and asks the acquirer.
  private func pay(
    _ kept: KeptOrder, _ contact: OrderContact, _ order: Order, _ request: PlaceOrderRequest,
    _ agreement: NewAgreement?, choosing choice: RouteChoice, _ deadline: Deadline
  ) async throws -> PlacedOrder {
    let call = try gateway.newCall(before: deadline)
    defer { call.end() }
    switch try await gateway.confirm(request.token, pays: order, choosing: choice, in: call) {
    case .answered(let payment): return try await report(order.basket, payment)
    case .confirmed(let confirmed):
      do {
        let (attempt, written) = try await trace(.claim) {
          try await claim(confirmed, kept, contact, agreement, call)
        }
        return try await report(order.basket, gateway.authorize(confirmed, attempt, in: call).payment, written)
      } catch let refused as ClaimRefused {
        return try await report(order.basket, gateway.answer(refused, to: confirmed))
      }
    }
  }

  /// One commit: the payment's claim, the order with its contact, and the agreement that it begins. Nothing is written if
  /// either is refused.
  ///
  /// The basket is locked first: a claim that waits for it holds no audit chain, for which other payments would wait. It
  /// is checked last: a basket that has been paid meanwhile gets that payment's answer, whatever else has changed.
  private func claim(
    _ confirmed: ConfirmedOrder, _ kept: KeptOrder, _ contact: OrderContact, _ agreement: NewAgreement?,
    _ call: PaymentCall
  ) async throws -> (Attempt, KeptOrder) {
    let record = kept.record
    return try await database.writeOnce { (store, inDoubt: (Attempt, KeptOrder)?) in
      let basket = try ClaimedBasket(locking: record.basket, of: record.merchant, in: store)
      let attempt: Attempt
      do { attempt = try gateway.claim(confirmed, for: call, in: store) } catch let refused as ClaimRefused {
        guard let inDoubt, refused.isBy(inDoubt.0) else { throw refused }
        return inDoubt
      }
      try basket.check(shows: record.quote, in: store)
      try record.save(contact, in: store)
      if let agreement { _ = try journal.begin(agreement.with(confirmed.merchantToken), with: attempt, in: store) }
      let stored = try record.stored(over: basket.order(in: store), at: store.now)
      return (attempt, KeptOrder(record: stored, receipt: kept.receipt))
    }
  }
}

// Asked afterwards.
extension OrderService {
  /// The result of placing the basket's order: for a page that was reloaded, or lost its connection after sending.
  /// Nil before the first try.
  package func resolve(_ id: BasketID, of merchant: MerchantID) async throws -> PlacedOrder? {
    let snapshot = try await snapshot(of: id, merchant)
    guard let payment = snapshot.payment else { return nil }
    let mode = snapshot.record.basket.document.capture
    guard snapshot.waitsForAnswer else { return try await report(id, payment) }
    return try await gateway.reading(payment.id) { try await report(id, await resolve(payment, mode)) }
  }

  /// A client that waits for an open outcome makes us inquire; if the acquirer cannot be asked, the outcome stays open.
  private func resolve(_ payment: Payment, _ mode: CaptureMode) async -> Payment {
    (try? await gateway.resolve(payment.id, mode)) ?? payment
  }
}

// The steps, in their order.
extension OrderService {
  private func snapshotAndQuote(
    _ request: PlaceOrderRequest, of merchant: MerchantID?
  ) async throws -> (BasketSnapshot, named: Quote?) {
    let (record, payment, quote) = try await database.first(
      BasketRecord.query(request.basket), Journal.paymentQuery(of: request.basket), Quote.query(request.quote))
    return (try BasketSnapshot(record, payment, of: merchant), quote)
  }

  /// The payment that holds the basket, or the one that this very payment token made.
  private func earlier(_ snapshot: BasketSnapshot, _ token: EncryptedPaymentToken) async throws -> Payment? {
    guard snapshot.payment != nil else { return nil }
    return try await journal.answer(for: snapshot.record.order, spending: TokenUse(of: token))
  }

  /// The answer of a payment that was made before. One that is being made has none yet. Money that is held and should
  /// have been captured is recovery's to capture.
  private func again(
    _ payment: Payment, _ snapshot: BasketSnapshot, _ token: EncryptedPaymentToken
  ) async throws -> PlacedOrder {
    guard payment.status != .authorizing else {
      throw OrderError(.paymentInProgress, "the basket is being paid at this moment")
    }
    try await checkMayReceive(payment, token)
    return try await report(snapshot.record.basket.id, payment)
  }

  /// While the outcome is open only the payment token that made the payment gets it again; another one has to wait.
  private func checkMayReceive(_ payment: Payment, _ token: EncryptedPaymentToken) async throws {
    guard !payment.status.isResolved else { return }
    guard try await journal.isPaid(payment.id, by: TokenUse(of: token)) else {
      throw OrderError(.paymentInProgress, "the outcome of the basket's payment is not known yet")
    }
  }

  private func goodQuote(_ named: Quote?, _ record: BasketRecord) throws -> Quote {
    guard let quote = named else {
      throw OrderError(.quoteUnknown, "no such quote", field: "quoteId")
    }
    guard quote.basket == record.basket.id else {
      throw OrderError(.quoteForeign, "the quote is of another basket", field: "quoteId")
    }
    guard record.currentQuote == quote.id else {
      throw OrderError(.quoteStale, "another quote was shown since", field: "quoteId")
    }
    guard quote.isPayable else {
      throw OrderError(.addressUnserviceable, "the quote was shown with an error", field: "quoteId")
    }
    return quote
  }

  /// What is authorized: the total that the shopper saw, or the estimate where it was shown as pending. A total of zero
  /// verifies the card, where a route can.
  private func amount(of basket: Basket, at quote: Quote) throws -> Amount {
    guard quote.isPending else {
      let isFree = quote.total.minorUnits == 0 && verifiesCards(for: basket.document, of: basket.merchant)
      guard quote.total.isPositive || isFree else {
        throw OrderError(.totalNotPositive, "the total is \(quote.total)")
      }
      return quote.total
    }
    guard let estimate = basket.estimate else {
      throw OrderError(
        .totalPending, "the total was shown as pending, and the basket has no estimate", field: "quoteId")
    }
    return estimate
  }

  private func completeContact(_ request: PlaceOrderRequest, _ basket: Basket, _ quote: Quote) throws -> OrderContact {
    let contact = OrderContact(
      service: quote.state.service, shipping: request.shippingContact, billing: request.billingContact,
      billingRequired: basket.document.billingRequired)
    var missing = contact.missingFields(
      of: quote.state.service.shippingFields(basket.contactFields), in: basket.locale,
      checksCountry: basket.checksAddresses)
    if basket.document.billingRequired, request.billingContact.flatMap({ OrderAddress($0) }) == nil {
      missing.append(.billingContactInvalid(.postalAddress, basket.locale.text(.enterBillingAddress)))
    }
    guard missing.isEmpty else {
      let fields = missing.compactMap { $0.contactField?.rawValue }.joined(separator: ", ")
      throw OrderError(.contactIncomplete, "missing: \(fields)", field: "shippingContact", sheetErrors: missing)
    }
    try basket.requireCountries(shipping: contact.address?.countryCode, billing: request.billingContact?.countryCode)
    return contact
  }

  /// The redacted contact was a guess. The full address must be one that we deliver to, at the price that was shown:
  /// a shopper who authorized one total is never charged another.
  private func confirmPrice(
    _ basket: Basket, _ quote: Quote, at address: OrderAddress?, _ terms: MerchantTerms, before deadline: Deadline
  ) async throws {
    guard quote.state.service.needsAddress else { return }
    let priced = try await quotes.price(basket, quote, at: address, terms, before: deadline)
    guard priced.errors.isEmpty else {
      throw OrderError(
        .addressUnserviceable, "the full address is not served", field: "shippingContact",
        sheetErrors: priced.errors)
    }
    let total = try priced.summary(of: basket).total
    let isSame = total.amount == quote.total && (total.kind == .pending) == quote.isPending
    guard isSame, priced.state.shippingMethod == quote.state.shippingMethod,
      priced.unavailableItems == quote.unavailableItems
    else {
      throw OrderError(
        .addressChangesPrice, "shown \(quote.total), with the full address \(total.amount)", field: "shippingContact",
        sheetErrors: [.shippingContactInvalid(.postalCode, Self.anotherPrice(total, than: quote, basket.locale))])
    }
  }

  private static func anotherPrice(_ total: SummaryItem, than quote: Quote, _ locale: ShopperLocale) -> String {
    total.kind == .final && total.amount != quote.total
      ? locale.text(.addressTotal, amount: total.amount) : locale.text(.chooseAddressAgain)
  }

  /// - Parameter written: the order, if this very call has written it.
  private func report(
    _ basket: BasketID, _ payment: Payment, _ written: KeptOrder? = nil
  ) async throws -> PlacedOrder {
    guard let order = try await order(of: basket, written) else {
      throw OrderError(.basketUnknown, "the payment is of another order")
    }
    let payment = await markReported(payment)
    let isGood = (payment.reportedStatus ?? payment.status).isLive
    return PlacedOrder(
      order: order.record, payment: payment, guestToken: isGood ? order.record.guestToken : nil, receipt: order.receipt)
  }

  private func order(of basket: BasketID, _ written: KeptOrder?) async throws -> KeptOrder? {
    if let written { return written }
    return try await database.read { store in
      guard let record = try OrderRecord.find(of: basket, in: store),
        let quote = try Quote.find(record.quote, in: store), let stored = try BasketRecord.find(basket, in: store)
      else { return nil }
      return KeptOrder(record: record, receipt: OrderReceipt(quote, stored.basket.document))
    }
  }

  /// The payment with its outcome marked as reported, if *pending* was reported before, or nothing because the process
  /// died. The shopper gets the outcome also when the store takes no writes.
  private func markReported(_ payment: Payment) async -> Payment {
    guard payment.status.isResolved, payment.reportedStatus == nil else { return payment }
    return (try? await journal.markReported(payment.id)) ?? payment
  }

  /// - Parameter earlier: the guest token of the last order from the same browser.
  private func newOrder(
    _ amount: Amount, _ quote: Quote, _ record: BasketRecord, _ earlier: String?
  ) async throws -> OrderRecord {
    let now = clock.now()
    guard record.basket.document.customer == nil else { return OrderRecord(amount, quote, record, at: now) }
    let guest = try await guestID(earlier, at: record.basket.merchant)
    let token = try guestTokens?.token(for: record.order, of: record.basket.id, guest: guest, issued: now)
    return OrderRecord(amount, quote, record, guest: guest, guestToken: token, at: now)
  }
}

extension OrderRecord {
  fileprivate init(
    _ amount: Amount, _ quote: Quote, _ record: BasketRecord, guest: String? = nil, guestToken: String? = nil,
    at now: Timestamp
  ) {
    self.init(
      id: record.order, merchant: record.basket.merchant, basket: record.basket.id, quote: quote.id,
      merchantReference: record.basket.document.merchantReference, amount: amount, service: quote.state.service,
      customer: record.basket.document.customer, guest: guest, requestedFor: record.requestedFor, note: record.note,
      createdAt: now, guestToken: guestToken)
  }

  /// The order as the gateway needs it: the payment token must carry this hash, and the total that the sheet showed.
  fileprivate func forGateway(_ basket: Basket, _ terms: MerchantTerms, signedFor shown: Amount) -> Order {
    Order(
      id: id, merchant: merchant, basket: self.basket, amount: amount,
      applicationDataHash: Array(SHA256.hash(data: terms.applicationData(of: basket))),
      merchantReference: merchantReference, capture: basket.document.capture, signedAmount: shown)
  }
}

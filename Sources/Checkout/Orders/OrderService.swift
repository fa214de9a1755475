import Acquiring
package import DirectWire
package import Gateway
import Ledger
import Storage
package import TenderPayments
package import TenderSheet

/// Where a basket becomes an order: the merchant puts it here, the sheet asks what to show, the shopper places it.
///
/// No rule of a particular shop is here; they come with the basket. Placing an order is in `PlaceOrder.swift`.
package struct OrderService: Sendable {
  let gateway: PaymentGateway
  var journal: Journal { gateway.journal }
  var database: Database { journal.database }
  let quotes: QuoteSource
  let terms: @Sendable (MerchantID) async -> MerchantTerms
  let guestTokens: GuestTokenIssuer?
  let clock: WallClock
  let random: RandomBytes
  let basketLifetime: Duration

  /// - Parameters:
  ///   - gateway: over a store that was opened with ``migrations`` and the ledger's.
  ///   - quotes: nil where no merchant prices by itself.
  ///   - terms: asked at each call.
  ///   - guestTokens: nil where guests get none.
  ///   - basketLifetime: how long a basket can be paid after it was put here.
  package init(
    gateway: PaymentGateway, quotes: QuoteSource? = nil,
    terms: @escaping @Sendable (MerchantID) async -> MerchantTerms, guestTokens: GuestTokenIssuer? = nil,
    clock: WallClock = .system, random: RandomBytes = .system, basketLifetime: Duration = .seconds(86_400)
  ) {
    self.gateway = gateway
    self.quotes = quotes ?? .rulesOnly(clock: clock)
    self.terms = terms
    self.guestTokens = guestTokens
    self.clock = clock
    self.random = random
    self.basketLifetime = basketLifetime
  }
}

// The merchant's side.
extension OrderService {
  /// Takes a basket, or new content for one that was not tried to be paid yet. The same content again changes nothing.
  ///
  /// - Parameter page: nil for a basket that is paid on a page or in an app of the merchant's.
  @discardableResult
  package func put(
    _ document: BasketDocument, as id: BasketID, of merchant: MerchantID, on page: HostedPageTerms? = nil
  ) async throws -> BasketAnswer {
    let terms = await terms(merchant)
    let basket = try Basket(
      terms.completing(document), id: id, merchant: merchant, isHosted: page != nil,
      mayBeFree: verifiesCards(for: document, of: merchant), at: clock.now())
    try checkAgreement(basket)
    try terms.check(quoteURL: document.quoteURL)
    try checkRoute(document.route, of: merchant)
    let (newOrder, lifetime) = (OrderID(random.timeOrderedID(clock)), basketLifetime)
    try await database.write { store in
      let expires = page?.expiresAt ?? store.now.adding(lifetime)
      guard try !BasketRecord.insert(basket, order: newOrder, expires: expires, attempts: page?.attempts, in: store)
      else { return }
      try Self.replace(basket, expires: expires, in: store)
    }
    return try await self.basket(id, of: merchant)
  }

  /// Gives a basket that is stored new content, if it is the merchant's and was not tried to be paid.
  private static func replace(_ basket: Basket, expires: Timestamp, in store: Transaction) throws {
    guard let known = try BasketRecord.findLocking(basket.id, in: store), known.basket.merchant == basket.merchant,
      known.basket.isHosted == basket.isHosted
    else { throw OrderError(.basketIDTaken, "the id is in use") }
    if known.basket == basket, !known.isCancelled { return }
    try checkReplaceable(known, in: store)
    try BasketRecord.replace(basket, expires: expires, in: store)
  }

  package func basket(_ id: BasketID, of merchant: MerchantID) async throws -> BasketAnswer {
    let (snapshot, shown, placed) = try await database.read { store in
      let snapshot = try BasketSnapshot(id, of: merchant, in: store)
      let shown = try snapshot.record.currentQuote.flatMap { try Quote.find($0, in: store) }
      return (snapshot, shown, try MerchantOrder.find(of: id, in: store))
    }
    return try answer(snapshot, shown, placed)
  }

  /// What became of the basket.
  package func outcome(_ id: BasketID, of merchant: MerchantID) async throws -> BasketOutcome {
    try await database.read { store in
      let snapshot = try BasketSnapshot(id, of: merchant, in: store)
      return BasketOutcome(
        state: snapshot.state, order: try OrderRecord.find(of: id, in: store), payment: snapshot.payment)
    }
  }

  /// Ends the basket for good, unless an acquirer may have been asked already.
  ///
  /// The check and the mark are one transaction, and so are the claim of a payment and its look at the mark: exactly
  /// one of the two wins.
  package func cancel(_ id: BasketID, of merchant: MerchantID) async throws {
    try await end(id, of: merchant) { try $0.cancel(in: $1) }
  }

  private func end(
    _ id: BasketID, of merchant: MerchantID, _ mark: @escaping @Sendable (BasketRecord, Transaction) throws -> Void
  ) async throws {
    try await database.write { store in
      try BasketRecord.lock(id, in: store)
      let record = try BasketRecord.require(id, of: merchant, in: store)
      guard try !Journal.hasAttempt(for: id, in: store) else {
        let status = try Journal.payment(of: id, in: store)?.status.rawValue ?? "unknown"
        throw OrderError(.basketPlaced, "the basket's payment is \(status)")
      }
      try mark(record, store)
    }
  }

  /// The shopper closes the sheet during a payment.
  ///
  /// A merchant's page makes a basket for each order, so the basket ends. Whoever has the address of a page of the platform
  /// can call this, so of its basket the attempt ends alone: what the sheet shows can be paid no more.
  package func closeSheet(_ id: BasketID, of merchant: MerchantID) async throws {
    try await end(id, of: merchant) { record, store in
      try record.basket.isHosted ? record.withdrawQuote(in: store) : record.cancel(in: store)
    }
  }

  /// The contact of a placed order; the merchant's to know, not the page's.
  package func contact(_ id: BasketID, of merchant: MerchantID) async throws -> OrderContact? {
    try await database.read { store in
      _ = try BasketRecord.require(id, of: merchant, in: store)
      return try OrderRecord.find(of: id, in: store).flatMap { try OrderContact.find(of: $0.id, in: store) }
    }
  }

  /// A route that is not configured and one of another merchant's are the same to the caller.
  private func checkRoute(_ name: String?, of merchant: MerchantID) throws {
    guard let name else { return }
    guard let route = Route(name), gateway.routes.offers(route, to: merchant) else {
      throw OrderError(
        .basketInvalid, "route must be one of the merchant's routes; “\(name.prefix(80))” is none", field: "route")
    }
  }

  /// An agreement that no route of the merchant's can keep is refused before a shopper sees it.
  private func checkAgreement(_ basket: Basket) throws {
    guard let agreement = basket.agreement else { return }
    let route = basket.document.route.flatMap { Route($0) }
    guard gateway.routes.begins(agreement.kind, of: basket.merchant, in: basket.currency, on: route) else {
      throw OrderError(
        .agreementNotOffered,
        "no route of merchant \(basket.merchant) begins an agreement that is \(agreement.kind.rawValue)",
        field: "agreement")
    }
  }

  /// Whether a total of zero verifies the shopper's card: a route of the merchant's can.
  func verifiesCards(for document: BasketDocument, of merchant: MerchantID) -> Bool {
    gateway.routes.verifiesCards(
      of: merchant, in: document.currencyCode, on: document.route.flatMap { Route($0) })
  }

  private static func checkReplaceable(_ record: BasketRecord, in store: Transaction) throws {
    if record.isCancelled { throw OrderError(.basketCancelled, "the basket was cancelled") }
    guard try OrderRecord.find(of: record.basket.id, in: store) == nil else {
      throw OrderError(.basketPlaced, "an order was made of the basket")
    }
  }

  private func answer(_ snapshot: BasketSnapshot, _ shown: Quote?, _ placed: MerchantOrder?) throws -> BasketAnswer {
    let record = snapshot.record
    let total = try shown?.total ?? quotes.open(record.basket, record.opening).summary(of: record.basket).total.amount
    return BasketAnswer(
      basketId: record.basket.id, state: snapshot.state,
      merchantReference: record.basket.document.merchantReference, total: WireAmount(total),
      pending: shown?.isPending ?? record.basket.document.pending, expiresAt: WireTime(record.expiresAt),
      order: placed?.answer(snapshot.payment))
  }
}

// The sheet's side.
extension OrderService {
  /// Whose basket this is. A page knows its basket's id and not the merchant's name here; the id is the capability.
  package func merchant(of id: BasketID) async throws -> MerchantID {
    guard let merchant = try await database.read({ try BasketRecord.merchant(of: id, in: $0) }) else {
      throw OrderError(.basketUnknown, "no such basket")
    }
    return merchant
  }

  /// The language in which the basket's shopper is spoken to.
  package func locale(of id: BasketID) async throws -> ShopperLocale {
    try await database.read { try BasketRecord.require(id, of: nil, in: $0).basket.locale }
  }

  /// What the sheet opens with. Makes the quote that a payment may name.
  package func sheet(_ id: BasketID, of merchant: MerchantID) async throws -> SheetRequest {
    let terms = await terms(merchant)
    let shown = try await showing(id, merchant) { record in
      let priced = try quotes.open(record.basket, record.opening)
      let request = try record.factory(terms).request(for: record.contents(priced, terms))
      let rules = record.basket.addressRules(for: priced.state.service, at: request.countryCode)
      return (priced, (request, record.basket.document.locale, rules))
    }
    return SheetRequest(
      quote: shown.quote, request: shown.answer.0, locale: shown.answer.1, addressRules: shown.answer.2)
  }

  /// Prices what the shopper changed. With an error of the address the sheet stays open and cannot be paid.
  package func update(
    _ id: BasketID, of merchant: MerchantID, _ change: SheetChange
  ) async throws -> (quote: Quote, update: SheetUpdate) {
    let terms = await terms(merchant)
    let shown = try await showing(id, merchant) { record in
      let state = try await state(of: record)
      let priced = try await quotes.price(record.basket, state, after: change, terms)
      return (priced, try record.update(priced, after: change))
    }
    return (shown.quote, shown.answer)
  }

  /// Chooses service, time and note before the sheet opens.
  package func prepare(_ id: BasketID, of merchant: MerchantID, _ details: OrderDetails) async throws {
    let now = clock.now()
    try await database.write { store in
      try BasketRecord.lock(id, in: store)
      let snapshot = try BasketSnapshot(id, of: merchant, in: store)
      try snapshot.checkOpen(at: now)
      try snapshot.record.prepared(details).savePrepared(in: store)
    }
  }

  /// Whether the basket can go there, as far as country and postal code tell.
  package func checkPostalCode(
    _ postalCode: String, country: String, _ id: BasketID, of merchant: MerchantID
  ) async throws -> Bool {
    let record = try await database.read { try BasketRecord.require(id, of: merchant, in: $0) }
    var state = record.opening
    state.destination = record.basket.destination(
      shown: RedactedContact(postalCode: postalCode, countryCode: country))
    return try quotes.open(record.basket, state).errors.isEmpty
  }
}

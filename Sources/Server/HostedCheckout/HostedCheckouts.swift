package import DirectWire
package import Orders
package import Storage
package import TenderPayments

/// Where a merchant's server makes hosted checkouts and payment links and asks what became of them, and where the page
/// asks what to show.
///
/// A checkout is a basket with a page: quotes, payments and the journal are those of every basket.
package struct HostedCheckouts: Sendable {
  /// What the checkout's payment is on the wire.
  package typealias WirePayment = @Sendable (Payment, HostedCheckout) async throws -> DirectPayment

  let orderService: OrderService
  let database: Database
  let merchants: @Sendable (MerchantID) -> HostedMerchant?
  let payment: WirePayment
  /// `scheme://host[:port]` of the pages.
  package let origin: String
  let clock: WallClock
  let random: RandomBytes

  /// - Parameter database: the one of baskets and payments, opened with ``migrations`` too.
  package init(
    orderService: OrderService, database: Database, merchants: @escaping @Sendable (MerchantID) -> HostedMerchant?,
    payment: @escaping WirePayment, origin: String, clock: WallClock, random: RandomBytes
  ) {
    self.orderService = orderService
    self.database = database
    self.merchants = merchants
    self.payment = payment
    self.origin = origin
    self.clock = clock
    self.random = random
  }

  /// The address of a checkout's page.
  package func pageURL(_ id: BasketID) -> String { "\(origin)\(HostedPaths.page(id))" }
}

// The merchant's side.
extension HostedCheckouts {
  /// `POST /v2/{merchantId}/hostedcheckouts`
  ///
  /// - Parameter call: a repeat of it gets the first answer; nil for a call without a key.
  package func create(
    _ request: CreateHostedCheckoutRequest, of merchant: MerchantID, _ call: CreatingCall?
  ) async throws -> CreateHostedCheckoutAnswer {
    let (known, now) = (try known(merchant), clock.now())
    let checkout = try await make(by: call, of: merchant, .session) {
      try CheckoutDraft(request, of: known, at: now, id: newID())
    }
    return CreateHostedCheckoutAnswer(
      id: checkout.id.rawValue, returnMAC: checkout.returnMAC, redirectUrl: pageURL(checkout.id),
      partialRedirectUrl: partialURL(checkout.id), merchantReference: checkout.merchantReference,
      invalidTokens: CheckoutDraft.invalidTokens(request.hostedCheckoutSpecificInput))
  }

  /// `GET /v2/{merchantId}/hostedcheckouts/{hostedCheckoutId}`
  package func answer(_ id: BasketID, of merchant: MerchantID) async throws -> HostedCheckoutAnswer {
    let shown = try await require(id, by: merchant, .session)
    switch shown.state {
    case .open: return HostedCheckoutAnswer(status: .inProgress)
    case .paid: return try await render(shown, .successful)
    case .processing: return try await render(shown, .unknown)
    case .refused: return try await render(shown, .rejected)
    case .cancelled, .expired:
      let output = try await output(shown, .rejected)
      return HostedCheckoutAnswer(
        status: .cancelled, createdPaymentOutput: output ?? .init(payment: shown.cancelled, category: .rejected))
    }
  }

  private func render(
    _ shown: ShownCheckout, _ category: HostedCheckoutAnswer.Category
  ) async throws -> HostedCheckoutAnswer {
    HostedCheckoutAnswer(status: .paymentCreated, createdPaymentOutput: try await output(shown, category))
  }

  private func output(
    _ shown: ShownCheckout, _ category: HostedCheckoutAnswer.Category
  ) async throws -> HostedCheckoutAnswer.Output? {
    guard let payment = shown.basket.payment else { return nil }
    return .init(payment: try await self.payment(payment, shown.checkout), category: category)
  }

  func newID() -> BasketID { BasketID(random.hex(16)) }

  func known(_ merchant: MerchantID) throws -> HostedMerchant {
    guard let known = merchants(merchant) else {
      throw HostedCheckoutError(.checkoutUnknown, "there is no merchant \(merchant)")
    }
    return known
  }

  /// The checkout of a call: the one that it has made before, or a new one.
  func make(
    by call: CreatingCall?, of merchant: MerchantID, _ kind: HostedCheckout.Kind, _ draft: () throws -> CheckoutDraft
  ) async throws -> HostedCheckout {
    if let first = try await database.read({ try HostedCheckout.find(by: call, of: merchant, in: $0) }) { return first }
    if let code = try known(merchant).refusal(clock.now()) {
      throw OrderError(code, "the merchant \(merchant) takes no Apple Pay")
    }
    return try await store(try draft(), of: merchant, kind, call)
  }

  /// Puts the basket, and the page beside it. No shopper can reach a basket without a page.
  private func store(
    _ draft: CheckoutDraft, of merchant: MerchantID, _ kind: HostedCheckout.Kind, _ call: CreatingCall?
  ) async throws -> HostedCheckout {
    try await orderService.put(
      draft.document, as: draft.id, of: merchant,
      on: HostedPageTerms(expiresAt: draft.expiresAt, attempts: draft.attempts))
    let checkout = draft.checkout(of: merchant, kind, returnMAC: random.hex(16), at: clock.now())
    return try await database.write { store in
      if try checkout.save(from: call, in: store) { return checkout }
      // The call came twice at once, and the other was faster.
      try OrderService.forget(checkout.id, in: store)
      return try HostedCheckout.find(by: call, of: merchant, in: store) ?? checkout
    }
  }

  /// The address without scheme and first label, where that is `payment`; older SDKs add `https://payment.`.
  private func partialURL(_ id: BasketID) -> String {
    let address = pageURL(id)
    for prefix in ["https://payment.", "https://", "http://"] where address.hasPrefix(prefix) {
      return String(address.dropFirst(prefix.count))
    }
    return address
  }

  /// The merchant's own; another merchant's is unknown.
  func require(
    _ id: BasketID, by merchant: MerchantID, _ kind: HostedCheckout.Kind
  ) async throws -> ShownCheckout {
    let shown = try await load(id)
    guard shown.checkout.merchant == merchant, shown.checkout.kind == kind else { throw Self.unknown }
    return shown
  }

  static let unknown = HostedCheckoutError(.checkoutUnknown, "there is no such checkout")
}

// The page's side.
extension HostedCheckouts {
  /// - Throws: ``HostedCheckoutError`` for an id that names none.
  package func checkout(_ id: BasketID) async throws -> HostedCheckout {
    guard let checkout = try await database.read({ try HostedCheckout.find(id, in: $0) }) else { throw Self.unknown }
    return checkout
  }

  package func load(_ id: BasketID) async throws -> ShownCheckout {
    let checkout = try await checkout(id)
    let basket = try await orderService.hostedBasket(id, of: checkout.merchant)
    return ShownCheckout(
      checkout: checkout, basket: basket, merchant: try known(checkout.merchant),
      state: CheckoutState(basket, at: clock.now()))
  }

  /// The shopper ends the checkout. One that is paid, or being paid, stays as it is.
  package func cancel(_ id: BasketID) async throws {
    let shown = try await load(id)
    guard shown.state == .open, shown.checkout.kind == .session else { return }
    do {
      try await orderService.cancel(id, of: shown.checkout.merchant)
    } catch let error as OrderError where error.code == .basketPlaced {
      // A payment was faster; the page shows it.
    }
  }

  /// A new code that takes an open checkout to another device.
  package func handOver(_ id: BasketID) async throws -> Handover? {
    guard try await load(id).state == .open else { return nil }
    let code = random.hex(16)
    return try await database.write { store in
      let handover = Handover(code: code, expiresAt: store.now.adding(Handover.lifetime))
      try handover.save(for: id, in: store)
      return handover
    }
  }

  /// The checkout of a code that was scanned; nil for one that is no good any more.
  package func arrive(with code: String) async throws -> BasketID? {
    try await database.write { try Handover.use(code, in: $0) }
  }

  package func isGood(_ code: String) async throws -> Bool {
    try await database.read { try Handover.isGood(code, in: $0) }
  }

  package func continueURL(_ code: String) -> String { origin + HostedPaths.proceed(code) }
}

/// A checkout with everything that its page shows, seen at one moment.
package struct ShownCheckout: Sendable {
  package let checkout: HostedCheckout
  package let basket: HostedBasket
  package let merchant: HostedMerchant
  package let state: CheckoutState

  /// Where the shopper goes back to: only what the merchant has stored, never what a request says.
  package var returnAddress: String? {
    checkout.returnURL.map {
      ReturnURL.adding([("RETURNMAC", checkout.returnMAC), ("hostedCheckoutId", checkout.id.rawValue)], to: $0)
    }
  }

  /// The payment of a checkout that ended before anybody tried to pay, as Worldline's SDKs read it. It has the
  /// checkout's name: no payment of that name was made, and a look-up of it finds none.
  fileprivate var cancelled: DirectPayment {
    var payment = DirectPayment(
      id: DirectPaymentID(payment: checkout.id.rawValue),
      statusOutput: DirectStatusOutput(
        .cancelledByCustomer, isAuthorized: false, isCancellable: false, isRefundable: false),
      paymentOutput: DirectPaymentOutput(
        amountOfMoney: basket.total, acquiredAmount: Amount(minorUnits: 0, currency: basket.total.currency),
        references: checkout.references, at: checkout.createdAt, ofPaymentAt: checkout.createdAt))
    payment.hostedCheckoutSpecificOutput = checkout.output
    payment.tender = TenderExtras(basketId: checkout.id.rawValue)
    return payment
  }
}

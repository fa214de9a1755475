package import Acquiring
import ApplePayToken
import Ledger
package import TenderPayments

/// An order with the credential that was found to pay exactly it. Only ``PaymentGateway/confirm(_:pays:)`` makes one, and for
/// an agreement's period its claim; only it can become an authorization request.
package struct ConfirmedOrder: Sendable {
  let order: Order
  let use: TokenUse
  private let instrument: PaymentInstrument
  /// Whether the amount inside was seen.
  let amountConfirmed: Bool
  /// As of ``RouteChoice/captureDelay``.
  let captureDelay: Duration?
  /// The network's identifier of the merchant token, where the payment token was opened here and has one.
  package let merchantToken: String?
  /// Without what the route adds.
  package let sale: SaleDetails
  private let merchant: MerchantSale
  /// The routes that the payment may take, the first choice first; never empty.
  let candidates: [Acquirer]
  /// When Apple signed the payment token; nil for a credential without a signature.
  let signedAt: Timestamp?

  init(
    _ order: Order, use: TokenUse, instrument: PaymentInstrument, amountConfirmed: Bool, _ choice: RouteChoice,
    merchant: MerchantSale, merchantToken: String? = nil, candidates: [Acquirer], signedAt: Timestamp? = nil
  ) {
    (self.signedAt, self.merchantToken) = (signedAt, merchantToken)
    self.amountConfirmed = amountConfirmed
    (self.sale, captureDelay) = (choice.sale, choice.captureDelay)
    self.order = order
    self.use = use
    self.instrument = instrument
    self.merchant = merchant
    self.candidates = candidates
  }

  /// Whether the call that authorizes captures too.
  var isCapturedAtOnce: Bool { order.capture == .immediate && captureDelay == nil }

  var card: CardSummary {
    var card = instrument.summary
    (card.name, card.network, card.type) = (sale.cardName, sale.cardNetwork ?? network, sale.cardType)
    return card
  }

  var instrumentKind: AcquirerCapabilities.Instrument {
    switch instrument {
    case .network: .network
    case .sealed: .sealed
    case .stored: .stored
    }
  }

  /// The card's network; nil where neither the number nor the device says.
  package var network: CardNetwork? {
    switch instrument {
    case .network(let card): CardNetwork(of: card.dpan)
    case .sealed: sale.cardNetwork
    case .stored(let credential): credential.card.network
    }
  }

  /// Where the payment may go if nothing was sent to the route. A sealed payment token can be opened by one provider.
  func candidates(after route: String) -> ArraySlice<Acquirer> {
    guard case .network = instrument,
      let index = candidates.firstIndex(where: { $0.capabilities.route == route })
    else { return [] }
    return candidates[(index + 1)...]
  }

  /// The sale as the acquirer is asked.
  func sale(at acquirer: AcquirerCapabilities) -> SaleDetails {
    var sale = sale.completed(by: merchant, at: acquirer, for: order.amount)
    // The shopper has signed another amount than is held, so what is held is an estimate.
    if order.signedAmount != order.amount { sale.authorization = sale.authorization ?? .preliminary }
    return sale
  }

  func request(_ attempt: Attempt, to acquirer: AcquirerCapabilities) -> AuthorizationRequest {
    AuthorizationRequest(
      reference: attempt.reference, merchantReference: order.merchantReference, amount: attempt.amount,
      instrument: instrument, sale: sale(at: acquirer))
  }
}

extension PaymentGateway {
  /// Step 6 of Apple's procedure: what the shopper signed is what the order asks for. The payment token library
  /// checks; the expected values are the order's.
  ///
  /// Where the provider opens the token, signature, signing time and application data are checked as always; the
  /// amount inside cannot be, and the payment says so.
  ///
  /// - Throws: stage `order`, or what made the token unacceptable before; or that no route takes the payment.
  func confirm(_ credential: PaymentCredential, pays order: Order, _ choice: RouteChoice) async throws -> ConfirmedOrder
  {
    try refuseUntakenCurrency(order.amount)
    switch credential {
    case .token(let token): return try await confirm(token, pays: order, isBound: true, choice)
    case .handedIn(let token): return try await confirm(token, pays: order, isBound: false, choice)
    case .unsigned(let data):
      let payment = try opener.open(data, for: order.merchant, at: clock.now())
      try payment.confirm(pays: order.signedAmount)
      return try confirmed(
        order, try payment.networkToken, data.use, amountConfirmed: true, choice.naming(payment.cardholderName),
        merchantToken: payment.merchantTokenIdentifier)
    case .decrypted(let card): return try confirmed(order, card.card, card.use, amountConfirmed: false, choice)
    }
  }

  /// - Parameter isBound: whether the payment token must carry application data.
  private func confirm(
    _ token: EncryptedPaymentToken, pays order: Order, isBound: Bool, _ choice: RouteChoice
  ) async throws -> ConfirmedOrder {
    var choice = choice
    choice.sale.transactionID = Hex.encode(token.transactionID)
    guard routes.takes(.network), !routes.isSealed(to: token.publicKeyHash) else {
      return try confirmSealed(token, pays: order, isBound: isBound, choice)
    }
    // What a merchant's server hands in names no basket of ours: under a platform's key only a domain binds it.
    let opened = try await opener.opening(
      token, for: order.merchant, at: clock.now(), paying: isBound ? order.applicationDataHash : nil)
    try opened.confirm(
      ExpectedPayment(
        merchant: order.merchant, amount: order.signedAmount, applicationDataHash: order.applicationDataHash),
      demandingApplicationData: isBound)
    return try confirmed(
      order, try opened.paymentData.networkToken, opened.verified.use, amountConfirmed: true,
      choice.naming(opened.paymentData.cardholderName), merchantToken: opened.paymentData.merchantTokenIdentifier,
      signedAt: opened.verified.signingTime)
  }

  private func confirmed(
    _ order: Order, _ card: NetworkToken, _ use: TokenUse, amountConfirmed: Bool, _ choice: RouteChoice,
    merchantToken: String? = nil, signedAt: Timestamp? = nil
  ) throws -> ConfirmedOrder {
    let routed = choice.payment(of: order, .network, network: CardNetwork(of: card.dpan))
    return ConfirmedOrder(
      order, use: use, instrument: .network(card), amountConfirmed: amountConfirmed, choice,
      merchant: routes.sale(of: order.merchant), merchantToken: merchantToken, candidates: try candidates(for: routed),
      signedAt: signedAt)
  }

  private func confirmSealed(
    _ token: EncryptedPaymentToken, pays order: Order, isBound: Bool, _ choice: RouteChoice
  ) throws -> ConfirmedOrder {
    let verified = try opener.verifier.verify(token, at: clock.now())
    if isBound || token.applicationDataHash != nil {
      try verified.confirm(applicationDataHash: order.applicationDataHash)
    }
    var routed = choice.payment(of: order, .sealed, network: choice.sale.cardNetwork)
    routed.sealedKey = token.publicKeyHash
    return ConfirmedOrder(
      order, use: verified.use, instrument: .sealed(verified), amountConfirmed: false, choice,
      merchant: routes.sale(of: order.merchant), candidates: try candidates(for: routed),
      signedAt: verified.signingTime)
  }

  private func candidates(for payment: RoutedPayment) throws(GatewayError) -> [Acquirer] {
    let candidates = routes.candidates(for: payment)
    guard candidates.isEmpty else { return candidates }
    let obstacles = routes.findings(for: payment).compactMap(\.obstacle)
    if obstacles.contains(.agreementNotOffered) { throw .agreementNotOffered(payment.merchant) }
    if obstacles.allSatisfy({ $0 == .amountTooFine }), !obstacles.isEmpty { throw .amountTooFine(payment.amount) }
    throw .noRoute(payment.merchant)
  }

  /// Before the payment token is looked at: a currency that no acquirer takes, or an amount that none can count. An
  /// amount is not rounded.
  private func refuseUntakenCurrency(_ amount: Amount) throws(GatewayError) {
    let takers = routes.routes.map(\.acquirer.capabilities).filter { $0.exponent(amount.currency) != nil }
    guard !takers.isEmpty else { throw .currencyNotTaken(amount.currency) }
    guard takers.contains(where: { $0.toAcquirer(amount) != nil }) else { throw .amountTooFine(amount) }
  }
}

/// What the caller knows of a sale that decides its route.
package struct RouteChoice: Sendable, Hashable {
  package var sale: SaleDetails
  /// ISO 3166, two letters: where the order goes or, where nothing is brought anywhere, where it is billed.
  package var country: String?
  /// The route that the basket names.
  package var wantedRoute: Route?
  /// How long after the approval an order with immediate capture is captured; nil for at once.
  package var captureDelay: Duration?

  package init(sale: SaleDetails = SaleDetails(), country: String? = nil, wantedRoute: Route? = nil) {
    self.sale = sale
    self.country = country
    self.wantedRoute = wantedRoute
  }

  /// The choice, with the cardholder's name from the payment token.
  fileprivate func naming(_ cardholder: String?) -> RouteChoice {
    var choice = self
    choice.sale.cardholderName = cardholder
    return choice
  }

  func payment(
    of order: Order, _ instrument: AcquirerCapabilities.Instrument, network: CardNetwork?
  ) -> RoutedPayment {
    var payment = RoutedPayment(
      merchant: order.merchant, amount: order.amount, network: network, country: country,
      instrument: instrument, wantedRoute: wantedRoute)
    payment.agreement = instrument == .stored ? nil : sale.agreement?.kind
    return payment
  }
}

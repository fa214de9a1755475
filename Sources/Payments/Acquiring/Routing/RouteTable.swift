package import TenderPayments

/// Every route that is configured, and the rules by which a new payment chooses one. Everything after an authorization
/// goes to the stored route instead.
package struct RouteTable: Sendable {
  /// In the order of the configuration.
  package let routes: [ConfiguredRoute]
  /// What the configuration says of a merchant now.
  package let routing: @Sendable (MerchantID) -> MerchantRouting
  /// Those that the configuration has now.
  package let merchants: @Sendable () -> [MerchantID]
  private let byName: [String: ConfiguredRoute]

  /// - Parameter routing: asked for each payment. One that has begun keeps its route and what its provider was told.
  package init(
    _ routes: [ConfiguredRoute], routing: @escaping @Sendable (MerchantID) -> MerchantRouting,
    merchants: @escaping @Sendable () -> [MerchantID] = { [] }
  ) {
    self.routes = routes
    (self.merchants, self.routing) = (merchants, routing)
    byName = Dictionary(routes.map { ($0.name, $0) }) { first, _ in first }
  }

  package init(
    _ routes: [ConfiguredRoute], rules: [MerchantID: [RouteRule]] = [:], sales: [MerchantID: MerchantSale] = [:]
  ) {
    self.init(routes) { MerchantRouting(rules: rules[$0], sale: sales[$0] ?? MerchantSale()) }
  }

  /// One route and no rules.
  package init(_ acquirer: Acquirer) { self.init([ConfiguredRoute(acquirer)]) }

  /// The acquirer of a stored route; nil when it is not configured.
  package subscript(_ route: String) -> Acquirer? { byName[route]?.acquirer }

  package var names: [String] { routes.map(\.name) }

  /// The other routes of the same connector.
  package func siblings(of route: String) -> [Acquirer] {
    guard let connector = self[route]?.capabilities.name else { return [] }
    return routes.map(\.acquirer).filter { $0.capabilities.name == connector && $0.capabilities.route != route }
  }

  /// Whether some route takes this kind of credential.
  package func takes(_ instrument: AcquirerCapabilities.Instrument) -> Bool {
    routes.contains { $0.acquirer.capabilities.instruments.contains(instrument) }
  }

  /// Whether a provider is configured that decrypts payment tokens for this key.
  package func isSealed(to key: [UInt8]) -> Bool { routes.contains { $0.sealedKeys.contains(key) } }

  /// The routes with their acquirers changed.
  package func map(_ change: (Acquirer) -> Acquirer) -> RouteTable {
    RouteTable(
      routes.map { ConfiguredRoute(change($0.acquirer), sealedKeys: $0.sealedKeys, fees: $0.fees) },
      routing: routing, merchants: merchants)
  }

  /// The routes with requests, answers and events in ISO's minor units.
  package func convertingAmounts() -> RouteTable { map { $0.convertingAmounts() } }

  /// What the configuration says of the merchant's sales.
  package func sale(of merchant: MerchantID) -> MerchantSale { routing(merchant).sale }

  /// The merchant whose payments alone may take the route; nil where those of several may, or of none.
  package func onlyMerchant(of route: String) -> MerchantID? {
    let those = merchants().filter { routing($0).mayTake(route) }
    return those.count == 1 ? those.first : nil
  }

  /// Whether a basket of the merchant may name the route.
  package func offers(_ route: Route, to merchant: MerchantID) -> Bool {
    byName[route.description] != nil && rulesOf(merchant).contains { $0.route == route }
  }

  /// Whether a basket of the merchant that costs nothing may verify the shopper's card, on the route that it names if it
  /// names one.
  package func verifiesCards(of merchant: MerchantID, in currency: Currency, on wanted: Route? = nil) -> Bool {
    rulesOf(merchant).filter { wanted == nil || $0.route == wanted }
      .compactMap { byName[$0.route.description]?.acquirer.capabilities }
      .contains { $0.verifiesCards && $0.exponent(currency) != nil }
  }

  /// Whether a basket of the merchant may begin an agreement, on the route that it names if it names one.
  package func begins(
    _ agreement: AgreementKind, of merchant: MerchantID, in currency: Currency, on wanted: Route? = nil
  ) -> Bool {
    rulesOf(merchant).filter { wanted == nil || $0.route == wanted }.compactMap { byName[$0.route.description] }
      .contains { route in
        let capabilities = route.acquirer.capabilities
        // Without a key of the provider's, payment tokens are opened here if the connector takes them so.
        let isOpened = route.sealedKeys.isEmpty && capabilities.instruments.contains(.network)
        return capabilities.exponent(currency) != nil && capabilities.begins(agreement, with: isOpened ? .network : nil)
      }
  }

  /// What each of the merchant's rules says of a payment, in order. The first that fits is the payment's route; the
  /// others that fit come after it, when it is proven that nothing was sent.
  package func findings(for payment: RoutedPayment) -> [RouteFinding] {
    applicable(to: payment).map { rule in
      RouteFinding(rule: rule, obstacle: obstacle(to: rule, for: payment))
    }
  }

  /// The routes that the payment may take, the first choice first, each once.
  package func candidates(for payment: RoutedPayment) -> [Acquirer] {
    var seen: Set<Route> = []
    return findings(for: payment).filter { $0.obstacle == nil && seen.insert($0.rule.route).inserted }
      .compactMap { byName[$0.rule.route.description]?.acquirer }
  }

  private func applicable(to payment: RoutedPayment) -> [RouteRule] {
    let all = rulesOf(payment.merchant)
    guard let wanted = payment.wantedRoute else { return all }
    return all.filter { $0.route == wanted }
  }

  private func rulesOf(_ merchant: MerchantID) -> [RouteRule] {
    routing(merchant).rules ?? routes.compactMap { Route($0.name).map { RouteRule($0) } }
  }

  private func obstacle(to rule: RouteRule, for payment: RoutedPayment) -> RouteObstacle? {
    guard let route = byName[rule.route.description] else { return .notConfigured }
    return rule.obstacle(for: payment) ?? route.obstacle(for: payment)
  }
}

/// A route with what the configuration says of it.
package struct ConfiguredRoute: Sendable {
  package let acquirer: Acquirer
  /// SHA-256 of the public keys that payment tokens for this provider are encrypted to, where it decrypts them; empty
  /// where the configuration names none, and then it takes every token that no key here opens.
  let sealedKeys: Set<[UInt8]>
  /// What payments cost there, in the order of the configuration; empty where the configuration does not say.
  package let fees: [FeeRule]

  package init(_ acquirer: Acquirer, sealedKeys: Set<[UInt8]> = [], fees: [FeeRule] = []) {
    self.acquirer = acquirer
    self.sealedKeys = sealedKeys
    self.fees = fees
  }

  package var name: String { acquirer.capabilities.route }

  fileprivate func obstacle(for payment: RoutedPayment) -> RouteObstacle? {
    let capabilities = acquirer.capabilities
    guard capabilities.instruments.contains(payment.instrument) else { return .instrument(payment.instrument) }
    if payment.instrument == .network, let taken = capabilities.networks {
      guard let network = payment.network else { return .networkUnknown }
      guard taken.contains(network) else { return .networkNotTaken }
    }
    if payment.instrument == .sealed, capabilities.namesNetworks, let network = payment.network, network.facts == nil {
      return .networkUnknown
    }
    if let key = payment.sealedKey, !sealedKeys.isEmpty, !sealedKeys.contains(key) { return .anotherKey }
    guard capabilities.exponent(payment.amount.currency) != nil else { return .currencyNotTaken }
    guard capabilities.toAcquirer(payment.amount) != nil else { return .amountTooFine }
    guard payment.amount.isPositive || capabilities.verifiesCards else { return .verificationNotOffered }
    if let agreement = payment.agreement, !capabilities.begins(agreement, with: payment.instrument) {
      return .agreementNotOffered
    }
    return nil
  }
}

/// What routing looks at.
package struct RoutedPayment: Sendable, Hashable {
  package var merchant: MerchantID
  package var amount: Amount
  /// Nil when it is not known: a sealed payment token does not show it.
  package var network: CardNetwork?
  /// The country of the shopper's address; nil when the order has none.
  package var country: String?
  package var instrument: AcquirerCapabilities.Instrument
  /// SHA-256 of the public key that a sealed payment token is encrypted to.
  package var sealedKey: [UInt8]?
  /// The route that the basket names.
  package var wantedRoute: Route?
  /// The agreement that the payment begins: the provider has to keep what later payments need.
  package var agreement: AgreementKind?

  package init(
    merchant: MerchantID, amount: Amount, network: CardNetwork? = nil, country: String? = nil,
    instrument: AcquirerCapabilities.Instrument, sealedKey: [UInt8]? = nil, wantedRoute: Route? = nil
  ) {
    self.merchant = merchant
    self.amount = amount
    self.network = network
    self.country = country
    self.instrument = instrument
    self.sealedKey = sealedKey
    self.wantedRoute = wantedRoute
  }
}

/// What one rule says of a payment.
package struct RouteFinding: Sendable, Hashable {
  package let rule: RouteRule
  /// Nil when the payment may take the rule's route.
  package let obstacle: RouteObstacle?
}

/// Why a payment does not take a rule's route.
package enum RouteObstacle: Sendable, Hashable {
  case network, currency, country, amount
  /// The configuration has no such route.
  case notConfigured
  /// The connector does not take this kind of credential.
  case instrument(AcquirerCapabilities.Instrument)
  /// The payment token is encrypted to a key of another provider.
  case anotherKey
  /// The connector has to name the card's network to its provider, and does not know it.
  case networkUnknown
  /// The acquirer takes no cards of the network.
  case networkNotTaken
  case currencyNotTaken
  /// The acquirer counts the currency with fewer decimals than the amount has.
  case amountTooFine
  /// Nothing is to be paid, and the acquirer verifies no card.
  case verificationNotOffered
  /// The payment begins an agreement, and the connector keeps nothing of this kind of credential for later payments.
  case agreementNotOffered

  /// For the operator.
  package var reason: String {
    switch self {
    case .network: "the rule is for other networks"
    case .currency: "the rule is for other currencies"
    case .country: "the rule is for other countries"
    case .amount: "the amount is outside the rule's range"
    case .notConfigured: "the route is not configured"
    case .instrument(.network): "the connector takes sealed payment tokens only"
    case .instrument(.sealed): "the connector takes decrypted payment tokens only"
    case .instrument(.stored): "the connector charges no agreement"
    case .anotherKey: "the payment token is encrypted to another provider's key"
    case .networkUnknown: "the connector does not know the card's network"
    case .networkNotTaken: "the acquirer does not take the card's network"
    case .currencyNotTaken: "the acquirer does not take the currency"
    case .amountTooFine: "the acquirer counts the currency in larger units"
    case .verificationNotOffered: "the connector verifies no card without a payment"
    case .agreementNotOffered: "the connector begins no agreement of this kind, or none with this kind of credential"
    }
  }
}

extension RouteRule {
  /// A condition on something that is not known is not met.
  fileprivate func obstacle(for payment: RoutedPayment) -> RouteObstacle? {
    if !networks.isEmpty, !(payment.network.map(networks.contains) ?? false) { return .network }
    if !currencies.isEmpty, !currencies.contains(payment.amount.currency) { return .currency }
    if !countries.isEmpty, !(payment.country.map(countries.contains) ?? false) { return .country }
    if let amounts, !amounts.contains(payment.amount.minorUnits) { return .amount }
    return nil
  }
}

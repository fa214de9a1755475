import Acquiring
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A route` {
  private let merchant = MerchantID("harbour")

  private func acquirer(
    _ name: String, _ account: String? = nil, instruments: Set<AcquirerCapabilities.Instrument> = [.network],
    exponent: @escaping @Sendable (Currency) -> Int? = { $0.exponent }
  ) -> Acquirer {
    var acquirer = FakeAcquirer().acquirer
    acquirer.capabilities = AcquirerCapabilities(
      name: name, account: account, instruments: instruments, idempotency: .none, inquiry: true, reversal: true,
      settleHorizon: .seconds(10), exponent: exponent)
    return acquirer
  }

  private func payment(_ amount: Amount = .eur(1250)) -> RoutedPayment {
    RoutedPayment(merchant: merchant, amount: amount, network: .visa, country: "IE", instrument: .network)
  }

  private func routes(_ rules: [String], _ payment: RoutedPayment) throws -> [String] {
    let table = RouteTable(
      [
        ConfiguredRoute(acquirer("adyen", "eu")), ConfiguredRoute(acquirer("braintree", "eu")),
        ConfiguredRoute(acquirer("sandbox-provider", instruments: [.sealed]), sealedKeys: [[1]]),
      ], rules: rules.isEmpty ? [:] : [merchant: try rules.map { try RouteRule($0) }])
    return table.candidates(for: payment).map(\.capabilities.route)
  }

  @Test func `is the first whose rule the payment fits, and the others that fit come after it`() throws {
    let rules = [
      "braintree/eu network=amex", "adyen/eu currency=EUR amount=0.01-10.00", "braintree/eu currency=EUR,GBP",
      "adyen/eu",
    ]
    #expect(try routes(rules, payment()) == ["braintree/eu", "adyen/eu"])
    #expect(try routes(rules, payment(.eur(999))) == ["adyen/eu", "braintree/eu"])
    let dollars = try #require(Currency(code: "USD"))
    #expect(try routes(rules, payment(Amount(minorUnits: 1250, currency: dollars))) == ["adyen/eu"])
  }

  @Test func `is each configured one in order where the merchant has no rules`() throws {
    #expect(try routes([], payment()) == ["adyen/eu", "braintree/eu"])
  }

  @Test func `is a merchant's own where no other one's rules let a payment take it`() throws {
    let rules: [MerchantID: [RouteRule]] = ["one": [try RouteRule("adyen/eu")], "two": [try RouteRule("braintree/eu")]]
    func owner(_ route: String, _ merchants: [MerchantID]) -> MerchantID? {
      RouteTable(
        [ConfiguredRoute(acquirer("adyen", "eu"))], routing: { MerchantRouting(rules: rules[$0]) },
        merchants: { merchants }
      ).map { $0 }.onlyMerchant(of: route)
    }
    #expect(owner("adyen/eu", ["one", "two"]) == "one" && owner("braintree/eu", ["one", "two"]) == "two")
    #expect(owner("adyen/eu", ["one", "two", "of no rules"]) == nil && owner("adyen/eu", ["two"]) == nil)
  }

  @Test func `is chosen by the rules that were read last, also in a copy of the table`() throws {
    let now = Mutex(MerchantRouting())
    let table = RouteTable([ConfiguredRoute(acquirer("adyen", "eu")), ConfiguredRoute(acquirer("braintree", "eu"))]) {
      _ in now.withLock(\.self)
    }
    let copy = table.map { $0 }
    let new = MerchantRouting(rules: [try RouteRule("braintree/eu")], sale: MerchantSale(merchantCategory: "5812"))
    now.withLock { $0 = new }
    #expect(copy.candidates(for: payment()).map(\.capabilities.route) == ["braintree/eu"])
    #expect(copy.sale(of: merchant).merchantCategory == "5812")
  }

  @Test func `whose provider is told the network takes no sealed payment token of a network that no release knew`()
    throws
  {
    var naming = acquirer("braintree", "eu", instruments: [.sealed])
    naming.capabilities.namesNetworks = true
    let table = RouteTable([ConfiguredRoute(naming), ConfiguredRoute(acquirer("adyen", "eu", instruments: [.sealed]))])
    var sealed = payment()
    sealed.instrument = .sealed
    #expect(table.candidates(for: sealed).map(\.capabilities.route) == ["braintree/eu", "adyen/eu"])
    sealed.network = CardNetwork(rawValue: "neuCard")
    #expect(table.candidates(for: sealed).map(\.capabilities.route) == ["adyen/eu"])
    #expect(table.findings(for: sealed).first?.obstacle == .networkUnknown)
    #expect(throws: RouteRuleError.self) { try RouteRule("adyen network=neuCard") }
  }

  @Test func `takes no card of a network that its acquirer does not take, or that it cannot name`() throws {
    var choosy = acquirer("worldline-acquiring")
    choosy.capabilities.networks = [.visa, .masterCard]
    let table = RouteTable([ConfiguredRoute(choosy), ConfiguredRoute(acquirer("adyen", "eu"))])
    var card = payment()
    #expect(table.candidates(for: card).map(\.capabilities.route) == ["worldline-acquiring", "adyen/eu"])
    for (network, obstacle) in [(CardNetwork.amex, RouteObstacle.networkNotTaken), (nil, .networkUnknown)] {
      card.network = network
      #expect(table.candidates(for: card).map(\.capabilities.route) == ["adyen/eu"])
      #expect(table.findings(for: card).first?.obstacle == obstacle)
    }
  }

  @Test func `takes no amount whose last digit its acquirer does not take`() throws {
    var rounding = acquirer("stripe")
    rounding.capabilities.lastDigitIsZero = { $0.exponent == 3 }
    let table = RouteTable([ConfiguredRoute(rounding)])
    let dinar = try #require(Currency(code: "KWD"))
    #expect(table.findings(for: payment(Amount(minorUnits: 1230, currency: dinar))).first?.obstacle == nil)
    #expect(table.findings(for: payment(Amount(minorUnits: 1235, currency: dinar))).first?.obstacle == .amountTooFine)
    #expect(table.findings(for: payment()).first?.obstacle == nil)
  }

  @Test func `is the basket's own where it names one, and no other`() throws {
    var named = payment()
    named.wantedRoute = Route(connector: "adyen", account: "eu")
    #expect(try routes(["braintree/eu", "adyen/eu country=IE"], named) == ["adyen/eu"])
    #expect(try routes(["braintree/eu"], named) == [])
  }

  @Test func `that decrypts takes only payment tokens that are encrypted to its key`() throws {
    var sealed = payment()
    (sealed.instrument, sealed.sealedKey) = (.sealed, [1])
    #expect(try routes([], sealed) == ["sandbox-provider"])
    sealed.sealedKey = [2]
    #expect(try routes([], sealed) == [])
  }

  @Test func `is not taken for what is not known of the payment`() throws {
    var unknown = payment()
    (unknown.network, unknown.country) = (nil, nil)
    #expect(try routes(["adyen/eu network=visa", "braintree/eu country=IE"], unknown) == [])
  }

  @Test func `says of each rule why it is not taken`() throws {
    let table = RouteTable(
      [
        ConfiguredRoute(acquirer("adyen")), ConfiguredRoute(acquirer("coarse") { _ in 0 }),
        ConfiguredRoute(acquirer("dollars") { $0.code == "USD" ? 2 : nil }),
        ConfiguredRoute(acquirer("opener", instruments: [.sealed])),
      ],
      rules: [
        merchant: try [
          "adyen network=amex", "adyen currency=GBP", "adyen country=GB", "adyen currency=EUR amount=1.00-2.00",
          "stripe", "coarse", "dollars", "opener", "adyen",
        ].map { try RouteRule($0) }
      ])
    #expect(
      table.findings(for: payment()).map(\.obstacle) == [
        .network, .currency, .country, .amount, .notConfigured, .amountTooFine, .currencyNotTaken,
        .instrument(.network), nil,
      ])
  }

  @Test(arguments: [
    "", "Braintree", "braintree/", "braintree/a/b", "adyen network", "adyen network=vis", "adyen amount=1.00-2.00",
    "adyen currency=EUR amount=2.00-1.00", "adyen currency=EUR amount=1.001-2.00", "adyen currency=EUR,GBP amount=1-2",
    "adyen country=ie", "adyen colour=red",
  ]) func `rule that cannot be read is refused with what to write`(_ text: String) {
    #expect(throws: RouteRuleError.self) { try RouteRule(text) }
  }

  @Test(arguments: ["sandbox", "braintree/eu-main", "worldline-direct/1"])
  func `reads back as it is written`(_ text: String) { #expect(Route(text)?.description == text) }
}

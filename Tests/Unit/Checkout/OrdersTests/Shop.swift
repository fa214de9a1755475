import Acquiring
import ApplePayToken
import Foundation
import Gateway
import HTTPTransport
import Ledger
import Orders
import DirectWire
import Storage
import Synchronization
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

/// A merchant and a shopper, with a store and a gateway of their own. The acquirer answers what a test tells it.
struct Shop: Sendable {
  static let merchant = MerchantID("harbour")
  static let basket = BasketID("kNc7pQ2xR8vT5wY1zB4dFg")
  static let noon = Timestamp(rfc3339: "2026-11-21T12:00:00Z") ?? Timestamp(seconds: 0)

  let orderService: OrderService
  let gateway: PaymentGateway
  private let file: TemporaryStore
  let database: Database
  let acquirer: FakeAcquirer
  let clock: HeldClock
  private let terms: MerchantTerms
  private let wallet: Wallet

  init(
    _ terms: MerchantTerms = MerchantTerms(), quotes: HTTPSender? = nil, mostCalls: Int = 128,
    guestTokenKey: String? = nil,
    capabilities: AcquirerCapabilities = FakeAcquirer.plain
  ) async throws {
    acquirer = FakeAcquirer(capabilities)
    let clock = HeldClock(Self.noon)
    file = try TemporaryStore()
    database = try await file.open(Journal.migrations + OrderService.migrations, clock: clock.wall)
    self.clock = clock
    self.terms = terms
    wallet = try Wallet(Self.merchant, clock: clock.wall)
    gateway = Self.gateway(wallet, database, acquirer, clock)
    var guestTokens: GuestTokenIssuer?
    if let guestTokenKey {
      guestTokens = try await GuestTokenIssuer(
        privateKeyPEM: guestTokenKey, issuer: "https://pay.example", database: database)
    }
    orderService = OrderService(
      gateway: gateway, quotes: quotes.map { QuoteSource(sender: $0, clock: clock.wall, mostCalls: mostCalls) },
      terms: { _ in terms },
      guestTokens: guestTokens, clock: clock.wall)
  }

  private static func gateway(
    _ wallet: Wallet, _ database: Database, _ acquirer: FakeAcquirer, _ clock: HeldClock,
    crashes: CrashPoints = .none
  ) -> PaymentGateway {
    var policy = GatewayPolicy()
    policy.timeout = .seconds(30)
    // Its time limits do not pass.
    let scheduler = Scheduler(
      uptime: { .zero }, sleep: Scheduler.system.sleep, finish: Scheduler.system.finish)
    return PaymentGateway(
      opener: wallet.opener, journal: Journal(database), acquirer: acquirer.acquirer, clock: clock.wall,
      scheduler: scheduler, policy: policy, crashes: crashes)
  }

  /// The same store, after the operator has changed the merchant's configuration.
  func under(_ terms: MerchantTerms, quotes: HTTPSender) -> OrderService {
    OrderService(
      gateway: gateway, quotes: QuoteSource(sender: quotes, clock: clock.wall), terms: { _ in terms },
      clock: clock.wall)
  }

  /// The same store, where something happens at a named point of each payment.
  func reaching(_ crashes: CrashPoints) -> OrderService {
    OrderService(
      gateway: Self.gateway(wallet, database, acquirer, clock, crashes: crashes), terms: { [terms] _ in terms },
      clock: clock.wall)
  }

  /// The shopper's part, in one call: opens the sheet, chooses an address, and authorizes.
  func pays(
    _ contact: FullContact = .dublin, token: EncryptedPaymentToken? = nil, quote: QuoteID? = nil,
    before deadline: Deadline = .after(TestRun.whole)
  ) async throws -> PlacedOrder {
    let quote = if let quote { quote } else { try await opens(contact) }
    let made = if let token { token } else { try await self.token(for: quote) }
    let request = PlaceOrderRequest(
      basket: Self.basket, quote: quote, token: made, billingContact: nil, shippingContact: contact)
    return try await orderService.place(request, of: Self.merchant, before: deadline)
  }

  /// A payment token for the total of the quote; for some amount if there is no such quote.
  func token(
    for quote: QuoteID, of basket: BasketID = basket, card: String = "visa-debit"
  ) async throws -> EncryptedPaymentToken {
    let total = try await database.read {
      try $0.row("SELECT total FROM quotes WHERE id = $1", .text(quote.rawValue))?.integer("total")
    }
    return try wallet.token(
      .eur(total ?? 1),
      applicationData: terms.platformDomain ?? "tender:v1:\(Self.merchant):\(basket)", card: card)
  }

  /// A payment token for another amount than the quote's.
  func token(for quote: QuoteID, amount: Amount) async throws -> EncryptedPaymentToken {
    try wallet.token(amount, applicationData: "tender:v1:\(Self.merchant):\(Self.basket)")
  }

  /// The quote that the shopper saw last.
  func opens(_ contact: FullContact = .dublin) async throws -> QuoteID {
    _ = try await orderService.sheet(Self.basket, of: Self.merchant)
    return try await orderService.update(Self.basket, of: Self.merchant, .shippingContact(contact.place)).quote.id
  }

  func count(_ table: String) async throws -> Int64 {
    try await database.read { try $0.row("SELECT count(*) AS n FROM \(table)")?.integer("n") ?? -1 }
  }
}

/// A clock that stands still until it is moved.
final class HeldClock: Sendable {
  private let time: Mutex<Timestamp>
  init(_ time: Timestamp) { self.time = Mutex(time) }
  var wall: WallClock { WallClock { self.time.withLock { $0 } } }
  func move(_ duration: Duration) { time.withLock { $0 = $0.adding(duration) } }
}

extension FakeAcquirer {
  /// Answers an authorization, and every inquiry, with this.
  func answers(_ answer: AcquirerAnswer) {
    authorizes(answer)
    finds(.answer(answer))
  }
}

extension FullContact {
  static let dublin = FullContact(
    givenName: "Aoife", familyName: "Byrne", phoneNumber: "+353 1 555 0100", emailAddress: "aoife@example.com",
    addressLines: ["1 North Quay"], locality: "Dublin", postalCode: "D01 X2Y3", countryCode: "IE")

  func with(postalCode: String, country: String = "IE") -> FullContact {
    FullContact(
      givenName: givenName, familyName: familyName, phoneNumber: phoneNumber, emailAddress: emailAddress,
      addressLines: addressLines, locality: locality, postalCode: postalCode, countryCode: country)
  }
}

extension BasketDocument {
  /// Fish, chips and a drink; two zones, one of them dearer; a coupon in percent, one in money, one that has ended.
  static var dinner: BasketDocument {
    var document = BasketDocument(
      currencyCode: Currency(code: "EUR") ?? Currency.all[0], countryCode: "IE", merchantReference: "HK-1042",
      businessName: "Harbour Kitchen", serviceTypes: ["delivery", "collection"],
      items: [
        Item(id: "fish", label: "Fish and chips", unitAmount: 1_290),
        Item(id: "soup", label: "Soup", unitAmount: 450, quantity: 2, availableIn: ["central"]),
      ])
    document.fees = dinnerFees
    document.zones = dinnerZones
    document.shippingMethods = dinnerMethods
    document.coupons = dinnerCoupons
    return document
  }

  private static let dinnerFees = [
    Fee(label: "Service fee", amount: 50, serviceTypes: ["delivery"]),
    Fee(label: "Credit card", amount: 30, paymentMethodTypes: ["credit"]),
  ]

  private static let dinnerZones = [
    Zone(id: "central", countryCode: "IE", postalPrefixes: ["D01", "D02"], methods: ["bike"]),
    Zone(id: "county", countryCode: "IE", postalPrefixes: ["D"], methods: ["van"]),
    Zone(id: "london", countryCode: "GB", postalPrefixes: ["SW1A 1"], methods: ["van"]),
  ]

  private static let dinnerMethods = [
    Method(identifier: "bike", label: "Bike", detail: "30–45 minutes", amount: 250, freeFrom: 3_000),
    Method(identifier: "van", label: "Van", detail: "1 hour", amount: 600),
  ]

  private static let dinnerCoupons = [
    Coupon(code: "LUNCH10", label: "Lunch offer", percentBasisPoints: 1_000),
    Coupon(code: "FIVER", label: "Five off", amount: 500),
    Coupon(code: "HUGE", label: "A gift", amount: 100_000),
    Coupon(code: "OLD", label: "Over", amount: 100, expiresAt: WireTime(Timestamp(seconds: 1_000))),
    Coupon(
      code: "NOON", label: "Until noon", amount: 100,
      expiresAt: WireTime(Shop.noon.adding(.seconds(60)))),
  ]
}

/// The code of the refusal.
func refusal(
  _ code: OrderError.Code, field: String? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws -> some Any
) async {
  do {
    _ = try await body()
    Issue.record("not refused", sourceLocation: sourceLocation)
  } catch let error as OrderError {
    #expect(error.code == code, sourceLocation: sourceLocation)
    if let field { #expect(error.field == field, sourceLocation: sourceLocation) }
  } catch {
    Issue.record("another error: \(error)", sourceLocation: sourceLocation)
  }
}

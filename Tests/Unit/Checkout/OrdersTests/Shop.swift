import Acquiring
import ApplePayToken
import Foundation
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

/// A merchant and a shopper at an order desk with a store of its own. The acquirer answers as it is told.
struct Shop: Sendable {
  static let merchant = MerchantID("harbour")
  static let basket = BasketID("kNc7pQ2xR8vT5wY1zB4dFg")
  static let noon = Timestamp(rfc3339: "2026-11-21T12:00:00Z") ?? Timestamp(seconds: 0)

  let desk: OrderDesk
  private let file: TemporaryStore
  let database: Database
  let acquirer: PlayedAcquirer
  let clock: HeldClock

  /// - Parameter paying: what stands in for the gateway; the played one if absent.
  init(
    _ terms: MerchantTerms = MerchantTerms(), quotes: HTTPSender? = nil, guestTokens: GuestTokenIssuer? = nil
  ) async throws {
    let clock = HeldClock(Self.noon)
    file = try TemporaryStore()
    database = try await file.open(Journal.migrations + OrderDesk.migrations, clock: clock.wall)
    let journal = Journal(database)
    acquirer = PlayedAcquirer(journal: journal)
    self.clock = clock
    desk = OrderDesk(
      journal: journal, cashier: acquirer.cashier,
      quotes: quotes.map { QuoteSource(sender: $0, clock: clock.wall) }, terms: { _ in terms },
      guestTokens: guestTokens, clock: clock.wall)
  }

  /// The same store, after the operator has changed the merchant's configuration.
  func under(_ terms: MerchantTerms, quotes: HTTPSender) -> OrderDesk {
    OrderDesk(
      journal: Journal(database), cashier: acquirer.cashier, quotes: QuoteSource(sender: quotes, clock: clock.wall),
      terms: { _ in terms }, clock: clock.wall)
  }

  /// The shopper's part, in one breath: opens the sheet, chooses an address, and authorizes.
  func pays(
    _ contact: FullContact = .dublin, token: EncryptedPaymentToken = .fresh(), quote: QuoteID? = nil,
    before deadline: Deadline = .after(.seconds(25))
  ) async throws -> PlacedOrder {
    let quote = if let quote { quote } else { try await opens(contact) }
    let request = PlaceOrderRequest(
      basket: Self.basket, quote: quote, token: token, billingContact: nil, shippingContact: contact)
    return try await desk.place(request, of: Self.merchant, before: deadline)
  }

  /// The quote that the shopper saw last.
  func opens(_ contact: FullContact = .dublin) async throws -> QuoteID {
    _ = try await desk.sheet(Self.basket, of: Self.merchant)
    return try await desk.update(Self.basket, of: Self.merchant, .shippingContact(contact.place)).quote.id
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

/// The gateway without the cryptography: the real journal, and an acquirer that says what the test wants.
final class PlayedAcquirer: Sendable {
  private let journal: Journal
  private let script = Mutex<(answer: AcquirerAnswer, asked: Int, delay: Duration, captures: Bool, loses: Bool)>(
    (.approved(Approval(acquirerReference: "A1")), 0, .zero, true, false))
  private let lastOrder = Mutex<Order?>(nil)
  private let lastPatience = Mutex(Duration.zero)

  init(journal: Journal) { self.journal = journal }

  func answers(_ answer: AcquirerAnswer) { script.withLock { $0.answer = answer } }
  func takes(_ delay: Duration) { script.withLock { $0.delay = delay } }
  func captures(_ works: Bool) { script.withLock { $0.captures = works } }
  /// Takes the money, and the answer to that does not arrive.
  func losesCaptures() { script.withLock { $0.loses = true } }
  /// The order that was to be paid last.
  var ordered: Order? { lastOrder.withLock { $0 } }
  /// What was left of the shopper's time when the gateway was called.
  var patience: Duration { lastPatience.withLock { $0 } }
  var asked: Int { script.withLock { $0.asked } }

  var cashier: Cashier {
    Cashier(pay: { try await self.pay($0, $1, $2, $3) }, settle: { id, _ in try await self.inquire(id) })
  }

  private struct InProgress: Error {}
  private struct NoSuchPayment: Error {}

  /// Says now what it had not said before.
  private func inquire(_ id: PaymentID) async throws -> Payment {
    guard let attempt = try await journal.takeOver(id) else {
      guard let payment = try await journal.payment(id) else { throw NoSuchPayment() }
      return payment
    }
    return try await journal.record(script.withLock { $0.answer }, for: attempt).payment
  }

  private func pay(
    _ order: Order, _ token: EncryptedPaymentToken, _ deadline: Deadline,
    _ alongside: @escaping @Sendable (Transaction) throws -> Void
  ) async throws -> Payment {
    lastPatience.withLock { $0 = deadline.remaining }
    lastOrder.withLock { $0 = order }
    let payment = try await authorize(order, token, alongside)
    guard order.capture == .immediate, payment.status == .authorized, script.withLock({ $0.captures }) else {
      return payment
    }
    let attempt = try await journal.reserve(.capture, nil, of: payment.id, cause: .order)
    let lost = script.withLock { $0.loses }
    let answer: AcquirerAnswer =
      lost ? .unknown(Interruption(.timeout)) : .approved(Approval(acquirerReference: "C1"))
    return try await journal.record(answer, for: attempt).payment
  }

  private func authorize(
    _ order: Order, _ token: EncryptedPaymentToken, _ alongside: @escaping @Sendable (Transaction) throws -> Void
  ) async throws -> Payment {
    let card = CardSummary(deviceAccountSuffix: "4242", expiry: nil, hasECI: true)
    if let known = try await journal.answer(for: order.id, spending: TokenUse(of: token)) { return known }
    switch try await journal.claim(order, spending: TokenUse(of: token), card: card, alongside: { try alongside($1) })
    {
    case .known(let payment): return payment
    case .running, .tokenReused: throw InProgress()
    case .new(let attempt):
      let (answer, delay) = script.withLock { script in
        script.asked += 1
        return (script.answer, script.delay)
      }
      try await Task.sleep(for: delay)
      return try await journal.record(answer, for: attempt).payment
    }
  }
}

extension EncryptedPaymentToken {
  /// A token that nobody has spent. Nothing in it could be opened.
  static func fresh() -> EncryptedPaymentToken {
    EncryptedPaymentToken(
      version: .ecV1, data: RandomBytes.system.next(64), signature: [1],
      keyMaterial: .ephemeralPublicKey(RandomBytes.system.next(91)), publicKeyHash: [UInt8](repeating: 2, count: 32),
      transactionID: RandomBytes.system.next(32), applicationDataHash: nil)
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
    BasketDocument(
      currencyCode: Currency(code: "EUR") ?? Currency.all[0], countryCode: "IE", merchantReference: "HK-1042",
      businessName: "Harbour Kitchen", serviceTypes: ["delivery", "collection"],
      items: [
        Item(id: "fish", label: "Fish and chips", unitAmount: 1_290),
        Item(id: "soup", label: "Soup", unitAmount: 450, quantity: 2, availableIn: ["central"]),
      ],
      fees: [
        Fee(label: "Service fee", amount: 50, serviceTypes: ["delivery"]),
        Fee(label: "Credit card", amount: 30, paymentMethodTypes: ["credit"]),
      ],
      zones: [
        Zone(id: "central", countryCode: "IE", postalPrefixes: ["D01", "D02"], methods: ["bike"]),
        Zone(id: "county", countryCode: "IE", postalPrefixes: ["D"], methods: ["van"]),
        Zone(id: "london", countryCode: "GB", postalPrefixes: ["SW1A 1"], methods: ["van"]),
      ],
      shippingMethods: [
        Method(identifier: "bike", label: "Bike", detail: "30–45 minutes", amount: 250, freeFrom: 3_000),
        Method(identifier: "van", label: "Van", detail: "1 hour", amount: 600),
      ],
      coupons: [
        Coupon(code: "LUNCH10", label: "Lunch offer", percentBasisPoints: 1_000),
        Coupon(code: "FIVER", label: "Five off", amount: 500),
        Coupon(code: "HUGE", label: "A gift", amount: 100_000),
        Coupon(code: "OLD", label: "Over", amount: 100, expiresAt: WireTime(Timestamp(seconds: 1_000))),
        Coupon(
          code: "NOON", label: "Until noon", amount: 100,
          expiresAt: WireTime(Shop.noon.adding(.seconds(60)))),
      ])
  }
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

package import HTTPTransport
import DirectWire
import Telemetry
package import TenderPayments
import TenderSheet

/// Where the prices of a sheet come from: the rules in the basket, or the merchant who is asked.
///
/// The sheet opens by the rules in every case, so that the page never waits for the merchant; what the shopper changes
/// is priced by the merchant if the basket names a `quoteURL`.
package struct QuoteSource: Sendable {
  private let sender: HTTPSender
  private let clock: WallClock

  private let calls: CallsUnderWay<MerchantID>
  /// Limits the calls for whole baskets.
  let pulls: CallsUnderWay<MerchantID>

  /// - Parameter mostCalls: to merchants' servers at once, for prices and for whole baskets together. One merchant has half
  ///   of those for prices, and an eighth of those for baskets.
  package init(sender: HTTPSender, clock: WallClock, mostCalls: Int = 128) {
    self.sender = sender
    self.clock = clock
    calls = CallsUnderWay(mostCalls / 2, ofEach: 2)
    pulls = CallsUnderWay(mostCalls / 2, ofEach: 8)
  }

  /// A source for merchants who never price by themselves.
  package static func rulesOnly(clock: WallClock) -> QuoteSource {
    let unavailable = HTTPSender { _, _ throws(TransportError) in throw .notSent("no callbacks are configured") }
    return QuoteSource(sender: unavailable, clock: clock)
  }

  /// The way to the merchants' servers for whole baskets.
  var baskets: BasketSource { BasketSource(sender: sender, clock: clock) }

  func open(_ basket: Basket, _ state: SheetState) throws -> Priced {
    try QuoteRules.price(basket, state, at: clock.now())
  }

  func price(_ basket: Basket, _ state: SheetState, after change: SheetChange, _ terms: MerchantTerms) async throws
    -> Priced
  {
    let next = state.applying(change, in: basket)
    guard basket.document.quoteURL != nil else {
      if let method = next.shippingMethod, case .shippingMethod = change { try Self.check(method, basket, next) }
      return try QuoteRules.price(basket, next, at: clock.now())
    }
    return try await calls.admit(basket.merchant, orElse: OrderError.tooManyCalls(.quoteSourceUnavailable)) {
      try await trace(.quote, .merchant(basket.merchant)) {
        try await MerchantCallback(sender: sender, clock: clock).price(basket, next, after: change, terms)
      }
    }
  }

  /// The price of the full address, as of the moment in which the quote was shown, so that a coupon that ends while
  /// the shopper looks at the sheet still counts.
  func price(
    _ basket: Basket, _ quote: Quote, at address: OrderAddress?, _ terms: MerchantTerms, before deadline: Deadline
  ) async throws -> Priced {
    var state = quote.state
    state.destination = basket.destination(full: address)
    guard basket.document.quoteURL != nil, let address else {
      return try QuoteRules.price(basket, state, at: quote.createdAt)
    }
    return try await calls.admit(basket.merchant, orElse: OrderError.tooManyCalls(.quoteSourceUnavailable)) {
      try await trace(.quote, .merchant(basket.merchant)) {
        try await MerchantCallback(sender: sender, clock: clock)
          .price(basket, state, after: .shippingContact(address.place), terms, within: deadline.remaining)
      }
    }
  }

  private static func check(_ method: String, _ basket: Basket, _ state: SheetState) throws {
    let offered = try QuoteRules.price(basket, state, at: Timestamp(seconds: 0)).shippingMethods
    guard offered.contains(where: { $0.identifier == method }) else {
      throw OrderError(.shippingMethodUnknown, "this method is not offered", field: "shippingMethod")
    }
  }
}

extension OrderAddress {
  fileprivate var place: RedactedContact {
    RedactedContact(
      subLocality: subLocality, locality: locality, administrativeArea: administrativeArea, postalCode: postalCode,
      countryCode: countryCode)
  }
}

public import TenderPayments
public import TenderSheet

/// The merchant's configuration, from which the app decides which button to show.
public struct MerchantConfiguration: Sendable, Hashable {
  /// As in the app's entitlement: `merchant.com.example.shop`.
  public let merchantIdentifier: String
  /// In the order of preference.
  public let networks: [CardNetwork]
  /// Credit, debit, or both.
  public let cards: AcceptedCards
  /// The countries of the accepted issuers; empty for all.
  public let supportedCountries: [String]

  /// A merchant configuration.
  public init(
    merchantIdentifier: String, networks: [CardNetwork] = [.visa, .masterCard, .amex],
    cards: AcceptedCards = .creditAndDebit, supportedCountries: [String] = []
  ) {
    self.merchantIdentifier = merchantIdentifier
    self.networks = networks
    self.cards = cards
    self.supportedCountries = supportedCountries
  }

  /// The capabilities to ask for: always 3DS, and the kind of card if the merchant accepts only one.
  public var capabilities: [MerchantCapability] {
    switch cards {
    case .creditAndDebit: [.supports3DS]
    case .creditOnly: [.supports3DS, .supportsCredit]
    case .debitOnly: [.supports3DS, .supportsDebit]
    }
  }
}

/// The kinds of card that a merchant accepts.
public enum AcceptedCards: String, Sendable, Hashable, CaseIterable {
  /// Both, or the one of the two.
  case creditAndDebit, creditOnly, debitOnly
}

public import TenderPayments
public import TenderSheet

/// What an app knows of its merchant before any basket: enough to decide which button to show.
public struct MerchantConfiguration: Sendable, Hashable {
  /// As in the app's entitlement: `merchant.com.example.shop`.
  public let merchantIdentifier: String
  /// In the order of preference.
  public let networks: [CardNetwork]
  /// Credit, debit, or both.
  public let cards: AcceptedCards
  /// The countries of the issuers whose cards are taken; empty for all.
  public let supportedCountries: [String]

  /// What an app is configured with.
  public init(
    merchantIdentifier: String, networks: [CardNetwork] = [.visa, .masterCard, .amex],
    cards: AcceptedCards = .creditAndDebit, supportedCountries: [String] = []
  ) {
    self.merchantIdentifier = merchantIdentifier
    self.networks = networks
    self.cards = cards
    self.supportedCountries = supportedCountries
  }

  /// What the device is asked for: 3DS always, and the kind of card where the merchant takes only one.
  public var capabilities: [MerchantCapability] {
    switch cards {
    case .creditAndDebit: [.supports3DS]
    case .creditOnly: [.supports3DS, .supportsCredit]
    case .debitOnly: [.supports3DS, .supportsDebit]
    }
  }
}

/// The kinds of card that a merchant takes.
public enum AcceptedCards: String, Sendable, Hashable, CaseIterable {
  /// Both, or the one of the two.
  case creditAndDebit, creditOnly, debitOnly
}

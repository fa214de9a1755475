public import TenderPayments
public import TenderSheet

/// What the device reports about Apple Pay. The folder `PassKit` asks PassKit; tests provide their own answers.
public struct PaymentDevice: Sendable {
  /// Decides which networks the device knows.
  public let platform: Platform
  /// The device supports payments, and they are not restricted.
  public let canMakePayments: @Sendable () -> Bool
  /// A card of one of these networks is in the wallet, with these capabilities.
  public let hasCard: @Sendable (_ networks: [CardNetwork], _ capabilities: [MerchantCapability]) -> Bool
  /// The networks that the device knows, which may be newer than this release.
  public let availableNetworks: @Sendable () -> [CardNetwork]
  /// Wallet can be opened to add a card.
  public let canOpenWallet: @Sendable () -> Bool
  /// Opens Wallet to add a card.
  public let openWallet: @Sendable () async -> Void

  /// A device that answers with these functions.
  public init(
    platform: Platform, canMakePayments: @escaping @Sendable () -> Bool,
    hasCard: @escaping @Sendable (_ networks: [CardNetwork], _ capabilities: [MerchantCapability]) -> Bool,
    canOpenWallet: @escaping @Sendable () -> Bool, openWallet: @escaping @Sendable () async -> Void,
    availableNetworks: @escaping @Sendable () -> [CardNetwork] = { [] }
  ) {
    self.platform = platform
    self.canMakePayments = canMakePayments
    self.hasCard = hasCard
    self.availableNetworks = availableNetworks
    self.canOpenWallet = canOpenWallet
    self.openWallet = openWallet
  }
}

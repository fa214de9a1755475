public import TenderPayments
import TenderSheet

/// Which button an app shows, and why.
public struct ApplePayAvailability: Sendable, Hashable {
  /// The three that Apple allows.
  public enum Button: String, Sendable, Hashable, CaseIterable {
    /// Starts a payment. At least as prominent as every other payment method.
    case buy
    /// Opens Wallet to add a card.
    case setUp
    /// No button, not even a disabled one.
    case hidden
  }

  /// Why this button; for a log or a debug menu, see ``Reason/explanation``.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The wallet has a card that the merchant accepts.
    case cardReady
    /// The wallet is empty.
    case noCard
    /// The wallet has only cards of networks that the merchant does not accept.
    case otherNetworksOnly
    /// The wallet has cards of accepted networks, but none of the accepted kind, credit or debit.
    case otherKindOnly
    /// The device has no Apple Pay, or payments are forbidden on it.
    case deviceUnable
    /// The platform knows none of the merchant's networks.
    case networksUnknownHere
    /// The merchant accepts no network.
    case nothingAccepted
    /// A card is missing, and there is no Wallet to add one.
    case noWallet
  }

  /// Which button to show.
  public let button: Button
  /// Why this one.
  public let reason: Reason
  /// The merchant's networks that this platform knows: those to ask a card for.
  public let networks: [CardNetwork]

  /// Asks the device.
  public init(of merchant: MerchantConfiguration, on device: PaymentDevice) {
    networks = merchant.networks.known(on: device)
    reason = Self.reason(merchant, networks, device)
    button = reason.button
  }

  private static func reason(
    _ merchant: MerchantConfiguration, _ networks: [CardNetwork], _ device: PaymentDevice
  ) -> Reason {
    guard !merchant.networks.isEmpty else { return .nothingAccepted }
    guard device.canMakePayments() else { return .deviceUnable }
    guard !networks.isEmpty else { return .networksUnknownHere }
    if device.hasCard(networks, merchant.capabilities) { return .cardReady }
    guard device.canOpenWallet() else { return .noWallet }
    if device.hasCard(networks, [.supports3DS]) { return .otherKindOnly }
    let all = (CardNetwork.known + merchant.networks).known(on: device)
    return device.hasCard(all, [.supports3DS]) ? .otherNetworksOnly : .noCard
  }
}

extension ApplePayAvailability.Reason {
  fileprivate var button: ApplePayAvailability.Button {
    switch self {
    case .cardReady: .buy
    case .noCard, .otherNetworksOnly, .otherKindOnly: .setUp
    case .deviceUnable, .networksUnknownHere, .nothingAccepted, .noWallet: .hidden
    }
  }

  /// For the integrator, in a debug menu or a log.
  public var explanation: String {
    switch self {
    case .cardReady: "The wallet has a card that the merchant accepts."
    case .noCard: "The wallet holds no card."
    case .otherNetworksOnly: "The wallet's cards are of networks that the merchant does not take."
    case .otherKindOnly: "The merchant takes only credit or only debit cards, and the wallet has none of that kind."
    case .deviceUnable: "This device has no Apple Pay, or payments are forbidden on it."
    case .networksUnknownHere: "This platform is older than every network that the merchant takes."
    case .nothingAccepted: "The configuration names no network."
    case .noWallet: "A card is missing, and Wallet cannot be opened here."
    }
  }
}

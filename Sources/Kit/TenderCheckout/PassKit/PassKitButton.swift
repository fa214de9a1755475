#if canImport(PassKit)
  public import PassKit
  public import SwiftUI

  /// Apple's button: buy, set up, or nothing, as `ApplePayAvailability` says. Apple requires that it only begins a
  /// payment or opens Wallet.
  public struct ApplePayButton: View {
    private let availability: ApplePayAvailability
    private let label: PayWithApplePayButtonLabel
    private let buy: () -> Void
    private let setUp: () -> Void

    /// The button for SwiftUI.
    ///
    /// - Parameters:
    ///   - availability: decides between buy, set up and nothing.
    ///   - label: the text of the buy button.
    ///   - buy: presents the sheet.
    ///   - setUp: opens Wallet.
    public init(
      _ availability: ApplePayAvailability, label: PayWithApplePayButtonLabel = .buy, buy: @escaping () -> Void,
      setUp: @escaping () -> Void
    ) {
      self.availability = availability
      self.label = label
      self.buy = buy
      self.setUp = setUp
    }

    /// Apple's button, or an empty view.
    public var body: some View {
      switch availability.button {
      case .buy: button(label, buy)
      case .setUp: button(.setUp, setUp)
      case .hidden: EmptyView()
      }
    }

    /// At least 140 by 30 points: Apple's smallest for a button with words.
    private func button(_ label: PayWithApplePayButtonLabel, _ action: @escaping () -> Void) -> some View {
      PayWithApplePayButton(label, action: action, fallback: { EmptyView() })
        .frame(minWidth: 140, minHeight: 44)
        .payWithApplePayButtonStyle(.automatic)
    }
  }

  extension ApplePayAvailability {
    /// Apple's button for UIKit and AppKit; nil where none is shown. Give it an action: `buy` and `setUp` differ.
    @MainActor public func paymentButton(type: PKPaymentButtonType = .buy) -> PKPaymentButton? {
      switch button {
      case .buy: PKPaymentButton(paymentButtonType: type, paymentButtonStyle: .automatic)
      case .setUp: PKPaymentButton(paymentButtonType: .setUp, paymentButtonStyle: .automatic)
      case .hidden: nil
      }
    }
  }
#endif

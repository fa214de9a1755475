#if canImport(PassKit)
  import Foundation
  import PassKit
  import TenderPayments
  import TenderSheet

  extension PaymentDevice {
    /// This device, as PassKit knows it.
    public static var passKit: PaymentDevice {
      PaymentDevice(
        platform: .current,
        canMakePayments: { PKPaymentAuthorizationController.canMakePayments() },
        hasCard: { networks, capabilities in
          PKPaymentAuthorizationController.canMakePayments(
            usingNetworks: networks.map(\.passKit), capabilities: PKMerchantCapability(capabilities.map(\.passKit)))
        },
        canOpenWallet: { PKPassLibrary.isPassLibraryAvailable() },
        openWallet: { await openPaymentSetup() },
        availableNetworks: { PKPaymentRequest.availableNetworks().compactMap { CardNetwork(rawValue: $0.rawValue) } })
    }

    @MainActor private static func openPaymentSetup() { PKPassLibrary().openPaymentSetup() }
  }

  extension Platform {
    /// The operating system that this process runs on.
    public static var current: Platform {
      let version = ProcessInfo.processInfo.operatingSystemVersion
      #if os(macOS)
        return .macOS(PlatformVersion(version.majorVersion, version.minorVersion))
      #else
        return .iOS(PlatformVersion(max(version.majorVersion, 16), version.minorVersion))
      #endif
    }
  }
#endif

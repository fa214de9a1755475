#if canImport(PassKit)
  public import PassKit
  public import TenderPayments

  extension CardNetwork {
    /// PassKit's name, as the device spells it.
    public var passKit: PKPaymentNetwork {
      PKPaymentRequest.availableNetworks().first { CardNetwork(rawValue: $0.rawValue) == self }
        ?? PKPaymentNetwork(rawValue: appleName)
    }
  }
#endif

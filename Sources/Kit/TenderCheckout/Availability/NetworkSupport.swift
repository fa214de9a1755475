public import TenderPayments

extension CardNetwork {
  /// The release of iOS whose PassKit first knew the network; nil for a network that this release does not know.
  public var introduced: PlatformVersion? { facts.map { PlatformVersion($0.iOSMajor, $0.iOSMinor) } }

  /// Whether PassKit on this platform knows the network. Of a network that this release does not know, the device says.
  ///
  /// PassKit refuses a request that names a network unknown to it, so these are left out.
  public func isKnown(on device: PaymentDevice) -> Bool {
    if let introduced { return introduced <= device.platform.passKit }
    return device.availableNetworks().contains(self)
  }
}

extension Sequence<CardNetwork> {
  /// Those that the device knows, in the same order.
  public func known(on device: PaymentDevice) -> [CardNetwork] { filter { $0.isKnown(on: device) } }
}

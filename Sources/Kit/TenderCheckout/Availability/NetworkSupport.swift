public import TenderPayments

extension CardNetwork {
  /// The release of iOS whose PassKit first knew the network. The device refuses a request that names an unknown
  /// network, so newer networks are left out.
  public var introduced: PlatformVersion {
    switch self {
    case .amex, .masterCard, .visa: PlatformVersion(8)
    case .discover, .privateLabel: PlatformVersion(9)
    case .chinaUnionPay, .interac: PlatformVersion(9, 2)
    case .jcb: PlatformVersion(10, 1)
    case .cartesBancaires: PlatformVersion(11, 2)
    case .eftpos, .electron, .maestro, .vPay: PlatformVersion(12)
    case .elo, .mada: PlatformVersion(12, 1)
    case .girocard: PlatformVersion(14)
    case .mir: PlatformVersion(14, 5)
    case .dankort: PlatformVersion(15, 1)
    case .bancomat, .bancontact: PlatformVersion(16)
    case .bankAxept: PlatformVersion(17, 5)
    }
  }

  /// Whether PassKit on this platform knows the network.
  public func isKnown(on platform: Platform) -> Bool { introduced <= platform.passKit }
}

extension Sequence<CardNetwork> {
  /// Those that the platform knows, in the same order.
  public func known(on platform: Platform) -> [CardNetwork] { filter { $0.isKnown(on: platform) } }
}

package import TenderPayments

extension CardNetwork {
  /// The network that issues a number, by its first digits (ISO/IEC 7812); nil for one in no range below. Device account
  /// numbers lie in the ranges of their networks. Numbers of a network that shares another's ranges count as the other's.
  package init?(of dpan: DPAN) {
    guard let prefix = Int(dpan.revealed.prefix(6)), dpan.revealed.utf8.count >= 12,
      let network = Self.ranges.first(where: { $0.prefixes.contains(prefix) })?.network
    else { return nil }
    self = network
  }

  /// By the first six digits; the first range that holds them counts.
  private static let ranges: [(prefixes: ClosedRange<Int>, network: CardNetwork)] = [
    (340_000...349_999, .amex), (370_000...379_999, .amex),
    (352_800...358_999, .jcb),
    (220_000...220_499, .mir),
    (222_100...272_099, .masterCard), (510_000...559_999, .masterCard),
    (601_100...601_199, .discover), (644_000...659_999, .discover),
    (620_000...629_999, .chinaUnionPay), (810_000...817_199, .chinaUnionPay),
    (500_000...509_999, .maestro), (560_000...589_999, .maestro), (600_000...699_999, .maestro),
    (400_000...499_999, .visa),
  ]
}

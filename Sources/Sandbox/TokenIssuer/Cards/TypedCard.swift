import TenderPayments

extension SandboxCard {
  /// A card from text: `number:YYYY-MM:network`. Nil when a part is not what it should be.
  ///
  /// - Parameter text: the device account number with a valid check digit, the last month in which it is good, and the
  ///   network in the spelling of Apple Pay JS, in capitals or not.
  package init?(typed text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let dpan = DPAN(parts[0]), Self.hasCheckDigit(parts[0]),
      let expiry = Self.lastDay(of: parts[1]),
      let network = CardNetwork(known: parts[2])
    else { return nil }
    self.init(
      id: "typed", label: "A card that was typed", network: network, type: .credit, suffix: dpan.lastFour, dpan: dpan,
      expirationDate: expiry, outcome: .approve)
  }

  /// ISO/IEC 7812-1, annex B: from the right, every second digit is doubled.
  private static func hasCheckDigit(_ number: String) -> Bool {
    let digits = number.utf8.reversed().map { Int($0) - 0x30 }
    let sum = digits.enumerated().reduce(0) { sum, digit in
      let value = digit.offset.isMultiple(of: 2) ? digit.element : digit.element * 2
      return sum + value / 10 + value % 10
    }
    return sum.isMultiple(of: 10)
  }

  /// `2031-12` as Apple's `YYMMDD`.
  private static func lastDay(of month: String) -> String? {
    guard let match = month.wholeMatch(of: /20([0-9]{2})-(0[1-9]|1[0-2])/), let year = Int(match.output.1),
      let number = Int(match.output.2)
    else { return nil }
    // The years of this century that four divides are leap years, every one.
    let february = year.isMultiple(of: 4) ? 29 : 28
    let days = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][number - 1]
    return "\(match.output.1)\(match.output.2)\(days)"
  }
}

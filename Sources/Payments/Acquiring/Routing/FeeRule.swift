package import TenderPayments

/// What a route costs for payments that fit: a share of the amount and a fixed amount. The first rule that fits counts.
///
/// Written as its terms and conditions: `basisPoints=120 fixed=0.10 currency=EUR network=visa,masterCard`. A basis point
/// is a hundredth of a percent. A condition that is not there is met by every payment; `fixed` needs one currency.
package struct FeeRule: Sendable, Hashable {
  /// 0 to 10,000.
  package let basisPoints: Int64
  /// Minor units of the rule's one currency.
  package let fixed: Int64
  package let currency: Currency?
  package let networks: Set<CardNetwork>

  /// - Throws: what is wrong with the text, and what to write.
  package init(_ text: String) throws(RouteRuleError) {
    var values: [String: String] = [:]
    for word in text.split(separator: " ") {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, Self.names.contains(parts[0]), values.updateValue(parts[1], forKey: parts[0]) == nil
      else { throw RouteRuleError("“\(word)” is no term; write each of \(Self.names.joined(separator: ", ")) once") }
    }
    currency = try Self.currency(values["currency"])
    basisPoints = try Self.share(values["basisPoints"])
    fixed = try Self.fixed(values["fixed"], currency)
    networks = try Self.networks(values["network"])
    guard basisPoints > 0 || fixed > 0 else {
      throw RouteRuleError("write basisPoints=120, or fixed=0.10 and a currency")
    }
  }

  private static let names = ["basisPoints", "fixed", "currency", "network"]

  private static func currency(_ code: String?) throws(RouteRuleError) -> Currency? {
    guard let code else { return nil }
    guard let currency = Currency(code: code), currency.isMoney else {
      throw RouteRuleError("“\(code)” is not a currency such as EUR")
    }
    return currency
  }

  private static func share(_ text: String?) throws(RouteRuleError) -> Int64 {
    guard let text else { return 0 }
    guard let share = Int64(text), (0...10_000).contains(share) else {
      throw RouteRuleError("“\(text)” is not a number of basis points from 0 to 10000")
    }
    return share
  }

  private static func fixed(_ text: String?, _ currency: Currency?) throws(RouteRuleError) -> Int64 {
    guard let text else { return 0 }
    guard let currency else { throw RouteRuleError("a fixed amount needs a currency: add currency=EUR") }
    do throws(MistypedAmount) { return try Amount(typed: text, in: currency, least: 0).minorUnits } catch {
      throw RouteRuleError("\(error)")
    }
  }

  private static func networks(_ text: String?) throws(RouteRuleError) -> Set<CardNetwork> {
    var networks: Set<CardNetwork> = []
    for name in text?.split(separator: ",") ?? [] {
      guard let network = CardNetwork(known: String(name)) else {
        throw RouteRuleError("“\(name)” is not a network such as visa")
      }
      networks.insert(network)
    }
    return networks
  }

  /// What the payment costs, rounded half up to a minor unit; nil for a payment that does not fit.
  package func cost(of amount: Amount, network: CardNetwork?) -> Amount? {
    guard currency == nil || currency == amount.currency,
      networks.isEmpty || (network.map(networks.contains) ?? false)
    else { return nil }
    // Whole ten-thousands first, so that the product cannot overflow.
    let (whole, rest) = amount.minorUnits.quotientAndRemainder(dividingBy: 10_000)
    let share = whole * basisPoints + (rest * basisPoints + 5_000) / 10_000
    let (sum, overflows) = share.addingReportingOverflow(fixed)
    return overflows ? nil : Amount(minorUnits: sum, currency: amount.currency)
  }
}

extension FeeRule: CustomStringConvertible {
  /// As it is written, with the terms in the order of their names.
  package var description: String {
    let terms = [
      ("basisPoints", basisPoints == 0 ? nil : "\(basisPoints)"), ("currency", currency?.code),
      ("fixed", fixed == 0 ? nil : currency.map { Amount(minorUnits: fixed, currency: $0).decimalString }),
      ("network", networks.isEmpty ? nil : networks.map(\.rawValue).sorted().joined(separator: ",")),
    ]
    return terms.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: " ")
  }
}

extension [FeeRule] {
  /// What the payment costs by the first rule that fits; nil where none does.
  package func cost(of amount: Amount, network: CardNetwork?) -> Amount? {
    lazy.compactMap { $0.cost(of: amount, network: network) }.first
  }
}

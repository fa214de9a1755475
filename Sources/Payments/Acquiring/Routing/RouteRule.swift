package import TenderPayments

/// One line of a merchant's routing: payments that fit it may take its route.
///
/// Written as the route and its conditions: `braintree/eu-main network=visa,masterCard currency=EUR
/// amount=0.01-500.00 country=IE,GB`. A condition that is not there is met by every payment.
package struct RouteRule: Sendable, Hashable {
  package let route: Route
  package private(set) var networks: Set<CardNetwork> = []
  package private(set) var currencies: Set<Currency> = []
  /// ISO 3166, two capital letters: of the shopper's address.
  package private(set) var countries: Set<String> = []
  /// Minor units of the rule's one currency.
  package private(set) var amounts: ClosedRange<Int64>?

  package init(_ route: Route) { self.route = route }

  /// - Throws: what is wrong with the text, and what to write.
  package init(_ text: String) throws(RouteRuleError) {
    let words = text.split(separator: " ").map(String.init)
    guard let first = words.first, let route = Route(first) else {
      throw RouteRuleError("begin with a route, such as braintree/eu-main")
    }
    self.route = route
    var amount: String?
    for word in words.dropFirst() {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw RouteRuleError("write “\(word)” as a condition, such as network=visa") }
      switch parts[0] {
      case "network": networks = Set(try Self.each(parts[1], "a network such as visa", CardNetwork.init(known:)))
      case "currency": currencies = Set(try Self.each(parts[1], "a currency such as EUR", Self.currency))
      case "country": countries = Set(try Self.each(parts[1], "a country such as IE", Self.country))
      case "amount": amount = parts[1]
      default: throw RouteRuleError("“\(parts[0])” is no condition; there are network, currency, country, amount")
      }
    }
    amounts = try amount.map { text throws(RouteRuleError) in try Self.range(text, currencies) }
  }

  private static func each<Value>(
    _ text: String, _ wanted: String, _ read: (String) -> Value?
  ) throws(RouteRuleError) -> [Value] {
    var values: [Value] = []
    for item in text.split(separator: ",") {
      guard let value = read(String(item)) else { throw RouteRuleError("“\(item)” is not \(wanted)") }
      values.append(value)
    }
    return values
  }

  private static func currency(_ code: String) -> Currency? {
    Currency(code: code).flatMap { $0.isMoney ? $0 : nil }
  }

  private static func country(_ code: String) -> String? {
    code.utf8.count == 2 && code.utf8.allSatisfy { (0x41...0x5A).contains($0) } ? code : nil
  }

  private static func range(
    _ text: String, _ currencies: Set<Currency>
  ) throws(RouteRuleError) -> ClosedRange<Int64> {
    guard let currency = currencies.first, currencies.count == 1 else {
      throw RouteRuleError("an amount needs one currency: add currency=EUR")
    }
    let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map {
      (try? Amount(decimal: String($0), currency: currency))?.minorUnits
    }
    guard bounds.count == 2, let low = bounds[0], let high = bounds[1], 0 < low, low <= high else {
      throw RouteRuleError("“\(text)” is no range of amounts; write 0.01-500.00")
    }
    return low...high
  }
}

extension RouteRule: CustomStringConvertible {
  /// As it is written, with the conditions in the order of their names.
  package var description: String {
    let amount = amounts.flatMap { range in
      currencies.first.map { currency in
        [range.lowerBound, range.upperBound].map { Amount(minorUnits: $0, currency: currency).decimalString }
          .joined(separator: "-")
      }
    }
    let conditions = [
      ("amount", amount), ("country", Self.list(countries)), ("currency", Self.list(currencies.map(\.code))),
      ("network", Self.list(networks.map(\.rawValue))),
    ]
    return ([route.description] + conditions.compactMap { name, value in value.map { "\(name)=\($0)" } })
      .joined(separator: " ")
  }

  private static func list(_ values: some Collection<String>) -> String? {
    values.isEmpty ? nil : values.sorted().joined(separator: ",")
  }
}

/// Why a text is no rule.
package struct RouteRuleError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}

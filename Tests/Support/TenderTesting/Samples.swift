package import TenderPayments

extension Currency {
  /// The euro, for tests; the table has it.
  package static var euro: Currency { Currency(code: "EUR") ?? all[0] }
}

extension Amount {
  package static func eur(_ minorUnits: Int64) -> Amount { Amount(minorUnits: minorUnits, currency: .euro) }
}

extension Order {
  /// A sample order.
  package static func sample(
    _ id: String = "order-1", _ amount: Amount = .eur(1250), merchant: MerchantID = "shop",
    applicationDataHash: [UInt8] = Array(repeating: 7, count: 32), capture: CaptureMode = .manual
  ) -> Order {
    Order(
      id: OrderID(id), merchant: merchant, basket: BasketID("basket of \(id)"), amount: amount,
      applicationDataHash: applicationDataHash, merchantReference: "R-\(id)", capture: capture)
  }
}

extension MerchantID: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) { self.init(value) }
}

extension TokenUse {
  /// The use of a sample payment token.
  package static func sample(_ number: Int) -> TokenUse {
    TokenUse(transactionID: "transaction \(number)", payloadHash: "payload \(number)")
  }
}

extension CardSummary {
  package static let sample = CardSummary(deviceAccountSuffix: "0012", expiry: CardExpiry(yymm: "3112"), hasECI: true)
}

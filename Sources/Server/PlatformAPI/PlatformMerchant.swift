package import DirectWire
package import Orders
package import TenderPayments

/// What the operator has configured of a merchant, as far as the platform API needs it.
package struct PlatformMerchant: Sendable {
  package let id: MerchantID
  package let displayName: String
  /// ISO 3166-1 alpha-2.
  package let countryCode: String
  package let currency: Currency
  package let networks: [CardNetwork]
  /// Whether encrypted payment data is taken without Apple's signature.
  package let takesUnsignedData: Bool
  /// Why webhooks may not go to an address; nil where they may.
  package let refusalOfWebhook: @Sendable (String) -> String?
  /// Why the merchant takes no payments now; nil when it does.
  package var refusal: OrderError.Code?

  package init(
    id: MerchantID, displayName: String, countryCode: String, currency: Currency, networks: [CardNetwork],
    takesUnsignedData: Bool, refusalOfWebhook: @escaping @Sendable (String) -> String?
  ) {
    self.id = id
    self.displayName = displayName
    self.countryCode = countryCode
    self.currency = currency
    self.networks = networks
    self.takesUnsignedData = takesUnsignedData
    self.refusalOfWebhook = refusalOfWebhook
  }
}

/// An answer of the platform API.
package struct PlatformAnswer: Sendable, Hashable {
  package let status: Int
  /// JSON.
  package let body: [UInt8]
  /// What was made, for `Location`.
  package var location: DirectPaymentID?
  /// When the first call under the same key began; nil for a first call.
  package var firstCallAt: Timestamp?

  package init(_ value: some Encodable, status: Int = 200) throws {
    self.status = status
    body = try DirectJSON.bytes(value)
  }
}

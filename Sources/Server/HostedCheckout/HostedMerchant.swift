package import Orders
package import TenderPayments

/// What the pages need of a merchant.
package struct HostedMerchant: Sendable {
  package let id: MerchantID
  /// As the shopper reads it.
  package let name: String
  /// Where its payments are processed.
  package let countryCode: String
  /// The language tag of its shoppers, unless a checkout names another.
  package let locale: String
  /// The countries whose shoppers are offered Apple Pay; empty for all.
  package let regions: [String]
  /// The origins whose pages may show the page in a frame; empty for none.
  package let frameAncestors: [String]
  /// The looks that a checkout may ask for, by name.
  package let variants: [String: HostedVariant]
  /// Why it takes no payments at a moment; nil when it does.
  package var refusal: @Sendable (Timestamp) -> OrderError.Code? = { _ in nil }

  package init(
    id: MerchantID, name: String, countryCode: String, locale: String, regions: [String] = [],
    frameAncestors: [String] = [], variants: [String: HostedVariant] = [:]
  ) {
    self.id = id
    self.name = name
    self.countryCode = countryCode
    self.locale = locale
    self.regions = regions
    self.frameAncestors = frameAncestors
    self.variants = variants
  }

  /// Whether shoppers of a country are offered Apple Pay; true where the country is not known.
  func isOffered(in country: String?) -> Bool { regions.isEmpty || country.map(regions.contains) ?? true }

  func variant(_ name: String) -> HostedVariant { variants[name] ?? .plain }
}

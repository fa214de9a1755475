import Administration
import DemoShop
import Settings
import TenderPayments
import TenderServer

/// The demo's platform, and a market stall without a page of its own that it serves.
enum DemoPlatform {
  static let platform = MerchantProvisioning.NewMerchant(
    id: "platform", merchantIdentifier: "merchant.test.platform", displayName: "Tender demo", countryCode: "IE",
    currencyCode: "EUR", domains: [])
  static let stall = MerchantProvisioning.NewMerchant(
    id: "stall", merchantIdentifier: "merchant.test.stall", displayName: "Market Stall", countryCode: "IE",
    currencyCode: "EUR", domains: [])

  /// The stall's look on the payment page.
  static let looks = [
    "stall.yaml": """
    header: "#0b5a66"
    accent: "#0b5a66"
    accentDark: "#83cfda"

    """,
    "stall.svg": """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 190 40" fill="white"><path d="M4 16 8 4h32l4 12a6 6 0 0 1-10 3 \
    6 6 0 0 1-10 0 6 6 0 0 1-10 0A6 6 0 0 1 4 16z"/><path d="M8 24h4v12h24V24h4v14H8z"/><text x="54" y="27" \
    font-family="sans-serif" font-size="18" font-weight="700">Market Stall</text></svg>
    """,
  ]

  /// Registers the stall with the simulated Apple, which fetches the page's association file: the server must listen.
  static func register(_ page: String, _ configuration: ServerConfiguration) async throws {
    let network = try Network.live(configuration.outbound)
    do {
      let registration = try await PlatformRegistration(configuration, network, at: WallClock.system.now())
      try await registration.registerPage(page, of: [stall])
      await network.close()
    } catch {
      await network.close()
      throw error
    }
  }

  /// What the stall's backend signs with.
  static func key(_ directory: String) throws -> MerchantKey {
    let key = try MerchantFolder.apiKey(at: "\(directory)/merchants/\(stall.id)")
    return MerchantKey(merchantId: stall.id, apiKeyId: key.id, secretApiKey: key.secret)
  }
}

/// Where a demo shop listens, what it sells, and how it reaches Tender.
package struct ShopConfiguration: Sendable {
  package var host: String
  /// 0 for any free one.
  package var port: Int
  package var menu: Menu
  /// Tender's origin for the shop's backend: `http://127.0.0.1:8400`.
  package var tenderServerURL: String
  /// Tender's origin for the shopper's browser.
  package var publicTenderURL: String
  /// The sandbox's origin for the shopper's browser; nil where money is real.
  package var publicSandboxURL: String?
  /// What the shop's backend signs with.
  package var key: MerchantKey
  /// What the market stall's backend signs with; nil where there is no stall.
  package var stall: MerchantKey?
  /// What Tender signs this shop's webhooks with; nil where it gets none.
  package var webhookSecret: String?
  /// The operator's own page, served at `/page`.
  package var visitorsPage: String?

  package init(
    host: String = "127.0.0.1", port: Int, menu: Menu = .harbourKitchen, tenderServerURL: String,
    publicTenderURL: String? = nil, publicSandboxURL: String? = nil, merchantId: String, apiKeyId: String,
    secretApiKey: String, webhookSecret: String? = nil, visitorsPage: String? = nil
  ) {
    self.host = host
    self.port = port
    self.menu = menu
    self.tenderServerURL = tenderServerURL
    self.publicTenderURL = publicTenderURL ?? tenderServerURL
    self.publicSandboxURL = publicSandboxURL
    key = MerchantKey(merchantId: merchantId, apiKeyId: apiKeyId, secretApiKey: secretApiKey)
    self.webhookSecret = webhookSecret
    self.visitorsPage = visitorsPage
  }
}

/// A merchant of Tender, and the key that its backend signs with.
package struct MerchantKey: Sendable {
  /// The `{merchantId}` of the platform API's paths.
  package var merchantId: String
  package var apiKeyId: String
  package var secretApiKey: String

  package init(merchantId: String, apiKeyId: String, secretApiKey: String) {
    self.merchantId = merchantId
    self.apiKeyId = apiKeyId
    self.secretApiKey = secretApiKey
  }
}

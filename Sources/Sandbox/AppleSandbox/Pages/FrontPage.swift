import AcquirerSandbox
import TokenIssuer

/// The values of the front page; the template escapes every text.
struct FrontPage {
  struct Merchant {
    let identifier: String
    let displayName: String
    let certificates: String
    let domains: [Domain]
  }

  struct Domain {
    let name: String
    let state: String
  }

  struct Card {
    let id: String
    let label: String
    let displayName: String
    let outcome: String
    let isApproved: Bool
  }

  struct Contact {
    let id: String
    let label: String
    let postalCode: String
    let redactedPostalCode: String
  }

  /// A total with a scripted outcome at the acquirer.
  struct ScriptedAmount {
    let amount: String
    let outcome: String
  }

  let url: String
  let gatewayURL: String
  let merchants: [Merchant]
  let cards = SandboxCards.all.map(Card.init)
  let contacts = SandboxContacts.all.map(Contact.init)

  let scriptedAmounts = SandboxAmounts.all.map(ScriptedAmount.init)
  let acquirerKeys: [String]
  /// The last calls that the gateway or the device rejected, at most five.
  let refusals: [RecentPage.Row]
  let hasRefusals: Bool
  let shops: [ShopLink]
  let hasShops: Bool

  init(
    addresses: SandboxAddresses, merchants: [PortalMerchant], acquirerKeys: [String], refusals: [RecentActivity.Entry],
    shops: [ShopLink]
  ) {
    url = addresses.url
    gatewayURL = addresses.gatewayURL
    self.merchants = merchants.map(Merchant.init)
    self.acquirerKeys = acquirerKeys
    self.refusals = refusals.prefix(5).map(RecentPage.Row.init)
    hasRefusals = !refusals.isEmpty
    self.shops = shops
    hasShops = !shops.isEmpty
  }
}

extension FrontPage.ScriptedAmount {
  /// Spelled in a currency of two decimals.
  init(_ scripted: SandboxAmount) {
    let cents = scripted.minorUnits % 100
    amount = "\(scripted.minorUnits / 100).\(cents < 10 ? "0" : "")\(cents)"
    outcome = scripted.explanation
  }
}

extension FrontPage.Merchant {
  init(_ merchant: PortalMerchant) {
    identifier = merchant.merchantIdentifier
    displayName = merchant.displayName
    let (identity, processing) = (
      merchant.certificates.count { $0.type == .identity }, merchant.certificates.count { $0.type == .processing }
    )
    certificates = "\(identity) identity, \(processing) processing"
    domains = merchant.domains.map {
      FrontPage.Domain(name: $0.name, state: $0.verifiedAt == nil ? "not verified" : "verified")
    }
  }
}

extension FrontPage.Card {
  init(_ card: SandboxCard) {
    id = card.id
    label = card.label
    displayName = card.displayName
    outcome = card.outcome.explanation
    isApproved = card.outcome == .approve
  }
}

extension FrontPage.Contact {
  init(_ contact: SandboxContact) {
    id = contact.id
    label = contact.label
    postalCode = contact.postalCode ?? ""
    redactedPostalCode = contact.redacted.postalCode ?? ""
  }
}

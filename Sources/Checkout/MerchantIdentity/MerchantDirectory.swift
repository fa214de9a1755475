package import TenderPayments

/// A merchant as Tender serves it.
package struct Merchant: Sendable {
  /// A domain that shows the button, and the file that proves to Apple whose it is.
  package struct Site: Sendable, Hashable {
    package let domain: Domain
    package let association: DomainAssociation?
    /// Whether its pages may offer Apple Pay.
    package let isEnabled: Bool

    package init(domain: Domain, association: DomainAssociation? = nil, isEnabled: Bool = true) {
      self.domain = domain
      self.association = association
      self.isEnabled = isEnabled
    }
  }

  /// Tender's name for the merchant.
  package let id: MerchantID
  /// Apple's name for the merchant.
  package let identifier: MerchantIdentifier
  package let displayName: DisplayName
  package let sites: [Site]
  /// Needed by web pages and macOS apps; an iOS app needs none.
  package let identity: MerchantIdentityCertificate?
  /// More than one while one replaces another; none when the payment provider opens the payment tokens.
  package let processing: [PaymentProcessingCertificate]

  package init(
    id: MerchantID, identifier: MerchantIdentifier, displayName: DisplayName, sites: [Site],
    identity: MerchantIdentityCertificate? = nil, processing: [PaymentProcessingCertificate] = []
  ) {
    self.id = id
    self.identifier = identifier
    self.displayName = displayName
    self.sites = sites
    self.identity = identity
    self.processing = processing
  }
}

/// All merchants of a server, found by their name or by the domain that calls.
package struct MerchantDirectory: Sendable {
  package let merchants: [Merchant]
  private let byID: [MerchantID: Merchant]
  private let byOrigin: [String: (Merchant, Merchant.Site)]
  private let byHost: [String: (Merchant, Merchant.Site)]

  /// - Throws: when two merchants share a name or a domain, or a certificate is another merchant's or another
  ///   environment's.
  package init(_ merchants: [Merchant], in environment: Environment) throws(MerchantIdentityError) {
    var byID: [MerchantID: Merchant] = [:]
    var byHost: [String: (Merchant, Merchant.Site)] = [:]
    for merchant in merchants {
      try Self.requireOwnCertificates(merchant, environment)
      guard byID.updateValue(merchant, forKey: merchant.id) == nil else { throw Self.duplicate(merchant) }
      for site in merchant.sites {
        guard byHost.updateValue((merchant, site), forKey: site.domain.name) == nil else {
          throw Self.duplicate(site.domain)
        }
      }
    }
    self.merchants = merchants
    self.byID = byID
    self.byHost = byHost
    self.byOrigin = Self.origins(byHost)
  }

  package subscript(_ id: MerchantID) -> Merchant? { byID[id] }

  /// The merchant whose page this is.
  ///
  /// - Parameter origin: the `Origin` header as it came: exact, with the scheme.
  package func merchant(origin: String) -> (merchant: Merchant, site: Merchant.Site)? { byOrigin[origin] }

  /// The merchant whose host was asked.
  ///
  /// - Parameter host: the `Host` header as it came: any case, with HTTPS's own port or without.
  package func merchant(host: String) -> (merchant: Merchant, site: Merchant.Site)? {
    let name = host.lowercased()
    return byHost[name] ?? (name.hasSuffix(":443") ? byHost[String(name.dropLast(4))] : nil)
  }

  private static func origins(
    _ byHost: [String: (Merchant, Merchant.Site)]
  ) -> [String: (Merchant, Merchant.Site)] {
    var byOrigin: [String: (Merchant, Merchant.Site)] = [:]
    for entry in byHost.values {
      for origin in entry.1.domain.origins { byOrigin[origin] = entry }
    }
    return byOrigin
  }
}

extension MerchantDirectory {
  private static func requireOwnCertificates(
    _ merchant: Merchant, _ environment: Environment
  ) throws(MerchantIdentityError) {
    let certificates =
      [merchant.identity].compactMap { $0 }.map { ($0.description, $0.merchant, $0.isFromApple) }
      + merchant.processing.map { ($0.description, $0.merchant, $0.isFromApple) }
    for (description, owner, isFromApple) in certificates {
      guard owner == merchant.identifier else {
        throw MerchantIdentityError(
          .wrongMerchant, "The \(description) was given to \(merchant.identifier).",
          advice: "Give each merchant the certificates made under its own identifier.")
      }
      guard isFromApple == (environment != .simulated) else {
        throw MerchantIdentityError(
          .environmentMismatch,
          "The \(description) was \(isFromApple ? "" : "not ")issued by Apple; the environment is \(environment.rawValue).",
          advice: "Use Apple's certificates with Apple, and those of tender-sandbox in the simulated environment.")
      }
    }
  }

  private static func duplicate(_ merchant: Merchant) -> MerchantIdentityError {
    MerchantIdentityError(
      .duplicateMerchant, "Two merchants are called \(merchant.id).", advice: "Give each merchant an id of its own.")
  }

  private static func duplicate(_ domain: Domain) -> MerchantIdentityError {
    MerchantIdentityError(
      .duplicateDomain, "The domain \(domain) is listed twice.",
      advice: "A domain belongs to one merchant: the calling domain decides whose sheet it is.")
  }
}

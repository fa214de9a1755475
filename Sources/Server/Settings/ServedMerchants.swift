package import Acquiring
import ApplePayToken
import Foundation
import HTTPTransport
package import Logging
package import MerchantIdentity
package import Storage
package import TenderPayments

/// The merchants that a server serves: all of the configuration, and those of the store that are as they must be.
package struct ServedMerchants: Sendable {
  package private(set) var folders: [MerchantFolder] = []
  /// One merchant of the store that is broken does not stop the others.
  package private(set) var leftOut: [LeftOutMerchant] = []

  private let configuration: ServerConfiguration
  private let routes: RouteTable?
  private var ids: Set<MerchantID> = []
  /// Whose a domain and an API key's id are.
  private var domains: [String: MerchantID] = [:]
  private var apiKeys: [String: MerchantID] = [:]

  /// - Parameters:
  ///   - routes: nil where the accounts of merchants at the routes are not checked.
  ///   - only: reads this merchant alone. Of the others only the domains and the ids of API keys are looked at.
  /// - Throws: ``ConfigurationError`` when a merchant of the configuration is not as it must be.
  package init(
    _ configuration: ServerConfiguration, _ database: Database, _ routes: RouteTable?, only: MerchantID? = nil,
    at now: Timestamp
  ) async throws {
    (self.configuration, self.routes) = (configuration, routes)
    let (rows, terms, earlier) = try await configuration.merchantStore(database).read { tables in
      (
        try tables.merchants(only: only, at: now), try TermsOfMerchants(tables),
        try only.map { try tables.earlierOwners(ofAPIKeysOf: $0, at: now) } ?? [:]
      )
    }
    if let only {
      let others = OtherMerchants(configuration, but: only)
      (domains, apiKeys) = (others.domains, others.apiKeys)
    }
    let elsewhere = configuration.keyAgentSocket != nil
    if rows.isEmpty || FileManager.default.fileExists(atPath: configuration.merchantsDirectory) {
      let declared = try await MerchantFolder.all(
        in: configuration.merchantsDirectory, only: only, at: now, keysMayBeElsewhere: elsewhere)
      for folder in declared { try add(folder.standing(terms.standing(of: folder.merchant.id))) }
    }
    apiKeys.merge(earlier) { declared, _ in declared }
    // Where two cannot be served beside one another, the one that was here first goes on.
    for row in rows.compactMap({ try? $0.get() }).sorted(by: { $0.createdAt < $1.createdAt }) {
      do {
        let folder = try MerchantFolder(stored: row, configuration, at: now)
        try add(folder.standing(terms.standing(of: row.id)))
      } catch {
        leftOut.append(LeftOutMerchant(row.id, ErrorWords.of(error)))
      }
    }
    for case .failure(let unreadable) in rows { leftOut.append(unreadable) }
  }

  private mutating func add(_ folder: MerchantFolder) throws {
    let id = folder.merchant.id
    try folder.requireServable(by: configuration, routes)
    guard !ids.contains(id) else {
      throw ConfigurationError(
        "\(configuration.merchantsDirectory)/\(id)",
        "the store has a merchant of this id too; move the folder away, or take the merchant out of the store")
    }
    for key in folder.apiKeys.keys.sorted() {
      guard let other = apiKeys[key] else { continue }
      var directory: String?
      if case .declared = folder.origin { directory = configuration.merchantsDirectory }
      throw SharedSecrets.repeated(key, of: id, and: other, in: directory)
    }
    for domain in folder.merchant.sites.map(\.domain.name) {
      guard let other = domains[domain] else { continue }
      throw MerchantStoreError(.domainTaken, "\(domain) belongs to the merchant \(other); a domain has one merchant.")
    }
    ids.insert(id)
    for key in folder.apiKeys.keys { apiKeys[key] = id }
    for site in folder.merchant.sites { domains[site.domain.name] = id }
    folders.append(folder)
  }
}

// The alarm. A metric and the doctor's `merchant_served` say so too.
extension ServedMerchants {
  /// - Parameter former: what was said before is not repeated.
  package func report(to logger: Logger, after former: ServedMerchants? = nil) {
    for merchant in leftOut where former?.leftOut.contains(merchant) != true {
      logger.error(
        "a merchant of the store is left out",
        metadata: ["merchant": .string(merchant.id), "reason": .string(merchant.reason)])
    }
  }
}

extension MerchantFolder {
  /// Refuses what this server cannot serve, without regard to other merchants.
  package func requireServable(by configuration: ServerConfiguration, _ routes: RouteTable?) throws {
    try MerchantWebhooks.validate(self, allowsPrivate: configuration.allowsPrivateWebhooks)
    try routes?.checkAccounts(of: self, in: configuration.merchantsDirectory)
    _ = try MerchantDirectory([merchant], in: configuration.environment)
    try merchant.identity?.clientIdentity.requirePresentable()
    for certificate in merchant.processing {
      _ = try ProcessingKey(privateKeyPEM: certificate.privateKeyPEM, certificatePEM: certificate.certificatePEM)
    }
    guard profile.encryptsToPlatform else { return }
    try PlatformFolder.require(configuration.platformDirectory, for: merchant.id)
    _ = try asPartner()
  }
}

extension ClientIdentity {
  /// Refuses what no connection to Apple could present.
  package func requirePresentable() throws {
    do { try check() } catch {
      throw ConfigurationError(
        "the identity certificate", "no connection can present it; import one from Apple (\(error))")
    }
  }
}

extension MerchantFolder {
  /// The merchant as a platform registers it with Apple: by its id here, and the name on its sheet.
  package func asPartner() throws -> PartnerMerchant {
    try PartnerMerchant(identifier: merchant.id.rawValue, name: merchant.displayName.text)
  }
}

package import Acquiring
import ApplePayToken
import Foundation
import HTTPTransport
package import Logging
package import MerchantIdentity
package import Storage
package import TenderPayments

/// The merchants that a server serves: those of the configuration and those of the store.
///
/// One that is broken does not stop the others.
package struct ServedMerchants: Sendable {
  package private(set) var folders: [MerchantFolder] = []
  /// Merchants of the store that are not as they must be.
  package private(set) var leftOut: [LeftOutMerchant] = []
  /// Declared merchants whose folders are not as they must be.
  package private(set) var notRead: [LeftOutMerchant] = []
  private var firstProblem: (any Error)?

  /// The ids of all merchants, also of those that cannot be served.
  package var allIDs: [MerchantID] {
    Array(Set(folders.map(\.merchant.id) + (leftOut + notRead).map { MerchantID($0.id) }))
  }

  private let configuration: ServerConfiguration
  private let routes: RouteTable?
  private var ids: Set<MerchantID> = []
  /// Whose a domain and an API key's id are.
  private var domains: [String: MerchantID] = [:]
  private var apiKeys: [String: MerchantID] = [:]

  /// - Parameters:
  ///   - routes: nil where the accounts of merchants at the routes are not checked.
  ///   - only: reads this merchant alone. Of the others only the domains and the ids of API keys are looked at.
  ///   - former: where one declared merchant cannot be read, or all are gone at once, they stay as they are here.
  /// - Throws: ``ConfigurationError`` when there are no merchants at all.
  package init(
    _ configuration: ServerConfiguration, _ database: Database, _ routes: RouteTable?, only: MerchantID? = nil,
    after former: ServedMerchants? = nil, at now: Timestamp
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
    let isThere = configuration.hasMerchantsDirectory
    // A start without any merchant is refused where the folder that the settings name is not there. What the store says
    // of its merchants holds without it.
    if isThere || (rows.isEmpty && only == nil && former == nil && !configuration.declaresNone) {
      do { try await addDeclared(only: only, terms, at: now) } catch {
        // A folder that is there and cannot be listed must not keep changes of the store from taking effect.
        guard former != nil else { throw error }
        firstProblem = error
      }
    }
    if let former { keepDeclared(of: former, besides: Set(rows.compactMap { try? $0.get().id }), terms) }
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

  private mutating func addDeclared(only: MerchantID?, _ terms: TermsOfMerchants, at now: Timestamp) async throws {
    let (directory, elsewhere) = (configuration.merchantsDirectory, configuration.keyAgentSocket != nil)
    for name in try MerchantFolder.merchants(in: directory) where only == nil || only == MerchantID(name) {
      let id = MerchantID(name)
      do {
        let folder = try await MerchantFolder(name, in: directory, at: now, keysMayBeElsewhere: elsewhere)
        try add(folder.standing(terms.standing(of: id)))
      } catch {
        firstProblem = firstProblem ?? error
        notRead.append(LeftOutMerchant(id, ErrorWords.of(error)))
      }
    }
  }

  /// Puts all declared merchants back as they were if one cannot be read, or if all are gone at once, as with a lost
  /// mount.
  ///
  /// - Parameter stored: a merchant whose folder was moved into the store goes on from there.
  private mutating func keepDeclared(
    of former: ServedMerchants, besides stored: Set<MerchantID>, _ terms: TermsOfMerchants
  ) {
    let directory = configuration.merchantsDirectory
    let present = try? MerchantFolder.merchants(in: directory)
    let kept = former.declared.filter { folder in
      let id = folder.merchant.id
      return present?.contains(id.rawValue) == true || !stored.contains(id)
    }
    if !kept.isEmpty, present?.isEmpty ?? true {
      // A start takes nothing in place of the folder.
      let step = present == nil && configuration.hasMerchantsDirectory ? "move away what is in its place and " : ""
      let problem = ConfigurationError(
        "merchants.directory",
        "\(MerchantFolder.absence(in: directory)); bring the merchants back, or \(step)restart the server to go on "
          + "without them")
      firstProblem = problem
      notRead += kept.map { LeftOutMerchant($0.merchant.id, ErrorWords.of(problem)) }
    }
    guard !notRead.isEmpty else { return }
    (folders, ids, domains, apiKeys) = ([], [], [:], [:])
    for folder in kept {
      let id = folder.merchant.id
      do { try add(folder.standing(terms.standing(of: id))) } catch {
        notRead.append(LeftOutMerchant(id, ErrorWords.of(error)))
      }
    }
  }

  private var declared: [MerchantFolder] {
    folders.filter { if case .declared = $0.origin { true } else { false } }
  }

  /// - Throws: what is wrong with the first declared merchant that is not as it must be, or with the folder of all.
  package func requireDeclared() throws { if let firstProblem { throw firstProblem } }

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
    for merchant in notRead where former?.notRead.contains(merchant) != true {
      logger.error(
        "a declared merchant cannot be read; all of them go on as they were read before",
        metadata: ["merchant": .string(merchant.id), "reason": .string(merchant.reason)])
    }
    if former == nil, !configuration.hasMerchantsDirectory {
      logger.notice(
        "there is no folder of declared merchants; only those of the store are served",
        metadata: ["directory": .string(configuration.merchantsDirectory)])
    }
  }

  /// Every merchant that cannot be served as the store or its folder has it, once.
  package var broken: [LeftOutMerchant] {
    var ids: Set<String> = []
    return (leftOut + notRead).filter { ids.insert($0.id).inserted }
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

import Foundation
import MerchantIdentity
import Settings
import TenderPayments

extension MerchantAdministration {
  /// - Parameter file: the association file in base64; nil for none.
  func addDomain(_ name: String, of merchant: String, _ file: String?) async throws -> MerchantAnswer {
    let domain = try Domain(typed: name)
    let association = try file.flatMap { Base64.decode($0) }.map { try DomainAssociation(brought: $0) }
    try await change(merchant, try store) { try $0.insert(domain, of: $1, association: association) }
    return try await domains(of: merchant)
  }

  func removeDomain(_ name: String, of merchant: String) async throws -> MerchantAnswer {
    let domain = try Domain(typed: name)
    try await change(merchant, try store) { try $0.remove(domain, of: $1) }
    return try await domains(of: merchant)
  }

  /// - Parameter finding: nil for nothing.
  func noteCheck(of name: String, of merchant: String, _ finding: String?) async throws -> MerchantAnswer {
    let domain = try Domain(typed: name)
    try await store.note { try $0.setChecked(domain, of: MerchantID(merchant), finding: finding) }
    return try await domains(of: merchant)
  }

  func noteRegistration(of names: [String], of merchant: String, _ isRegistered: Bool) async throws -> MerchantAnswer {
    let (domains, now) = (try names.map { try Domain(typed: $0) }, clock.now())
    try await store.write {
      try $0.setRegistered(domains, of: MerchantID(merchant), at: isRegistered ? now : nil)
    }
    return try await self.domains(of: merchant)
  }

  /// Declared domains have neither checks nor registrations in the store.
  func domains(of merchant: String?) async throws -> MerchantAnswer {
    let (now, only) = (clock.now(), merchant.map { MerchantID($0) })
    let stored = try await storedMerchants(only: merchant, at: now)
    var (declared, notes) = ([MerchantFolder](), [String]())
    do {
      if FileManager.default.fileExists(atPath: configuration.merchantsDirectory) {
        declared = try await MerchantFolder.all(
          in: configuration.merchantsDirectory, only: only, at: now, keysMayBeElsewhere: keysMayBeElsewhere)
      }
    } catch {
      notes.append("declared merchants are left out: \(error)")
    }
    let sites = declared.flatMap { folder in
      folder.merchant.sites.map { StoredDomainReport($0, of: folder.merchant.id) }
    }
    return MerchantAnswer(
      domains: sites + stored.flatMap { row in row.domains.map { StoredDomainReport($0, of: row.id) } }, notes: notes)
  }
}

extension StoredDomainReport {
  fileprivate init(_ row: StoredDomain, of id: MerchantID) {
    (domain, merchant, enabled) = (row.domain.name, id.rawValue, row.isEnabled)
    hasAssociation = row.association != nil
    associationBase64 = row.association.map { Base64.encode($0.bytes) }
    (registeredAt, checkedAt) = (row.registeredAt?.description, row.checkedAt?.description)
    finding = row.finding
  }

  fileprivate init(_ site: Merchant.Site, of id: MerchantID) {
    self.init(
      domain: site.domain.name, merchant: id.rawValue, enabled: site.isEnabled,
      hasAssociation: site.association != nil, associationBase64: site.association.map { Base64.encode($0.bytes) },
      registeredAt: nil, checkedAt: nil, finding: nil)
  }
}

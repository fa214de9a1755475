import Foundation
import HTTPTransport
import MerchantIdentity
package import Orders
package import Settings
import StrictJSON
import TenderPayments

/// What is asked of Apple about a stored merchant: registration of its domains in the platform's name, and in
/// `simulated` what a person does by hand in Apple's developer account.
package struct AppleRegistration: Sendable {
  let administration: MerchantAdministration
  let network: Network
  /// Looks at domains, of which each may be slow to answer.
  let checks: CallsUnderWay
  /// Reads the merchants again after a change.
  let reload: @Sendable () async throws -> Void

  package init(
    administration: MerchantAdministration, network: Network, checks: CallsUnderWay,
    reload: @escaping @Sendable () async throws -> Void
  ) {
    self.administration = administration
    self.network = network
    self.checks = checks
    self.reload = reload
  }

  private var configuration: ServerConfiguration { administration.configuration }

  /// - Returns: nil for a change that does not concern Apple.
  func perform(_ change: MerchantChange, on merchant: String) async throws -> MerchantAnswer? {
    switch change {
    case .checkDomain(let domain): try await check(domain, of: merchant)
    case .registerDomain(let domain): try await register(domain, of: merchant)
    case .unregisterDomain(let domain, let reason): try await unregister(domain, of: merchant, reason: reason)
    case .signCertificate(let id): try await sign(id, of: merchant)
    default: nil
    }
  }

  func registration(of merchant: MerchantID) async throws -> OfficeRegistration? {
    let partner = try PartnerMerchant(identifier: merchant.rawValue, name: merchant.rawValue)
    return try await platform().details(of: partner).map {
      OfficeRegistration(name: $0.name, domains: $0.domains, encryptTo: $0.encryptTo)
    }
  }

  private func platform() async throws -> PlatformRegistration {
    try await PlatformRegistration(configuration, network, at: administration.clock.now())
  }

  private func check(_ name: String, of merchant: String) async throws -> MerchantAnswer {
    let row = try await domain(name, of: merchant)
    let association = try row.associationBase64.flatMap { Base64.decode($0) }.map { try DomainAssociation(bytes: $0) }
    let sender = network.sender(guardedBy: configuration.destinations)
    let domain = try Domain(typed: name)
    let finding = try await checks.admit(
      MerchantID(merchant),
      orElse: OfficeRefusal.refused("Other domains are being looked at. Look at this one when they are done.")
    ) { await DomainCheck(sender: sender).finding(of: domain, association: association) }
    return try await administration.perform(.noteCheck(domain: name, merchant: merchant, finding: finding))
  }

  private func domain(_ name: String, of merchant: String) async throws -> StoredDomainReport {
    let rows = try await administration.perform(.listDomains(merchant: merchant)).domains ?? []
    guard let row = rows.first(where: { $0.domain.utf8.elementsEqual(name.utf8) }) else {
      throw OfficeRefusal.refused("\(merchant) has no domain \(name).")
    }
    return row
  }

  private func register(_ name: String, of merchant: String) async throws -> MerchantAnswer {
    _ = try await domain(name, of: merchant)
    let settings = try await administration.settings(of: merchant)
    if settings.isServedByPlatform {
      let partner = try PartnerMerchant(identifier: merchant, name: settings.displayName)
      try await platform().register([try Domain(typed: name)], of: partner)
    } else {
      try await registerAtPortal(name, merchant, settings.merchantIdentifier)
    }
    return try await note(name, merchant, isRegistered: true)
  }

  private func unregister(_ name: String, of merchant: String, reason: String) async throws -> MerchantAnswer {
    _ = try await domain(name, of: merchant)
    let settings = try await administration.settings(of: merchant)
    if settings.isServedByPlatform {
      let partner = try PartnerMerchant(identifier: merchant, name: settings.displayName)
      try await platform().unregister([try Domain(typed: name)], of: partner, reason: reason)
    }
    return try await note(name, merchant, isRegistered: false)
  }

  private func note(_ name: String, _ merchant: String, isRegistered: Bool) async throws -> MerchantAnswer {
    try await administration.perform(
      .noteRegistration(domains: [name], merchant: merchant, isRegistered: isRegistered))
  }
}

// The simulated developer portal.
extension AppleRegistration {
  /// - Throws: ``OfficeRefusal`` outside `simulated`: there a person does it, in Apple's developer account.
  private var portal: JSONClient {
    get throws {
      guard configuration.environment == .simulated, let url = configuration.sandboxURL else {
        throw OfficeRefusal.refused(
          "This merchant has an identifier of its own: do it in Apple’s developer account, and lay the file or the "
            + "certificate here.")
      }
      return JSONClient(url, sender: network.plain)
    }
  }

  /// The portal's association file is served from now on, because the portal fetches it.
  private func registerAtPortal(_ name: String, _ merchant: String, _ identifier: String) async throws {
    let portal = try portal
    let answer = try await refusing {
      try await portal.require("POST", "/portal/merchants/\(identifier)/domains", ["domain": .string(name)])
    }
    let file = (answer["associationFile"]?.text ?? "").utf8
    _ = try await administration.perform(
      .addDomain(name, merchant: merchant, associationBase64: Base64.encode(Array(file))))
    try await reload()
    _ = try await refusing {
      try await MerchantProvisioning(portal: portal, random: .system).verify(name, of: identifier)
    }
  }

  private func sign(_ id: String, of merchant: String) async throws -> MerchantAnswer {
    let rows = try await administration.perform(.listCertificates(merchant: merchant)).certificates ?? []
    guard let row = rows.first(where: { $0.id.utf8.elementsEqual(id.utf8) }), let request = row.request else {
      throw OfficeRefusal.refused("\(merchant) has no request \(id).")
    }
    let (portal, identifier) = (try portal, try await administration.settings(of: merchant).merchantIdentifier)
    let answer = try await refusing {
      try await portal.require(
        "POST", "/portal/merchants/\(identifier)/certificates",
        ["type": .string(row.kind.rawValue), "csr": .string(request)])
    }
    let file = CertificateFile(Array((answer["certificate"]?.text ?? "").utf8))
    let imported = try await administration.perform(
      .importCertificate(
        merchant: merchant, kind: row.kind, certificatesBase64: file.certificates.map { Base64.encode($0) },
        privateKeyPEM: nil))
    // Devices encrypt to it from then on, so the server has to have its key before.
    try await reload()
    if row.kind == .processing, let name = answer["id"]?.text {
      _ = try await refusing {
        try await portal.require(
          "POST", "/portal/merchants/\(identifier)/certificates/\(name)/activate", .object([:]))
      }
    }
    return imported
  }

  private func refusing<R>(_ work: () async throws -> R) async throws -> R {
    do { return try await work() } catch let failure as CallFailure { throw OfficeRefusal.refused("\(failure)") }
  }
}

extension MerchantAdministration {
  /// What the pages show of a stored merchant's settings.
  struct EditableSettings {
    let rows: [OfficeMerchantParts.SettingRow]
    let displayName: String
    let merchantIdentifier: String
    let isServedByPlatform: Bool
  }

  func settings(of merchant: String) async throws -> EditableSettings {
    try requireStored(merchant)
    let text = try await store.read { try $0.merchant(MerchantID(merchant)).settings }
    let (table, settings) = (SettingsTable.merchant, try MerchantSettings(yaml: text, of: merchant))
    let (written, ofOperator) = (
      try table.yaml(text, of: merchant).values, Set(SettingsTable.ofOperator.map(\.key))
    )
    let rows = table.settings.filter { $0.key != "domains" && $0.key != "merchantIdentifier" }.map { setting in
      OfficeMerchantParts.SettingRow(
        key: setting.key, value: written[setting.key]?.content.typed ?? "", meaning: setting.meaning,
        isOperators: ofOperator.contains(setting.key))
    }
    return EditableSettings(
      rows: rows, displayName: settings.displayName, merchantIdentifier: settings.merchantIdentifier,
      isServedByPlatform: settings.encryptTo == .platform)
  }
}

extension WrittenValue.Content {
  /// As a person types it: a list with commas.
  fileprivate var typed: String {
    switch self {
    case .text(let text): text
    case .list(let elements): elements.map(\.typed).joined(separator: ",")
    case .mapping, .nothing: ""
    }
  }
}

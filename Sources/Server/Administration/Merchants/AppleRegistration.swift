import Foundation
import HTTPTransport
package import MerchantIdentity
import Orders
import Settings
import StrictJSON
package import TenderPayments

// What is asked of Apple about a stored merchant: registration of its domains in the platform's name, and in `simulated`
// what a person does by hand in Apple's developer account.
extension MerchantAdministration {
  /// - Throws: ``CallFailure`` where no server runs.
  private var running: LiveServer {
    get throws {
      guard let server else { throw CallFailure("no server runs: start it, and it asks Apple") }
      return server
    }
  }

  /// What Apple knows of a merchant that this platform registered; nil for nothing.
  package func registration(of merchant: MerchantID) async throws -> RegisteredMerchant? {
    let partner = try PartnerMerchant(identifier: merchant.rawValue, name: merchant.rawValue)
    return try await platform().details(of: partner)
  }

  private func platform() async throws -> PlatformRegistration {
    try await PlatformRegistration(configuration, try running.network, at: clock.now())
  }

  func checkDomain(_ name: String, of merchant: String) async throws -> MerchantAnswer {
    let (row, server) = (try await domain(name, of: merchant), try running)
    let association = try row.associationBase64.flatMap { Base64.decode($0) }.map { try DomainAssociation(bytes: $0) }
    let sender = server.network.sender(guardedBy: configuration.destinations)
    let domain = try Domain(typed: name)
    let finding = try await server.checks.admit(
      MerchantID(merchant),
      orElse: OfficeRefusal.refused("Other domains are being looked at. Look at this one when they are done.")
    ) { await DomainCheck(sender: sender).finding(of: domain, association: association) }
    return try await noteCheck(of: name, of: merchant, finding)
  }

  private func domain(_ name: String, of merchant: String) async throws -> StoredDomainReport {
    let rows = try await domains(of: merchant).domains ?? []
    guard let row = rows.first(where: { $0.domain.utf8.elementsEqual(name.utf8) }) else {
      throw OfficeRefusal.refused("\(merchant) has no domain \(name).")
    }
    return row
  }

  func registerDomain(_ name: String, of merchant: String) async throws -> MerchantAnswer {
    _ = try await domain(name, of: merchant)
    let settings = try await settings(of: merchant)
    if settings.isServedByPlatform {
      let partner = try PartnerMerchant(identifier: merchant, name: settings.displayName)
      try await platform().register([try Domain(typed: name)], of: partner)
    } else {
      try await registerAtPortal(name, merchant, settings.merchantIdentifier)
    }
    return try await noteRegistration(of: [name], of: merchant, true)
  }

  func unregisterDomain(_ name: String, of merchant: String, _ reason: String) async throws -> MerchantAnswer {
    _ = try await domain(name, of: merchant)
    let settings = try await settings(of: merchant)
    if settings.isServedByPlatform {
      let partner = try PartnerMerchant(identifier: merchant, name: settings.displayName)
      try await platform().unregister([try Domain(typed: name)], of: partner, reason: reason)
    }
    return try await noteRegistration(of: [name], of: merchant, false)
  }
}

// The simulated developer portal.
extension MerchantAdministration {
  /// - Throws: ``OfficeRefusal`` outside `simulated`: there a person does it, in Apple's developer account.
  private var portal: JSONClient {
    get throws {
      guard configuration.environment == .simulated, let url = configuration.sandboxURL else {
        throw OfficeRefusal.refused(
          "This merchant has an identifier of its own: do it in Apple’s developer account, and lay the file or the "
            + "certificate here.")
      }
      return JSONClient(url, sender: try running.network.plain)
    }
  }

  /// The portal's association file is served from now on, because the portal fetches it.
  private func registerAtPortal(_ name: String, _ merchant: String, _ identifier: String) async throws {
    let portal = try portal
    let answer = try await refusing {
      try await portal.require("POST", "/portal/merchants/\(identifier)/domains", ["domain": .string(name)])
    }
    let file = (answer["associationFile"]?.text ?? "").utf8
    _ = try await addDomain(name, of: merchant, Base64.encode(Array(file)))
    try await running.reloadEverywhere()
    _ = try await refusing {
      try await MerchantProvisioning(portal: portal, random: .system).verify(name, of: identifier)
    }
  }

  func signCertificate(_ id: String, of merchant: String) async throws -> MerchantAnswer {
    let rows = try await certificates(of: merchant).certificates ?? []
    guard let row = rows.first(where: { $0.id.utf8.elementsEqual(id.utf8) }), let request = row.request else {
      throw OfficeRefusal.refused("\(merchant) has no request \(id).")
    }
    let (portal, identifier) = (try portal, try await settings(of: merchant).merchantIdentifier)
    let answer = try await refusing {
      try await portal.require(
        "POST", "/portal/merchants/\(identifier)/certificates",
        ["type": .string(row.kind.rawValue), "csr": .string(request)])
    }
    let file = CertificateFile(Array((answer["certificate"]?.text ?? "").utf8))
    let imported = try await importCertificate(
      merchant, row.kind, file.certificates.map { Base64.encode($0) }, nil)
    // Devices encrypt to it from then on, so the server has to have its key before.
    try await running.reloadEverywhere()
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
  package struct EditableSettings: Sendable {
    package struct Row: Sendable {
      package let key: String
      /// As it is typed; empty for the default.
      package let value: String
      package let meaning: String
      /// Whether the operator alone sets it.
      package let isOperators: Bool
    }

    package let rows: [Row]
    let displayName: String
    let merchantIdentifier: String
    /// Whether the platform registers its domains.
    package let isServedByPlatform: Bool
  }

  func settings(of merchant: String) async throws -> EditableSettings {
    try requireStored(merchant)
    let text = try await store.read { try $0.merchant(MerchantID(merchant)).settings }
    let (table, settings) = (SettingsTable.merchant, try MerchantSettings(yaml: text, of: merchant))
    let (written, ofOperator) = (
      try table.yaml(text, of: merchant).values, Set(SettingsTable.ofOperator.map(\.key))
    )
    let rows = table.settings.filter { $0.key != "domains" && $0.key != "merchantIdentifier" }.map { setting in
      EditableSettings.Row(
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

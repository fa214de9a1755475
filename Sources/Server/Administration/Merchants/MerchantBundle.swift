import Foundation
package import MerchantIdentity
import Settings
import Storage
import StrictJSON
package import TenderPayments
package import Webhooks

/// A merchant on its way into the store or out of it: everything that a merchant's folder holds.
package struct MerchantBundle: Codable, Sendable {
  package struct DomainEntry: Codable, Sendable {
    package let domain: String
    package let associationBase64: String?
    package let enabled: Bool
  }

  package struct CertificateEntry: Codable, Sendable {
    package let kind: CertificateKind
    package let certificatePEM: String
    /// Nil where a key agent holds it.
    package let privateKeyPEM: String?
  }

  package struct SecretEntry: Codable, Sendable {
    package let kind: SecretName.Kind
    package let id: String
    package let secret: String
    /// What an API key may do; nil for everything.
    package var scopes: Set<APIKeyScope>?
    /// RFC 3339; nil for never.
    package var expires: String?
    /// Whether another key took its place, and gave it its end.
    package var replaced: Bool?
  }

  package let id: String
  /// The lines of `merchant.yaml` without `domains`.
  package let settings: String
  package let enabled: Bool
  package let domains: [DomainEntry]
  package let certificates: [CertificateEntry]
  /// In the order in which they were made: the last webhook key signs.
  package let secrets: [SecretEntry]
}

extension MerchantBundle: CustomStringConvertible, CustomReflectable {
  package var description: String { "merchant \(id)" }
  package var customMirror: Mirror { Mirror(self, children: []) }

  private static let secretFolders: [(SecretName.Kind, String)] =
    SecretName.Kind.shared.map { ($0, $0.rawValue + "s") }

  /// Reads a merchant's folder, which must be as `tender serve` wants it.
  ///
  /// - Parameter keysMayBeElsewhere: whether a processing certificate may stand without its key.
  package init(folder path: String, at now: Timestamp, keysMayBeElsewhere: Bool) async throws {
    id = URL(fileURLWithPath: path).lastPathComponent
    _ = try await MerchantFolder(path: path, id: MerchantID(id), at: now, keysMayBeElsewhere: keysMayBeElsewhere)
    let read = try MerchantSettings(file: path + "/merchant.yaml")
    var values = try SettingsTable.merchant.file(path + "/merchant.yaml").values
    // The store has no file beside the settings that names the merchant.
    let identifier = SettingsTable.identifier.key
    values[identifier] = values[identifier] ?? WrittenValue(text: read.merchantIdentifier, place: "")
    settings = SettingsTable.merchant.document(SettingsSource(values: values), without: ["domains", "signingKeys"])
    enabled = true
    domains = read.domains.map { name in
      let file = FileManager.default.contents(ofFile: "\(path)/association/\(name).txt")
      return DomainEntry(domain: name, associationBase64: file.map { Base64.encode(Array($0)) }, enabled: true)
    }
    certificates = try Self.certificates(in: path)
    secrets = try Self.secretFolders.flatMap { kind, folder in
      let keys = try SharedSecrets.read(in: "\(path)/\(folder)").sorted { $0.key < $1.key }
      let signing = read.signingKeys.last { id in kind != .apiKey && keys.contains { $0.key == id } }
      return (keys.filter { $0.key != signing } + keys.filter { $0.key == signing })
        .map { SecretEntry(kind: kind, id: $0.key, secret: $0.value) }
    }
  }

  private static func certificates(in path: String) throws -> [CertificateEntry] {
    let processing = try MerchantFolder.names(in: path + "/processing", ending: ".pem").map { name in
      CertificateEntry(
        kind: .processing, certificatePEM: try MerchantFolder.text("\(path)/processing/\(name).pem"),
        privateKeyPEM: MerchantFolder.hasKey(name, path)
          ? try MerchantFolder.secretText("\(path)/processing/\(name).key") : nil)
    }
    guard FileManager.default.fileExists(atPath: path + "/identity.pem") else { return processing }
    let identity = CertificateEntry(
      kind: .identity, certificatePEM: try MerchantFolder.text(path + "/identity.pem"),
      privateKeyPEM: try MerchantFolder.secretText(path + "/identity.key"))
    return [identity] + processing
  }

  /// The key that its webhooks are signed with.
  package var webhookKey: WebhookKey? {
    secrets.last { $0.kind == .webhookKey }.map { WebhookKey(id: $0.id, secret: $0.secret) }
  }

  /// A merchant without certificates, for which keys are made here.
  ///
  /// - Parameter encryptsToPlatform: whether its payment tokens are encrypted to the platform's key.
  package init(
    _ merchant: MerchantProvisioning.NewMerchant, encryptsToPlatform: Bool = false,
    at now: Timestamp = WallClock.system.now(), random: RandomBytes
  ) throws {
    try merchant.check()
    id = merchant.id
    var values = [
      "merchantIdentifier": merchant.merchantIdentifier, "displayName": merchant.displayName,
      "countryCode": merchant.countryCode, "currencyCode": merchant.currencyCode,
    ]
    if encryptsToPlatform { values["encryptTo"] = "platform" }
    settings = SettingsTable.merchant.document(
      SettingsSource(values: values.mapValues { WrittenValue(text: $0, place: "") }))
    enabled = true
    domains = merchant.domains.map { DomainEntry(domain: $0, associationBase64: nil, enabled: true) }
    certificates = []
    secrets = Self.secretFolders.map {
      SecretEntry(kind: $0.0, id: SharedSecrets.newID(at: now, random), secret: random.hex(32))
    }
  }

  /// A merchant of the store.
  init(_ merchant: StoredMerchant) {
    id = merchant.id.rawValue
    (settings, enabled) = (merchant.settings, merchant.isEnabled)
    domains = merchant.domains.map {
      DomainEntry(
        domain: $0.domain.name, associationBase64: $0.association.map { Base64.encode($0.bytes) }, enabled: $0.isEnabled
      )
    }
    certificates = merchant.certificates.filter { $0.state != .retired && $0.state != .requested }.compactMap { row in
      guard let pem = row.certificate, row.kind == .processing || row.state == .active else { return nil }
      return CertificateEntry(kind: row.kind, certificatePEM: pem, privateKeyPEM: merchant.privateKey(of: row))
    }
    secrets = merchant.secrets.filter { $0.name.kind != .certificateKey }.map {
      SecretEntry(
        kind: $0.name.kind, id: $0.name.name, secret: $0.text, scopes: $0.limits.scopes,
        expires: $0.limits.expiresAt?.description, replaced: $0.isReplaced ? true : nil)
    }
  }

  /// Reads a merchant's folder, or the file of an export. Root reads as the user whose folder it is: a link in it would have
  /// root read what this user may not.
  package init(place path: String, at now: Timestamp, keysMayBeElsewhere: Bool) async throws {
    let isFolder = FileManager.default.isFolder(path)
    self = try await FolderOwner.asOwner(besides: isFolder ? path + "/merchant.yaml" : path) {
      if isFolder { try FolderOwner.requireWhole(path) }
      return try await Self(read: path, at: now, keysMayBeElsewhere: keysMayBeElsewhere)
    }
  }

  private init(read path: String, at now: Timestamp, keysMayBeElsewhere: Bool) async throws {
    guard FileManager.default.fileExists(atPath: path) else {
      throw ConfigurationError(path, "is not there; name a merchant's folder, or a file that the back office exported")
    }
    guard !FileManager.default.isFolder(path) else {
      try await self.init(folder: path, at: now, keysMayBeElsewhere: keysMayBeElsewhere)
      return
    }
    do {
      try self.init(file: Array(FileManager.default.contents(ofFile: path) ?? Data()))
    } catch {
      throw ConfigurationError(path, "is no merchant that the back office exported")
    }
  }

  /// Reads what the back office has exported: all of it as JSON.
  init(file: [UInt8]) throws { self = try StrictJSONDecoder().decode(MerchantBundle.self, from: file) }

  /// Without secrets, for the audit chain. What the file says in the operator's place is named.
  package var summary: String {
    let table = SettingsTable.merchant
    let written = (try? table.yaml(settings, of: id).values) ?? [:]
    let ofOperator = SettingsTable.ofOperator.map(\.key).filter { written[$0] != nil }
    return "\(domains.count) domains, \(certificates.count) certificates, \(secrets.count) keys; "
      + "sets for the operator: \(ofOperator.joined(separator: ", "))"
  }

  /// Writes a merchant's folder, whole or not at all.
  package func write(to path: String, random: RandomBytes) throws {
    try check()
    guard !FileManager.default.fileExists(atPath: path) else {
      throw ConfigurationError(path, "is there already; name a folder that is not")
    }
    let draft = "\(path).\(random.hex(4)).new"
    do {
      try fill(draft)
      guard rename(draft, path) == 0 else { throw ConfigurationError(path, "cannot be made") }
    } catch {
      try? FileManager.default.removeItem(atPath: draft)
      throw error
    }
  }

  private func fill(_ path: String) throws {
    for folder in ["processing", "association"] + Self.secretFolders.map(\.1) {
      try PrivateFile.makeFolder("\(path)/\(folder)")
    }
    let list = domains.map { "\"\($0.domain)\"" }.joined(separator: ", ")
    try MerchantProvisioning.write(try settingsOfFolder() + "domains: [\(list)]\n", to: path + "/merchant.yaml")
    for entry in domains {
      guard let bytes = entry.associationBase64.flatMap({ Base64.decode($0) }) else { continue }
      try MerchantProvisioning.write(
        String(decoding: bytes, as: UTF8.self), to: "\(path)/association/\(entry.domain).txt")
    }
    for (kind, folder) in Self.secretFolders {
      for entry in secrets where entry.kind == kind {
        try PrivateFile.write(entry.secret, to: "\(path)/\(folder)/\(entry.id).secret")
      }
    }
    try fillCertificates(path)
  }

  /// The settings with what a folder has in no other file: what limits each API key, and which keys sign. Those that name
  /// a key which is not there any more do not.
  private func settingsOfFolder() throws -> String {
    let table = SettingsTable.merchant
    guard let read = try? MerchantSettings(yaml: settings, of: id),
      var values = try? table.yaml(settings, of: id).values
    else { return settings }
    func name(_ setting: String, _ texts: [String]) {
      values[setting] = texts.isEmpty ? nil : WrittenValue(.list(texts.map { .text($0) }), place: setting)
    }
    let keys = secrets.filter { $0.kind == .apiKey }
    name("requireContentDigest", read.keysRequiringDigest.filter { id in keys.contains { $0.id == id } })
    name(
      "apiKeyLimits",
      try keys.compactMap { key in
        let named = read.apiKeyLimits.first { $0.id == key.id }
        var own = try key.limits
        // The store has the end that the rotation gave a key in the place of its own.
        let end = key.replaced == true ? own.expiresAt : nil
        if end != nil { own.expiresAt = nil }
        let whole = NamedKeyLimits(
          id: key.id, own: own.both(named?.own ?? .none),
          replacedUntil: [end, named?.replacedUntil].compactMap(\.self).min())
        return whole.limits == .none ? nil : whole.text
      })
    name(
      "signingKeys",
      [SecretName.Kind.webhookKey, .callbackKey].compactMap { kind in
        let ids = secrets.filter { $0.kind == kind }.map(\.id)
        return ids.last == ids.max() ? nil : ids.last
      })
    return table.document(SettingsSource(values: values), without: ["domains"])
  }

  private func fillCertificates(_ path: String) throws {
    var number = 0
    for entry in certificates {
      if entry.kind == .processing { number += 1 }
      let file = entry.kind == .identity ? "\(path)/identity" : "\(path)/processing/\(number)"
      try MerchantProvisioning.write(entry.certificatePEM, to: file + ".pem")
      if let key = entry.privateKeyPEM { try PrivateFile.write(key, to: file + ".key") }
    }
  }
}

extension FileManager {
  fileprivate func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}

extension SettingsTable {
  /// The settings as YAML: a line each, in the order of the table, every text between quotation marks.
  func document(_ source: SettingsSource, without left: Set<String> = []) -> String {
    settings.filter { !left.contains($0.key) }.compactMap { setting in
      source.values[setting.key].flatMap { $0.content.yaml }.map { "\(setting.key): \($0)\n" }
    }.joined()
  }
}

extension WrittenValue.Content {
  /// JSON's strings and lists are YAML's too. Nil for what is no value.
  fileprivate var yaml: String? {
    switch self {
    case .text(let text): String(decoding: JSONValue.string(text).serialized(), as: UTF8.self)
    case .list(let elements): "[" + elements.compactMap(\.yaml).joined(separator: ", ") + "]"
    case .mapping, .nothing: nil
    }
  }
}

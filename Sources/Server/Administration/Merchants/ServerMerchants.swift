import HTTPServing
import MerchantIdentity
import Orders
package import Settings
package import TenderPayments

/// The use cases of `tender merchant`, `certificate`, `domain` and `secret`, as the back office asks for them.
package struct ServerMerchants: MerchantUseCases {
  /// How long other keys go on after a rotation.
  fileprivate static let overlap: Int64 = 86_400

  let administration: MerchantAdministration
  let apple: AppleRegistration
  /// Reads the merchants again after a change.
  let reload: @Sendable () async throws -> Void
  /// The merchants as the running server has them: no page reads all of the store and the folders.
  let served: @Sendable () -> ServedMerchants

  package init(
    administration: MerchantAdministration, apple: AppleRegistration,
    reload: @escaping @Sendable () async throws -> Void, served: @escaping @Sendable () -> ServedMerchants
  ) {
    self.administration = administration
    self.apple = apple
    self.reload = reload
    self.served = served
  }

  private func ask(_ call: MerchantCall) async throws -> MerchantAnswer {
    try await OfficeRefusal.translating { try await administration.perform(call) }
  }

  package func merchants() -> [OfficeMerchant] {
    let (served, now) = (served(), administration.clock.now())
    return served.folders.map { OfficeMerchant($0, at: now) } + served.leftOut.map { OfficeMerchant($0) }
  }

  package func merchant(_ id: MerchantID) -> OfficeMerchant? { merchants().first { $0.id == id } }

  package func parts(of merchant: MerchantID) async throws -> OfficeMerchantParts {
    let id = merchant.rawValue
    var parts = try await OfficeRefusal.translating { try await administration.parts(of: id) }
    let terms = try await ask(.showTerms(merchant: id)).terms
    (parts.termsVersion, parts.termsWording) = (terms?.version, terms?.wording)
    if !administration.isDeclared(id) {
      do {
        let settings = try await administration.settings(of: id)
        parts.settings = settings.rows
        parts.isServedByPlatform = settings.isServedByPlatform
      } catch { parts.notes.append("The settings cannot be read: \(ErrorWords.of(error))") }
    }
    parts.terms = (terms?.events ?? []).map {
      .init(event: $0.event.rawValue, version: $0.version, actor: $0.actor, at: $0.at)
    }
    return parts
  }

  package func perform(
    _ change: MerchantChange, on merchant: MerchantID, actor: String
  ) async throws -> MerchantChangeResult {
    let answer = try await OfficeRefusal.translating { () async throws -> MerchantAnswer in
      if let answer = try await apple.perform(change, on: merchant.rawValue) { return answer }
      return try await administration.perform(try MerchantCall(change, of: merchant.rawValue, actor: actor))
    }
    var result = MerchantChangeResult(answer)
    if let note = await tryReload() { result.notes.append(note) }
    return result
  }

  /// Why the running server goes on with the merchants that it had; nil when it has read them again.
  private func tryReload() async -> String? {
    do {
      try await reload()
      return nil
    } catch {
      return "\(error)"
    }
  }

  package func add(_ merchant: NewOfficeMerchant, actor: String) async throws {
    let new = MerchantProvisioning.NewMerchant(
      id: merchant.id, merchantIdentifier: merchant.identifier, displayName: merchant.name,
      countryCode: merchant.country, currencyCode: merchant.currency, domains: merchant.domains)
    try await OfficeRefusal.translating {
      _ = try await administration.perform(.add(try MerchantBundle(new, random: administration.random)))
      guard merchant.isServedByPlatform else { return }
      _ = try await administration.perform(.edit(merchant: merchant.id, settings: ["encryptTo": "platform"]))
    }
    if let note = await tryReload() { throw OfficeRefusal.refused(note) }
  }

  package func export(_ merchant: MerchantID) async throws -> [UInt8] {
    guard let bundle = try await ask(.export(merchant: merchant.rawValue)).bundle else { return [] }
    return JSONAnswer.bytes(bundle)
  }

  package func exported(_ file: [UInt8]) throws -> ExportedMerchant {
    guard let bundle = try? MerchantBundle(file: file) else {
      throw OfficeRefusal.refused("This file is no exported merchant: take one that Export has made.", at: "merchant")
    }
    do { try bundle.check() } catch {
      throw OfficeRefusal.refused("This is no file that Export has made: \(ErrorWords.of(error))", at: "merchant")
    }
    return ExportedMerchant(id: MerchantID(bundle.id), summary: bundle.summary, file: file)
  }

  package func take(_ merchant: ExportedMerchant) async throws {
    try await OfficeRefusal.translating {
      _ = try await administration.perform(.take(try MerchantBundle(file: merchant.file)))
    }
    if let note = await tryReload() { throw OfficeRefusal.refused(note) }
  }

  package func registration(of merchant: MerchantID) async throws -> OfficeRegistration? {
    try await OfficeRefusal.translating { try await apple.registration(of: merchant) }
  }

  package func publishTerms(_ version: String, wording: String, graceDays: Int64) async throws {
    _ = try await ask(.publishTerms(version: version, wording: wording, graceSeconds: graceDays * 86_400))
    _ = await tryReload()
  }
}

extension OfficeMerchant {
  fileprivate init(_ folder: MerchantFolder, at now: Timestamp) {
    let isDeclared = if case .declared = folder.origin { true } else { false }
    self.init(
      id: folder.merchant.id, identifier: folder.merchant.identifier.text, isDeclared: isDeclared,
      isEnabled: folder.availability.isEnabled, refusal: folder.availability.refusal(at: now)?.rawValue,
      notReady: folder.notReady)
  }

  fileprivate init(_ merchant: LeftOutMerchant) {
    self.init(
      id: MerchantID(merchant.id), identifier: "", isDeclared: false, isEnabled: false, refusal: merchant.reason)
  }
}

extension SettingsEditor {
  fileprivate func allowed(_ settings: [String: String]) throws -> [String: String] {
    switch self {
    case .operator: break
    case .merchant:
      let own = Set(SettingsTable.ofMerchant.map(\.key))
      if let key = settings.keys.sorted().first(where: { !own.contains($0) }) {
        throw OfficeRefusal.refused("\(key) is set by the operator of the platform; ask there.")
      }
    }
    return settings
  }
}

extension MerchantCall {
  fileprivate init(_ change: MerchantChange, of id: String, actor: String) throws {
    switch change {
    case .setEnabled(let isEnabled, let domain): self = .setEnabled(isEnabled, merchant: id, domain: domain)
    case .addDomain(let domain, let file):
      self = .addDomain(domain, merchant: id, associationBase64: file.map { Base64.encode($0) })
    case .removeDomain(let domain): self = .removeDomain(domain, merchant: id)
    case .edit(let settings, let editor): self = .edit(merchant: id, settings: try editor.allowed(settings))
    case .setEndpoint(let name, let url): self = .setEndpoint(name, url: url, merchant: id)
    case .checkDomain, .registerDomain, .unregisterDomain, .signCertificate: self = .listDomains(merchant: id)
    case .requestCertificate(let kind):
      self = .requestCertificate(merchant: id, kind: kind, isMainlandChina: false)
    case .importCertificate(let kind, let text): self = try Self.importing(text, kind, of: id)
    case .activateCertificate(let certificate): self = .activateCertificate(id: certificate)
    case .retireCertificate(let certificate): self = .retireCertificate(id: certificate)
    case .addKey(let kind): self = .addKey(merchant: id, kind: kind)
    case .rotateKey(let kind):
      self = .rotateKey(merchant: id, kind: kind, overlapSeconds: ServerMerchants.overlap)
    case .revokeKey(let kind, let key): self = .revokeKey(merchant: id, kind: kind, id: key)
    case .acceptTerms(let version): self = .acceptTerms(merchant: id, version: version, actor: actor)
    case .unsubscribe: self = .unsubscribe(merchant: id, actor: actor)
    }
  }

  /// - Parameter text: PEM, or the file in base64.
  private static func importing(_ text: [UInt8], _ kind: CertificateKind, of id: String) throws -> MerchantCall {
    let plain = text.filter { !" \r\n\t".utf8.contains($0) }
    let file = CertificateFile(Base64.decode(String(decoding: plain, as: UTF8.self)) ?? text)
    guard !file.certificates.isEmpty else {
      throw OfficeRefusal.refused(
        "This is no certificate: paste its PEM text, or the file in base64.", at: "certificate")
    }
    return .importCertificate(
      merchant: id, kind: kind, certificatesBase64: file.certificates.map { Base64.encode($0) }, privateKeyPEM: nil)
  }
}

extension MerchantAdministration {
  /// Domains, certificates and keys.
  func parts(of merchant: String) async throws -> OfficeMerchantParts {
    var parts = OfficeMerchantParts()
    let domains = try await perform(.listDomains(merchant: merchant))
    parts.domains = (domains.domains ?? []).map(OfficeMerchantParts.DomainRow.init)
    parts.notes = domains.notes
    parts.certificates = (try await perform(.listCertificates(merchant: merchant)).certificates ?? []).map(
      OfficeMerchantParts.CertificateRow.init)
    parts.keys = (try await perform(.listKeys(merchant: merchant)).keys ?? []).map {
      .init(id: $0.id, kind: $0.kind, created: $0.created, expires: $0.expires)
    }
    return parts
  }
}

extension OfficeMerchantParts.DomainRow {
  fileprivate init(_ report: StoredDomainReport) {
    self.init(
      name: report.domain, isEnabled: report.enabled, hasAssociation: report.hasAssociation,
      registered: report.registeredAt, checked: report.checkedAt, finding: report.finding)
  }
}

extension OfficeMerchantParts.CertificateRow {
  fileprivate init(_ report: StoredCertificateReport) {
    self.init(
      id: report.id, kind: report.kind, state: report.state, expires: report.expires, daysLeft: report.daysLeft,
      publicKeyHash: report.publicKeyHash, request: report.request)
  }
}

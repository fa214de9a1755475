package import MerchantIdentity
import Settings
package import TenderPayments
package import Webhooks

/// Which settings a user may change: all, or those of a merchant.
package enum SettingsEditor: Sendable, Hashable {
  /// An administrator of the merchant: those that are the merchant's.
  case merchant
  /// An administrator of every merchant: the operator's too.
  case `operator`

  fileprivate func requireAllowed(_ call: MerchantCall) throws {
    guard self == .merchant, case .edit(_, let settings) = call else { return }
    let own = Set(SettingsTable.ofMerchant.map(\.key))
    if let key = settings.keys.sorted().first(where: { !own.contains($0) }) {
      throw OfficeRefusal.refused("\(key) is set by the operator of the platform; ask there.")
    }
  }
}

// For the pages, which note each attempt in the office's audit chain themselves. Every refusal is an ``OfficeRefusal``.
extension MerchantAdministration {
  /// As the running server has them; where none runs, as one would, and then those of one merchant alone if that is wanted.
  private func readAsServed(only merchant: MerchantID? = nil) async throws -> ServedMerchants {
    if let server { return server.served() }
    return try await readServed(only: merchant)
  }

  /// Those that are served, and those of the store that cannot be.
  package func merchants() async throws -> [StoredMerchantReport] {
    let (served, now) = (try await readAsServed(), clock.now())
    return served.folders.map { StoredMerchantReport($0, at: now) }
      + served.leftOut.map { StoredMerchantReport($0, origin: "store") }
  }

  /// Nil where it is not there.
  package func merchant(_ id: MerchantID) async throws -> StoredMerchantReport? {
    let (served, now) = (try await readAsServed(only: id), clock.now())
    return served.folders.first { $0.merchant.id == id }.map { StoredMerchantReport($0, at: now) }
      ?? served.leftOut.first { MerchantID($0.id) == id }.map { StoredMerchantReport($0, origin: "store") }
  }

  /// Where the webhooks of every merchant go, or of one.
  package func webhooks(only merchant: MerchantID? = nil) async throws -> [MerchantID: [WebhookEndpoint]] {
    let folders = try await readAsServed(only: merchant).folders
    return Dictionary(
      uniqueKeysWithValues: folders.filter { merchant == nil || $0.merchant.id == merchant }
        .map { ($0.merchant.id, $0.webhooks) })
  }

  /// Domains, certificates, keys and terms of one merchant.
  package func parts(of merchant: MerchantID) async throws -> MerchantAnswer {
    try await OfficeRefusal.translating {
      var parts = try await lists(of: merchant.rawValue)
      parts.terms = try await terms(of: merchant.rawValue).terms
      return parts
    }
  }

  /// Domains, certificates and keys.
  func lists(of merchant: String) async throws -> MerchantAnswer {
    var lists = try await domains(of: merchant)
    lists.certificates = try await certificates(of: merchant).certificates
    lists.keys = try await keys(of: merchant).keys
    return lists
  }

  /// Nil for a declared merchant, whose settings a page does not show.
  package func editableSettings(of merchant: MerchantID) async throws -> EditableSettings? {
    isDeclared(merchant.rawValue) ? nil : try await settings(of: merchant.rawValue)
  }

  /// Does what a form asks for, and has the running server read the merchants again.
  ///
  /// - Returns: with a note where the server goes on with the merchants that it had.
  package func perform(_ call: MerchantCall, by editor: SettingsEditor) async throws -> MerchantAnswer {
    var answer = try await OfficeRefusal.translating { () async throws -> MerchantAnswer in
      try editor.requireAllowed(call)
      if case .importCertificate(_, _, let certificates, _) = call, certificates.isEmpty {
        throw OfficeRefusal.refused(
          "This is no certificate: paste its PEM text, or the file in base64.", at: "certificate")
      }
      return try await perform(call)
    }
    do { try await server?.reload() } catch { answer.notes.append("\(error)") }
    return answer
  }

  /// A merchant in the store, without certificates.
  ///
  /// - Parameter encryptsToPlatform: whether its payment tokens are encrypted to the platform's key, so that the platform
  ///   registers its domains.
  package func add(_ merchant: MerchantProvisioning.NewMerchant, encryptsToPlatform: Bool) async throws {
    try await OfficeRefusal.translating {
      let bundle = try MerchantBundle(merchant, encryptsToPlatform: encryptsToPlatform, random: random)
      _ = try await perform(.add(bundle))
    }
    try await server?.reload()
  }

  /// Takes an exported merchant into the store.
  package func take(_ merchant: MerchantBundle) async throws {
    try await OfficeRefusal.translating { _ = try await perform(.take(merchant)) }
    try await server?.reload()
  }
}

extension MerchantBundle {
  /// Reads the file of an export that a person sends.
  ///
  /// - Throws: ``OfficeRefusal``
  package init(uploaded file: [UInt8]) throws {
    guard let bundle = try? MerchantBundle(file: file) else {
      throw OfficeRefusal.refused("This file is no exported merchant: take one that Export has made.", at: "merchant")
    }
    do { try bundle.check() } catch {
      throw OfficeRefusal.refused("This is no file that Export has made: \(ErrorWords.of(error))", at: "merchant")
    }
    self = bundle
  }
}

extension MerchantCall {
  /// - Parameter text: PEM, or the file in base64.
  package static func importCertificate(
    pasted text: [UInt8], _ kind: CertificateKind, merchant: String
  ) -> MerchantCall {
    let plain = text.filter { !" \r\n\t".utf8.contains($0) }
    let file = CertificateFile(Base64.decode(String(decoding: plain, as: UTF8.self)) ?? text)
    return .importCertificate(
      merchant: merchant, kind: kind, certificatesBase64: file.certificates.map { Base64.encode($0) },
      privateKeyPEM: nil)
  }
}

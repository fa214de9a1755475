import MerchantIdentity
import Storage
import TenderPayments

// For the command line: each change stands in the office's audit chain, with its outcome.
extension MerchantAdministration {
  package func perform(_ call: MerchantCall, by person: CommandLineOperator) async throws -> MerchantAnswer {
    func action(_ name: String, _ merchant: String, _ before: String, _ after: String) -> OfficeAction {
      OfficeAction(
        person.actor, from: "", name, merchant: merchant, subject: merchant, before: before, after: after)
    }
    if case .noteLink(let link, let merchant, let end, let words) = call {
      let noted = action(link.rawValue + (end.map { ".\($0.rawValue)" } ?? ""), merchant, "", words)
      try await database.write { try OfficeAudit($0).note(noted) }
    }
    guard let audited = call.audited else { return try await perform(call) }
    let owner = await owner(of: call) ?? ""
    let asked = action(audited.name, owner, await state(of: owner), audited.object)
    return try await OfficeAudit.attempt(
      asked, in: database, failure: OfficeRefusal.ending, outcome: \.outcome
    ) { try await perform(call) }
  }

  /// Nothing for a merchant that is not there, or cannot be read.
  private func state(of merchant: String) async -> String {
    guard !merchant.isEmpty else { return "" }
    return (try? await lists(of: merchant).auditedState) ?? ""
  }

  private func owner(of call: MerchantCall) async -> String? {
    guard let id = call.certificate else { return call.merchant }
    return try? await store.read { try $0.certificate(id).merchant.rawValue }
  }
}

extension MerchantAnswer {
  /// What came of a change, for the audit chain, without secrets.
  package var outcome: String {
    let parts = (newKey.map { ["key \($0.id)"] } ?? []) + notes
    return parts.isEmpty ? "done" : parts.joined(separator: "; ")
  }

  /// A merchant's domains, certificates and keys in one line, for the audit chain.
  package var auditedState: String {
    let lists = [
      (domains ?? []).map { $0.domain + ($0.enabled ? "" : " off") },
      (certificates ?? []).map { "\($0.kind.rawValue) \($0.id) \($0.state.rawValue)" },
      (keys ?? []).map { "\($0.kind.rawValue) \($0.id)" },
    ]
    return lists.map { $0.joined(separator: ", ") }.joined(separator: "; ")
  }
}

extension MerchantCall {
  /// As the audit chain names it, which is stable, and what it is about; never a secret. Nil for what only reads.
  package var audited: (name: String, object: String)? {
    switch self {
    case .list, .showServer, .showSigner, .listDomains, .listCertificates, .listKeys, .sealing, .showTerms, .noteLink,
      .exportCertificate(_, false):
      nil
    case .add(let bundle): ("merchant.add", bundle.summary)
    case .take(let bundle): ("merchant.import", bundle.summary)
    case .edit(_, let settings):
      ("merchant.edit", settings.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; "))
    case .setEndpoint(let name, let url, _): ("webhook.address", "\(name)=\(url)")
    case .export: ("merchant.export", "with private keys and secrets")
    case .remove: ("merchant.remove", "")
    case .setEnabled(let isEnabled, _, let domain): (isEnabled ? "merchant.enable" : "merchant.disable", domain ?? "")
    case .addDomain(let domain, _, _): ("domain.add", domain)
    case .removeDomain(let domain, _): ("domain.remove", domain)
    case .checkDomain(let domain, _), .noteCheck(let domain, _, _): ("domain.check", domain)
    case .registerDomain(let domain, _): ("domain.register", domain)
    case .unregisterDomain(let domain, _, _): ("domain.unregister", domain)
    case .noteRegistration(let domains, _, let isRegistered):
      (isRegistered ? "domain.register" : "domain.unregister", domains.joined(separator: ", "))
    case .requestCertificate(_, let kind, _): ("certificate.request", kind.rawValue)
    case .importCertificate(_, let kind, _, _): ("certificate.import", kind?.rawValue ?? "")
    case .signCertificate(let id, _): ("certificate.sign", id)
    case .activateCertificate(let id): ("certificate.activate", id)
    case .retireCertificate(let id): ("certificate.retire", id)
    case .exportCertificate(let id, true): ("certificate.export", "\(id) with its key")
    case .addKey(_, let kind, _, _): ("key.add", kind.rawValue)
    case .rotateKey(_, let kind, _, _): ("key.rotate", kind.rawValue)
    case .revokeKey(_, let kind, let id): ("key.revoke", "\(kind.rawValue) \(id)")
    case .reseal: ("secrets.reseal", "")
    case .publishTerms(let version, _, let seconds): ("terms.publish", "\(version) within \(seconds / 86_400) days")
    case .acceptTerms(_, let version, _): ("terms.accept", version)
    case .unsubscribe: ("terms.unsubscribe", "")
    }
  }

  /// The certificate that the call names by its id.
  package var certificate: String? {
    switch self {
    case .activateCertificate(let id), .retireCertificate(let id), .exportCertificate(let id, _),
      .signCertificate(let id, _):
      id
    default: nil
    }
  }

  /// The merchant that the call names; nil for one of all merchants, or by a certificate.
  fileprivate var merchant: String? {
    switch self {
    case .add(let bundle), .take(let bundle): bundle.id
    case .edit(let merchant, _), .setEndpoint(_, _, let merchant), .export(let merchant), .remove(let merchant),
      .showSigner(let merchant), .setEnabled(_, let merchant, _), .addDomain(_, let merchant, _),
      .removeDomain(_, let merchant), .checkDomain(_, let merchant), .registerDomain(_, let merchant),
      .unregisterDomain(_, let merchant, _), .noteCheck(_, let merchant, _), .noteRegistration(_, let merchant, _),
      .requestCertificate(let merchant, _, _), .importCertificate(let merchant, _, _, _),
      .signCertificate(_, let merchant), .addKey(let merchant, _, _, _), .rotateKey(let merchant, _, _, _),
      .revokeKey(let merchant, _, _), .acceptTerms(let merchant, _, _), .unsubscribe(let merchant, _),
      .noteLink(_, let merchant, _, _):
      merchant
    case .listDomains(let merchant), .listCertificates(let merchant), .listKeys(let merchant), .showTerms(let merchant):
      merchant
    case .list, .showServer, .activateCertificate, .retireCertificate, .exportCertificate, .reseal, .sealing,
      .publishTerms:
      nil
    }
  }
}

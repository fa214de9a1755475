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
      asked, in: database, failure: OfficeRefusal.ending, outcome: { MerchantChangeResult($0).outcome }
    ) { try await perform(call) }
  }

  /// Nothing for a merchant that is not there, or cannot be read.
  private func state(of merchant: String) async -> String {
    guard !merchant.isEmpty else { return "" }
    return (try? await parts(of: merchant).auditedState) ?? ""
  }

  private func owner(of call: MerchantCall) async -> String? {
    guard let id = call.certificate else { return call.merchant }
    return try? await store.read { try $0.certificate(id).merchant.rawValue }
  }
}

extension MerchantChangeResult {
  init(_ answer: MerchantAnswer) {
    self.init(notes: answer.notes)
    if let key = answer.keys?.first, let secret = key.secret { self.secret = (key.id, secret) }
  }
}

extension MerchantCall {
  /// As the audit chain names it, and what it is about; never a secret. Nil for what only reads.
  fileprivate var audited: (name: String, object: String)? {
    switch self {
    case .list, .showServer, .showSigner, .listDomains, .listCertificates, .listKeys, .sealing, .showTerms, .noteLink,
      .exportCertificate(_, false):
      nil
    case .add(let bundle): ("merchant.add", bundle.summary)
    case .take(let bundle): ("merchant.import", bundle.summary)
    case .export: ("merchant.export", "with private keys and secrets")
    case .remove: ("merchant.remove", "")
    case .noteRegistration(let domains, _, let isRegistered):
      (isRegistered ? "domain.register" : "domain.unregister", domains.joined(separator: ", "))
    case .importCertificate(_, let kind, _, _): ("certificate.import", kind?.rawValue ?? "")
    case .exportCertificate(let id, true): ("certificate.export", "\(id) with its key")
    case .reseal: ("secrets.reseal", "")
    case .publishTerms(let version, _, let seconds): ("terms.publish", "\(version) within \(seconds / 86_400) days")
    default: change.map { ($0.name, $0.object) }
    }
  }

  /// What the page of the merchant calls it; nil where the page has no such change.
  private var change: MerchantChange? {
    switch self {
    case .edit(_, let settings): .edit(settings, by: .operator)
    case .setEndpoint(let name, let url, _): .setEndpoint(name, url: url)
    case .setEnabled(let isEnabled, _, let domain): .setEnabled(isEnabled, domain: domain)
    case .addDomain(let domain, _, _): .addDomain(domain, association: nil)
    case .removeDomain(let domain, _): .removeDomain(domain)
    case .noteCheck(let domain, _, _): .checkDomain(domain)
    case .requestCertificate(_, let kind, _): .requestCertificate(kind)
    case .activateCertificate(let id): .activateCertificate(id: id)
    case .retireCertificate(let id): .retireCertificate(id: id)
    case .addKey(_, let kind, _, _): .addKey(kind)
    case .rotateKey(_, let kind, _): .rotateKey(kind)
    case .revokeKey(_, let kind, let id): .revokeKey(kind, id: id)
    case .acceptTerms(_, let version, _): .acceptTerms(version: version)
    case .unsubscribe: .unsubscribe
    default: nil
    }
  }

  fileprivate var certificate: String? {
    switch self {
    case .activateCertificate(let id), .retireCertificate(let id), .exportCertificate(let id, _): id
    default: nil
    }
  }

  fileprivate var merchant: String? {
    switch self {
    case .add(let bundle), .take(let bundle): bundle.id
    case .edit(let merchant, _), .setEndpoint(_, _, let merchant), .export(let merchant), .remove(let merchant),
      .setEnabled(_, let merchant, _),
      .addDomain(_, let merchant, _), .removeDomain(_, let merchant), .noteCheck(_, let merchant, _),
      .noteRegistration(_, let merchant, _), .requestCertificate(let merchant, _, _),
      .importCertificate(let merchant, _, _, _), .addKey(let merchant, _, _, _), .rotateKey(let merchant, _, _),
      .revokeKey(let merchant, _, _), .acceptTerms(let merchant, _, _), .unsubscribe(let merchant, _):
      merchant
    default: nil
    }
  }
}

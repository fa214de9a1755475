import ApplePayToken
import HTTPTransport
import Ledger
import MerchantIdentity
import Settings
import TenderPayments

extension MerchantAdministration {
  func requestCertificate(
    _ merchant: String, _ kind: CertificateKind, isMainlandChina: Bool
  ) async throws -> MerchantAnswer {
    let request = try KeyAndRequest(kind, isMainlandChina: isMainlandChina)
    return answer(try await change(merchant, try await storeWithKeys) { try $0.keep(request, of: $1) })
  }

  func activateCertificate(_ id: String) async throws -> MerchantAnswer {
    let owner = try await store.read { try $0.certificate(id) }.merchant.rawValue
    return answer(try await change(owner, try store) { tables, _ in try tables.activate(id) })
  }

  /// - Parameter certificates: in base64.
  func importCertificate(
    _ merchant: String, _ kind: CertificateKind?, _ certificates: [String], _ key: String?
  ) async throws -> MerchantAnswer {
    let certificate = try AppleCertificate(in: certificates.compactMap { Base64.decode($0) })
    let (environment, now, elsewhere) = (configuration.environment, clock.now(), keysMayBeElsewhere)
    return answer(
      try await change(merchant, try await storeWithKeys) { tables, id in
        let settings = try MerchantSettings(yaml: try tables.merchant(id).settings, of: merchant)
        let identifier = try MerchantIdentifier(settings.merchantIdentifier)
        try certificate.require(kind, of: identifier, in: environment, at: now)
        let row = try tables.keep(
          certificate, of: id, privateKeyPEM: key, mayBeWithoutKey: elsewhere && certificate.kind == .processing)
        if row.kind == .identity, let pem = row.certificate, let key = try tables.merchant(id).privateKey(of: row) {
          try ClientIdentity(certificateChainPEM: pem, privateKeyPEM: key).requirePresentable()
        }
        return row
      })
  }

  /// - Throws: ``MerchantStoreError`` with `certificate_state` while payment tokens for its key may still arrive.
  func retireCertificate(_ id: String) async throws -> MerchantAnswer {
    let row = try await store.read { try $0.certificate(id) }
    let hash = Hex.encode(row.publicKeyHash)
    let record = try await ProcessingKeyStore(database).records().first {
      $0.owner == row.merchant.rawValue && $0.publicKeyHash == hash
    }
    let seen = [record?.lastUsed, row.state == .draining ? row.stateSince : nil].compactMap(\.self).max()
    if row.kind == .processing, let seen, clock.now().since(seen) < ProcessingKeyRing.drainingTime {
      throw MerchantStoreError(
        .certificateState,
        "The certificate \(id) was in use within the last 24 hours: payment tokens for it may still be on their way.")
    }
    return answer(try await change(row.merchant.rawValue, try store) { tables, _ in try tables.retire(id) })
  }

  func exportCertificate(_ id: String, withKey: Bool) async throws -> MerchantAnswer {
    let (row, key) = try await store.read { tables in
      let row = try tables.certificate(id)
      return (row, try tables.merchant(row.merchant).privateKey(of: row))
    }
    var answer = answer(row)
    if withKey { answer.privateKeyPEM = key }
    return answer
  }

  func certificates(of merchant: String?) async throws -> MerchantAnswer {
    let now = clock.now()
    let rows = try await storedMerchants(only: merchant, at: now)
      .flatMap(\.certificates)
    return MerchantAnswer(certificates: rows.map { StoredCertificateReport($0, at: now) })
  }

  private func answer(_ row: StoredCertificate) -> MerchantAnswer {
    MerchantAnswer(certificates: [StoredCertificateReport(row, at: clock.now())])
  }
}

extension StoredCertificateReport {
  fileprivate init(_ row: StoredCertificate, at now: Timestamp) {
    (id, merchant, kind, algorithm, state) = (row.id, row.merchant.rawValue, row.kind, row.algorithm, row.state)
    expires = row.expiresAt?.description
    daysLeft = row.expiresAt.map { $0.since(now).components.seconds / 86_400 }
    publicKeyHash = Base64.encode(row.publicKeyHash)
    (request, certificate, serialNumber) = (row.request, row.certificate, row.serialNumber)
  }
}

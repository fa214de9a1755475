import SwiftASN1
package import TenderPayments
import X509

/// A merchant as the store holds it, with its secrets opened. Printing shows none of them.
package struct StoredMerchant: Sendable {
  package let id: MerchantID
  /// The settings of a `merchant.yaml` without `domains`, one a line.
  package let settings: String
  package let isEnabled: Bool
  /// Grows with every change of the row, so that a change based on an old reading is refused.
  package let version: Int64
  package let createdAt: Timestamp
  package let changedAt: Timestamp
  package let domains: [StoredDomain]
  package let certificates: [StoredCertificate]
  /// Those of a kind in the order in which they were made.
  package let secrets: [StoredSecret]
}

extension StoredMerchant: CustomStringConvertible, CustomReflectable {
  package var description: String { "merchant \(id) of the store" }
  package var customMirror: Mirror { Mirror(self, children: []) }

  /// The secrets of a kind by name.
  package func secrets(_ kind: SecretName.Kind) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: secrets.filter { $0.name.kind == kind }.map { ($0.name.name, $0.text) })
  }

  /// The id of the newest secret of each kind.
  package var newestKeys: [SecretName.Kind: String] {
    Dictionary(secrets.map { ($0.name.kind, $0.name.name) }) { $1 }
  }

  /// By the key's id.
  package var apiKeyLimits: [String: APIKeyLimits] {
    Dictionary(
      uniqueKeysWithValues: secrets.filter { $0.name.kind == .apiKey }.map { ($0.name.name, $0.limits) })
  }

  package func privateKey(of certificate: StoredCertificate) -> String? {
    secrets.first { $0.name.kind == .certificateKey && $0.name.name == certificate.id }?.text
  }
}

/// A merchant of the store that cannot be served, and why.
package struct LeftOutMerchant: Error, Codable, Sendable, Hashable {
  package let id: String
  package let reason: String

  package init(_ id: MerchantID, _ reason: String) { (self.id, self.reason) = (id.rawValue, reason) }
}

/// A domain of a stored merchant.
package struct StoredDomain: Sendable, Hashable {
  package let domain: Domain
  package let isEnabled: Bool
  package let association: DomainAssociation?
  /// When Apple's registration API accepted it; nil for a domain of the developer portal.
  package let registeredAt: Timestamp?
  package let checkedAt: Timestamp?
  /// What the last check found wrong; nil when it found nothing.
  package let finding: String?

  package init(
    domain: Domain, isEnabled: Bool = true, association: DomainAssociation? = nil, registeredAt: Timestamp? = nil,
    checkedAt: Timestamp? = nil, finding: String? = nil
  ) {
    self.domain = domain
    self.isEnabled = isEnabled
    self.association = association
    self.registeredAt = registeredAt
    self.checkedAt = checkedAt
    self.finding = finding
  }
}

/// A secret of a stored merchant, opened.
package struct StoredSecret: Sendable {
  package let name: SecretName
  package let text: String
  package let createdAt: Timestamp
  /// Until when it is accepted and, of an API key, for what.
  package let limits: APIKeyLimits
  /// Whether another took its place and gave it its end.
  package let isReplaced: Bool
  /// When an API key was used last, to the minute; nil for never.
  package let lastUsedAt: Timestamp?
}

extension StoredSecret: CustomStringConvertible, CustomReflectable {
  package var description: String { "\(name)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where a certificate stands between its request and its end.
package enum CertificateState: String, Sendable, Hashable, CaseIterable, Codable {
  /// Its key is here, and Apple has not answered yet.
  case requested
  /// Its certificate is here, and another one is in use.
  case next
  case active
  /// Another one is in use, and payment tokens for this one may still arrive.
  case draining
  /// Its key is deleted.
  case retired
}

/// A certificate of a stored merchant, or the request for one. Its private key is a secret of the same id.
package struct StoredCertificate: Sendable, Hashable {
  package let id: String
  package let merchant: MerchantID
  package let kind: CertificateKind
  package let algorithm: CertificateAlgorithm
  package let state: CertificateState
  package let stateSince: Timestamp
  /// PKCS #10, PEM; nil where the key came with the certificate.
  package let request: String?
  /// PEM; nil until Apple has answered.
  package let certificate: String?
  /// SHA-256 of the SubjectPublicKeyInfo.
  package let publicKeyHash: [UInt8]
  package let expiresAt: Timestamp?
}

extension StoredCertificate {
  /// In upper-case hexadecimal, as `openssl x509 -noout -serial` prints it; nil until Apple has answered.
  package var serialNumber: String? {
    guard let certificate, let bytes = try? Certificate(pemEncoded: certificate).serialNumber.bytes else { return nil }
    // X509 drops leading zero bytes, and with them the one byte of a zero.
    return bytes.isEmpty ? "00" : Hex.encode(bytes).uppercased()
  }
}

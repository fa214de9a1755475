import TenderPayments
import TokenIssuer

/// A merchant identifier with all that was registered under it.
struct PortalMerchant: Sendable, Codable {
  let merchantIdentifier: String
  let displayName: String
  var certificates: [PortalCertificate] = []
  var domains: [PortalDomain] = []
  /// The association file of the merchants that it registers; nil unless it is a platform.
  var platformFile: String?
  /// The merchants that it registered; nil for none.
  var partners: [PortalPartner]?

  var hash: MerchantHash { MerchantHash(merchantIdentifier: merchantIdentifier) }

  /// The certificate that devices encrypt to now; nil when none is active, or when it has expired.
  func activeProcessingCertificate(at now: Timestamp) -> PortalCertificate? {
    certificates.first { $0.type == .processing && $0.isActive && now.seconds < $0.expiresAt }
  }

  func hasVerified(_ host: String) -> Bool { domains.contains { $0.host == host.lowercased() && $0.verifiedAt != nil } }
}

/// An issued certificate. Times are seconds since 1970.
struct PortalCertificate: Sendable, Codable {
  /// Its serial number in hex.
  let id: String
  let type: MerchantCertificateKind
  let certificate: String
  let expiresAt: Int64
  /// One processing certificate of a merchant is active. An identity certificate always is.
  var isActive: Bool
}

/// A registered domain. Times are seconds since 1970.
struct PortalDomain: Sendable, Codable {
  let host: String
  let port: Int?
  /// The text that the domain has to serve; registering the domain again makes another, and only the newest counts.
  let associationFile: String
  let issuedAt: Int64
  var verifiedAt: Int64?
  /// How many of the looks before the end of the site's TLS certificate have failed.
  var failedLooks: Int?

  /// Apple accepts a file for a week after it was made.
  static let fileLife: Int64 = 7 * 86_400

  /// As it was registered.
  var name: String { host + (port.map { ":\($0)" } ?? "") }
  /// Where its file is fetched; nil for a name that is no host's.
  var associationURL: String? { HostName(name)?.associationURL }
}

/// A merchant that a platform has registered by the registration API.
struct PortalPartner: Sendable, Codable {
  let identifier: String
  var name: String
  var encryptTo: String
  var domains: [PortalDomain]

  func hasVerified(_ host: String) -> Bool { domains.contains { $0.host == host.lowercased() && $0.verifiedAt != nil } }
}

import Crypto
import CryptoExtras
import SwiftASN1
package import TenderPayments
package import X509

/// The two certificates that a merchant has from Apple.
package enum MerchantCertificateKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// For TLS to Apple's gateway: *merchant identity*, RSA 2048.
  case identity
  /// What devices encrypt payment data to: *payment processing*, P-256.
  case processing
}

extension SandboxPKI {
  /// Apple's lifetime of a merchant's certificate.
  static let merchantCertificateMonths: Int64 = 25

  /// Certifies the key of a certificate signing request. The request's own subject is replaced, as Apple does.
  ///
  /// - Parameter start: the machine's time, which TLS goes by, where a simulation has moved its clock.
  package func issue(
    _ kind: MerchantCertificateKind, to merchantIdentifier: String, csrPEM: String, at now: Timestamp,
    from start: Timestamp? = nil, random: RandomBytes
  ) throws -> Certificate {
    let key = try Self.certifiableKey(csrPEM, for: kind)
    let hash = MerchantHash(merchantIdentifier: merchantIdentifier)
    let form = CertificateRequestForm(
      subject: try SandboxName.make(
        ["\(kind.title):\(merchantIdentifier)", SandboxName.team, SandboxName.organization], userID: merchantIdentifier),
      publicKey: key, notBefore: (start ?? now).adding(.seconds(-600)),
      notAfter: now.adding(months: Self.merchantCertificateMonths),
      extensions: { try CertificateExtensions.merchant($0, addresses, hash, kind.usage, extended: kind.extendedUsage) })
    return try developerRelations.issue(form, random: random)
  }

  /// A certificate for a key, without the portal: for programs and tests that need no more of Apple than a certificate.
  package func certificate(
    _ kind: MerchantCertificateKind, for merchantIdentifier: String, csr: String, clock: WallClock = .system,
    random: RandomBytes = .system
  ) throws -> String {
    try issue(kind, to: merchantIdentifier, csrPEM: csr, at: clock.now(), random: random).serializeAsPEM().pemString
  }

  private static func certifiableKey(_ csrPEM: String, for kind: MerchantCertificateKind) throws
    -> Certificate.PublicKey
  {
    guard let csr = try? CertificateSigningRequest(pemEncoded: csrPEM) else {
      throw TokenIssuerError(code: "invalid_csr", message: "The CSR is not a PEM-encoded certificate signing request.")
    }
    guard csr.publicKey.isValidSignature(csr.signature, for: csr) else {
      throw TokenIssuerError(code: "invalid_csr", message: "The CSR's signature was not made by the key inside it.")
    }
    guard kind.accepts(csr.publicKey) else {
      throw TokenIssuerError(code: "wrong_key", message: kind.wrongKeyMessage)
    }
    return csr.publicKey
  }
}

extension MerchantCertificateKind {
  fileprivate var title: String {
    switch self {
    case .identity: "Apple Pay Merchant Identity"
    case .processing: "Apple Pay Payment Processing"
    }
  }

  /// The developer portal's own words.
  fileprivate var wrongKeyMessage: String {
    switch self {
    case .identity: "CSR algorithm/size incorrect. Expected: RSA(2048)"
    case .processing:
      "Incorrect CSR Key Pair - Expected a Key Pair with ECC Algorithm and key size of 256 bits"
    }
  }

  fileprivate func accepts(_ key: Certificate.PublicKey) -> Bool {
    switch self {
    case .identity: _RSA.Signing.PublicKey(key)?.keySizeInBits == 2048
    case .processing: P256.Signing.PublicKey(key) != nil
    }
  }

  fileprivate var usage: KeyUsage {
    switch self {
    case .identity: KeyUsage(digitalSignature: true)
    case .processing: KeyUsage(keyEncipherment: true, keyAgreement: true)
    }
  }

  fileprivate var extendedUsage: Certificate.Extension? {
    get throws { self == .identity ? try CertificateExtensions.extended(.clientAuth) : nil }
  }
}

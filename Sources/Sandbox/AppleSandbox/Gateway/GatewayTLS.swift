import NIOSSL
import SwiftASN1
import TenderPayments
import TokenIssuer
import X509

extension TLSConfiguration {
  /// The gateway's side of mutual TLS: 1.2 or later, and no connection without a client certificate that leads to
  /// the sandbox's own issuer and is valid today.
  static func gateway(_ certificate: CertifiedKey, pki: SandboxPKI) throws -> TLSConfiguration {
    var tls = try server(certificate)
    tls.applicationProtocols = ["http/1.1"]
    tls.certificateVerification = .noHostnameVerification
    tls.trustRoots = .certificates([
      try NIOSSLCertificate(bytes: pki.developerRelations.der, format: .der),
      try NIOSSLCertificate(bytes: pki.tokenRoot.der, format: .der),
    ])
    return tls
  }

  /// TLS 1.2 or later with a certificate of the sandbox's.
  static func server(_ certificate: CertifiedKey) throws -> TLSConfiguration {
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: [.certificate(try NIOSSLCertificate(bytes: certificate.der, format: .der))],
      privateKey: .privateKey(
        try NIOSSLPrivateKey(bytes: Array(certificate.key.serializeAsPEM().pemString.utf8), format: .pem)))
    tls.minimumTLSVersion = .tlsv12
    return tls
  }
}

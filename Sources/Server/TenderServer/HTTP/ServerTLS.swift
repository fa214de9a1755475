import HummingbirdTLS
import NIOSSL

extension TLSConfiguration {
  /// TLS 1.2 or later with forward secrecy and authenticated encryption alone: no CBC, no static RSA.
  static func modern(_ files: ServerConfiguration.TLSFiles) throws -> TLSConfiguration {
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMFile(files.certificateFile).map { .certificate($0) },
      privateKey: .privateKey(
        try NIOSSLPrivateKey(bytes: Array(MerchantFolder.secretText(files.keyFile).utf8), format: .pem)))
    tls.minimumTLSVersion = .tlsv12
    tls.cipherSuiteValues = [
      .TLS_AES_128_GCM_SHA256, .TLS_AES_256_GCM_SHA384, .TLS_CHACHA20_POLY1305_SHA256,
      .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
      .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
      .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]
    return tls
  }
}

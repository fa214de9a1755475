package import NIOSSL

extension TLSConfiguration {
  /// TLS 1.2 or later with forward secrecy and authenticated encryption alone: no CBC, no static RSA.
  ///
  /// - Throws: ``ConfigurationError`` by the file that cannot be used.
  package static func modern(_ files: ServerConfiguration.TLSFiles) throws -> TLSConfiguration {
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: try files.certificates().map { .certificate($0) }, privateKey: .privateKey(try files.key()))
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

extension ServerConfiguration.TLSFiles {
  /// Reads both files and refuses a key that is not the certificate's.
  package func check() throws {
    let tls = try TLSConfiguration.modern(self)
    do { _ = try NIOSSLContext(configuration: tls) } catch {
      throw ConfigurationError(
        keyFile, "is not the private key of \(certificateFile); name the key that it was made with")
    }
  }

  fileprivate func certificates() throws -> [NIOSSLCertificate] {
    let pem = try MerchantFolder.text(certificateFile)
    let chain = (try? NIOSSLCertificate.fromPEMBytes(Array(pem.utf8))) ?? []
    guard !chain.isEmpty else {
      throw ConfigurationError(
        certificateFile, "holds no certificate in PEM; write the chain, the server's own certificate first")
    }
    return chain
  }

  fileprivate func key() throws -> NIOSSLPrivateKey {
    let pem = try MerchantFolder.secretText(keyFile)
    do { return try NIOSSLPrivateKey(bytes: Array(pem.utf8), format: .pem) } catch {
      throw ConfigurationError(keyFile, "holds no private key in PEM; an encrypted key cannot be used")
    }
  }
}

import NIOCore
import NIOSSL

/// TLS to a server on this machine, whose certificate must lead to one root and name the address 127.0.0.1.
package struct ClientTLS: Sendable {
  private let context: NIOSSLContext

  package init(rootPEM: String) throws {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(rootPEM.utf8)))
    context = try NIOSSLContext(configuration: configuration)
  }

  /// Without a host's name, the certificate is checked against the address that the connection goes to.
  func handler() throws -> NIOSSLClientHandler { try NIOSSLClientHandler(context: context, serverHostname: nil) }
}

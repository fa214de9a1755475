import AppleSandbox
import HTTPTransport
import LoadGenerator
import Storage
import SwiftASN1
import TenderPayments
import TokenIssuer
import X509

/// What a server of the benchmark has beside the usual: a store, TLS, merchants with webhooks.
struct ServerOptions: Sendable {
  /// How many webhooks are under way to one endpoint, if nothing else is said: the server's default.
  static let webhookConcurrency = 16

  /// The address of a PostgreSQL; nil for a file in the server's folder.
  var database: String?
  var tls: ServerCertificate?
  /// The folder of the merchants' folders; nil for the environment's, of which none has webhooks.
  var merchants: String?
  var webhookConcurrency = Self.webhookConcurrency

  /// As lines of YAML.
  var settings: String {
    var lines = database.map { ["store:", "  url: \($0)"] } ?? []
    if let tls { lines += ["tls:", "  certificateFile: \(tls.certificateFile)", "  keyFile: \(tls.keyFile)"] }
    if merchants != nil {
      lines += ["webhooks:", "  allowPrivateAddresses: true", "  concurrency: \(webhookConcurrency)"]
    }
    return lines.joined(separator: "\n")
  }

  /// - Parameter usual: what reaches a server without TLS.
  func client(_ usual: HTTPSender) throws -> HTTPSender {
    guard let tls else { return usual }
    return try LiveHTTPClient(trust: .pem(tls.rootPEM)).sender
  }
}

/// A TLS certificate for 127.0.0.1, P-256, of the sandbox's authority.
struct ServerCertificate: Sendable {
  let certificateFile: String
  let keyFile: String
  let rootPEM: String
  /// Trusts it.
  let client: ClientTLS

  init(_ environment: BenchEnvironment) throws {
    let pki = environment.sandbox.pki
    let issued = try pki.gatewayCertificate(hosts: ["127.0.0.1"], at: WallClock.system.now(), random: .system)
    let folder = environment.directory + "/certificate"
    (certificateFile, keyFile) = (folder + "/server.pem", folder + "/server.key")
    try PrivateFile.write(try issued.certificate.serializeAsPEM().pemString, to: certificateFile)
    try PrivateFile.write(try issued.key.serializeAsPEM().pemString, to: keyFile)
    rootPEM = try pki.tlsRootPEM
    client = try ClientTLS(rootPEM: rootPEM)
  }
}

import Doctor
import Foundation
import HTTPTransport
import Settings
import SwiftASN1
import TenderPayments
import TenderServer
import TenderTesting
import Testing
import X509

/// OpenSSL's server on a port of this machine.
private struct SecureServer {
  let port: Int
  private let process: ChildProcess
  private let folder: TemporaryStore

  init(_ options: String...) async throws {
    folder = try TemporaryStore()
    let site = try SiteCertificate(names: ["localhost"], days: 90, at: WallClock.system.now())
    let place = folder.directory
    try site.pem.write(toFile: place + "/leaf.pem", atomically: true, encoding: .utf8)
    try site.key.write(toFile: place + "/leaf.key", atomically: true, encoding: .utf8)
    let issuer = PEMDocument(type: "CERTIFICATE", derBytes: site.issuer).pemString
    try issuer.write(toFile: place + "/issuer.pem", atomically: true, encoding: .utf8)
    port = try FreePorts.row(of: 1)
    process = try ChildProcess(
      [
        "openssl", "s_server", "-accept", "\(port)", "-cert", place + "/leaf.pem", "-key", place + "/leaf.key",
        "-cert_chain", place + "/issuer.pem", "-quiet", "-WWW",
      ] + options, environment: ProcessInfo.processInfo.environment, output: place + "/log")
  }

  func end() { process.signal(SIGKILL) }

  /// As soon as it listens.
  func handshake() async throws -> TLSHandshake {
    let network = try Network.live()
    let seen = try await waitFor("a handshake with OpenSSL", { try await handshake(network) }) {
      (try? $0.get()) != nil
    }
    await network.close()
    return try seen.get()
  }

  /// This machine is a private address.
  fileprivate static var configuration: ServerConfiguration {
    var configuration = ServerConfiguration(
      environment: .simulated, directory: "", host: "127.0.0.1", port: 0, sandboxURL: nil,
      acquirer: .init(connector: "sandbox", baseURL: "", apiKey: ""))
    configuration.allowsPrivateWebhooks = true
    return configuration
  }

  private func handshake(_ network: Network) async throws -> Result<TLSHandshake, any Error> {
    try #require(process.isRunning, "OpenSSL has ended")
    do {
      return .success(try await DoctorSystem.live(network, Self.configuration).network.handshake("localhost", port))
    } catch {
      return .failure(error)
    }
  }
}

@Suite struct `The doctor's look at a TLS server` {
  @Test(arguments: [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")])
  func `names the version, the chain and why it is not trusted`(_ option: String, _ version: String) async throws {
    let server = try await SecureServer(option)
    defer { server.end() }
    let seen = try await server.handshake()
    #expect(seen.version == version)
    #expect(seen.chain.count == 2)
    let leaf = try #require(seen.chain.first.flatMap { try? Certificate(derEncoded: $0) })
    #expect(leaf.subject.description.contains("leaf"))
    #expect(seen.trustProblem?.hasPrefix("its certificate is self-signed, expired, or of an authority") == true)
  }

  @Test func `fails where nothing speaks TLS`() async throws {
    let network = try Network.live()
    let port = try FreePorts.row(of: 1)
    await #expect(throws: (any Error).self) {
      try await DoctorSystem.live(network, SecureServer.configuration).network.handshake("localhost", port)
    }
    await network.close()
  }
}

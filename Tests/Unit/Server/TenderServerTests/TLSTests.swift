import Foundation
import Settings
import Storage
import TenderServer
import TenderTesting
import Testing

/// A server that terminates TLS with an RSA certificate, asked by OpenSSL.
@Suite struct `A server with TLS` {
  private let port: Int

  init() async throws { port = try await Self.server.value }

  private static let server = Task {
    let system = try await TestSystem.shared.value
    let (certificate, key) = (system.directory + "/tls.pem", system.directory + "/tls.key")
    let made = try await RawConnection.onThread {
      try ChildProcess.run([
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2", "-keyout",
        key, "-out", certificate,
      ])
    }
    try #require(made.status == 0)
    return try await system.secondServer(scheme: "https") {
      $0.tls = ServerConfiguration.TLSFiles(certificateFile: certificate, keyFile: key)
      $0.publicURL = "https://localhost"
    }.port
  }

  /// What OpenSSL prints, and whether the handshake succeeded.
  private func connect(_ options: String...) async throws -> (isConnected: Bool, text: String) {
    let call = ["openssl", "s_client", "-ign_eof", "-connect", "127.0.0.1:\(port)"] + options
    let answer = try await RawConnection.onThread { try ChildProcess.run(call, input: Array(Self.request.utf8)) }
    let text = String(decoding: answer.output, as: UTF8.self)
    return (text.contains("New, TLSv1") && !text.contains("Cipher is (NONE)"), text)
  }

  private static let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

  @Test(arguments: ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"])
  func `offers forward secrecy with authenticated encryption`(suite: String) async throws {
    let answer = try await connect("-tls1_2", "-cipher", suite)
    #expect(answer.isConnected && answer.text.contains("HTTP/1.1 200 OK"), "\(answer.text)")
  }

  @Test(arguments: [
    "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA", "ECDHE-RSA-AES128-SHA256", "AES128-SHA", "AES256-SHA",
    "AES128-GCM-SHA256", "AES256-GCM-SHA384",
  ])
  func `refuses CBC and static RSA`(suite: String) async throws {
    let answer = try await connect("-tls1_2", "-cipher", suite + ":@SECLEVEL=0")
    #expect(!answer.isConnected && answer.text.contains("handshake failure"), "\(answer.text)")
  }

  @Test func `speaks TLS 1.3, and not TLS 1.1`() async throws {
    #expect(try await connect("-tls1_3").isConnected)
    let old = try await connect("-tls1_1", "-cipher", "ALL:@SECLEVEL=0")
    #expect(!old.isConnected, "\(old.text)")
  }

  @Test func `requires browsers to use HTTPS (HSTS)`() async throws {
    let text = try await connect("-tls1_2").text
    #expect(text.contains("Strict-Transport-Security: max-age=31536000"), "\(text)")
    let system = try await TestSystem.shared.value
    let plain = try await RawConnection.answers(
      1, to: "GET /healthz HTTP/1.1\nHost: localhost\n\n", port: system.harbour.port)
    #expect(!plain[0].headers.contains { $0.hasPrefix("strict-transport-security") })
  }

  @Test func `names the file that it cannot use`() async throws {
    let directory = try await TestSystem.shared.value.directory
    let (certificate, key) = (directory + "/tls.pem", directory + "/tls.key")
    let other = directory + "/merchants/harbour/identity.key"
    for (files, culprit, words) in [
      ((directory + "/none.pem", key), directory + "/none.pem", "there is no such file"),
      ((key, key), key, "holds no certificate in PEM"), ((certificate, certificate), certificate, "chmod 600"),
      ((certificate, directory + "/empty.key"), directory + "/empty.key", "holds no private key in PEM"),
      ((certificate, other), other, "is not the private key of \(certificate)"),
    ] {
      try PrivateFile.write("", to: directory + "/empty.key")
      let error = #expect(throws: ConfigurationError.self) {
        try ServerConfiguration.TLSFiles(certificateFile: files.0, keyFile: files.1).check()
      }
      #expect(error?.key == culprit && error?.reason.contains(words) == true, "\(String(describing: error))")
    }
  }
}

import AppleSandbox
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import SandboxTesting
import StrictJSON
import Testing

@Suite struct `The addresses in certificates` {
  /// What OpenSSL says of the sandbox's answer about the merchant's processing certificate.
  private static func status(_ caller: Caller, _ sandbox: TestSandbox, _ certificate: String) async throws -> String {
    let files = sandbox.directory
    let (request, issuer) = ("\(files.path)/request.der", "\(files.path)/state/pki/developer-relations.pem")
    let pair = ["-issuer", issuer, "-cert", try files.file("ppc.pem", certificate), "-no_nonce"]
    _ = try openssl(["ocsp", "-reqout", request] + pair)
    let body = try Array(Data(contentsOf: URL(filePath: request)))
    let answer = try await bytes(caller, "/ocsp/developer-relations", .post, body)
    return try openssl(["ocsp", "-respin", files.file("answer.der", answer), "-VAfile", issuer] + pair).output
  }

  private static func bytes(
    _ caller: Caller, _ path: String, _ method: HTTPRequest.Method = .get, _ body: [UInt8] = []
  ) async throws -> [UInt8] {
    try await caller.client.execute(uri: path, method: method, headers: [:], body: ByteBuffer(bytes: body)) {
      #expect($0.status == .ok)
      return Array($0.body.readableBytesView)
    }
  }

  @Test func `answer for a merchant's certificate, and no longer once the portal revoked it`() async throws {
    let sandbox = try await TestSandbox()
    let merchant = try Merchant()
    try await sandbox.calls { caller in
      try await caller.enroll(merchant, in: sandbox.web)
      let path = "/portal/merchants/\(Merchant.identifier)"
      let processing = try #require(
        try await caller.get(path).json["certificates"]?.elements.first { $0["type"] == "processing" })
      let certificate = processing["certificate"]?.text ?? ""
      let before = try await Self.status(caller, sandbox, certificate)
      #expect(before.contains("Response verify OK") && before.contains("ppc.pem: good"), "\(before)")
      _ = try await caller.send("\(path)/certificates/\(processing["id"]?.text ?? "")", .delete)
      let after = try await Self.status(caller, sandbox, certificate)
      #expect(after.contains("Response verify OK") && after.contains("ppc.pem: unknown"), "\(after)")
    }
  }

  @Test(arguments: ["token-root", "token-intermediate", "developer-relations"])
  func `serve a revocation list that OpenSSL accepts`(authority: String) async throws {
    let sandbox = try await TestSandbox()
    let list = try await sandbox.calls { try await Self.bytes($0, "/crl/\(authority).crl") }
    let check = try openssl(
      "crl", "-inform", "DER", "-in", sandbox.directory.file("list.crl", list), "-noout", "-CAfile",
      "\(sandbox.directory.path)/state/pki/\(authority).pem")
    #expect(check.output.contains("verify OK"), "\(check.output)")
    try await sandbox.calls { try await $0.get("/crl/none.crl").expect(status: 404) }
  }

  @Test func `take an OCSP request in the path`() async throws {
    let answer = try await TestSandbox().calls { try await Self.bytes($0, "/ocsp/token-root/AAAA") }
    #expect(answer == [0x30, 3, 0x0A, 1, 1])
  }
}

import Foundation
import SandboxTesting
import SwiftASN1
import TenderPayments
import Testing
import TokenIssuer
import X509

@Suite struct `The sandbox's certificates` {
  let pki: SandboxPKI
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    pki = try SandboxPKI(directory: "\(directory.path)/pki")
  }

  private func text(_ name: String) throws -> String {
    try openssl("x509", "-in", "\(directory.path)/pki/\(name).pem", "-noout", "-text").output
  }

  @Test func `the root has a P-384 key, signs with SHA-384, and says that it is not Apple`() throws {
    let root = try text("token-root")
    #expect(root.contains("ASN1 OID: secp384r1"))
    #expect(root.contains("Signature Algorithm: ecdsa-with-SHA384"))
    #expect(root.contains("Tender Sandbox Root CA - G3 (NOT APPLE)"))
    #expect(root.contains("CA:TRUE"))
  }

  @Test(arguments: ["token-root", "token-intermediate", "token-signer", "developer-relations", "tls-root"])
  func `every name says NOT APPLE`(name: String) throws {
    let subject = try openssl("x509", "-in", "\(directory.path)/pki/\(name).pem", "-noout", "-subject").output
    #expect(subject.contains("NOT APPLE"))
  }

  @Test func `intermediate and signer carry Apple's markers`() throws {
    let intermediate = try text("token-intermediate")
    #expect(intermediate.contains("1.2.840.113635.100.6.2.14"))
    #expect(intermediate.contains("Certificate Sign, CRL Sign"))
    let signer = try text("token-signer")
    #expect(signer.contains("1.2.840.113635.100.6.29"))
    #expect(!signer.contains("1.2.840.113635.100.6.2.14"))
    #expect(signer.contains("X509v3 Key Usage: critical\n                Digital Signature"))
    #expect(signer.contains("CA:FALSE"))
  }

  private static let kinds = [
    "token-root": ["Subject Key Identifier", "Basic Constraints", "Key Usage"],
    "token-intermediate": [
      "Authority Information Access", "Subject Key Identifier", "Basic Constraints", "Authority Key Identifier",
      "CRL Distribution Points", "Key Usage", "1.2.840.113635.100.6.2.14",
    ],
    "token-signer": [
      "Authority Information Access", "Subject Key Identifier", "Basic Constraints", "Authority Key Identifier",
      "Certificate Policies", "CRL Distribution Points", "Key Usage", "1.2.840.113635.100.6.29",
    ],
  ]

  @Test(arguments: kinds.keys.sorted()) func `the extensions stand in the order of Apple's`(name: String) throws {
    let extensions = try #require(try text(name).split(separator: "X509v3 extensions:").last)
    let names = extensions.matches(of: #/(?m)^ {12}(?:X509v3 )?([A-Z1][A-Za-z0-9. ]+):/#).map { String($0.1) }
    #expect(names == Self.kinds[name])
  }

  @Test func `the intermediate is signed over SHA-256 and has no path length, as Apple's`() throws {
    let intermediate = try text("token-intermediate")
    #expect(intermediate.contains("Signature Algorithm: ecdsa-with-SHA256"))
    #expect(!intermediate.contains("pathlen"))
  }

  @Test func `certificates say where their status is found, and Apple's policy`() throws {
    let signer = try text("token-signer")
    #expect(signer.contains("OCSP - URI:http://127.0.0.1:8402/ocsp/token-intermediate"))
    #expect(signer.contains("URI:http://127.0.0.1:8402/crl/token-intermediate.crl"))
    #expect(signer.contains("Policy: 1.2.840.113635.100.5.1"))
    #expect(try text("token-intermediate").contains("OCSP - URI:http://127.0.0.1:8402/ocsp/token-root"))
    let elsewhere = try SandboxPKI(
      directory: "\(directory.path)/other", addresses: AuthorityAddresses(base: "http://box.localhost:9000"))
    let merchant = try elsewhere.certificate(.processing, for: Merchant.identifier, csr: Merchant().processingCSR)
    let parsed = try openssl("x509", "-in", directory.file("ppc.pem", merchant), "-noout", "-text").output
    #expect(parsed.contains("URI:http://box.localhost:9000/ocsp/developer-relations"))
    #expect(parsed.contains("URI:http://box.localhost:9000/crl/developer-relations.crl"))
  }

  @Test func `OpenSSL accepts the revocation lists for the whole chain`() throws {
    var lists = ""
    for authority in [IssuingAuthority.tokenRoot, .tokenIntermediate] {
      let der = try directory.file("list.crl", pki.revocationList(of: authority, at: WallClock.system.now()))
      lists += try openssl("crl", "-inform", "DER", "-in", der).output
    }
    let path = "\(directory.path)/pki"
    let check = try openssl(
      "verify", "-x509_strict", "-crl_check_all", "-CRLfile", directory.file("lists.pem", lists), "-CAfile",
      "\(path)/token-root.pem", "-untrusted", "\(path)/token-intermediate.pem", "\(path)/token-signer.pem")
    #expect(check.status == 0, "\(check.output)")
  }

  @Test(arguments: [("token-signer", "good"), ("developer-relations", "unknown")])
  func `OpenSSL accepts the OCSP responder's answer`(name: String, status: String) throws {
    let path = "\(directory.path)/pki"
    let pair = ["-issuer", "\(path)/token-intermediate.pem", "-cert", "\(path)/\(name).pem", "-no_nonce"]
    let request = "\(directory.path)/request.der"
    _ = try openssl(["ocsp", "-reqout", request] + pair)
    let answer = try pki.ocspResponse(
      to: Array(Data(contentsOf: URL(filePath: request))), of: .tokenIntermediate, merchants: [],
      at: WallClock.system.now())
    let check = try openssl(
      ["ocsp", "-respin", try directory.file("answer.der", answer), "-VAfile", "\(path)/token-intermediate.pem"] + pair)
    #expect(check.output.contains("Response verify OK"), "\(check.output)")
    #expect(check.output.contains("\(name).pem: \(status)"), "\(check.output)")
  }

  @Test func `what is no OCSP request is answered as malformed`() throws {
    let answer = try pki.ocspResponse(to: [1, 2, 3], of: .tokenRoot, merchants: [], at: WallClock.system.now())
    #expect(answer == [0x30, 3, 0x0A, 1, 1])
  }

  @Test func `OpenSSL builds the chain from signer to root`() throws {
    let pki = "\(directory.path)/pki"
    let check = try openssl(
      "verify", "-x509_strict", "-CAfile", "\(pki)/token-root.pem", "-untrusted", "\(pki)/token-intermediate.pem",
      "\(pki)/token-signer.pem")
    #expect(check.status == 0, "\(check.output)")
  }

  @Test func `two sandboxes have different roots, and one keeps its own over a restart`() throws {
    #expect(try SandboxPKI().rootPEM != pki.rootPEM)
    #expect(try SandboxPKI(directory: "\(directory.path)/pki").rootPEM == pki.rootPEM)
  }

  @Test func `private keys are readable by their owner only`() throws {
    let modes = try TemporaryDirectory.fileModes(in: "\(directory.path)/pki", ending: ".key")
    #expect(modes.count == 5)
    #expect(modes.allSatisfy { $0 == 0o600 })
  }
}

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

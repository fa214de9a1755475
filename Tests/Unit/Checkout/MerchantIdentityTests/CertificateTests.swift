import Crypto
import CryptoExtras
import Foundation
import MerchantIdentity
import SwiftASN1
import TenderPayments
import TenderTesting
import Testing
import X509

@Suite struct `A merchant identity certificate` {
  @Test func `is read with the key it was made for`() throws {
    let identity = try read(Portal.identity())
    #expect(identity.merchant.text == Portal.merchant)
    #expect(identity.notAfter == Portal.notAfter)
    #expect(!identity.isFromApple)
  }

  @Test func `is read from one file that holds key and certificate, among others`() throws {
    let withoutMerchant = try Portal.identity { $0.merchant = nil }
    let file = try "Bag Attributes\n" + withoutMerchant + "\n" + Portal.identity() + "\n" + Portal.identityKeyPEM + "\n"
    #expect(try read(file, key: file).notAfter == Portal.notAfter)
  }

  @Test func `is refused with another key`() throws {
    let other = try #require(Portal.otherRSAKey).pemRepresentation
    #expect(try refusal(Portal.identity(), key: other) == .keyMismatch)
  }

  @Test func `is not the processing certificate`() throws {
    let key = Portal.processingKey.pemRepresentation
    #expect(try refusal(Portal.processing(), key: key) == .processingCertificateGiven)
    #expect(try refusal(Portal.processing { $0.commonName = "anything" }, key: key) == .processingCertificateGiven)
  }

  @Test func `is not the processing certificate of mainland China, which is RSA too`() throws {
    let certificate = try Portal.identity { $0.commonName = "Apple Pay Payment Processing:merchant.com.example.store" }
    #expect(try refusal(certificate) == .processingCertificateGiven)
  }

  @Test func `has an RSA key`() throws {
    let key = P384.Signing.PrivateKey()
    let certificate = try Portal.identity { $0.publicKey = .init(key.publicKey) }
    #expect(try refusal(certificate, key: key.pemRepresentation) == .wrongKeyType)
  }

  @Test func `is refused for another merchant, with both hashes in the words`() throws {
    let certificate = try Portal.identity { $0.merchant = "merchant.com.example.other" }
    let error = try #require(throws: MerchantIdentityError.self) { try read(certificate) }
    #expect(error.code == .wrongMerchant)
    #expect(try error.reason.contains(MerchantIdentifier("merchant.com.example.other").uppercaseHexHash))
    #expect(try error.advice.contains(MerchantIdentifier(Portal.merchant).uppercaseHexHash))
  }

  @Test func `must name a merchant`() throws {
    #expect(try refusal(Portal.identity { $0.merchant = nil }) == .notApplePayCertificate)
  }

  @Test func `serves from its first to its last second`() throws {
    let certificate = try Portal.identity()
    #expect(try refusal(certificate, at: Portal.notBefore) == nil)
    #expect(try refusal(certificate, at: Portal.notAfter) == nil)
    #expect(try refusal(certificate, at: Portal.notBefore.adding(.microseconds(-1))) == .notYetValid)
    #expect(try refusal(certificate, at: Portal.notAfter.adding(.microseconds(1))) == .expired)
  }

  @Test func `text that holds none is refused`() throws {
    let damaged = try Portal.identity().replacing("MII", with: "MIA")
    for text in ["", "merchant_id.cer", "-----BEGIN CERTIFICATE-----\n", damaged] {
      #expect(try refusal(text) == .certificateUnreadable)
    }
  }

  @Test func `keys that are absent, damaged or encrypted are different errors`() throws {
    let certificate = try Portal.identity()
    let damaged = try Portal.identityKeyPEM.replacing("MII", with: "MIA")
    for text in ["", certificate, damaged] {
      #expect(try refusal(certificate, key: text) == .privateKeyUnreadable)
    }
    let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
    #expect(try refusal(certificate, key: locked) == .privateKeyEncrypted)
  }

  @Test func `prints no byte of its key`() throws {
    let identity = try read(Portal.identity())
    var dumped = ""
    dump(identity, to: &dumped)
    for text in ["\(identity)", String(reflecting: identity), dumped] {
      #expect(!text.contains("PRIVATE KEY") && !text.contains("MII"))
    }
  }

  private func read(
    _ certificate: String, key: String? = nil, at: Timestamp = Portal.today
  ) throws -> MerchantIdentityCertificate {
    try MerchantIdentityCertificate(
      certificatePEM: certificate, privateKeyPEM: key ?? Portal.identityKeyPEM,
      for: MerchantIdentifier(Portal.merchant),
      at: at)
  }

  private func refusal(
    _ certificate: String, key: String? = nil, at: Timestamp = Portal.today
  ) throws -> MerchantIdentityError.Code? {
    code { try read(certificate, key: key, at: at) }
  }
}

@Suite struct `A payment processing certificate` {
  @Test func `knows the hash by which a payment token names its key`() throws {
    let certificate = try read(Portal.processing())
    #expect(certificate.publicKeyHash == Array(SHA256.hash(data: Portal.processingKey.publicKey.derRepresentation)))
    #expect(certificate.notAfter == Portal.notAfter)
  }

  @Test func `hands the key ring what it was read from`() throws {
    let certificate = try read(Portal.processing())
    #expect(
      try P256.Signing.PrivateKey(pemRepresentation: certificate.privateKeyPEM).rawRepresentation
        == Portal.processingKey.rawRepresentation)
    #expect(
      try X509.Certificate(pemEncoded: certificate.certificatePEM).publicKey == .init(Portal.processingKey.publicKey))
  }

  @Test func `may be RSA, as in mainland China`() throws {
    let key = try #require(Portal.identityKey)
    let pem = try Portal.processing { $0.publicKey = .init(key.publicKey) }
    #expect(
      try read(pem, key: key.pemRepresentation).publicKeyHash
        == Array(SHA256.hash(data: key.publicKey.derRepresentation)))
  }

  @Test func `is not the identity certificate`() throws {
    let key = try Portal.identityKeyPEM
    let certificate = try Portal.identity()
    #expect(code { try read(certificate, key: key) } == .identityCertificateGiven)
  }

  @Test func `is refused with another key, another curve or another merchant`() throws {
    let other = P256.Signing.PrivateKey().pemRepresentation
    let large = P384.Signing.PrivateKey()
    #expect(code { try read(Portal.processing(), key: other) } == .keyMismatch)
    #expect(
      code { try read(Portal.processing { $0.publicKey = .init(large.publicKey) }, key: large.pemRepresentation) }
        == .wrongKeyType)
    #expect(code { try read(Portal.processing { $0.merchant = "merchant.other" }) } == .wrongMerchant)
  }

  @Test func `prints no byte of its key`() throws {
    let certificate = try read(Portal.processing())
    #expect(!"\(certificate) \(String(reflecting: certificate))".contains("PRIVATE"))
  }

  private func read(_ certificate: String, key: String? = nil) throws -> PaymentProcessingCertificate {
    try PaymentProcessingCertificate(
      certificatePEM: certificate, privateKeyPEM: key ?? Portal.processingKey.pemRepresentation,
      for: MerchantIdentifier(Portal.merchant))
  }
}

@Suite struct `A certificate request` {
  @Test func `for an identity certificate has an RSA key of 2048 bits`() throws {
    let request = try CertificateRequest.identity()
    let key = try X509.Certificate.PrivateKey(pemEncoded: request.privateKeyPEM)
    #expect(try CertificateSigningRequest(pemEncoded: request.requestPEM).publicKey == key.publicKey)
    #expect(key.description == "RSA2048.PrivateKey")
  }

  @Test func `for a processing certificate has a P-256 key and is signed by it`() throws {
    let request = try CertificateRequest.processing()
    let key = try P256.Signing.PrivateKey(pemRepresentation: request.privateKeyPEM)
    let read = try CertificateSigningRequest(pemEncoded: request.requestPEM)
    #expect(read.publicKey == X509.Certificate.PublicKey(key.publicKey))
    #expect(read.publicKey.isValidSignature(read.signature, for: read))
  }

  @Test func `never repeats a key and never prints one`() throws {
    let (first, second) = (try CertificateRequest.processing(), try CertificateRequest.processing())
    #expect(first.privateKeyPEM != second.privateKeyPEM)
    #expect(!"\(first) \(String(reflecting: first))".contains("KEY"))
  }

  @Test func `answered by the portal, makes a certificate that fits`() throws {
    let request = try CertificateRequest.processing()
    let csr = try CertificateSigningRequest(pemEncoded: request.requestPEM)
    let certificate = try Portal.processing { $0.publicKey = csr.publicKey }
    let merchant = try MerchantIdentifier(Portal.merchant)
    let read = try PaymentProcessingCertificate(
      certificatePEM: certificate, privateKeyPEM: request.privateKeyPEM, for: merchant)
    #expect(read.merchant == merchant)
  }
}

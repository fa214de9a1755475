import Crypto
import MerchantIdentity
import TenderPayments
import TenderTesting
import Testing

@Suite struct `The directory of merchants` {
  @Test func `finds a merchant by the origin that calls, exactly`() throws {
    let directory = try MerchantDirectory(
      [merchant("a", "a.example.com", "www.a.example.com"), merchant("b", "b.example.com")], in: .production)
    #expect(directory.merchant(origin: "https://a.example.com")?.merchant.id == MerchantID("a"))
    #expect(directory.merchant(origin: "https://www.a.example.com")?.site.domain.name == "www.a.example.com")
    for origin in [
      "http://a.example.com", "https://A.example.com", "https://a.example.com:443", "a.example.com",
      "https://example.com", "null", "",
    ] {
      #expect(directory.merchant(origin: origin) == nil)
    }
  }

  @Test func `finds a merchant by the host that was asked, in any case`() throws {
    let directory = try MerchantDirectory([merchant("a", "a.example.com", "localhost:8401")], in: .simulated)
    for host in ["a.example.com", "A.EXAMPLE.com", "a.example.com:443", "localhost:8401"] {
      #expect(directory.merchant(host: host)?.merchant.id == MerchantID("a"))
    }
    for host in ["localhost", "localhost:8402", "a.example.com:8443", "example.com", ""] {
      #expect(directory.merchant(host: host) == nil)
    }
  }

  @Test func `two shops of one machine differ by their ports`() throws {
    let directory = try MerchantDirectory(
      [merchant("a", "localhost:8401"), merchant("b", "localhost:8402")], in: .simulated)
    #expect(directory.merchant(origin: "http://localhost:8402")?.merchant.id == MerchantID("b"))
  }

  @Test func `keeps each domain's association file`() throws {
    let file = try DomainAssociation(bytes: [1, 2, 3])
    let shop = try Merchant(
      id: MerchantID("a"), identifier: MerchantIdentifier("merchant.a"), displayName: DisplayName("A"),
      sites: [.init(domain: Domain("a.example.com"), association: file), .init(domain: Domain("b.example.com"))])
    let directory = try MerchantDirectory([shop], in: .production)
    #expect(directory.merchant(host: "a.example.com")?.site.association == file)
    #expect(directory.merchant(host: "b.example.com")?.site.association == nil)
  }

  @Test func `a domain belongs to one merchant, and to it once`() throws {
    let shops = [try merchant("a", "a.example.com"), try merchant("b", "a.example.com")]
    #expect(code { try MerchantDirectory(shops, in: .production) } == .duplicateDomain)
    let twice = try merchant("a", "a.example.com", "a.example.com")
    #expect(code { try MerchantDirectory([twice], in: .production) } == .duplicateDomain)
  }

  @Test func `an id belongs to one merchant`() throws {
    let shops = [try merchant("a", "a.example.com"), try merchant("a", "b.example.com")]
    #expect(code { try MerchantDirectory(shops, in: .production) } == .duplicateMerchant)
  }

  @Test func `a simulated certificate serves in the simulated environment alone`() throws {
    let shop = try merchant("a", "a.example.com", certificate: Portal.processing())
    #expect(code { try MerchantDirectory([shop], in: .simulated) } == nil)
    #expect(code { try MerchantDirectory([shop], in: .appleSandbox) } == .environmentMismatch)
    #expect(code { try MerchantDirectory([shop], in: .production) } == .environmentMismatch)
  }

  @Test func `Apple's certificate serves with Apple alone`() throws {
    let shop = try merchant("a", "a.example.com", certificate: Portal.processing { $0.issuer = "Apple Inc." })
    #expect(code { try MerchantDirectory([shop], in: .production) } == nil)
    #expect(code { try MerchantDirectory([shop], in: .simulated) } == .environmentMismatch)
  }

  @Test func `a merchant has no other's certificate`() throws {
    let shop = try merchant("a", "a.example.com", identifier: "merchant.other", certificate: Portal.processing())
    #expect(code { try MerchantDirectory([shop], in: .simulated) } == .wrongMerchant)
  }

  private func merchant(
    _ id: String, _ domains: String..., identifier: String = Portal.merchant, certificate: String? = nil
  ) throws -> Merchant {
    let processing = try certificate.map {
      try PaymentProcessingCertificate(
        certificatePEM: $0, privateKeyPEM: Portal.processingKey.pemRepresentation,
        for: MerchantIdentifier(Portal.merchant))
    }
    return Merchant(
      id: MerchantID(id), identifier: try MerchantIdentifier(identifier), displayName: try DisplayName("Shop \(id)"),
      sites: try domains.map { .init(domain: try Domain($0)) }, processing: [processing].compactMap { $0 })
  }
}

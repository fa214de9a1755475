import MerchantIdentity
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A merchant's names` {
  @Test func `the identifier's hash is the one in Apple's certificates`() throws {
    #expect(
      try MerchantIdentifier("merchant.com.example.store").uppercaseHexHash
        == "C23073D7F46B012BFD60FE9E90EF578910B808069D52539A291A62DF9FECDD1B")
    #expect(
      try Hex.encode(MerchantIdentifier("merchant.com.testbed.applepay").hash)
        == "12953b72a8db15cf4a079b49a87ddd5eed1b0ba2eb249c7907265a7b04cff6ce")
  }

  @Test(arguments: ["merchant.a", "merchant.test.spreedly.123merchant", "platformintegrator.com.example.psp"])
  func `identifiers as Apple makes them are read`(_ text: String) throws {
    #expect(try MerchantIdentifier(text).text == text)
  }

  @Test(arguments: [
    "", "merchant", "merchant.", "merchant..a", "merchant.a.", "Merchant.com.example", "com.example.store",
    "merchant.com.exämple", "merchant.com.example store", "merchant.com/example", "merchant.com.example\n",
  ])
  func `other text is no identifier`(_ text: String) {
    #expect(code { try MerchantIdentifier(text) } == .badMerchantIdentifier)
  }

  @Test func `a display name has 1 to 64 characters, whatever their bytes`() throws {
    #expect(try DisplayName(String(repeating: "é", count: 64)).text.count == 64)
    #expect(code { try DisplayName(String(repeating: "a", count: 65)) } == .badDisplayName)
    #expect(code { try DisplayName("") } == .badDisplayName)
    #expect(code { try DisplayName("Shop\u{1B}[31m") } == .badDisplayName)
    for unseen in [" ", "\u{200D}", "\u{200B}\u{FE0F}", "Shop\u{E0041}\u{E007F}"] {
      #expect(code { try DisplayName(unseen) } == .badDisplayName)
    }
  }

  @Test func `a team identifier has ten capitals and digits`() throws {
    #expect(try TeamIdentifier("PNR9X9TVFG").text == "PNR9X9TVFG")
    #expect(code { try TeamIdentifier("pnr9x9tvfg") } == .badTeamIdentifier)
    #expect(code { try TeamIdentifier("PNR9X9TVF") } == .badTeamIdentifier)
  }

  @Test(arguments: ["shop.example.com", "xn--bcher-kva.example", "localhost", "localhost:8401", "shop.localhost:1"])
  func `domains are taken as the address bar shows them`(_ text: String) throws {
    #expect(try Domain(text).name == text)
  }

  @Test(arguments: [
    "https://Shop.example.com/", " shop.example.com. ", "HTTP://SHOP.EXAMPLE.COM", "shop.example.com./",
  ])
  func `domains are taken as a person copies them`(_ text: String) throws {
    #expect(try Domain(typed: text).name == "shop.example.com")
  }

  @Test(arguments: [
    "https://shop.example.com/pay", "https://a@shop.example.com", "https://bücher.example", "https://", "..", "",
  ])
  func `what is copied is no more than a domain`(_ text: String) {
    #expect(code { try Domain(typed: text) } == .badDomain)
  }

  @Test(arguments: [
    "", "Shop.example.com", "shop.example.com.", "shop..example.com", "https://shop.example.com", "shop.example.com/",
    "shop.example.com:8443", "bücher.example", "intranet", "10.0.0.1", "[::1]", "-a.example", "a-.example",
    "localhost:", "localhost:0", "localhost:080", "localhost:65536", "localhost:80:80", ".localhost", "a b.example",
  ])
  func `anything else is no domain`(_ text: String) {
    #expect(code { try Domain(text) } == .badDomain)
  }

  @Test func `only this machine may have a port and plain HTTP`() throws {
    #expect(try Domain("shop.example.com").origins == ["https://shop.example.com"])
    #expect(try Domain("localhost:8401").origins == ["https://localhost:8401", "http://localhost:8401"])
    #expect(try Domain("localhost:8401").host == "localhost")
  }

  @Test func `an association file is neither empty nor endless`() throws {
    #expect(try DomainAssociation(bytes: Array("7B22".utf8)).bytes == Array("7B22".utf8))
    #expect(try DomainAssociation(brought: Array("\n7b7D\r\n".utf8)).bytes == Array("\n7b7D\r\n".utf8))
    for text in ["", "<!doctype html>", "{}", "undefined", "7B", "5B5D", "7B7D7", "7B 7D"] {
      #expect(code { try DomainAssociation(brought: Array(text.utf8)) } == .badAssociationFile, "\(text)")
    }
    #expect(code { try DomainAssociation(bytes: []) } == .badAssociationFile)
    #expect(code { try DomainAssociation(bytes: .init(repeating: 0, count: 65_537)) } == .badAssociationFile)
  }
}

/// The code with which `body` refuses; nil when it accepts.
func code<Value>(_ body: () throws -> Value) -> MerchantIdentityError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? MerchantIdentityError)?.code
  }
}

import Crypto
import CryptoExtras
import Foundation
import SandboxTesting
import SwiftASN1
import TenderPayments
import Testing
import TokenIssuer
import X509

@Suite struct `Issuing a payment token` {
  let pki: SandboxPKI
  let issuer: PaymentTokenIssuer
  let merchant: Merchant
  let recipient: TokenRecipient
  let directory: TemporaryDirectory

  init() throws {
    pki = try SandboxPKI()
    issuer = PaymentTokenIssuer(pki: pki)
    merchant = try Merchant()
    directory = try TemporaryDirectory()
    let certificate = try pki.certificate(.processing, for: Merchant.identifier, csr: merchant.processingCSR)
    recipient = try TokenRecipient(certificatePEM: certificate)
  }

  private func order(_ card: String = "visa-debit", _ units: Int64 = 1250, _ currency: String = "EUR") throws
    -> PaymentTokenRequest
  {
    PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: card)),
      amount: Amount(minorUnits: units, currency: try #require(Currency(code: currency))), recipient: recipient)
  }

  @Test(arguments: SignatureForm.allCases)
  func `OpenSSL accepts the signature in every form, under the sandbox's root`(form: SignatureForm) throws {
    var order = try order()
    order.form = form
    order.applicationData = Array("basket 7".utf8)
    let token = try issuer.issue(order)
    #expect(try verified(token, content: token.signedContent).status == 0)
  }

  @Test func `OpenSSL refuses the signature when one byte of the data differs`() throws {
    let token = try issuer.issue(order())
    var content = token.signedContent
    content[100] ^= 1
    #expect(try verified(token, content: content).status != 0)
  }

  private func verified(_ token: IssuedPaymentToken, content: [UInt8]) throws -> (status: Int32, output: String) {
    try openssl(
      "cms", "-verify", "-inform", "DER", "-in", directory.file("sig.der", token.signature), "-content",
      directory.file("content", content), "-binary", "-CAfile", directory.file("root.pem", pki.rootPEM), "-purpose",
      "any", "-out", "/dev/null")
  }

  /// The upper levels of Apple's own signatures, as `openssl asn1parse` shows them; `inf` is an indefinite length.
  @Test func `the signature's structure is Apple's, indefinite lengths included`() throws {
    let parsed = try openssl(
      "asn1parse", "-inform", "DER", "-in", directory.file("sig.der", issuer.issue(order()).signature))
    #expect(
      upperLevels(parsed.output) == [
        "0 inf SEQUENCE", "1 OBJECT", "1 inf cont [ 0 ]", "2 inf SEQUENCE", "3 INTEGER", "3 SET", "4 SEQUENCE",
        "3 inf SEQUENCE", "4 OBJECT", "4 EOC", "3 inf cont [ 0 ]", "4 SEQUENCE", "4 SEQUENCE", "4 EOC", "3 SET",
        "4 SEQUENCE", "3 EOC", "2 EOC", "1 EOC",
      ])
  }

  private func upperLevels(_ listing: String) -> [String] {
    listing.split(separator: "\n").compactMap { line in
      guard let match = line.firstMatch(of: #/d=([0-4]) .*l= *(inf|\d+) +(?:cons|prim): ([A-Za-z]+(?: \[ \d \])?)/#)
      else {
        return nil
      }
      return "\(match.1) \(match.2 == "inf" ? "inf " : "")\(match.3)"
    }
  }

  @Test func `the signed attributes stand in Apple's order with Apple's lengths`() throws {
    let signature = try issuer.issue(order()).signature
    let middle = Hex.encode(signature)
    // A0 81 95: the 149 bytes of contentType, signingTime, cmsAlgorithmProtection, messageDigest.
    let start = "a08195" + "301806092a864886f70d010903310b06092a864886f70d010701" + "301c06092a864886f70d010905310f170d"
    let protection =
      "302a06092a864886f70d010934311d301b300d06096086480165030402010500a10a06082a8648ce3d040302"
      + "302f06092a864886f70d01090431220420"
    #expect(middle.hasPrefix("308006092a864886f70d010702a080308002010131"))
    #expect(middle.contains(start))
    #expect(middle.contains(protection))
    #expect(middle.hasSuffix("000000000000"))
  }

  @Test func `an independent reader finds Apple's keys and values inside`() throws {
    let text = try opened(issuer.issue(order()))
    #expect(
      text.hasPrefix(#"{"applicationPrimaryAccountNumber":"4761739000000012","applicationExpirationDate":"311231","#))
    #expect(
      text.contains(#""currencyCode":"978","transactionAmount":1250,"deviceManufacturerIdentifier":"040010030273""#))
    #expect(text.contains(#""paymentDataType":"3DSecure","paymentData":{"onlinePaymentCryptogram":""#))
    #expect(text.hasSuffix(#"","eciIndicator":"07"}}"#))
  }

  @Test func `a Mastercard has no ECI, and yen have no decimals`() throws {
    let text = try opened(issuer.issue(order("mastercard-credit", 1200, "JPY")))
    #expect(!text.contains("eciIndicator"))
    #expect(text.contains(#""currencyCode":"392","transactionAmount":1200"#))
  }

  @Test func `a card of UnionPay answers with EMV data`() throws {
    let inside = try opened(issuer.issue(order("unionpay-credit", 1250, "CNY")))
    #expect(inside.contains(#""paymentDataType":"EMV","paymentData":{"emvData":""#))
    #expect(!inside.contains("onlinePaymentCryptogram"))
  }

  @Test func `two payment tokens share neither key nor cryptogram nor transaction`() throws {
    let (one, two) = (try issuer.issue(order()), try issuer.issue(order()))
    #expect(one.keyMaterial != two.keyMaterial)
    #expect(one.transactionID != two.transactionID)
    #expect(try opened(one) != opened(two))
  }

  @Test func `the token's JSON is Apple's`() throws {
    var order = try order()
    order.applicationData = Array("hello".utf8)
    let token = try JSONSerialization.jsonObject(with: Data(issuer.issue(order).text.utf8)) as? [String: Any]
    let method = token?["paymentMethod"] as? [String: String]
    #expect(method == ["displayName": "Visa 0492", "network": "Visa", "type": "debit"])
    let data = try #require(token?["paymentData"] as? [String: Any])
    let header = try #require(data["header"] as? [String: String])
    let transaction = try #require(token?["transactionIdentifier"] as? String)
    #expect(transaction == transaction.uppercased() && transaction.lowercased() == header["transactionId"])
    #expect(data["version"] as? String == "EC_v1")
    #expect(header["applicationData"] == Hex.encode(SHA256.hash(data: Array("hello".utf8))))
    #expect(Base64.decode(header["ephemeralPublicKey"] ?? "")?.count == 91)
  }

  /// Decrypts with OpenSSL's key agreement and a key derivation written out here, as Apple's page has it.
  private func opened(_ token: IssuedPaymentToken) throws -> String {
    let secret = "\(directory.path)/secret"
    let derived = try openssl(
      "pkeyutl", "-derive", "-inkey", directory.file("key.pem", merchant.processingKey.pemRepresentation), "-peerkey",
      directory.file("peer.der", token.keyMaterial), "-peerform", "DER", "-out", secret)
    #expect(derived.status == 0, "\(derived.output)")
    let parts =
      [0, 0, 0, 1] + Array(try Data(contentsOf: URL(filePath: secret))) + [13] + Array("id-aes256-GCMApple".utf8)
    let key = SymmetricKey(data: SHA256.hash(data: parts + SHA256.hash(data: Array(Merchant.identifier.utf8))))
    let box = try AES.GCM.SealedBox(
      nonce: .init(data: [UInt8](repeating: 0, count: 16)), ciphertext: token.data.dropLast(16),
      tag: token.data.suffix(16))
    return String(decoding: try AES.GCM.open(box, using: key), as: UTF8.self)
  }
}

import DirectWire
import Foundation
import PlatformAPI
import StrictJSON
import TenderPayments
import Testing

@Suite struct `An encrypted customer input` {
  private let vector: CustomerInputVector
  private let key: CustomerInputKey

  init() throws {
    vector = try CustomerInputVector.read()
    key = try CustomerInputKey(
      id: vector.keyId, createdAt: Timestamp(seconds: 1_800_000_000), privateKeyPEM: vector.privateKey)
  }

  private func opened(_ text: String, by other: CustomerInputKey? = nil) throws -> String {
    let message = try EncryptedMessage(text)
    return String(decoding: try message.opened(by: other ?? key), as: UTF8.self)
  }

  @Test func `opens whether jwcrypto made it or a kit`() throws {
    #expect(try opened(vector.madeByJwcrypto) == vector.plaintext)
    #expect(try opened(vector.madeByKits) == vector.plaintext)
    #expect(try EncryptedMessage(vector.madeByJwcrypto).keyID == "k1")
  }

  @Test func `has the public key that kits encrypt to`() {
    #expect(Base64.encode(key.publicKey) == vector.publicKey)
    #expect(!"\(key)".contains("PRIVATE") && Mirror(reflecting: key).children.isEmpty)
  }

  @Test func `does not open when any part was changed, or by another key, and says no more than that`() throws {
    let parts = vector.madeByKits.split(separator: ".").map(String.init)
    for index in 1..<5 {
      var changed = parts
      changed[index] = (parts[index].first == "A" ? "B" : "A") + parts[index].dropFirst()
      #expect(throws: CustomerInputRefusal.notOpened) { try opened(changed.joined(separator: ".")) }
    }
    let other = try CustomerInputKey.made(id: "k1", at: Timestamp(seconds: 0))
    #expect(throws: CustomerInputRefusal.notOpened) { try opened(vector.madeByKits, by: other) }
  }

  @Test(arguments: [
    #"{"alg":"RSA-OAEP-256","enc":"A256CBC-HS512","kid":"k1"}"#, #"{"alg":"RSA-OAEP","enc":"A256GCM","kid":"k1"}"#,
    #"{"alg":"dir","enc":"A256CBC-HS512","kid":"k1"}"#, #"{"alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#,
    #"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","kid":"k1","zip":"DEF"}"#,
    #"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","kid":"k1","crit":["exp"]}"#,
    #"{"alg":"RSA-OAEP","alg":"RSA-OAEP","enc":"A256CBC-HS512","kid":"k1"}"#, "[]",
  ])
  func `names its two algorithms and asks for nothing else`(header: String) {
    let rest = vector.madeByKits.drop { $0 != "." }
    #expect(throws: CustomerInputRefusal.malformed) {
      try EncryptedMessage(Base64URL.encode(Array(header.utf8)) + rest)
    }
  }

  @Test func `is in compact form`() {
    let text = vector.madeByKits
    for other in ["", "a.b", text + ".", text + "=", String(text.dropLast(2)), text.replacing(".", with: "..")] {
      #expect(throws: CustomerInputRefusal.malformed) { try EncryptedMessage(other) }
    }
  }
}

@Suite struct `The content of a customer input` {
  private func content(_ changes: (String, String)...) throws -> CustomerInput {
    var text = try CustomerInputVector.read().plaintext
    for (old, new) in changes { text = text.replacing(old, with: new) }
    return try CustomerInput(Array(text.utf8))
  }

  @Test func `is the whole payment token, and takes the place of the request's payment data`() throws {
    let (input, vector) = (try content(), try CustomerInputVector.read())
    #expect(input.paymentProductID == 302 && input.clientSessionID == "d2f6e1b09c8a4d57")
    let complete = try input.completing(nil)
    let data = try #require(complete.encryptedPaymentData)
    #expect(data == .token(try JSONReader.read(Array(vector.paymentData.utf8))))
    #expect(!"\(input)".contains("EC_v1"))
  }

  @Test func `keeps what the merchant's server says of the payment, and bears no second payment data`() throws {
    let server = try CustomerInput(Array(CustomerInputVector.read().plaintext.utf8)).completing(
      .init(authorizationMode: .preliminary, requiresApproval: true))
    #expect(server.authorizationMode == .preliminary && server.requiresApproval == true)
    #expect(throws: CustomerInputRefusal.ambiguous) { try content().completing(server) }
  }

  @Test func `has a session, a nonce, a product and the payment data`() {
    for name in ["clientSessionId", "nonce", "paymentProductId", "paymentValues", "encryptedPaymentData"] {
      #expect(throws: CustomerInputRefusal.incomplete) { try content(("\"\(name)\"", "\"other\"")) }
    }
    #expect(throws: CustomerInputRefusal.incomplete) { try CustomerInput(Array("{".utf8)) }
    #expect(throws: CustomerInputRefusal.incomplete) {
      try content(("000102030405060708090a0b0c0d0e0f", String(repeating: "0", count: 65)))
    }
  }
}

import StrictJSON
import TenderCheckout
import TenderPayments
import Testing

/// How a payment token is wrapped for the platform API, with cryptography that shows what it was given. That real
/// cryptography fits in is tested with the server that opens it.
@Suite struct `A payment token for the platform API` {
  private static let session = ClientSession(
    clientSessionId: "session", customerId: "customer", clientApiUrl: "http://127.0.0.1:1/client")
  private static let key = CustomerInputPublicKey(keyId: "k1", publicKey: Base64.encode([1, 2, 3]))

  /// Random bytes are the number of bytes; the encrypted text is key, vector and text in a row.
  private static let visible = CustomerInputPrimitives(
    wrap: { bytes, key in key + bytes }, encrypt: { bytes, key, iv in key + iv + bytes },
    authenticate: { bytes, key in key + Array(bytes.suffix(8)) + Array(repeating: 9, count: 24) },
    random: { count in (0..<count).map(UInt8.init) })

  private static func bytes(_ part: Substring) -> [UInt8]? {
    let standard = part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    return Base64.decode(String(standard) + String(repeating: "=", count: (4 - part.utf8.count % 4) % 4))
  }

  private func parts(_ transaction: String? = "T1") throws -> [Substring] {
    try CustomerInputEncryption(Self.session, Self.key, Self.visible).encrypt(
      paymentData: Array("{}".utf8), transactionIdentifier: transaction
    ).split(separator: ".", omittingEmptySubsequences: false)
  }

  @Test func `is a JWE of five parts, whose key's halves encrypt and authenticate`() throws {
    let parts = try parts()
    let bytes = try parts.map { try #require(Self.bytes($0)) }
    #expect(parts.count == 5 && !parts.joined().contains { "+/=".contains($0) })
    let header = try JSONReader.read(bytes[0])
    #expect(header["alg"] == "RSA-OAEP" && header["enc"] == "A256CBC-HS512" && header["kid"] == "k1")
    let (contentKey, iv) = ((0..<64).map(UInt8.init), (0..<16).map(UInt8.init))
    #expect(bytes[1] == [1, 2, 3] + contentKey && bytes[2] == iv)
    #expect(Array(bytes[3].prefix(48)) == contentKey[32...] + iv)
    // Half of the code that the first half of the key made.
    #expect(bytes[4] == Array(contentKey[..<32]))
  }

  @Test func `names session, product and payment data, and the transaction where there is one`() throws {
    let data: JSONValue = ["key": "encryptedPaymentData", "value": "{}"]
    for (transaction, values) in [("T1", [data, ["key": "transactionId", "value": "T1"]]), (nil, [data])] {
      let encrypted = try #require(Self.bytes(try parts(transaction)[3]))
      let content = try JSONReader.read(Array(encrypted.dropFirst(48)))
      #expect(content["clientSessionId"] == "session" && content["paymentProductId"] == 302)
      #expect(content["nonce"] == "000102030405060708090a0b0c0d0e0f")
      #expect(content["paymentValues"] == .array(values))
    }
  }

  @Test func `is encrypted to the key that ends a SubjectPublicKeyInfo`() {
    let algorithm: [UInt8] = [0x30, 0x02, 0x05, 0x00]
    let long = [UInt8](repeating: 7, count: 200)
    #expect(PublicKeyInfo.key(in: [0x30, 0x08] + algorithm + [0x03, 0x02, 0x00, 0x07]) == [7])
    let body = algorithm + [0x03, 0x81, 0xC9, 0x00] + long
    #expect(PublicKeyInfo.key(in: [0x30, 0x81, UInt8(body.count)] + body) == long)
    for other: [UInt8] in [
      [], [0x30], [0x31, 0x00], [0x30, 0x83, 0, 0, 0], [0x30, 0x08] + algorithm + [0x03, 0x02, 0x01, 0x07],
      [0x30, 0x04] + algorithm, [0x30, 0x08] + algorithm + [0x03, 0x02, 0x00, 0x07, 0x00],
    ] { #expect(PublicKeyInfo.key(in: other) == nil, "\(other)") }
  }

  @Test func `needs a server that gives its key`() async throws {
    #expect(Self.session.address == "http://127.0.0.1:1/client/v1/customer")
    await #expect(throws: CustomerInputError.noPublicKey(status: 0)) { try await Self.session.publicKey() }
  }
}

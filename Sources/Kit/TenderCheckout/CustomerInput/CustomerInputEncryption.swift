import Foundation
import StrictJSON
import TenderPayments

/// Encrypts a payment token for the platform API, so that the merchant's own server passes on what it cannot read.
///
/// Its result is the `encryptedCustomerInput` of one `POST /v2/{merchantId}/payments`: a JWE with RSA-OAEP and
/// A256CBC-HS512 (RFC 7516, RFC 7518). An app that pays through ``ApplePayService`` does not need it.
public struct CustomerInputEncryption: Sendable {
  private static let applePay: Int64 = 302

  private let session: ClientSession
  private let key: CustomerInputPublicKey
  private let primitives: CustomerInputPrimitives

  package init(_ session: ClientSession, _ key: CustomerInputPublicKey, _ primitives: CustomerInputPrimitives) {
    (self.session, self.key, self.primitives) = (session, key, primitives)
  }

  /// The payment token, encrypted for one payment. Each result is used once.
  ///
  /// - Parameters:
  ///   - paymentData: `PKPaymentToken.paymentData`.
  ///   - transactionIdentifier: `PKPaymentToken.transactionIdentifier`.
  /// - Throws: when the server's public key cannot be used.
  public func encrypt(paymentData: [UInt8], transactionIdentifier: String? = nil) throws -> String {
    let content = content(String(decoding: paymentData, as: UTF8.self), transactionIdentifier)
    return try Self.message(content.serialized(), to: key, primitives)
  }

  private func content(_ paymentData: String, _ transaction: String?) -> JSONValue {
    var values: [JSONValue] = [["key": "encryptedPaymentData", "value": .string(paymentData)]]
    if let transaction { values.append(["key": "transactionId", "value": .string(transaction)]) }
    return [
      "clientSessionId": .string(session.clientSessionId), "nonce": .string(Hex.encode(primitives.random(16))),
      "paymentProductId": .integer(Self.applePay), "paymentValues": .array(values),
    ]
  }

  /// The JWE of any bytes.
  package static func message(
    _ plaintext: [UInt8], to key: CustomerInputPublicKey, _ primitives: CustomerInputPrimitives
  ) throws -> String {
    let (contentKey, iv) = (primitives.random(64), primitives.random(16))
    let header: JSONValue = ["alg": "RSA-OAEP", "enc": "A256CBC-HS512", "kid": .string(key.keyId)]
    let encoded = base64URL(header.serialized())
    let content = try primitives.encrypt(plaintext, Array(contentKey[32...]), iv)
    let bits = withUnsafeBytes(of: UInt64(8 * encoded.utf8.count).bigEndian, Array.init)
    let tag = primitives.authenticate(Array(encoded.utf8) + iv + content + bits, Array(contentKey[..<32]))
    let wrapped = try primitives.wrap(contentKey, key.subjectPublicKeyInfo)
    let parts = [wrapped, iv, content, Array(tag.prefix(32))].map(base64URL)
    return ([encoded] + parts).joined(separator: ".")
  }

  private static func base64URL(_ bytes: [UInt8]) -> String {
    Base64.encode(bytes).replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }
}

/// What the merchant's server got from `POST /v2/{merchantId}/sessions`, and hands to its app.
public struct ClientSession: Sendable, Hashable, Codable {
  /// Authorizes the client's calls, so it is secret.
  public let clientSessionId: String
  /// Stands in the paths of the client's calls.
  public let customerId: String
  /// `https://pay.example.com/client`
  public let clientApiUrl: String

  /// A session as the server described it.
  public init(clientSessionId: String, customerId: String, clientApiUrl: String) {
    (self.clientSessionId, self.customerId, self.clientApiUrl) = (clientSessionId, customerId, clientApiUrl)
  }

  /// Below which the calls of the session are: `clientApiUrl` with `/client`, which it may have or not.
  package var address: String {
    var server = clientApiUrl
    for end in ["/", "/client"] where server.hasSuffix(end) { server.removeLast(end.count) }
    return "\(server)/client/v1/\(customerId)"
  }
}

/// The server's public key, to which customer inputs are encrypted.
public struct CustomerInputPublicKey: Sendable, Hashable, Codable {
  /// Names it to the server.
  public let keyId: String
  /// Base64 of its SubjectPublicKeyInfo.
  public let publicKey: String

  /// A key as the server describes it.
  public init(keyId: String, publicKey: String) { (self.keyId, self.publicKey) = (keyId, publicKey) }

  package var subjectPublicKeyInfo: [UInt8] { Base64.decode(publicKey) ?? [] }
}

/// The cryptography that the system provides.
package struct CustomerInputPrimitives: Sendable {
  /// RSA-OAEP with SHA-1: bytes, and a SubjectPublicKeyInfo.
  let wrap: @Sendable (_ bytes: [UInt8], _ key: [UInt8]) throws -> [UInt8]
  /// AES-256-CBC with PKCS #7 padding.
  let encrypt: @Sendable (_ bytes: [UInt8], _ key: [UInt8], _ iv: [UInt8]) throws -> [UInt8]
  /// HMAC-SHA-512.
  let authenticate: @Sendable (_ bytes: [UInt8], _ key: [UInt8]) -> [UInt8]
  let random: @Sendable (_ count: Int) -> [UInt8]

  package init(
    wrap: @escaping @Sendable (_ bytes: [UInt8], _ key: [UInt8]) throws -> [UInt8],
    encrypt: @escaping @Sendable (_ bytes: [UInt8], _ key: [UInt8], _ iv: [UInt8]) throws -> [UInt8],
    authenticate: @escaping @Sendable (_ bytes: [UInt8], _ key: [UInt8]) -> [UInt8],
    random: @escaping @Sendable (_ count: Int) -> [UInt8]
  ) {
    (self.wrap, self.encrypt, self.authenticate, self.random) = (wrap, encrypt, authenticate, random)
  }
}

/// Why a payment token could not be encrypted.
public enum CustomerInputError: Error, Sendable, Hashable {
  /// The server gave no public key, with this status; 0 without an answer.
  case noPublicKey(status: Int)
  /// The public key cannot be used.
  case publicKeyUnusable
}

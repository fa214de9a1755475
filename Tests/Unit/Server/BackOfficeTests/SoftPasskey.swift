import Crypto
import Foundation
import StrictJSON
import TenderPayments

/// A browser with an authenticator, which answer as WebAuthn says, or wrongly where a test changes what they are.
struct SoftPasskey: Sendable {
  static let url = "https://office.example"

  var key = P256.Signing.PrivateKey()
  /// Another key than the office was given.
  var signingKey: P256.Signing.PrivateKey?
  var id = RandomBytes.system.next(32)
  var party = "office.example"
  var origin = Self.url
  /// Present, verified, and of a kind that is backed up.
  var flags: UInt8 = 0x1D
  var counter: UInt32 = 0
  var createType = "webauthn.create"
  var getType = "webauthn.get"
  /// Members that the browser adds to what it says.
  var added = ""
  var format = "none"
  var statement: [UInt8] = [0xA0]
  /// The members of the COSE key; nil for those of ES256 on P-256.
  var cose: [UInt8]?
  /// Bytes after the authenticator's data.
  var rest: [UInt8] = []
  /// In the place of the whole attestation.
  var attestation: [UInt8]?
  var changesAfterSigning = false

  private func clientData(_ type: String, _ challenge: String) -> [UInt8] {
    Array("{\"type\":\"\(type)\",\"challenge\":\"\(challenge)\",\"origin\":\"\(origin)\"\(added)}".utf8)
  }

  private func data(_ more: UInt8, _ made: [UInt8] = []) -> [UInt8] {
    let count = (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * $0)) }
    return SHA256.hash(data: Array(party.utf8)) + [flags | more] + count + made + rest
  }

  /// The fields of the form that adds it.
  func registration(_ options: JSONValue) -> [String: String] {
    let point = Array(key.publicKey.rawRepresentation)
    let ours: [UInt8] =
      [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 32] + point[..<32] + [0x22, 0x58, 32] + point[32...]
    let made = [UInt8](repeating: 0, count: 16) + [UInt8(id.count >> 8), UInt8(id.count & 255)] + id + (cose ?? ours)
    let authData = data(0x40, made)
    let object: [UInt8] =
      [0xA3] + Self.text("fmt") + Self.text(format) + Self.text("attStmt") + statement + Self.text("authData")
      + Self.head(of: authData) + authData
    return [
      "clientData": Base64URL.encode(clientData(createType, options["challenge"]?.text ?? "")),
      "attestation": Base64URL.encode(attestation ?? object),
    ]
  }

  /// The fields of the form that signs in.
  func assertion(_ options: JSONValue, handle: String) -> [String: String] {
    let (client, data) = (clientData(getType, options["challenge"]?.text ?? ""), data(0))
    let signature = try! (signingKey ?? key).signature(for: data + SHA256.hash(data: client))
    var sent = data
    if changesAfterSigning { sent[36] ^= 1 }
    return [
      "credential": Base64URL.encode(id), "clientData": Base64URL.encode(client),
      "authenticatorData": Base64URL.encode(sent), "signature": Base64URL.encode(Array(signature.derRepresentation)),
      "userHandle": handle,
    ]
  }

  private static func head(of bytes: [UInt8]) -> [UInt8] {
    bytes.count < 256 ? [0x58, UInt8(bytes.count)] : [0x59, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
  }

  private static func text(_ text: String) -> [UInt8] { [0x60 | UInt8(text.utf8.count)] + text.utf8 }
}

extension Visitor {
  /// Adds the passkey on the account's page.
  ///
  /// - Returns: the page that comes of it, and the user's name among authenticators.
  func add(
    _ passkey: SoftPasskey, named name: String = "phone", code: String
  ) async throws -> (page: Page, handle: String) {
    let options = try await passkeyOptions(code: code)
    let page = try await post("/account/passkeys", passkey.registration(options).merging(["name": name]) { $1 })
    return (page, options["user"]?["id"]?.text ?? "")
  }

  func passkeyOptions(code: String) async throws -> JSONValue {
    try JSONReader.read(Array(try await post("/account/passkeys/options", ["code": code]).text.utf8))
  }

  func signInOptions() async throws -> JSONValue {
    try JSONReader.read(Array(try await post("/sign-in/passkey/options").text.utf8))
  }

  func signIn(_ passkey: SoftPasskey, handle: String) async throws -> Page {
    try await post("/sign-in/passkey", passkey.assertion(try await signInOptions(), handle: handle))
  }
}

import Crypto
import Foundation
import StrictJSON
import TenderPayments

/// The office as browsers and authenticators know it (WebAuthn level 2).
package struct RelyingParty: Sendable, Hashable {
  /// The host, to which passkeys are bound.
  package let id: String
  /// The address in the browser.
  package let origin: String

  /// - Parameter url: `scheme://host[:port]`.
  /// - Returns: nil where browsers have no passkeys: without https on another machine, and at an address in numbers.
  package init?(url: String) {
    guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
      let host = parts.host?.lowercased(), !host.isEmpty, !host.contains(":"),
      host.split(separator: ".").last.map({ !$0.allSatisfy(\.isNumber) }) ?? false
    else { return nil }
    let isHere = host.utf8.elementsEqual("localhost".utf8) || host.hasSuffix(".localhost")
    guard scheme.utf8.elementsEqual("https".utf8) || isHere && scheme.utf8.elementsEqual("http".utf8) else {
      return nil
    }
    let usual = scheme.utf8.count == 5 ? 443 : 80
    id = host
    origin = "\(scheme)://\(host)" + (parts.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? "")
  }

  private var hash: [UInt8] { Array(SHA256.hash(data: Array(id.utf8))) }

  /// What a browser says about a passkey that it has made.
  package struct Registration: Sendable {
    let client: ClientData
    let attestation: [UInt8]

    /// - Throws: ``PasskeyRefusal`` for texts that are not the base64url of something short.
    package init(clientData: String, attestation: String) throws(PasskeyRefusal) {
      client = try ClientData(clientData)
      self.attestation = try bytes(attestation)
    }
  }

  /// What a browser says about a passkey that was used.
  package struct Assertion: Sendable {
    /// In base64url, as browsers write it.
    let credential: String
    let client: ClientData
    let clientHash: [UInt8]
    let authenticatorData: [UInt8]
    let signature: [UInt8]
    let userHandle: [UInt8]

    /// - Throws: ``PasskeyRefusal`` for texts that are not the base64url of something short.
    package init(
      credential: String, clientData: String, authenticatorData: String, signature: String, userHandle: String
    ) throws(PasskeyRefusal) {
      self.credential = Base64URL.encode(try bytes(credential))
      client = try ClientData(clientData)
      clientHash = Array(SHA256.hash(data: try bytes(clientData)))
      self.authenticatorData = try bytes(authenticatorData)
      self.signature = try bytes(signature)
      self.userHandle = try bytes(userHandle)
    }
  }

  /// The passkey that was made for this party, by somebody whom the authenticator knows.
  func made(_ registration: Registration) throws(PasskeyRefusal) -> (passkey: MadePasskey, counter: UInt32) {
    try registration.client.check(.create, origin)
    let object = try CBORReader.read(registration.attestation)
    guard object.members == 3, let format = object["fmt"]?.text, let data = object["authData"]?.bytes,
      let statement = object["attStmt"]?.members
    else { throw .unreadable }
    guard format.utf8.elementsEqual("none".utf8), statement == 0 else { throw .attestation }
    let authenticator = try checked(data)
    guard let made = authenticator.made else { throw .unreadable }
    return (made, authenticator.counter)
  }

  /// The counter of a passkey whose key has signed for this party.
  func counter(of assertion: Assertion, signedBy key: PasskeyKey) throws(PasskeyRefusal) -> UInt32 {
    try assertion.client.check(.get, origin)
    let authenticator = try checked(assertion.authenticatorData)
    guard key.hasSigned(assertion.authenticatorData + assertion.clientHash, with: assertion.signature) else {
      throw .signature
    }
    return authenticator.counter
  }

  /// What is for this party alone, and vouches for a person.
  private func checked(_ data: [UInt8]) throws(PasskeyRefusal) -> AuthenticatorData {
    let authenticator = try AuthenticatorData(data)
    guard authenticator.relyingPartyHash.isEqualInConstantTime(to: hash) else { throw .relyingParty }
    guard authenticator.isPresent else { throw .presence }
    guard authenticator.isVerified else { throw .verification }
    return authenticator
  }
}

/// What the browser says about where and what for an authenticator was asked (WebAuthn, section 5.8.1).
struct ClientData: Sendable {
  enum Ceremony: String {
    case create = "webauthn.create"
    case get = "webauthn.get"
  }

  let challenge: [UInt8]
  private let type: String
  private let origin: String
  private let isFramed: Bool

  fileprivate init(_ text: String) throws(PasskeyRefusal) {
    guard let value = try? JSONReader.read(try bytes(text), limits: JSONLimits(depth: 4, size: 4_096)),
      let type = value["type"]?.text, let origin = value["origin"]?.text,
      let challenge = value["challenge"]?.text.flatMap(Base64URL.decode)
    else { throw .unreadable }
    (self.type, self.origin, self.challenge) = (type, origin, challenge)
    isFramed =
      switch value["crossOrigin"] {
      case nil, .bool(false)?: value["topOrigin"] != nil
      default: true
      }
  }

  fileprivate func check(_ ceremony: Ceremony, _ wanted: String) throws(PasskeyRefusal) {
    guard type.utf8.elementsEqual(ceremony.rawValue.utf8), !isFramed else { throw .ceremony }
    guard origin.utf8.elementsEqual(wanted.utf8) else { throw .origin }
  }
}

/// The bytes of a field that a browser has sent.
private func bytes(_ text: String) throws(PasskeyRefusal) -> [UInt8] {
  guard text.utf8.count <= 8_192, let bytes = Base64URL.decode(text) else { throw .unreadable }
  return bytes
}

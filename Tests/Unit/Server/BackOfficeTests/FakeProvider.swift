import Crypto
import CryptoExtras
import Foundation
import HTTPTransport
import Settings
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting

/// An OpenID provider that says what a test wants it to say.
final class FakeProvider: Sendable {
  static let issuer = "https://login.example/realms/shop"
  static let secret = "the client's secret: 100 %"
  /// Made once: it takes a while.
  private static let rsa = try! _RSA.Signing.PrivateKey(keySize: .bits2048)
  static let ec = P256.Signing.PrivateKey()

  struct Words: Sendable {
    var algorithm = "RS256"
    /// How it signs in truth; nil for as the head says.
    var signsWith: String?
    var keyID: String? = "rsa-1"
    /// Members of the token's head, and members of the claims, that are added or replaced; `null` takes one out.
    var head: [String: JSONValue] = [:]
    var claims: [String: JSONValue] = [:]
    /// In the place of the claims, as text.
    var text: String?
    /// Bits of the signature are turned.
    var spoils = false
    var description: [String: JSONValue] = [:]
    /// The names of the keys that are published.
    var published = ["rsa-1", "ec-1"]
    var status = 200
    var descriptionStatus = 200
    /// In the place of the answer's token.
    var token: String?
  }

  let words = Mutex(Words())
  /// The challenge of the code that was given, and the nonce of its sign-in.
  private let given = Mutex<(challenge: String, nonce: String, redirect: String)?>(nil)
  let calls = Mutex<[String]>([])
  let now: Mutex<@Sendable () -> Timestamp>
  let maximumAgeHours: Int?

  init(maximumAgeHours: Int? = nil) {
    now = Mutex { WallClock.system.now() }
    self.maximumAgeHours = maximumAgeHours
  }

  var configuration: OpenIDConfiguration {
    var configuration = OpenIDConfiguration()
    (configuration.issuer, configuration.clientID) = (Self.issuer, "tender office")
    (configuration.clientSecret, configuration.name) = (Self.secret, "Example Login")
    configuration.roles = ["admins = administrator", "shop-team = operator of shop", "all = viewer"].compactMap {
      OpenIDConfiguration.MappedRole($0)
    }
    configuration.maximumAgeHours = maximumAgeHours
    return configuration
  }

  var sender: HTTPSender {
    HTTPSender { request, _ throws(TransportError) in
      self.calls.withLock { $0.append("\(request.method) \(request.url)") }
      let words = self.words.withLock(\.self)
      switch request.url {
      case "\(Self.issuer)/.well-known/openid-configuration":
        guard words.descriptionStatus != 0 else { throw .timedOut }
        return .json(self.description(words), words.descriptionStatus)
      case "\(Self.issuer)/keys": return .json(["keys": .array(words.published.map(Self.key))], 200)
      case "\(Self.issuer)/token": return self.token(request, words)
      default: return InboundResponse(status: 404)
      }
    }
  }

  private func description(_ words: Words) -> JSONValue {
    var object: JSONObject = [
      "issuer": .string(Self.issuer), "authorization_endpoint": .string("\(Self.issuer)/authorize?kind=staff"),
      "token_endpoint": .string("\(Self.issuer)/token"), "jwks_uri": .string("\(Self.issuer)/keys"),
    ]
    for (name, value) in words.description { object[name] = value == .null ? nil : value }
    return .object(object)
  }

  private static func key(_ id: String) -> JSONValue {
    switch id.split(separator: "-").first {
    case "rsa":
      let numbers = try! rsa.publicKey.getKeyPrimitives()
      return [
        "kty": "RSA", "kid": .string(id), "use": "sig", "n": .string(Base64URL.encode(Array(numbers.modulus))),
        "e": .string(Base64URL.encode(Array(numbers.publicExponent))),
      ]
    case "ec":
      let point = Array(ec.publicKey.rawRepresentation)
      return [
        "kty": "EC", "crv": "P-256", "kid": .string(id), "alg": "ES256",
        "x": .string(Base64URL.encode(point[..<32])), "y": .string(Base64URL.encode(point[32...])),
      ]
    default: return ["kty": "oct", "kid": .string(id), "k": "c2VjcmV0"]
    }
  }

  /// The person signs in, and is sent back.
  ///
  /// - Parameter location: to which the office has sent the browser.
  /// - Returns: the path and query at the office.
  func signIn(at location: String) throws -> String {
    let query = Self.fields(String(location.drop { $0 != "?" }.dropFirst()))
    given.withLock { $0 = (query["code_challenge"] ?? "", query["nonce"] ?? "", query["redirect_uri"] ?? "") }
    return "/sign-in/openid/callback?code=c0de&state=\(query["state"] ?? "")"
  }

  static func fields(_ text: String) -> [String: String] {
    let pairs = text.split(separator: "&").map { pair -> (String, String) in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        String($0).removingPercentEncoding ?? ""
      }
      return (parts[0], parts.count > 1 ? parts[1] : "")
    }
    return Dictionary(pairs) { $1 }
  }

  private func token(_ request: OutboundRequest, _ words: Words) -> InboundResponse {
    let form = Self.fields(String(decoding: request.body, as: UTF8.self))
    let basic = "Basic " + Base64.encode(Array("tender%20office:the%20client%27s%20secret%3A%20100%20%25".utf8))
    let isClient =
      request.headers.first(named: "Authorization") == basic
      || form["client_id"] == "tender office" && form["client_secret"] == Self.secret
    let challenge = Base64URL.encode(Array(SHA256.hash(data: Array((form["code_verifier"] ?? "").utf8))))
    guard
      let given = self.given.withLock({ given in
        defer { given = nil }
        return given
      }), isClient, form["code"] == "c0de", form["redirect_uri"] == given.redirect, challenge == given.challenge,
      form["grant_type"] == "authorization_code"
    else { return .json(["error": "invalid_grant"], 400) }
    let token = words.token ?? Self.token(words, nonce: given.nonce, at: now.withLock(\.self)())
    return .json(["token_type": "Bearer", "access_token": "unused", "id_token": .string(token)], words.status)
  }

  private static func token(_ words: Words, nonce: String, at now: Timestamp) -> String {
    var head: JSONObject = ["alg": .string(words.algorithm), "typ": "JWT"]
    if let id = words.keyID { head["kid"] = .string(id) }
    for (name, value) in words.head { head[name] = value == .null ? nil : value }
    var claims: JSONObject = [
      "iss": .string(issuer), "sub": "person 1", "aud": "tender office", "iat": .integer(now.seconds),
      "exp": .integer(now.seconds + 300), "nonce": .string(nonce), "email": "anna@example.com",
      "email_verified": true, "groups": ["shop-team", "other"],
    ]
    for (name, value) in words.claims { claims[name] = value == .null ? nil : value }
    let body = words.text.map { Array($0.utf8) } ?? JSONValue.object(claims).serialized()
    let message = Base64URL.encode(JSONValue.object(head).serialized()) + "." + Base64URL.encode(body)
    var signature = sign(Array(message.utf8), words.signsWith ?? words.algorithm)
    if words.spoils { signature[signature.count / 2] ^= 1 }
    return message + "." + Base64URL.encode(signature)
  }

  private static func sign(_ message: [UInt8], _ algorithm: String) -> [UInt8] {
    switch algorithm {
    case "RS256":
      Array(
        try! rsa.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5).rawRepresentation)
    case "ES256": Array(try! ec.signature(for: message).rawRepresentation)
    // The public key in the place of a secret, as the attack goes.
    case "HS256":
      Array(
        HMAC<SHA256>.authenticationCode(
          for: message, using: SymmetricKey(data: Array(rsa.publicKey.pemRepresentation.utf8))))
    default: []
    }
  }
}

extension InboundResponse {
  fileprivate static func json(_ value: JSONValue, _ status: Int) -> InboundResponse {
    InboundResponse(
      status: status, headers: [HTTPField("Content-Type", "application/json")], body: value.serialized())
  }
}

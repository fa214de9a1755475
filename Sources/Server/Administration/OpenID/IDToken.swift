import Foundation
import StrictJSON
import TenderPayments

/// What a provider says of the person who has signed in there (OpenID Connect Core, section 2).
package struct IDToken: Sendable {
  /// Longer ones are not read.
  static let longest = 32 << 10
  /// By how much the clocks here and there may differ.
  static let skew: Duration = .seconds(60)
  /// How old it may be: it was made for the sign-in that is under way.
  static let life: Duration = .seconds(600)

  package let issuer: String
  package let subject: String
  /// Nil where the provider has not verified it.
  package let email: String?
  /// When the person signed in at the provider; nil where it does not say.
  let signedInAt: Timestamp?
  fileprivate let claims: JSONValue

  /// What a token must be for.
  struct Expectation: Sendable {
    let issuer: String
    let client: String
    let nonce: String
    /// How old the sign-in may be.
    let maximumAge: Duration?
  }

  /// The texts of a claim: of a text, or of a list.
  package func values(of claim: String) -> [String] {
    switch claims[claim] {
    case .string(let text)?: [text]
    case .array(let elements)?: elements.compactMap(\.text)
    default: []
    }
  }
}

/// A token as it was sent, whose signature has not been looked at.
struct SignedIDToken: Sendable {
  let keyID: String?
  let algorithm: OpenIDKey.Algorithm
  private let claims: JSONValue
  private let message: [UInt8]
  private let signature: [UInt8]

  /// - Parameter text: three parts with dots between.
  init(_ text: String) throws(OpenIDRefusal) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let limits = JSONLimits(depth: 8, size: IDToken.longest)
    guard text.utf8.count <= IDToken.longest, parts.count == 3,
      let head = Base64URL.decode(parts[0]).flatMap({ try? JSONReader.read($0, limits: limits) }),
      let claims = Base64URL.decode(parts[1]).flatMap({ try? JSONReader.read($0, limits: limits) }),
      let signature = Base64URL.decode(parts[2])
    else { throw .unreadable }
    guard let algorithm = head["alg"]?.text.flatMap(OpenIDKey.Algorithm.init) else { throw .algorithm }
    // What must be understood, and a token for something else.
    guard head["crit"] == nil, head["typ"] == nil || head["typ"]?.text?.uppercased() == "JWT" else {
      throw .unreadable
    }
    switch head["kid"] {
    case nil: keyID = nil
    case .string(let id)?: keyID = id
    default: throw .unreadable
    }
    (self.algorithm, self.claims, self.signature) = (algorithm, claims, signature)
    message = Array("\(parts[0]).\(parts[1])".utf8)
  }

  /// What it says, if one of the keys has signed it, and it is for us, of now and of this sign-in.
  func verified(
    by keys: OpenIDKeys, _ wanted: IDToken.Expectation, at now: Timestamp
  ) throws(OpenIDRefusal) -> IDToken {
    let fitting = keys.fitting(keyID, algorithm)
    guard !fitting.isEmpty else { throw .key }
    guard fitting.contains(where: { $0.hasSigned(message, with: signature) }) else { throw .signature }
    guard Self.isSame(claims["iss"], wanted.issuer) else { throw .issuer }
    try checkAudience(wanted.client)
    try checkTimes(now)
    guard Self.isSame(claims["nonce"], wanted.nonce) else { throw .nonce }
    guard let subject = claims["sub"]?.text, (1...255).contains(subject.utf8.count) else { throw .subject }
    return IDToken(
      issuer: wanted.issuer, subject: subject, email: claims["email_verified"] == true ? claims["email"]?.text : nil,
      signedInAt: try signedInAt(wanted.maximumAge, now), claims: claims)
  }

  private func checkAudience(_ client: String) throws(OpenIDRefusal) {
    let audiences =
      switch claims["aud"] {
      case .array(let elements)?: elements
      case let single?: [single]
      case nil: [JSONValue]()
      }
    guard audiences.contains(where: { Self.isSame($0, client) }) else { throw .audience }
    switch claims["azp"] {
    case nil where audiences.count == 1: break
    case let party?: guard Self.isSame(party, client) else { throw .audience }
    case nil: throw .audience
    }
  }

  private func checkTimes(_ now: Timestamp) throws(OpenIDRefusal) {
    guard let end = Self.time(claims["exp"]), let issued = Self.time(claims["iat"]) else { throw .unreadable }
    guard now < end.adding(IDToken.skew) else { throw .expired }
    guard issued <= now.adding(IDToken.skew), now.since(issued) < IDToken.life else { throw .issuedAt }
    guard let bound = claims["nbf"] else { return }
    guard let begin = Self.time(bound), begin <= now.adding(IDToken.skew) else { throw .issuedAt }
  }

  private func signedInAt(_ maximumAge: Duration?, _ now: Timestamp) throws(OpenIDRefusal) -> Timestamp? {
    let time = Self.time(claims["auth_time"])
    guard let maximumAge else { return time }
    guard let time, time <= now.adding(IDToken.skew), now.since(time) < maximumAge + IDToken.skew else { throw .age }
    return time
  }

  private static func isSame(_ value: JSONValue?, _ wanted: String) -> Bool {
    value?.text.map { $0.utf8.elementsEqual(wanted.utf8) } ?? false
  }

  /// Seconds since 1970. Some providers write a fraction.
  private static func time(_ value: JSONValue?) -> Timestamp? {
    switch value {
    case .integer(let seconds)? where seconds >= 0: Timestamp(seconds: seconds)
    case .number(let text)?:
      text.split(separator: ".").first.flatMap { Int64($0) }.flatMap { $0 >= 0 ? Timestamp(seconds: $0) : nil }
    default: nil
    }
  }
}

import Crypto
import Foundation
package import HTTPTransport
package import Settings
import StrictJSON
package import TenderPayments

/// A provider at which operators sign in: an authorization code with PKCE (OpenID Connect Core, RFC 7636, RFC 9207).
package actor OpenIDProvider {
  /// For how long what the provider says of itself is believed.
  private static let memory: Duration = .seconds(3_600)
  /// At most so often its keys are asked for, whatever names of keys tokens have.
  private static let keyInterval: Duration = .seconds(60)
  private static let patience: Duration = .seconds(10)

  package nonisolated let configuration: OpenIDConfiguration
  private nonisolated let sender: HTTPSender
  private nonisolated let clock: WallClock
  private var document: (value: Description, at: Timestamp)?
  private var keys: (value: OpenIDKeys, at: Timestamp)?

  /// - Returns: nil where the configuration names none.
  package init?(_ configuration: OpenIDConfiguration, sender: HTTPSender, clock: WallClock) {
    guard configuration.issuer != nil else { return nil }
    (self.configuration, self.sender, self.clock) = (configuration, sender, clock)
  }

  package nonisolated var issuer: String { configuration.issuer ?? "" }

  /// As pages call it.
  package nonisolated var name: String {
    configuration.name.isEmpty ? URL(string: issuer)?.host() ?? issuer : configuration.name
  }

  /// Asks for the description and the keys, for `tender doctor`.
  ///
  /// - Throws: ``OpenIDRefusal``
  package func examine() async throws {
    let description = try await fetchDescription()
    _ = try await fetchKeys(of: description)
  }

  /// Where the browser goes.
  ///
  /// - Throws: ``OpenIDRefusal``
  func address(of attempt: OpenIDAttempt, returningTo redirect: String) async throws -> String {
    let description = try await currentDescription()
    var query = [
      ("response_type", "code"), ("client_id", configuration.clientID), ("redirect_uri", redirect),
      ("scope", configuration.scopes.joined(separator: " ")), ("state", attempt.state), ("nonce", attempt.nonce),
      ("code_challenge", attempt.codeChallenge), ("code_challenge_method", "S256"),
    ]
    if let age = configuration.maximumAgeHours { query.append(("max_age", "\(age * 3_600)")) }
    let mark = description.authorization.contains("?") ? "&" : "?"
    return description.authorization + mark + Self.form(query)
  }

  /// What the provider says of the person for whom it has given this code.
  ///
  /// - Parameter issuer: of the answer; nil where it does not say.
  /// - Throws: ``OpenIDRefusal``
  func redeem(
    _ code: String, from issuer: String?, _ attempt: OpenIDAttempt, returningTo redirect: String
  ) async throws -> IDToken {
    let description = try await currentDescription()
    guard issuer.map({ $0.utf8.elementsEqual(self.issuer.utf8) }) ?? !description.namesItself else {
      throw OpenIDRefusal.mixed
    }
    let token = try SignedIDToken(try await exchange(code, attempt, redirect, description))
    let wanted = IDToken.Expectation(
      issuer: self.issuer, client: configuration.clientID, nonce: attempt.nonce,
      maximumAge: configuration.maximumAgeHours.map { .seconds($0 * 3_600) })
    return try token.verified(by: try await currentKeys(for: token, of: description), wanted, at: clock.machine())
  }

  private func currentDescription() async throws -> Description {
    if let document, clock.now().since(document.at) < Self.memory { return document.value }
    return try await fetchDescription()
  }

  private func fetchDescription() async throws -> Description {
    let root = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    let answer = try await call(OutboundRequest(method: "GET", url: root + "/.well-known/openid-configuration"))
    let description = try Description(answer, of: issuer)
    document = (description, clock.now())
    return description
  }

  /// A provider changes its keys, and signs with one that was not there before.
  private func currentKeys(for token: SignedIDToken, of description: Description) async throws -> OpenIDKeys {
    if let keys, clock.now().since(keys.at) < Self.memory {
      let isKnown = !keys.value.fitting(token.keyID, token.algorithm).isEmpty
      if isKnown || clock.now().since(keys.at) < Self.keyInterval { return keys.value }
    }
    return try await fetchKeys(of: description)
  }

  private func fetchKeys(of description: Description) async throws -> OpenIDKeys {
    let fetched = try OpenIDKeys(try await call(OutboundRequest(method: "GET", url: description.keys)))
    keys = (fetched, clock.now())
    return fetched
  }

  /// The ID token for a code.
  private func exchange(
    _ code: String, _ attempt: OpenIDAttempt, _ redirect: String, _ description: Description
  ) async throws -> String {
    let (client, secret) = (configuration.clientID, try configuration.currentSecret)
    var form = [
      ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
      ("code_verifier", attempt.codeVerifier),
    ]
    var headers = [
      HTTPField("Content-Type", "application/x-www-form-urlencoded"), HTTPField("Accept", "application/json"),
    ]
    if description.takesBasic {
      // Both are encoded as in a form before (RFC 6749, section 2.3.1).
      let pair = Self.escaped(client) + ":" + Self.escaped(secret)
      headers.append(HTTPField("Authorization", "Basic \(Base64.encode(Array(pair.utf8)))"))
    } else {
      form += [("client_id", client), ("client_secret", secret)]
    }
    let request = OutboundRequest(
      method: "POST", url: description.token, headers: headers, body: Array(Self.form(form).utf8))
    guard let token = try await call(request, failing: .exchange)["id_token"]?.text else {
      throw OpenIDRefusal.exchange
    }
    return token
  }

  /// - Parameter refusal: where the provider answers with another status than 200, or with no JSON.
  private func call(_ request: OutboundRequest, failing refusal: OpenIDRefusal = .discovery) async throws -> JSONValue {
    let answer: InboundResponse
    do throws(TransportError) { answer = try await sender.send(request, Self.patience) } catch {
      throw error == .responseTooLarge ? refusal : .unreachable
    }
    guard answer.status < 500 else { throw OpenIDRefusal.unreachable }
    guard answer.status == 200,
      let value = try? JSONReader.read(answer.body, limits: JSONLimits(depth: 16, size: 256 << 10))
    else { throw refusal }
    return value
  }

  private static func form(_ fields: [(String, String)]) -> String {
    fields.map { "\($0.0)=\(escaped($0.1))" }.joined(separator: "&")
  }

  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "-._~".utf8.contains(byte)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte]).uppercased()
    }.joined()
  }
}

extension OpenIDProvider {
  /// What a provider says of itself (OpenID Connect Discovery, section 3).
  private struct Description: Sendable {
    let authorization: String
    let token: String
    let keys: String
    /// Whether its answers say whose they are (RFC 9207).
    let namesItself: Bool
    /// Whether the secret goes into a header, and not into the form.
    let takesBasic: Bool

    init(_ value: JSONValue, of issuer: String) throws(OpenIDRefusal) {
      guard let named = value["issuer"]?.text, named.utf8.elementsEqual(issuer.utf8),
        let authorization = value["authorization_endpoint"]?.text, let token = value["token_endpoint"]?.text,
        let keys = value["jwks_uri"]?.text,
        [authorization, token, keys].allSatisfy({ Self.isSafe($0, issuer) })
      else { throw .discovery }
      (self.authorization, self.token, self.keys) = (authorization, token, keys)
      namesItself = value["authorization_response_iss_parameter_supported"] == true
      let methods = value["token_endpoint_auth_methods_supported"]?.elements.compactMap(\.text) ?? []
      takesBasic = methods.isEmpty || methods.contains("client_secret_basic")
    }

    /// Over TLS, as the issuer is, or on this machine where the issuer is there too.
    private static func isSafe(_ address: String, _ issuer: String) -> Bool {
      guard address.utf8.count <= 2_048, let url = URL(string: address), let host = url.host(), url.user == nil,
        url.fragment == nil
      else { return false }
      let isHere = NetworkAddress.isLoopback(host) && issuer.hasPrefix("http://")
      return url.scheme == "https" || url.scheme == "http" && isHere
    }
  }
}

/// One sign-in at the provider. The browser alone holds the secret from which all of it follows.
struct OpenIDAttempt: Sendable {
  let secret: String

  /// Comes back with the code.
  var state: String { derived("state") }
  /// Comes back in the token.
  var nonce: String { derived("nonce") }
  /// Shows at the exchange that the code was asked for here.
  var codeVerifier: String { derived("code verifier") }
  var codeChallenge: String { Base64URL.encode(Array(SHA256.hash(data: Array(codeVerifier.utf8)))) }

  private func derived(_ purpose: String) -> String {
    Hex.encode(SHA256.hash(data: Array("tender office openid \(purpose) \(secret)".utf8)))
  }
}

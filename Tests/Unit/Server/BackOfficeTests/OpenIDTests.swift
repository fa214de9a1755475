import Administration
import BackOffice
import Foundation
import HTTPTypes
import Settings
import Storage
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Signing in at a provider` {
  private static func bench(_ provider: FakeProvider, ahead: Duration = .zero) async throws -> OfficeBench {
    let bench = try await OfficeBench(provider: provider, ahead: ahead)
    provider.now.withLock { $0 = { bench.clock.now } }
    return bench
  }

  /// Goes to the provider and comes back.
  private static func enter(
    _ visitor: Visitor, _ provider: FakeProvider, answer: (String) -> String = { $0 }
  ) async throws -> Visitor.Page {
    let begun = try await visitor.get("/sign-in/openid")
    #expect(begun.status == .seeOther, "\(begun.text)")
    return try await visitor.arrive(at: answer(try provider.signIn(at: begun.headers[.location] ?? "")))
  }

  private static func audit(_ bench: OfficeBench) async throws -> [String] {
    try await bench.database.read { store in
      try OfficeAudit(store).entries().map { "\($0.action.actor) \($0.action.action) \($0.action.after)" }
    }
  }

  @Test(arguments: ["RS256", "ES256"]) func `ends on a page, with the roles of the claims`(_ algorithm: String)
    async throws
  {
    let provider = FakeProvider()
    provider.words.withLock {
      ($0.algorithm, $0.keyID) = (algorithm, algorithm == "RS256" ? "rsa-1" : "ec-1")
    }
    let bench = try await Self.bench(provider)
    try await bench.visit { visitor async throws in
      #expect(try await visitor.get("/sign-in").text.contains("Sign in with Example Login"))
      let page = try await Self.enter(visitor, provider)
      #expect(page.status == .ok && page.text.contains("You are signed in"), "\(page.text)")
      let account = try await visitor.get("/account").text
      #expect(account.contains("anna@example.com") && account.contains("operator of shop"))
      #expect(try await visitor.get("/users").status == .forbidden)
    }
    let entries = try await Self.audit(bench)
    #expect(entries.contains("anna@example.com user.add operator of shop"))
    #expect(entries.contains("anna@example.com sign-in at \(FakeProvider.issuer)"))
  }

  @Test func `asks for a code with PKCE, and keeps what it needs in a cookie of ten minutes`() async throws {
    let provider = FakeProvider()
    let bench = try await Self.bench(provider)
    try await bench.visit { visitor async throws in
      let begun = try await visitor.get("/sign-in/openid")
      let location = try #require(begun.headers[.location])
      #expect(location.hasPrefix("\(FakeProvider.issuer)/authorize?kind=staff&"))
      let query = FakeProvider.fields(String(location.drop { $0 != "?" }.dropFirst()))
      #expect(query["response_type"] == "code" && query["code_challenge_method"] == "S256")
      #expect(query["client_id"] == "tender office" && query["scope"] == "openid email")
      #expect(query["redirect_uri"] == "\(OfficeBench.url)/sign-in/openid/callback")
      let cookie = try #require(begun.headers[.setCookie])
      #expect(cookie.contains("SameSite=Lax") && cookie.contains("HttpOnly") && cookie.contains("Max-Age=600"))
      #expect(cookie.contains("Path=/sign-in/openid;"))
      // Neither the address nor the store has it.
      let secret = try #require(cookie.firstMatch(of: /=([0-9a-f]{64});/)?.output.1)
      #expect(!location.contains(secret))
      let kept = try await bench.database.read { try $0.rows("SELECT hash FROM office_challenges") }
      #expect(try kept.map { try $0.text("hash") }.allSatisfy { !$0.contains(secret) })
    }
  }

  typealias Change = @Sendable (inout FakeProvider.Words) -> Void

  private static let lies: [(String, OpenIDRefusal, Change)] = [
    ("alg none", .algorithm, { ($0.algorithm, $0.signsWith) = ("none", "none") }),
    ("the public key as a secret", .algorithm, { $0.algorithm = "HS256" }),
    ("an RSA key's name for ES256", .key, { $0.algorithm = "ES256" }),
    ("RS256 signed by another kind of key", .signature, { $0.signsWith = "ES256" }),
    ("RS512", .algorithm, { $0.head["alg"] = "RS512" }), ("a key that is unknown", .key, { $0.keyID = "rsa-2" }),
    ("a name that is no text", .unreadable, { $0.head["kid"] = 1 }),
    ("a changed signature", .signature, { $0.spoils = true }),
    ("something that must be understood", .unreadable, { $0.head["crit"] = ["exp"] }),
    ("a token for something else", .unreadable, { $0.head["typ"] = "logout+jwt" }),
    ("another issuer", .issuer, { $0.claims["iss"] = "https://login.example" }),
    ("another audience", .audience, { $0.claims["aud"] = "another office" }),
    ("no audience", .audience, { $0.claims["aud"] = .null }),
    ("two audiences and no party", .audience, { $0.claims["aud"] = ["tender office", "another"] }),
    ("another party", .audience, { $0.claims["azp"] = "another" }),
    (
      "two audiences and another party", .audience,
      {
        $0.claims["aud"] = ["tender office", "another"]
        $0.claims["azp"] = "another"
      }
    ),
    ("an end that is past", .expired, { $0.claims["exp"] = 1_500_000_000 }),
    ("no end", .unreadable, { $0.claims["exp"] = .null }), ("no beginning", .unreadable, { $0.claims["iat"] = .null }),
    ("a beginning to come", .issuedAt, { $0.claims["iat"] = 4_000_000_000 }),
    ("a beginning long ago", .issuedAt, { $0.claims["iat"] = 1_500_000_000 }),
    ("a validity to come", .issuedAt, { $0.claims["nbf"] = 4_000_000_000 }),
    ("another nonce", .nonce, { $0.claims["nonce"] = "another" }), ("no nonce", .nonce, { $0.claims["nonce"] = .null }),
    ("no subject", .subject, { $0.claims["sub"] = .null }),
    ("a subject that is a number", .subject, { $0.claims["sub"] = 1 }),
    ("a claim twice", .unreadable, { $0.text = "{\"sub\":\"1\",\"sub\":\"2\"}" }),
    (
      "a longer token than anybody needs", .unreadable,
      { $0.claims["more"] = .string(String(repeating: "a", count: 40_000)) }
    ),
    ("no token", .unreadable, { $0.token = "no token" }),
    ("a fourth part", .unreadable, { $0.token = "e30.e30.e30.e30" }),
    ("no role", .role, { $0.claims["groups"] = ["strangers"] }), ("no groups", .role, { $0.claims["groups"] = .null }),
    ("a group of another spelling", .role, { $0.claims["groups"] = ["Admins"] }),
  ]

  @Test(arguments: lies) func `lets nobody in with`(
    _ what: String, _ refusal: OpenIDRefusal, _ change: @escaping Change
  ) async throws {
    let provider = FakeProvider()
    provider.words.withLock { change(&$0) }
    let bench = try await Self.bench(provider)
    try await bench.visit { visitor async throws in
      let page = try await Self.enter(visitor, provider)
      #expect(
        page.status == .forbidden && page.text.contains("<code>\(refusal.rawValue)</code>"), "\(what): \(page.text)")
      #expect(try await visitor.get("/").status == .seeOther)
    }
    let users = try await bench.database.read { try $0.rows("SELECT name FROM office_users").count }
    #expect(users == 0)
    #expect(try await Self.audit(bench).contains { $0.hasSuffix("sign-in.refused \(refusal.rawValue)") })
  }

  @Test func `takes a token whose clock is a minute away, and not more`() async throws {
    for (seconds, isTaken) in [(Int64(59), true), (61, false)] {
      let provider = FakeProvider()
      let bench = try await Self.bench(provider)
      let now = bench.clock.now.seconds
      provider.words.withLock { $0.claims["iat"] = .integer(now + seconds) }
      let page = try await bench.visit { try await Self.enter($0, provider) }
      #expect((page.status == .ok) == isTaken, "\(seconds)")
    }
  }

  @Test func `is taken once, in the browser that began it, within ten minutes`() async throws {
    let provider = FakeProvider()
    let bench = try await Self.bench(provider)
    try await bench.visit { visitor async throws in
      let begun = try await visitor.get("/sign-in/openid")
      let back = try provider.signIn(at: begun.headers[.location] ?? "")
      let elsewhere = try await visitor.neighbour.arrive(at: back)
      #expect(elsewhere.status == .forbidden && elsewhere.text.contains("openid_state"))
      let other = try await visitor.arrive(
        at: "/sign-in/openid/callback?code=c0de&state=\(String(repeating: "0", count: 64))")
      #expect(other.status == .forbidden)
    }
    try await bench.visit { visitor async throws in
      let begun = try await visitor.get("/sign-in/openid")
      let back = try provider.signIn(at: begun.headers[.location] ?? "")
      bench.clock.advance(.seconds(601))
      #expect(try await visitor.arrive(at: back).status == .forbidden)
    }
    try await bench.visit { visitor async throws in
      let begun = try await visitor.get("/sign-in/openid")
      let cookie = begun.headers[.setCookie]?.firstMatch(of: /tender-office-provider=([0-9a-f]+)/)?.output.1
      let back = try provider.signIn(at: begun.headers[.location] ?? "")
      #expect(try await visitor.arrive(at: back).status == .ok)
      // Also by who has kept the cookie.
      let again = try await visitor.arrive(at: back, keeping: String(cookie ?? ""))
      #expect(again.status == .forbidden && again.text.contains("openid_state"))
    }
  }

  @Test func `is refused where the answer is another provider's, or the provider has refused`() async throws {
    let provider = FakeProvider()
    let bench = try await Self.bench(provider)
    try await bench.visit { visitor async throws in
      let other = try await Self.enter(visitor, provider) { $0 + "&iss=https://evil.example" }
      #expect(other.status == .forbidden && other.text.contains("openid_mixed"))
      let denied = try await Self.enter(visitor, provider) { $0 + "&error=access_denied" }
      #expect(denied.status == .forbidden && denied.text.contains("<code>access_denied</code>"))
      let odd = try await Self.enter(visitor, provider) { $0 + "&error=%3Cb%3E" }
      #expect(odd.status == .forbidden && !odd.text.contains("&lt;b"))
      #expect(try await Self.enter(visitor, provider) { $0 + "&iss=\(FakeProvider.issuer)" }.status == .ok)
    }
    let named = FakeProvider()
    named.words.withLock { $0.description["authorization_response_iss_parameter_supported"] = true }
    let second = try await Self.bench(named)
    #expect(try await second.visit { try await Self.enter($0, named) }.text.contains("openid_mixed"))
  }

  private static let useless: [(String, OpenIDRefusal, Change)] = [
    ("another issuer", .discovery, { $0.description["issuer"] = "https://login.example" }),
    ("a slash more", .discovery, { $0.description["issuer"] = .string(FakeProvider.issuer + "/") }),
    ("keys without https", .discovery, { $0.description["jwks_uri"] = "http://login.example/keys" }),
    ("an exchange without https", .discovery, { $0.description["token_endpoint"] = "http://login.example/token" }),
    ("no address", .discovery, { $0.description["authorization_endpoint"] = .null }),
    (
      "more than anybody reads", .discovery,
      { $0.description["more"] = .string(String(repeating: "a", count: 300_000)) }
    ),
    ("a redirect", .discovery, { $0.descriptionStatus = 302 }),
    ("a failure", .unreachable, { $0.descriptionStatus = 503 }),
    ("silence", .unreachable, { $0.descriptionStatus = 0 }),
  ]

  @Test(arguments: useless)
  func `does not begin where the description has`(
    _ what: String, _ refusal: OpenIDRefusal, _ change: @escaping Change
  ) async throws {
    let provider = FakeProvider()
    provider.words.withLock { change(&$0) }
    let bench = try await Self.bench(provider)
    try await bench.visit { visitor async throws in
      let page = try await visitor.get("/sign-in/openid")
      #expect(page.status == .badGateway && page.text.contains(refusal.words.prefix(30)), "\(what)")
      // Password and code go on.
      #expect(page.text.contains("name=\"password\""))
    }
    #expect(!provider.calls.withLock(\.self).contains { $0.hasPrefix("POST") })
  }

  @Test(arguments: [nil, ["client_secret_post"], ["client_secret_basic", "private_key_jwt"]] as [[JSONValue]?])
  func `shows its secret as the provider wants it`(_ methods: [JSONValue]?) async throws {
    let provider = FakeProvider()
    if let methods {
      provider.words.withLock { $0.description["token_endpoint_auth_methods_supported"] = .array(methods) }
    }
    let bench = try await Self.bench(provider)
    #expect(try await bench.visit { try await Self.enter($0, provider) }.status == .ok)
  }

  @Test func `asks for the keys again when one is new, and no more than once a minute`() async throws {
    let provider = FakeProvider()
    let bench = try await Self.bench(provider)
    try await bench.visit { visitor async throws in
      #expect(try await Self.enter(visitor, provider).status == .ok)
      provider.words.withLock { ($0.keyID, $0.published) = ("rsa-2", ["rsa-2"]) }
      #expect(try await Self.enter(visitor, provider).status == .forbidden)
      bench.clock.advance(.seconds(61))
      #expect(try await Self.enter(visitor, provider).status == .ok)
      // The key that was taken back counts no more.
      provider.words.withLock { $0.keyID = "rsa-1" }
      bench.clock.advance(.seconds(61))
      #expect(try await Self.enter(visitor, provider).status == .forbidden)
    }
    #expect(provider.calls.withLock(\.self).count { $0.hasSuffix("/keys") } == 3)
  }

  @Test func `takes no key that is a secret, and no answer without a token`() async throws {
    let provider = FakeProvider()
    let bench = try await Self.bench(provider)
    try await bench.visit { visitor async throws in
      provider.words.withLock { $0.published = ["oct-1"] }
      #expect(try await Self.enter(visitor, provider).text.contains("openid_discovery"))
      provider.words.withLock { $0.status = 400 }
      #expect(try await Self.enter(visitor, provider).text.contains("openid_exchange"))
      provider.words.withLock { $0.status = 500 }
      let page = try await Self.enter(visitor, provider)
      #expect(page.status == .badGateway && page.text.contains("openid_unreachable"))
    }
  }

  @Test func `makes a user of its own, whatever e-mail address the provider claims`() async throws {
    let provider = FakeProvider()
    let bench = try await Self.bench(provider)
    try await bench.user("anna@example.com", [Grant(.administrator)])
    try await bench.user("bert@example.com", [Grant(.administrator)])
    @Sendable func names() async throws -> [String] {
      try await bench.database.read { store in
        try store.rows("SELECT user_name FROM office_identities ORDER BY user_name").map { try $0.text("user_name") }
      }
    }
    #expect(try await bench.visit { try await Self.enter($0, provider) }.status == .ok)
    #expect(try await names().allSatisfy { $0.hasPrefix("openid-") })
    // An address that is not verified names nobody, and one that is no longer the same changes nothing.
    provider.words.withLock {
      $0.claims["sub"] = "2"
      $0.claims["email"] = "c@example.com"
      $0.claims["email_verified"] = false
    }
    #expect(try await bench.visit { try await Self.enter($0, provider) }.status == .ok)
    provider.words.withLock { $0.claims["email_verified"] = "true" }
    #expect(try await bench.visit { try await Self.enter($0, provider) }.status == .ok)
    provider.words.withLock { $0.claims["email_verified"] = true }
    #expect(try await bench.visit { try await Self.enter($0, provider) }.status == .ok)
    let both = try await names()
    #expect(both.count == 2 && both.allSatisfy { $0.hasPrefix("openid-") })
    provider.words.withLock { $0.claims["sub"] = "3" }
    #expect(try await bench.visit { try await Self.enter($0, provider) }.status == .ok)
    #expect(try await names().contains("c@example.com"))
  }

  @Test func `gives the roles of today, and none to who was disabled here`() async throws {
    let provider = FakeProvider()
    let bench = try await Self.bench(provider)
    try await bench.user("root", [Grant(.administrator)])
    try await bench.visit { visitor async throws in
      #expect(try await Self.enter(visitor, provider).status == .ok)
      provider.words.withLock { $0.claims["groups"] = ["all", "shop-team"] }
      #expect(try await Self.enter(visitor, provider).status == .ok)
      let account = try await visitor.get("/account").text
      #expect(account.contains("viewer of every merchant") && account.contains("operator of shop"))
      provider.words.withLock { $0.claims["groups"] = "admins" }
      #expect(try await Self.enter(visitor, provider).status == .ok)
      #expect(try await visitor.get("/users").status == .ok)
      #expect(try await Self.audit(bench).contains("anna@example.com user.change administrator of every merchant"))
      try await bench.office.users().setEnabled(false, "anna@example.com", reason: "left")
      #expect(try await visitor.get("/account").status == .seeOther)
      let page = try await Self.enter(visitor, provider)
      #expect(page.status == .forbidden && page.text.contains("openid_disabled"))
    }
  }

  @Test func `gives no password, no passkey and no invitation beside it`() async throws {
    let provider = FakeProvider()
    let bench = try await Self.bench(provider)
    try await bench.visit { visitor async throws in
      #expect(try await Self.enter(visitor, provider).status == .ok)
      await #expect(throws: OfficeRefusal.self) {
        _ = try await bench.office.users().perform(.invite(name: "anna@example.com"))
      }
      #expect(try await visitor.attempt("anna@example.com").status == .forbidden)
    }
  }

  @Test(arguments: [Duration.zero, .seconds(90 * 86_400)])
  func `ends the session when the provider's own sign-in is too old, also where a simulated clock is moved on`(
    _ ahead: Duration
  ) async throws {
    let provider = FakeProvider(maximumAgeHours: 1)
    let bench = try await Self.bench(provider, ahead: ahead)
    let now = bench.clock.now.seconds
    try await bench.visit { visitor async throws in
      // The provider does not say when, or too long ago.
      #expect(try await Self.enter(visitor, provider).text.contains("id_token_age"))
      provider.words.withLock { $0.claims["auth_time"] = .integer(now - 3_700) }
      #expect(try await Self.enter(visitor, provider).text.contains("id_token_age"))
      provider.words.withLock { $0.claims["auth_time"] = .integer(now - 3_000) }
      #expect(try await Self.enter(visitor, provider).status == .ok)
      bench.clock.advance(.seconds(590))
      #expect(try await visitor.get("/account").status == .ok)
      bench.clock.advance(.seconds(20))
      #expect(try await visitor.get("/account").status == .seeOther)
    }
  }

  @Test func `is not there where no provider is named`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit { visitor async throws in
      #expect(try await visitor.get("/sign-in/openid").status == .notFound)
      #expect(try await visitor.get("/sign-in/openid/callback?code=1&state=2").status == .notFound)
      #expect(try await !visitor.get("/sign-in").text.contains("/sign-in/openid"))
    }
  }

  @Test(
    arguments: [
      ("team = viewer", "viewer", 0), ("a = b = operator of harbour kitsune", "operator", 2), ("team = owner", nil, 0),
      ("team=viewer", nil, 0), (" = viewer", nil, 0), ("team = viewer of", nil, 0),
      ("team = viewer at harbour", nil, 0),
    ] as [(String, String?, Int)])
  func `maps what is written as value, role and merchants`(text: String, role: String?, merchants: Int) {
    let mapped = OpenIDConfiguration.MappedRole(text)
    #expect(mapped?.role == role && (mapped?.merchants.count ?? 0) == merchants)
    #expect(OpenIDConfiguration.MappedRole.names == Role.allCases.map(\.rawValue))
  }
}

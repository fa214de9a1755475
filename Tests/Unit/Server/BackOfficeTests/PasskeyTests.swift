import Administration
import BackOffice
import Crypto
import HTTPTypes
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A passkey` {
  /// Anna, who has signed in with password and code, and her next code.
  private static func atHerAccount(
    _ body:
      @escaping @Sendable (OfficeBench, Visitor, _ code: @escaping @Sendable () async throws -> String)
      async throws -> Void
  ) async throws {
    let bench = try await OfficeBench(url: SoftPasskey.url)
    try await bench.user("anna", [Grant(.viewer)])
    try await bench.visit { visitor async throws in
      try await visitor.signIn("anna")
      try await body(bench, visitor) {
        bench.clock.advance(.seconds(30))
        return try #require(try await bench.secret(of: "anna")).code(at: bench.clock.now)
      }
    }
  }

  private static func passkeys(_ bench: OfficeBench) async throws -> Int {
    try await bench.database.read { try $0.rows("SELECT credential FROM office_passkeys").count }
  }

  private static func audit(_ bench: OfficeBench) async throws -> [String] {
    try await bench.database.read { store in
      try OfficeAudit(store).entries().map { "\($0.action.actor) \($0.action.action) \($0.action.after)" }
    }
  }

  @Test func `signs in alone, again and again, and is listed and removed on the account's page`() async throws {
    try await Self.atHerAccount { bench, visitor, code in
      let passkey = SoftPasskey()
      let (page, handle) = try await visitor.add(passkey, named: "blue key", code: try await code())
      #expect(page.status == .seeOther, "\(page.text)")
      _ = try await visitor.post("/sign-out")
      for _ in 0..<2 {
        try await bench.visit { other async throws in
          let page = try await other.signIn(passkey, handle: handle)
          #expect(page.status == .seeOther && page.headers[.location] == "/", "\(page.text)")
          #expect(try await other.get("/account").text.contains("blue key"))
        }
      }
      let entries = try await Self.audit(bench)
      #expect(entries.contains("anna passkey.add blue key") && entries.contains("anna sign-in passkey blue key"))
      _ = try await visitor.signIn(passkey, handle: handle)
      let path = "/account/passkeys/\(Base64URL.encode(passkey.id))/remove"
      #expect(try await visitor.post(path).status == .seeOther)
      #expect(try await visitor.signIn(passkey, handle: handle).status == .forbidden)
      #expect(try await Self.audit(bench).contains { $0.hasPrefix("anna passkey.remove") })
    }
  }

  @Test func `is added by who has the app at hand, and never by a session alone`() async throws {
    try await Self.atHerAccount { bench, visitor, code in
      let page = try await visitor.post("/account/passkeys/options", ["code": "000000"])
      #expect(page.status == .badRequest && page.text.contains("This code is not the one of your app"))
      let made = SoftPasskey().registration(["challenge": .string(Base64URL.encode([1, 2, 3]))])
      let added = try await visitor.post("/account/passkeys", made.merging(["name": "mine"]) { $1 })
      #expect(added.status == .badRequest && added.text.contains(PasskeyRefusal.challenge.words))
      #expect(try await Self.passkeys(bench) == 0)
      // A code counts once.
      let now = try await code()
      _ = try await visitor.passkeyOptions(code: now)
      #expect(try await visitor.post("/account/passkeys/options", ["code": now]).status == .badRequest)
    }
  }

  @Test func `is one of several, which share the user's name among authenticators`() async throws {
    try await Self.atHerAccount { bench, visitor, code in
      let keys = [SoftPasskey(), SoftPasskey()]
      let first = try await visitor.add(keys[0], code: try await code())
      let options = try await visitor.passkeyOptions(code: try await code())
      #expect(options["excludeCredentials"]?.elements.first?["id"]?.text == Base64URL.encode(keys[0].id))
      #expect(options["user"]?["id"]?.text == first.handle && options["attestation"] == "none")
      let fields = keys[1].registration(options).merging(["name": "second"]) { $1 }
      #expect(try await visitor.post("/account/passkeys", fields).status == .seeOther)
      for key in keys { #expect(try await visitor.signIn(key, handle: first.handle).status == .seeOther) }
      // The same one again.
      #expect(try await visitor.add(keys[1], code: try await code()).page.status == .conflict)
      #expect(try await Self.passkeys(bench) == 2)
    }
  }

  typealias Change = @Sendable (inout SoftPasskey) -> Void

  private static let wrongAnswers: [(String, String, Change)] = [
    ("another address", PasskeyRefusal.origin.words, { $0.origin = "https://office.example.evil" }),
    ("plain http", PasskeyRefusal.origin.words, { $0.origin = "http://office.example" }),
    ("another relying party", PasskeyRefusal.relyingParty.words, { $0.party = "example" }),
    ("nobody present", PasskeyRefusal.presence.words, { $0.flags = 0x1C }),
    ("nobody verified", PasskeyRefusal.verification.words, { $0.flags = 0x19 }),
    ("a frame of another site", PasskeyRefusal.ceremony.words, { $0.added = ",\"crossOrigin\":true" }),
    ("a member twice", PasskeyRefusal.unreadable.words, { $0.added = ",\"origin\":\"https://office.example\"" }),
    ("bytes after it", PasskeyRefusal.unreadable.words, { $0.rest = [0] }),
  ]

  private static let wrongMakings: [(String, String, Change)] = [
    ("an assertion", PasskeyRefusal.ceremony.words, { $0.createType = "webauthn.get" }),
    ("an attestation", PasskeyRefusal.attestation.words, { $0.format = "packed" }),
    ("a statement", PasskeyRefusal.attestation.words, { $0.statement = [0xA1, 0x01, 0x02] }),
    ("RS256", PasskeyRefusal.algorithm.words, { $0.cose = [0xA2, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00] }),
    ("EdDSA", PasskeyRefusal.algorithm.words, { $0.cose = [0xA3, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06] }),
    (
      "a point beside the curve", PasskeyRefusal.unreadable.words,
      {
        $0.cose =
          [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 32] + [UInt8](repeating: 1, count: 32)
          + [0x22, 0x58, 32] + [UInt8](repeating: 2, count: 32)
      }
    ),
    ("no id", PasskeyRefusal.unreadable.words, { $0.id = [] }),
    ("a long id", PasskeyRefusal.unreadable.words, { $0.id = [UInt8](repeating: 7, count: 1_024) }),
  ]

  @Test(arguments: wrongAnswers + wrongMakings) func `is not added with`(
    _ what: String, _ words: String, _ change: @escaping Change
  ) async throws {
    try await Self.atHerAccount { bench, visitor, code in
      var passkey = SoftPasskey()
      change(&passkey)
      let page = try await visitor.add(passkey, code: try await code()).page
      #expect(page.status == .badRequest && page.text.contains(words.prefix(20)), "\(what): \(page.text)")
      #expect(try await Self.passkeys(bench) == 0)
    }
  }

  /// Lengths beyond the end, endless ones, numbers that are longer than they need be, depth, tags, fractions, keys that
  /// are twice there.
  private static let noCBOR: [[UInt8]] = [
    [], [0xA3], [0x5B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x9B, 0, 0, 0, 0, 0xFF, 0, 0, 0],
    [0xBB, 0, 0, 0, 0, 0xFF, 0, 0, 0], [0xBF, 0xFF], [0x5F, 0xFF], [0x18, 0x01], [0x19, 0x00, 0xFF],
    [UInt8](repeating: 0x81, count: 4_000) + [0], [0xC0, 0x60], [0xF9, 0x3C, 0x00], [0xFB, 0, 0, 0, 0, 0, 0, 0, 0],
    [0xA2, 0x01, 0x01, 0x01, 0x02], [0xA1, 0x40, 0x01], [0x62, 0xC3, 0x28], [0x3B, 0xFF, 0, 0, 0, 0, 0, 0, 0],
    [0xF6, 0xF6], [0xF8, 0x20],
  ]

  @Test func `is not added with bytes that are no CBOR of an authenticator`() async throws {
    try await Self.atHerAccount { bench, visitor, code in
      for bytes in Self.noCBOR {
        var passkey = SoftPasskey()
        passkey.attestation = bytes
        let page = try await visitor.add(passkey, code: try await code()).page
        #expect(page.status == .badRequest && page.text.contains("answer cannot be read"), "\(bytes.prefix(8))")
      }
      #expect(try await Self.passkeys(bench) == 0)
    }
  }

  @Test(arguments: wrongAnswers) func `does not sign in with`(
    _ what: String, _ words: String, _ change: @escaping Change
  ) async throws {
    try await Self.atHerAccount { bench, visitor, code in
      var passkey = SoftPasskey()
      let handle = try await visitor.add(passkey, code: try await code()).handle
      _ = try await visitor.post("/sign-out")
      change(&passkey)
      let page = try await visitor.signIn(passkey, handle: handle)
      #expect([.forbidden, .badRequest].contains(page.status) && page.text.contains(words.prefix(20)), "\(what)")
      #expect(try await visitor.get("/").status == .seeOther)
    }
  }

  private static let strangers: [(String, PasskeyRefusal, Change)] = [
    ("another key", PasskeyRefusal.signature, { $0.signingKey = P256.Signing.PrivateKey() }),
    ("a changed counter", .signature, { $0.changesAfterSigning = true }),
    ("the answer to a creation", .ceremony, { $0.getType = "webauthn.create" }),
    ("an id that nobody has", .unknown, { $0.id = [1, 2, 3] }),
  ]

  @Test(arguments: strangers)
  func `is refused, and the refusal is in the record, with`(
    _ what: String, _ refusal: PasskeyRefusal, _ change: @escaping Change
  ) async throws {
    try await Self.atHerAccount { bench, visitor, code in
      var passkey = SoftPasskey()
      let handle = try await visitor.add(passkey, code: try await code()).handle
      _ = try await visitor.post("/sign-out")
      change(&passkey)
      #expect(try await visitor.signIn(passkey, handle: handle).status == .forbidden, "\(what)")
      #expect(try await visitor.get("/").status == .seeOther)
      #expect(try await Self.audit(bench).contains { $0.hasSuffix("sign-in.refused \(refusal.rawValue)") })
    }
  }

  @Test func `is refused for another user's name among authenticators, and for a user who is disabled`() async throws {
    try await Self.atHerAccount { bench, visitor, code in
      let passkey = SoftPasskey()
      let handle = try await visitor.add(passkey, code: try await code()).handle
      let other = Base64URL.encode([UInt8](repeating: 1, count: 32))
      #expect(try await visitor.signIn(passkey, handle: other).status == .forbidden)
      #expect(try await visitor.signIn(passkey, handle: "").status == .forbidden)
      try await bench.office.users().setEnabled(false, "anna", reason: "left")
      #expect(try await visitor.signIn(passkey, handle: handle).status == .forbidden)
    }
  }

  @Test func `whose counter does not go on is refused, and the record says so`() async throws {
    try await Self.atHerAccount { bench, visitor, code in
      var passkey = SoftPasskey()
      passkey.counter = 7
      let handle = try await visitor.add(passkey, code: try await code()).handle
      passkey.counter = 8
      #expect(try await visitor.signIn(passkey, handle: handle).status == .seeOther)
      for counter: UInt32 in [8, 7, 0] {
        passkey.counter = counter
        let page = try await visitor.signIn(passkey, handle: handle)
        #expect(page.status == .forbidden && page.text.contains("may have been copied"))
      }
      #expect(try await Self.audit(bench).count { $0 == "anna sign-in.refused passkey_counter" } == 3)
      passkey.counter = 4_000_000_000
      #expect(try await visitor.signIn(passkey, handle: handle).status == .seeOther)
    }
  }

  @Test func `answers a challenge once, within ten minutes, in the browser that was asked`() async throws {
    try await Self.atHerAccount { bench, visitor, code in
      let passkey = SoftPasskey()
      let handle = try await visitor.add(passkey, code: try await code()).handle
      let answer = passkey.assertion(try await visitor.signInOptions(), handle: handle)
      let elsewhere = try await visitor.neighbour.post("/sign-in/passkey", answer)
      #expect(elsewhere.status == .forbidden && elsewhere.text.contains(PasskeyRefusal.challenge.words))
      let before = visitor.cookie
      #expect(try await visitor.post("/sign-in/passkey", answer).status == .seeOther)
      // Also to a browser that has kept the cookie of before.
      visitor.cookie = before
      #expect(try await visitor.post("/sign-in/passkey", answer).status == .forbidden)
      let late = passkey.assertion(try await visitor.signInOptions(), handle: handle)
      bench.clock.advance(.seconds(601))
      #expect(try await visitor.post("/sign-in/passkey", late).status == .forbidden)
      // The question of an addition is none of a sign-in.
      try await visitor.signIn("anna", code: try await code())
      let options = try await visitor.passkeyOptions(code: try await code())
      let fields = passkey.assertion(options, handle: handle)
      #expect(try await visitor.post("/sign-in/passkey", fields).status == .forbidden)
    }
  }

  @Test func `of one user is not removed by another, and all are gone after a new invitation`() async throws {
    try await Self.atHerAccount { bench, visitor, code in
      let passkey = SoftPasskey()
      let handle = try await visitor.add(passkey, code: try await code()).handle
      try await bench.visit(as: [Grant(.administrator)]) { other async throws in
        let path = "/account/passkeys/\(Base64URL.encode(passkey.id))/remove"
        #expect(try await other.post(path).status == .notFound)
      }
      #expect(try await Self.passkeys(bench) == 1)
      let path = try #require(try await bench.office.users().perform(.invite(name: "anna")).invitation)
      let secret = try await bench.secret(ofInvitation: path)
      let enrolled = try await visitor.post(
        path, ["password": OfficeBench.password, "code": secret.code(at: bench.clock.now)])
      #expect(enrolled.status == .ok)
      #expect(try await Self.passkeys(bench) == 0)
      #expect(try await visitor.signIn(passkey, handle: handle).status == .forbidden)
    }
  }

  @Test func `of a sign-in is not asked for without end from one address`() async throws {
    try await Self.atHerAccount { bench, visitor, _ in
      for _ in 0..<60 { _ = try await visitor.post("/sign-in/passkey/options") }
      #expect(try await visitor.post("/sign-in/passkey/options").status == .tooManyRequests)
      try await bench.visit(from: "198.51.100.7") { other async throws in
        #expect(try await other.post("/sign-in/passkey/options").status == .ok)
      }
    }
  }

  @Test(
    arguments: [
      ("https://office.example", "https://office.example", "office.example"),
      ("https://Office.Example:443", "https://office.example", "office.example"),
      ("https://office.example:8443", "https://office.example:8443", "office.example"),
      ("http://localhost:8405", "http://localhost:8405", "localhost"),
      ("http://office.example", nil, nil), ("https://192.0.2.1", nil, nil), ("http://127.0.0.1:8405", nil, nil),
      ("https://[2001:db8::1]", nil, nil),
    ] as [(String, String?, String?)])
  func `is for an address with https and a name, or for localhost`(url: String, origin: String?, id: String?) {
    let party = RelyingParty(url: url)
    #expect(party?.origin == origin && party?.id == id)
  }
}

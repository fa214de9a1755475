import Administration
import BackOffice
import Crypto
import HTTPTypes
import Settings
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A one-time code` {
  /// RFC 6238, appendix B, SHA-1, the last six digits.
  @Test(
    arguments: [
      (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
      (2_000_000_000, "279037"),
    ] as [(Int64, String)])
  func `is that of RFC 6238`(seconds: Int64, code: String) throws {
    let secret = try #require(OneTimeCodeSecret(hex: Hex.encode(Array("12345678901234567890".utf8))))
    #expect(secret.code(at: Timestamp(seconds: seconds)) == code)
    #expect("\(secret)" == "•••")
  }
}

@Suite struct `Signing in` {
  @Test func `needs name, password and code, and does not say which was wrong`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.viewer)])
    try await bench.visit { visitor async throws in
      let wrong = [
        try await visitor.attempt("anna", password: "another password"), try await visitor.attempt("anna", code: "1"),
        try await visitor.attempt("nobody"),
      ]
      #expect(Set(wrong.map(\.status)) == [.forbidden])
      let errors = wrong.map { $0.text.firstMatch(of: /role="alert">([^<]*)/)?.output.1 }
      #expect(Set(errors).count == 1)
      #expect(try await visitor.get("/").status == .seeOther)
      try await visitor.signIn("anna")
      #expect(try await visitor.get("/").status == .ok)
    }
  }

  @Test(arguments: ["%@ %@", " %@\u{A0}%@\t"]) func `takes a code as apps show it`(_ form: String) async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.viewer)])
    let code = try #require(try await bench.secret(of: "anna")).code(at: bench.clock.now)
    let typed = form.replacing("%@", with: "\(code.prefix(3))", maxReplacements: 1).replacing(
      "%@", with: code.suffix(3))
    try await bench.visit { visitor async throws in
      #expect(try await visitor.attempt("anna", code: typed).status == .seeOther)
    }
  }

  @Test(arguments: [("m\u{FC}ller und \u{C4}pfel", "mu\u{308}ller\u{A0}und A\u{308}pfel")])
  func `takes a password in every form in which keyboards write it`(set: String, typed: String) throws {
    let hash = try PasswordHash(set, cost: .least, random: .system)
    for text in [set, typed] { #expect(try hash.matches(text)) }
    #expect(try !hash.matches("muller und Apfel"))
  }

  @Test func `takes a code once, also on another browser`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.viewer)])
    try await bench.visit { try await $0.signIn("anna") }
    try await bench.visit { visitor async throws in
      #expect(try await visitor.attempt("anna").status == .forbidden)
      bench.clock.advance(.seconds(30))
      try await visitor.signIn("anna")
    }
  }

  @Test func `takes a recovery code once, in the place of the app`() async throws {
    let bench = try await OfficeBench()
    let answer = try await bench.office.users().perform(
      .add(name: "anna", grants: [Grant(.viewer)], refundLimits: ""))
    let path = try #require(answer.invitation)
    try await bench.visit { visitor async throws in
      _ = try await visitor.get(path)
      let code = try await bench.secret(ofInvitation: path).code(at: bench.clock.now)
      let page = try await visitor.post(path, ["password": OfficeBench.password, "code": code])
      let recovery = page.text.matches(of: /<code>([a-z2-7]{4}(?:-[a-z2-7]{4}){3})<\/code>/).map { String($0.output.1) }
      #expect(Set(recovery).count == 10, "each of 16 letters with 5 bits")
      // Who reads the store cannot try codes.
      let kept = try await bench.database.read { store in
        try store.rows("SELECT hash FROM office_recovery_codes").map { try $0.text("hash") }
      }
      let unkeyed = recovery.map { Hex.encode(SHA256.hash(data: Array($0.replacing("-", with: "").utf8))) }
      #expect(kept.count == 10 && Set(kept).isDisjoint(with: unkeyed))
      try await visitor.signIn("anna", code: recovery[0].uppercased())
      #expect(try await visitor.attempt("anna", code: recovery[0]).status == .forbidden)
      #expect(try await visitor.post(path, ["password": OfficeBench.password, "code": code]).status == .notFound)
    }
  }

  @Test func `says what to do with a recovery code of the form before, which is not taken`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.viewer)])
    try await bench.database.write { store in
      let hash = Hex.encode(SHA256.hash(data: Array("abcdefghij".utf8)))
      try store.run("INSERT INTO office_recovery_codes (user_name, hash) VALUES ('anna', $1)", .text(hash))
    }
    try await bench.visit { visitor async throws in
      let page = try await visitor.attempt("anna", code: "abcde-fghij")
      #expect(page.status == .forbidden && page.text.contains("ask an administrator for a new invitation"))
    }
  }

  @Test func `judges no more attempts when they come at the same time`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.viewer)])
    let statuses = try await bench.visit { visitor async throws in
      try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
        for _ in 0..<20 { group.addTask { try await visitor.neighbour.attempt("anna", password: "wrong").status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(statuses.count { $0 == .forbidden } == 5 && statuses.count { $0 == .tooManyRequests } == 15)
  }

  /// All addresses of such a network may be one customer's.
  @Test(arguments: [
    (["2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:1:ffff:ffff:ffff:ffff"], "2001:db8:0:2::1"),
    (["192.0.2.1"], "192.0.2.2"), (["::ffff:192.0.2.1"], "::ffff:192.0.2.2"),
  ])
  func `is slowed down for an IPv4 address and for the first half of one of IPv6`(
    network: [String], neighbour: String
  ) async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.viewer)])
    for number in 0..<5 {
      try await bench.visit(from: network[number % network.count]) { visitor async throws in
        #expect(try await visitor.attempt("anna", password: "wrong").status == .forbidden)
      }
    }
    for address in network {
      try await bench.visit(from: address) { visitor async throws in
        #expect(try await visitor.attempt("anna").status == .tooManyRequests)
      }
    }
    try await bench.visit(from: neighbour) { try await $0.signIn("anna") }
  }

  @Test(arguments: [
    ("192.0.2.1", "203.0.113.9", "203.0.113.9"), ("2001:db8::1", "2001:db8:7::9", "2001:db8:7::9"),
    ("198.51.100.1", "203.0.113.9", "198.51.100.1"),
  ])
  func `is known by the address behind a trusted proxy, and a stranger's header is ignored`(
    peer: String, forwarded: String, known: String
  ) async throws {
    let bench = try await OfficeBench(trusting: ["192.0.2.0/24", "2001:db8::1"])
    try await bench.user("anna", [Grant(.viewer)])
    let header = try #require(HTTPField.Name("X-Forwarded-For"))
    let page = try await bench.visit(from: peer) { visitor async throws in
      #expect(try await visitor.attempt("anna", headers: [header: forwarded]).status == .seeOther)
      return try await visitor.get("/account").text
    }
    #expect(page.contains(known) && (known.utf8.elementsEqual(forwarded.utf8) || !page.contains(forwarded)))
  }

  @Test func `writes nothing for attempts that are blocked, and forgets the others after an hour`() async throws {
    let bench = try await OfficeBench()
    @Sendable func rows() async throws -> Int {
      try await bench.database.read { try $0.rows("SELECT subject FROM office_failures").count }
    }
    try await bench.visit { stranger async throws in
      for number in 0..<20 { _ = try await stranger.attempt("user-\(number)", password: "wrong") }
      let kept = try await rows()
      for number in 20..<40 {
        #expect(try await stranger.attempt("user-\(number)", password: "wrong").status == .tooManyRequests)
      }
      #expect(try await rows() == kept)
      bench.clock.advance(.seconds(3_601))
      _ = try await stranger.attempt("user-0", password: "wrong")
      #expect(try await rows() == 3)
    }
  }

  @Test func `stays open in a browser that was signed in before, whoever guesses elsewhere`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.viewer)])
    try await bench.visit { anna async throws in
      try await anna.signIn("anna")
      bench.clock.advance(.seconds(30))
      try await bench.visit { stranger async throws in
        for _ in 0..<5 { _ = try await stranger.attempt("anna", password: "wrong") }
        #expect(try await stranger.attempt("anna").status == .tooManyRequests)
      }
      _ = try await anna.post("/sign-out")
      for _ in 0..<4 { #expect(try await anna.attempt("anna", password: "wrong").status == .forbidden) }
      try await anna.signIn("anna")
      // Who has that browser guesses no faster.
      for _ in 0..<5 { #expect(try await anna.attempt("anna", password: "wrong").status == .forbidden) }
      #expect(try await anna.attempt("anna", password: "wrong").status == .tooManyRequests)
    }
  }

  @Test func `knows a browser for its users alone, for half a year, and a new one after an invitation`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("root", [Grant(.administrator)])
    try await bench.user("anna", [Grant(.viewer)])
    @Sendable func isKnown(_ visitor: Visitor, _ name: String = "anna") async throws -> Bool {
      try await bench.visit { stranger async throws in
        for _ in 0..<6 { _ = try await stranger.attempt(name, password: "wrong") }
      }
      let status = try await visitor.attempt(name, password: "wrong").status
      bench.clock.advance(.seconds(3_600))
      return status == .forbidden
    }
    try await bench.visit { visitor async throws in
      #expect(try await !isKnown(visitor))
      try await visitor.signIn("anna")
      #expect(try await isKnown(visitor))
      #expect(try await !isKnown(visitor, "root"))
      bench.clock.advance(.seconds(181 * 86_400))
      #expect(try await !isKnown(visitor))
      try await visitor.signIn("anna")
      #expect(try await isKnown(visitor))
      let invited = try await bench.office.users().perform(.invite(name: "anna"))
      let path = try #require(invited.invitation)
      try await bench.visit { other async throws in
        _ = try await other.get(path)
        let code = try await bench.secret(ofInvitation: path).code(at: bench.clock.now)
        #expect(try await other.post(path, ["password": OfficeBench.password, "code": code]).status == .ok)
        #expect(try await !isKnown(visitor))
        #expect(try await isKnown(other))
      }
    }
  }

  @Test func `is slowed down for an account, and judged again later`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.viewer)])
    try await bench.visit { visitor async throws in
      for _ in 0..<5 { #expect(try await visitor.attempt("anna", password: "wrong").status == .forbidden) }
      #expect(try await visitor.attempt("anna").status == .tooManyRequests)
      bench.clock.advance(.seconds(16))
      try await visitor.signIn("anna")
    }
  }

  @Test func `is slowed down for an address that tries one password on many accounts`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit { visitor async throws in
      var judged = 0
      for number in 0..<60 {
        let page = try await visitor.attempt("user\(number)")
        judged += page.status == .forbidden ? 1 : 0
      }
      #expect(judged == 20)
    }
  }

  @Test func `makes a new session, so that a planted cookie opens nothing`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.viewer)])
    let planted = String(repeating: "ab", count: 32)
    try await bench.visit { visitor async throws in
      visitor.cookie = planted
      try await visitor.signIn("anna")
      #expect(visitor.cookie != planted)
      visitor.cookie = planted
      #expect(try await visitor.get("/").status == .seeOther)
    }
  }
}

@Suite struct `A session` {
  @Test func `ends when its user signs out, also for who has copied the cookie`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let stolen = visitor.cookie
      let answer = try await visitor.post("/sign-out")
      #expect(answer.status == .seeOther)
      visitor.cookie = stolen
      #expect(try await visitor.get("/").status == .seeOther)
    }
  }

  @Test func `is over after half an hour without a request, and after twelve hours in any case`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      bench.clock.advance(.seconds(31 * 60))
      #expect(try await visitor.get("/").status == .seeOther)
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      for _ in 0..<35 {
        bench.clock.advance(.seconds(20 * 60))
        #expect(try await visitor.get("/").status == .ok)
      }
      bench.clock.advance(.seconds(25 * 60))
      #expect(try await visitor.get("/").status == .seeOther)
    }
  }

  @Test func `has a cookie that scripts and other sites do not get`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit { visitor async throws in
      let cookie = try #require(try await visitor.get("/sign-in").headers[.setCookie])
      #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
    }
  }

  @Test func `ends when its user is disabled`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("root", [Grant(.administrator)])
    try await bench.user("anna", [Grant(.viewer)])
    try await bench.visit { visitor async throws in
      try await visitor.signIn("anna")
      _ = try await bench.office.users().perform(.setEnabled(false, name: "anna"))
      #expect(try await visitor.get("/").status == .seeOther)
    }
  }
}

@Suite struct `The users of the office` {
  @Test func `always have an administrator among them`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("root", [Grant(.administrator)])
    await #expect(throws: OfficeRefusal.self) {
      try await bench.office.users().perform(.setEnabled(false, name: "root"))
    }
    #expect(try await bench.office.users().perform(.list).users.map(\.enabled) == [true])
  }

  @Test func `have no password and no code in the store, and none in the audit chain`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.viewer)])
    for bytes in try bench.files.bytesOnDisk() {
      #expect(!String(decoding: bytes, as: UTF8.self).contains(OfficeBench.password))
    }
    let hash = try PasswordHash("secret", cost: .least, random: .system)
    #expect("\(hash)" == "•••")
  }
}

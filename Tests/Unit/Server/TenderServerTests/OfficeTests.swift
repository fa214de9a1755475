import Administration
import BackOffice
import Foundation
import HTTPTransport
import MerchantIdentity
import Settings
import StrictJSON
import Synchronization
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// An administrator at the back office of a running server: sends what a browser sends.
final class OfficePerson: Sendable {
  struct Page: Sendable {
    let status: Int
    let location: String?
    let text: String

    func first(_ pattern: String) -> String? {
      text.firstMatch(of: try! Regex(pattern)).flatMap { $0.output[1].substring }.map(String.init)
    }

    /// That an invitation shows, to be typed into an app.
    var typedSecret: String? { first("class=\"secret\">([A-Z2-7 ]+)<") }

    var secret: OneTimeCodeSecret? { typedSecret.flatMap { OneTimeCodeSecret(hex: Hex.encode(Self.decoded($0))) } }

    /// RFC 4648, section 6.
    private static func decoded(_ text: String) -> [UInt8] {
      var (bytes, buffer, bits) = ([UInt8](), 0, 0)
      for character in text where character != " " {
        let value = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".firstIndex(of: character)
        buffer = buffer << 5 | (value?.utf16Offset(in: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") ?? 0)
        bits += 5
        guard bits >= 8 else { continue }
        bits -= 8
        bytes.append(UInt8(buffer >> bits & 0xFF))
        buffer &= (1 << bits) - 1
      }
      return bytes
    }
  }

  private static let password = "correct horse battery"
  private let office: String
  private let store: String
  private let sender: HTTPSender
  let name: String
  /// By name.
  private let cookies = Mutex<[String: String]>([:])

  /// - Parameters:
  ///   - store: the folder of the server's store.
  ///   - grants: nil for an administrator of every merchant.
  init(office: String, store: String, _ sender: HTTPSender, grants: [Grant]? = nil) async throws {
    (self.office, self.store, self.sender) = (office, store, sender)
    name = "anna-\(RandomBytes.system.hex(4))"
    if let grants { _ = try await ask(.add(name: name, grants: grants, refundLimits: "")) }
    let page = try await signIn()
    try #require(page.status == 303, "\(page.text)")
  }

  /// An operator who refunds so much alone, and has accepted an invitation.
  init(office: String, store: String, limits: String, at clock: StoppableClock, _ sender: HTTPSender) async throws {
    (self.office, self.store, self.sender) = (office, store, sender)
    name = "anna-\(RandomBytes.system.hex(4))"
    let added = try await ask(.add(name: name, grants: [Grant(.operator)], refundLimits: limits))
    let path = try #require(added["invitation"]?.text)
    let secret = try #require(try await get(path).secret)
    _ = try await post(path, ["password": Self.password, "code": secret.code(at: clock.wall.now())])
    clock.move(.seconds(30))
    let page = try await post(
      "/sign-in", ["name": name, "password": Self.password, "code": secret.code(at: clock.wall.now())])
    try #require(page.status == 303, "\(page.text)")
  }

  /// Without an account.
  init(office: String, _ sender: HTTPSender) { (self.office, store, self.sender, name) = (office, "", sender, "") }

  /// In another browser.
  init(again person: OfficePerson) {
    (office, store, sender, name) = (person.office, person.store, person.sender, person.name)
  }

  /// With a code that was not taken yet.
  func signIn() async throws -> Page {
    _ = try await ask(.demonstrate(name: name, password: Self.password))
    return try await post("/sign-in", ["name": name, "password": Self.password, "code": try await code()])
  }

  /// What a stranger is answered who tries passwords of this user.
  ///
  /// - Parameter host: of the stranger's address, 127.0.0.1 and on.
  func guesses(_ count: Int, from host: UInt32) async throws -> [Int] {
    let stranger = OfficePerson(office: office, sender)
    let token = try #require(try await stranger.get("/sign-in").first("name=\"csrf\" value=\"([0-9a-f]+)\""))
    let body = "csrf=\(token)&name=\(name)&password=wrong&code=000000"
    let call = """
      POST /sign-in HTTP/1.1
      Host: office
      Cookie: \(stranger.cookieHeader)
      Content-Type: application/x-www-form-urlencoded
      Content-Length: \(body.utf8.count)

      \(body)
      """
    let port = try #require(office.split(separator: ":").last.flatMap { Int($0) })
    return try await RawConnection.answers(count, to: String(repeating: call, count: count), port: port, from: host)
      .map(\.status)
  }

  private var cookieHeader: String {
    cookies.withLock(\.self).map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
  }

  private func ask(_ call: UserCall) async throws -> JSONValue {
    let socket = "\(store)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
    let request = OutboundRequest(
      method: "POST", url: "http+unix://\(socket)/users/calls", body: Array(try JSONEncoder().encode(call)))
    return try JSONReader.read(try await sender.send(request, TestRun.whole).body)
  }

  /// That the app shows now.
  func code() async throws -> String { try #require(try await ask(.code(name: name))["code"]?.text) }

  func get(_ path: String) async throws -> Page { try await send("GET", path, "", []) }

  func post(_ path: String, _ fields: [String: String]) async throws -> Page {
    let token = try await session().token
    let pairs = fields.merging(["csrf": token]) { $1 }.map { name, value in
      "\(name)=" + value.utf8.map { "%" + Hex.encode([$0]) }.joined()
    }
    return try await send("POST", path, "application/x-www-form-urlencoded", Array(pairs.joined(separator: "&").utf8))
  }

  func upload(_ path: String, _ fields: [String: String], _ name: String, _ file: String) async throws -> Page {
    let token = try await session().token
    let head = "--mark\r\nContent-Disposition: form-data; name=\""
    let parts = fields.merging(["csrf": token]) { $1 }.map { "\(head)\($0.key)\"\r\n\r\n\($0.value)\r\n" }
    let body = parts.joined() + "\(head)\(name)\"; filename=\"file\"\r\n\r\n\(file)\r\n--mark--\r\n"
    return try await send("POST", path, "multipart/form-data; boundary=mark", Array(body.utf8))
  }

  /// The cookie, and the token for its forms.
  func session() async throws -> (cookie: String, token: String) {
    let token = try #require(try await get("/sign-in").first("name=\"csrf\" value=\"([0-9a-f]+)\""))
    return (cookieHeader, token)
  }

  private func send(_ method: String, _ path: String, _ type: String, _ body: [UInt8]) async throws -> Page {
    var headers = cookieHeader.isEmpty ? [] : [HTTPField("Cookie", cookieHeader)]
    if !type.isEmpty { headers.append(HTTPField("Content-Type", type)) }
    let answer = try await sender.send(
      OutboundRequest(method: method, url: office + path, headers: headers, body: body), TestRun.whole)
    for field in answer.headers where field.name.lowercased() == "set-cookie" {
      guard let set = field.value.firstMatch(of: /^([a-z-]+)=([0-9a-f]*);/) else { continue }
      cookies.withLock { $0[String(set.output.1)] = String(set.output.2) }
    }
    return Page(
      status: answer.status, location: answer.header("Location"), text: String(decoding: answer.body, as: UTF8.self))
  }

  /// A change of a merchant, which must be made.
  func change(_ merchant: String, _ change: String, _ fields: [String: String] = [:]) async throws -> Page {
    let page = try await post("/merchants/\(merchant)/\(change)", fields.merging(["reason": "renewal"]) { $1 })
    try #require(page.status == 303 || page.status == 200, "\(change): \(page.text)")
    return page
  }

  /// Posts a form with a code that was not taken yet: the app's next one, 30 seconds later.
  func postWithCode(_ path: String, _ fields: [String: String], at clock: StoppableClock) async throws -> Page {
    clock.move(.seconds(30))
    return try await post(path, fields.merging(["code": try await code()]) { $1 })
  }
}

/// Payments of one merchant, by several shoppers at once, until they are told to stop.
private struct PaymentLoad: Sendable {
  let outcomes = Log()
  private let isDone = Mailbox<Bool>()
  private static let shoppers = 6

  /// Pays until the body has returned.
  func during(_ shop: StoredShop, _ body: @escaping @Sendable (PaymentLoad) async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      for _ in 0..<Self.shoppers {
        group.addTask {
          while isDone.value == nil {
            let answer = try await shop.pays()
            outcomes.keep(answer.body["status"]?.text ?? "failed: \(answer.errorText)")
          }
        }
      }
      group.addTask {
        defer { isDone.put(true) }
        try await body(self)
      }
      try await group.waitForAll()
    }
  }

  /// Returns when so many payments more have ended.
  func goesOn(for count: Int = 6) async throws {
    let end = outcomes.lineCount + count
    try await waitFor("\(end) payments", { outcomes.lineCount }) { $0 >= end }
  }
}

/// One after the other, because the one-time codes go by the clock that some of these tests move.
@Suite(.serialized) struct `The back office of a running server` {
  let system: TestSystem

  init() async throws { system = try await StoredShop.system.value }

  private func person() async throws -> OfficePerson {
    try await OfficePerson(office: system.office, store: system.directory, system.sender)
  }

  @Test func `renews keys and certificates while payments run: none fails`() async throws {
    let (stored, anna) = (try await StoredShop("reissued", system), try await person())
    let load = PaymentLoad()
    try await load.during(stored) { load in
      for kind in [CertificateKind.processing, .identity] {
        try await load.goesOn()
        try await Self.renew(kind, of: stored, by: anna)
        try await load.goesOn()
      }
      // The server of the shop signs with the old key for a day more.
      for kind in ["api-key", "webhook-key", "callback-key"] {
        #expect(
          try await anna.change("reissued", "rotate-key", ["kind": kind]).text.contains("shown now and never again"))
        try await load.goesOn()
      }
    }
    let (captured, failed) = (load.outcomes.count(of: "captured"), load.outcomes.count(of: "failed"))
    #expect(captured >= 42 && failed == 0 && captured == load.outcomes.lineCount, "\(load.outcomes.text)")
    let history = try await anna.get("/audit").text
    for action in ["certificate.request", "certificate.import", "certificate.activate", "key.rotate"] {
      #expect(history.contains(action), "\(action)")
    }
  }

  /// Request, download, Apple's portal, upload, activation.
  private static func renew(_ kind: CertificateKind, of stored: StoredShop, by anna: OfficePerson) async throws {
    let before = try #require(try await stored.certificate(kind, .active))
    _ = try await anna.change(stored.id, "request-certificate", ["kind": kind.rawValue])
    let requested = try #require(try await stored.certificate(kind, .requested))
    let request = try await anna.get("/merchants/\(stored.id)/certificates/\(requested.id)/request").text
    let answer = try await stored.system.sandbox.require(
      "POST", "/portal/merchants/\(stored.shop.merchant.merchantIdentifier)/certificates",
      ["type": .string(kind.rawValue), "csr": .string(request)])
    let certificate = try #require(answer["certificate"]?.text)
    _ = try await anna.change(stored.id, "import-certificate", ["kind": kind.rawValue, "certificate": certificate])
    let next = try #require(try await stored.certificate(kind, .next))
    if kind == .processing { try await stored.activatesAtApple(try #require(answer["id"]?.text)) }
    _ = try await anna.change(stored.id, "activate-certificate", ["certificate": next.id])
    #expect(try await stored.certificate(kind, .active)?.id == next.id)
    #expect(try await stored.certificate(kind, .draining)?.id == before.id)
  }

  @Test func `exports a merchant that another server imports and takes payments for`() async throws {
    let (stored, anna) = (try await StoredShop("moving", system), try await person())
    let reason = ["reason": "moves to another server"]
    let file = try await anna.postWithCode("/merchants/moving/export", reason, at: system.clock)
    #expect(file.status == 200 && file.text.contains("PRIVATE KEY"))
    let port = try FreePorts.row(of: 1)
    let other = try await system.secondServer { $0.office.port = port }
    let bert = try await OfficePerson(office: "http://127.0.0.1:\(port)", store: other.store, system.sender)
    let page = try await bert.upload("/merchants/import", reason, "merchant", file.text)
    #expect(page.location == "/merchants/moving?done=changed", "\(page.text)")
    let moved = try Shopfront(
      stored.shop.merchant, system.directory + "/imported", other.server, system.sender, store: other.store)
    let answer = try await Shopper.enters(system, moved, service: "collection").pays()
    #expect(answer.body["status"] == "captured", "\(answer.errorText)")
    for server in [(anna, "merchant.export"), (bert, "merchant.import")] {
      let history = try await server.0.get("/audit").text
      #expect(history.contains(server.1) && !history.contains("PRIVATE KEY"))
    }
    let again = try await bert.upload("/merchants/import", reason, "merchant", file.text)
    #expect(again.status == 409, "a merchant is there once")
    let declared = try await anna.postWithCode("/merchants/harbour/export", reason, at: system.clock)
    #expect(declared.status == 409 && !declared.text.contains("PRIVATE KEY"))
  }

  @Test func `exports what tender merchant import reads from a file, and only that`() async throws {
    let (_, anna) = (try await StoredShop("filed", system), try await person())
    let file = try await anna.postWithCode("/merchants/filed/export", ["reason": "a copy"], at: system.clock)
    let path = system.directory + "/filed.json"
    try file.text.write(toFile: path, atomically: true, encoding: .utf8)
    let now = system.clock.wall.now()
    let bundle = try await MerchantBundle(place: path, at: now, keysMayBeElsewhere: false)
    #expect(bundle.id == "filed" && bundle.certificates.count == 2 && bundle.domains.count == 1)
    try String(file.text.dropLast(3)).write(toFile: path, atomically: true, encoding: .utf8)
    await #expect(throws: ConfigurationError.self) {
      _ = try await MerchantBundle(place: path, at: now, keysMayBeElsewhere: false)
    }
  }

  @Test func `shows dots for a secret that is set, and a dash for one that is not`() async throws {
    let page = try await person().get("/settings")
    func shown(_ name: String) -> String? { page.first("<code>\(name)</code></dt><dd>([^<]*)</dd>") }
    #expect(shown("mail.password") == "•••" && shown("mail.user")?.isEmpty == false, "\(page.text)")
    let secrets = SettingsTable.server.settings.filter(\.isSecret).map(\.key)
    let unset = secrets.filter { shown($0) == "–" }
    #expect(unset.contains(StoreEngineUnderTest.chosen == .postgres ? "acquirer.apiKey" : "store.url"), "\(unset)")
    #expect(secrets.allSatisfy { ["•••", "–"].contains(shown($0)) })
  }

  @Test func `refuses a refund form that was sent before with another amount, and gives it its next key`() async throws
  {
    let (stored, anna) = (try await StoredShop("resent", system), try await person())
    let answer = try await stored.pays()
    let payment = try #require(answer.body["paymentId"]?.text, "\(answer.errorText)")
    let form = "refund\">[^§]*?name=\"key\" value=\"([0-9a-f]+)\""
    let key = try #require(try await anna.get("/payments/\(payment)").first(form))
    func refund(_ amount: String, _ key: String) async throws -> OfficePerson.Page {
      try await anna.post("/payments/\(payment)/refund", ["key": key, "amount": amount, "reason": "one was missing"])
    }
    #expect(try await refund("1.00", key).status == 303)
    let refused = try await refund("2.00", key)
    let next = try #require(refused.first(form))
    #expect(refused.status == 409 && refused.text.contains("sent before") && next != key)
    #expect(try await refund("2.00", next).status == 303)
    #expect(try await anna.get("/payments/\(payment)").text.ranges(of: "refund of €2.00: approved").count == 1)
  }

  @Test func `does nothing of a form whose user has signed out while it arrived`() async throws {
    let (stored, anna) = (try await StoredShop("late-form", system), try await person())
    let payment = try #require(try await stored.pays().body["paymentId"]?.text)
    let form = "refund\">[^§]*?name=\"key\" value=\"([0-9a-f]+)\""
    let key = try #require(try await anna.get("/payments/\(payment)").first(form))
    let (cookie, token) = try await anna.session()
    let body = "csrf=\(token)&key=\(key)&amount=1.00&reason=late"
    let port = try #require(Int(system.office.split(separator: ":").last ?? ""))
    let head = """
      POST /payments/\(payment)/refund HTTP/1.1
      Host: 127.0.0.1:\(port)
      Cookie: \(cookie)
      Content-Type: application/x-www-form-urlencoded
      Content-Length: \(body.utf8.count)
      Expect: 100-continue


      """
    let slow = try RawConnection.Shared(port: port)
    let begun = try await RawConnection.onThread {
      try slow.value.send(head)
      return try slow.value.answers(1)
    }
    #expect(begun.map(\.status) == [100])
    _ = try await anna.post("/sign-out", [:])
    let answer = try await RawConnection.onThread {
      try slow.value.send(body)
      return try slow.value.answers(1).map(\.status)
    }
    #expect(answer == [403])
    let shown = try await stored.shop.signed(
      "GET", "/v2/late-form/payments/\(payment)/refunds", at: system.clock.wall.now())
    #expect(shown.body["refunds"]?.elements.isEmpty == true, "\(shown.body)")
  }

  @Test func `refunds once what two operators refund at the same moment`() async throws {
    let (stored, anna, bert) = (try await StoredShop("shared", system), try await person(), try await person())
    let answer = try await stored.pays()
    let payment = try #require(answer.body["paymentId"]?.text, "\(answer.errorText)")
    let form = "refund\">[^§]*?name=\"key\" value=\"([0-9a-f]+)\""
    let keys = [
      try await anna.get("/payments/\(payment)").first(form), try await bert.get("/payments/\(payment)").first(form),
    ].compactMap(\.self)
    try #require(keys.count == 2 && keys[0] == keys[1])
    let answers = try await withThrowingTaskGroup(of: OfficePerson.Page.self) { group in
      for user in [anna, bert, anna, bert] {
        group.addTask {
          // The server answers 409 when the first call takes longer than it waits.
          try await waitFor(
            "the refund",
            {
              try await user.post(
                "/payments/\(payment)/refund", ["key": keys[0], "amount": "1.00", "reason": "one was missing"])
            }, until: { $0.status != 409 })
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.allSatisfy { $0.status == 303 }, "\(answers.map(\.text))")
    let page = try await anna.get("/payments/\(payment)").text
    #expect(page.ranges(of: "refund of €1.00: approved").count == 1)
    #expect(page.contains("partially refunded"))
  }

  @Test func `lets a user in whose password others guess, elsewhere and at the user's own address`() async throws {
    let anna = try await person()
    #expect(try await anna.guesses(5, from: 2) == [403, 403, 403, 403, 403])
    let elsewhere = OfficePerson(again: anna)
    #expect(try await elsewhere.signIn().status == 303, "from an address that nobody guessed from")
    #expect(try await anna.guesses(5, from: 1) == [403, 403, 403, 403, 403])
    #expect(try await anna.signIn().status == 303, "in the browser of before")
  }

  @Test func `shows its pages while strangers try passwords, whose hashes take the time they take`() async throws {
    let system = try await TestSystem.shared.value
    let port = try FreePorts.row(of: 1)
    _ = try await system.secondServer { $0.office.port = port }
    let (office, ended) = ("http://127.0.0.1:\(port)", Log())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<3 {
        group.addTask {
          let stranger = OfficePerson(office: office, system.sender)
          let page = try await stranger.post(
            "/sign-in", ["name": "nobody\(number)", "password": "a long password", "code": "000000"])
          ended.keep("\(page.status)")
        }
      }
      try await group.next()
      let page = try await OfficePerson(office: office, system.sender).get("/sign-in")
      #expect(page.status == 200 && ended.lineCount <= 2, "\(ended.text)")
      try await group.waitForAll()
    }
  }

  /// The store on PostgreSQL goes by the database's clock, which no test stops.
  @Test(.enabled(if: StoreEngineUnderTest.chosen == .sqlite))
  func `judges fifty guesses of a password, from however many addresses, and still knows the user's browser`()
    async throws
  {
    let port = try FreePorts.row(of: 1)
    let other = try await system.secondServer(at: .stopped) {
      ($0.office.port, $0.office.passwordCost) = (port, .least)
    }
    let anna = try await OfficePerson(office: "http://127.0.0.1:\(port)", store: other.store, system.sender)
    var answers: [Int] = []
    for host in UInt32(2)..<16 { answers += try await anna.guesses(5, from: host) }
    #expect(answers.filter { $0 == 403 }.count == 50 && answers.suffix(20).allSatisfy { $0 == 429 }, "\(answers)")
    #expect(try await OfficePerson(again: anna).signIn().status == 429)
    #expect(try await anna.signIn().status == 303)
  }

  @Test func `keeps what a shopper's device calls the card in one cell of the CSV`() async throws {
    let (stored, anna) = (try await StoredShop("spread", system), try await person())
    let shopper = try await Shopper.enters(system, stored.shop, service: "collection")
    guard case .object(var token) = try await shopper.token(),
      case .object(var method) = token["paymentMethod"] ?? .null
    else { return #expect(Bool(false), "the token has no paymentMethod") }
    method["displayName"] = "Visa\"\u{301},=HYPERLINK(0) 0492"
    token["paymentMethod"] = .object(method)
    let paid = try await shopper.pays(try await shopper.payment(.object(token)))
    try #require(paid.body["status"] == "captured", "\(paid.errorText)")
    let text = try await anna.get("/payments.csv?merchant=spread").text
    #expect(text.utf8.firstRange(of: "\"Visa\"\"\u{301},=HYPERLINK(0) 0492\"".utf8) != nil, "\(text)")
  }

  @Test func `lets an operator refund the limit once alone, however many refunds come at once`() async throws {
    let stored = try await StoredShop("limited", system)
    let carla = try await OfficePerson(
      office: system.office, store: system.directory, limits: "5.00 EUR", at: system.clock, system.sender)
    var payments: [String] = []
    for _ in 0..<2 { payments.append(try #require(try await stored.pays().body["paymentId"]?.text)) }
    @Sendable func refund(_ payment: String, _ amount: String) async throws -> String? {
      let form = ["key": RandomBytes.system.hex(16), "amount": amount, "reason": "one was missing"]
      return try await carla.post("/payments/\(payment)/refund", form).location?.split(separator: "=").last.map(
        String.init)
    }
    let answers = try await withThrowingTaskGroup(of: String?.self) { [payments] group in
      for number in 0..<10 { group.addTask { try await refund(payments[number % 2], "5.00") } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.count { $0 == "refunded" } == 1 && answers.count { $0 == "requested" } == 9, "\(answers)")
    for payment in payments { #expect(try await refund(payment, "1.00") == "requested") }
    let pages = try await [carla.get("/payments/\(payments[0])").text, carla.get("/payments/\(payments[1])").text]
    #expect(pages.reduce(0) { $0 + $1.ranges(of: "refund of €5.00: approved").count } == 1)
  }

  @Test func `sends an invitation whose address works once`() async throws {
    let (anna, name) = (try await person(), "bert-\(RandomBytes.system.hex(4))@shop.example")
    let page = try await anna.post("/users", ["name": name, "role": "viewer", "reason": "joins the shop"])
    #expect(page.text.contains("sent by mail") && !page.text.contains("/invitation/"))
    let path = try #require(try await mailedPath(to: name))
    let bert = OfficePerson(office: system.office, system.sender)
    let invitation = try await bert.get(path)
    let (typed, secret) = (try #require(invitation.typedSecret), try #require(invitation.secret))
    func accepts() async throws -> OfficePerson.Page {
      try await bert.post(
        path, ["password": "battery horse correct", "code": secret.code(at: system.clock.wall.now())])
    }
    let accepted = try await accepts()
    #expect(accepted.status == 200 && accepted.text.contains("once"), "\(accepted.text)")
    let again = try await accepts()
    #expect(!again.text.contains("Each takes its place") && again.text.contains("over"), "\(again.text)")
    #expect(try await !bert.get(path).text.contains(typed))
  }

  /// The address in the message that arrived in the sandbox's mailbox.
  private func mailedPath(to name: String) async throws -> String? {
    let mails = try await waitFor(
      "an invitation of \(name)",
      { try await system.mails { $0["recipients"]?.elements.contains { $0.text == name } ?? false } },
      until: { !$0.isEmpty })
    return mails.first?["text"]?.text?.firstMatch(of: /(\/invitation\/[0-9a-f]+)/).map { String($0.output.1) }
  }
}

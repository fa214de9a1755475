import Foundation
import Ledger
import Mail
import MerchantIdentity
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// An outbox with a mail server that answers as a test says.
final class TestOutbox: Sendable {
  let file: TemporaryStore
  let clock = ManualClock()
  let database: Database
  private let answer = Mutex(SMTPResult(.done, "250 2.0.0 Ok", code: 250))
  private let taken = Mutex<[MailMessage]>([])

  init(_ file: TemporaryStore? = nil) async throws {
    let file = try file ?? TemporaryStore()
    self.file = file
    database = try await file.open(Journal.migrations + MailOutbox.migrations, clock: clock.wall)
  }

  /// What left, also what was not taken.
  var sent: [MailMessage] { taken.withLock(\.self) }

  func answer(_ result: SMTPResult) { answer.withLock { $0 = result } }

  func dispatcher(keys: MasterKeys? = nil) -> MailDispatcher {
    let settings = MailSettings(
      server: SMTPServer(host: "mail.invalid", port: 25, security: .startTLS), from: .sample("tender@shop.example"),
      recipients: [], brand: MailBrand(name: "Tender"))
    let transport = MailTransport(
      send: { message, _ in
        self.taken.withLock { $0.append(message) }
        return self.answer.withLock(\.self)
      }, probe: { _ in SMTPResult(.done, "") })
    return MailDispatcher(
      database: database, settings: settings, transport: transport, keys: { keys },
      random: RandomBytes { [UInt8](repeating: 0, count: $0) })
  }

  @discardableResult
  func add(
    _ kind: MailKind = .test, once notice: String? = nil, to recipients: [String] = ["ada@example.com"],
    text: String = "hello", keys: MasterKeys? = nil
  ) async throws -> Int {
    let mail = QueuedMail(
      kind, of: "harbour", to: recipients.map { .sample($0) }, MailContent(subject: "S", paragraphs: [text]),
      MailBrand(name: "Harbour"))
    return try await database.write {
      try MailOutbox.add(mail, once: notice, keys: keys, random: .system, in: $0)
    }
  }

  func all() async throws -> [StoredMail] {
    try await database.read { try MailOutbox.list(nil, limit: 100, in: $0) }
  }

  func contains(_ text: String) throws -> Bool {
    let needle = Array(text.utf8)
    return try file.bytesOnDisk().contains { $0.firstRange(of: needle) != nil }
  }
}

@Suite struct `The outbox` {
  @Test func `delivers a message and keeps what the server answered`() async throws {
    let outbox = try await TestOutbox()
    outbox.answer(SMTPResult(.done, "250 2.0.0 queued as 4711", code: 250))
    try await outbox.add()
    #expect(try await outbox.dispatcher().round() == 1)
    let mail = try #require(try await outbox.all().first)
    #expect(mail.state == .sent && mail.result == "250 2.0.0 queued as 4711" && mail.tries == 0)
    #expect(outbox.sent.map(\.recipient) == [.sample("ada@example.com")])
    #expect(try await outbox.dispatcher().round() == 0)
  }

  @Test func `gives each recipient a message alone`() async throws {
    let outbox = try await TestOutbox()
    try await outbox.add(to: ["a@example.com", "b@example.com"])
    try await outbox.dispatcher().round()
    #expect(Set(outbox.sent.map(\.recipient.text)) == ["a@example.com", "b@example.com"])
    #expect(Set(outbox.sent.map(\.id)).count == 2)
  }

  @Test func `delivers past messages of a kind that only a later version knows`() async throws {
    let outbox = try await TestOutbox()
    try await outbox.add(to: (0..<6).map { "later-\($0)@example.com" })
    try await outbox.database.write { try $0.run("UPDATE mail_messages SET kind = 'of a later version'") }
    try await outbox.add()
    #expect(try await outbox.dispatcher().round() == 1)
    #expect(outbox.sent.map(\.recipient) == [.sample("ada@example.com")])
    let left = try await outbox.database.read { try MailOutbox.backlog(in: $0).waiting }
    #expect(left == 6)
  }

  @Test func `tries later and later what was not taken, and gives up after the ninth try`() async throws {
    let outbox = try await TestOutbox()
    outbox.answer(SMTPResult(.connection, "Connection refused"))
    try await outbox.add()
    var waits: [Int64] = []
    for _ in 0..<8 {
      try await outbox.dispatcher().round()
      let mail = try #require(try await outbox.all().first)
      #expect(mail.state == .waiting && mail.result == "Connection refused")
      #expect(try await outbox.dispatcher().round() == 0)
      waits.append(mail.nextTry.since(outbox.clock.now).components.seconds)
      outbox.clock.advance(mail.nextTry.since(outbox.clock.now))
    }
    #expect(waits == waits.sorted() && waits.first == 48 && waits.last == 69_120)
    try await outbox.dispatcher().round()
    #expect(try await outbox.all().first?.state == .dead)
    #expect(Set(outbox.sent.map(\.id)).count == 1)
  }

  @Test func `gives up at once what the server refuses for good, and tries it again when told to`() async throws {
    let outbox = try await TestOutbox()
    outbox.answer(SMTPResult(.message, "550 5.1.1 No such mailbox", code: 550))
    try await outbox.add()
    try await outbox.dispatcher().round()
    let dead = try #require(try await outbox.all().first)
    #expect(dead.state == .dead && dead.result == "550 5.1.1 No such mailbox")
    outbox.answer(SMTPResult(.done, "250 Ok", code: 250))
    #expect(try await outbox.database.write { try MailOutbox.retry(nil, in: $0) } == 1)
    try await outbox.dispatcher().round()
    #expect(try await outbox.all().first?.state == .sent)
    #expect(try await outbox.database.write { try MailOutbox.retry(dead.id, in: $0) } == 0)
  }

  @Test func `tries again after a refused password, which somebody can correct`() async throws {
    let outbox = try await TestOutbox()
    outbox.answer(SMTPResult(.authentication, "535 5.7.8 wrong", code: 535))
    try await outbox.add()
    try await outbox.dispatcher().round()
    #expect(try await outbox.all().first?.state == .waiting)
  }

  @Test func `says a thing once, also from several nodes at a time and after a restart`() async throws {
    let file = try TemporaryStore()
    let outbox = try await TestOutbox(file)
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<16 { group.addTask { try await outbox.add(.expiry, once: "expiry/1") } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts.reduce(0, +) == 1)
    #expect(try await outbox.add(.expiry, once: "expiry/2") == 1)
    await outbox.database.close()
    let again = try await TestOutbox(file)
    #expect(try await again.add(.expiry, once: "expiry/1") == 0)
    #expect(try await again.all().count == 2)
  }

  @Test func `is emptied by several dispatchers without sending anything twice`() async throws {
    let outbox = try await TestOutbox()
    for _ in 0..<40 { try await outbox.add() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 { group.addTask { try await outbox.dispatcher().round() } }
      try await group.waitForAll()
    }
    #expect(outbox.sent.count == 40 && Set(outbox.sent.map(\.id)).count == 40)
  }

  @Test func `forgets messages, but not that they were said`() async throws {
    let outbox = try await TestOutbox()
    try await outbox.add(.order, once: "order/1")
    try await outbox.dispatcher().round()
    outbox.clock.advance(.seconds(86_400))
    try await outbox.add(.order)
    try await outbox.dispatcher().round()
    outbox.clock.advance(.seconds(1))
    let steps = try await outbox.database.write { store in
      try (0..<2).map { _ in try MailOutbox.forget(before: store.now, atMost: 2, in: store) }
    }
    #expect(steps == [false, true])
    #expect(try await outbox.all().isEmpty)
    #expect(try await outbox.add(.order, once: "order/1") == 0)
  }

  @Test func `counts what waits and what was given up`() async throws {
    let outbox = try await TestOutbox()
    outbox.answer(SMTPResult(.message, "550 no", code: 550))
    try await outbox.add()
    try await outbox.dispatcher().round()
    try await outbox.add()
    outbox.clock.advance(.seconds(60))
    let backlog = try await outbox.database.read { try MailOutbox.backlog(in: $0) }
    #expect(backlog.waiting == 1 && backlog.dead == 1 && backlog.oldestWaiting == .seconds(60))
  }
}

@Suite struct `A confidential message` {
  private static let link = "https://tender.example/reset?token=5up3r5ecret"
  private static let old = String(repeating: "11", count: 32)
  private static let new = String(repeating: "22", count: 32)

  @Test(.enabled(if: StoreEngineUnderTest.isFile), arguments: [MailKind.invitation, .passwordReset])
  func `cannot be read in the store's files, where another that is put there is found`(_ kind: MailKind) async throws {
    let outbox = try await TestOutbox()
    let keys = try MasterKeys(Self.old)
    try await outbox.add(kind, text: Self.link, keys: keys)
    #expect(try !outbox.contains("5up3r5ecret"))
    // The scan finds what is there.
    try await outbox.add(.order, text: Self.link, keys: keys)
    #expect(try outbox.contains("5up3r5ecret"))
  }

  @Test func `invites to an account, or lets choose a new password, and its link is nowhere in the store`() async throws
  {
    let outbox = try await TestOutbox()
    let keys = try MasterKeys(Self.old)
    let accounts = AccountMail(brand: MailBrand(name: "Tender", locale: "de"), keys: keys)
    let end = outbox.clock.now.adding(.seconds(86_400))
    try await outbox.database.write { store in
      try accounts.invite(.sample("a@example.com"), from: "Ada", link: Self.link, until: end, in: store)
      try accounts.resetPassword(of: .sample("b@example.com"), link: Self.link, until: end, in: store)
    }
    #expect(try !outbox.contains("5up3r5ecret"))
    try await outbox.dispatcher(keys: keys).round()
    let sent = outbox.sent.sorted { $0.recipient.text < $1.recipient.text }
    #expect(sent.map(\.subject) == ["Einladung zu Tender", "Neues Passwort wählen"])
    #expect(sent.allSatisfy { $0.text.contains(Self.link) && $0.html.contains("href=\"\(Self.link)\"") })
    #expect(sent[0].text.contains("Ada lädt Sie zu Tender ein.") && sent[0].text.contains("Der Link gilt bis"))
    #expect(try await outbox.all().allSatisfy { $0.text == nil && $0.html == nil })
  }

  @Test func `is delivered with its link, and erased then`() async throws {
    let outbox = try await TestOutbox()
    let keys = try MasterKeys(Self.old)
    try await outbox.add(.passwordReset, text: Self.link, keys: keys)
    try await outbox.dispatcher(keys: keys).round()
    #expect(outbox.sent.first?.text.contains(Self.link) == true)
    #expect(outbox.sent.first?.html.contains("5up3r5ecret") == true)
    #expect(try await outbox.all().first?.text == nil)
    let sealed = try await outbox.database.read { try MailOutbox.sealedByKey(in: $0) }
    #expect(sealed.isEmpty)
  }

  @Test func `is not queued without a key`() async throws {
    let outbox = try await TestOutbox()
    await #expect(throws: MerchantStoreError.self) { try await outbox.add(.invitation, text: Self.link) }
    #expect(try await outbox.all().isEmpty)
  }

  @Test func `waits while its key is missing`() async throws {
    let outbox = try await TestOutbox()
    try await outbox.add(.invitation, text: Self.link, keys: try MasterKeys(Self.old))
    try await outbox.dispatcher(keys: try MasterKeys(Self.new)).round()
    let mail = try #require(try await outbox.all().first)
    #expect(mail.state == .waiting && mail.result?.contains("cannot be opened") == true && outbox.sent.isEmpty)
  }

  @Test func `is sealed anew when the store's key is rotated`() async throws {
    let outbox = try await TestOutbox()
    try await outbox.add(.invitation, text: Self.link, keys: try MasterKeys(Self.old))
    let both = try MasterKeys(Self.new + "\n" + Self.old)
    #expect(try await outbox.database.write { try MailOutbox.reseal(both, in: $0) } == 1)
    #expect(try await outbox.database.write { try MailOutbox.reseal(both, in: $0) } == 0)
    try await outbox.dispatcher(keys: try MasterKeys(Self.new)).round()
    #expect(outbox.sent.first?.text.contains(Self.link) == true)
  }
}

import Administration
import DirectWire
import Foundation
import HTTPTransport
import Ledger
import Mail
import Orders
import Settings
import Storage
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// What names a shopper, planted into one order.
private enum Planted {
  static let email = "Wilhelmina@Brocklehurst.example"
  static let contact: JSONValue = [
    "givenName": "Wilhelmina", "familyName": "Brocklehurst", "phoneNumber": "+44 20 5550 6612",
    "emailAddress": .string(email), "addressLines": ["12 Tangerine Mews"], "locality": "London",
    "postalCode": "EC1A 4RD", "countryCode": "GB",
  ]
  static let note = "leave it with the marmoset"
  static let customer = "customer-61f7aa"
  static let words = [
    "Wilhelmina", "Brocklehurst", "wilhelmina@brocklehurst", "5550 6612", "Tangerine Mews", "EC1A 4RD", "marmoset",
    "customer-61f7aa",
  ]

  static func found(in text: String) -> [String] { words.filter { text.contains($0) } }

  static func found(in bytes: Data) -> [String] { words.filter { bytes.range(of: Data($0.utf8)) != nil } }
}

@Suite struct `A person who asks for it` {
  private let system: TestSystem
  init() async throws { system = try await TestSystem.shared.value }

  /// A signed-in shopper of the merchant that sends mail, who has written a note and has paid.
  private func pays() async throws -> (shopper: Shopper, payment: String) {
    var shopper = try await Shopper.enters(
      system, system.kitsune, also: ["customer": .string(Planted.customer), "note": .string(Planted.note)])
    try await shopper.chooses()
    let paid = try await shopper.pays([
      "basketId": .string(shopper.basket), "quoteId": .string(shopper.quote), "token": try await shopper.token(),
      "shippingContact": Planted.contact,
    ])
    let payment = try #require(paid.body["paymentId"]?.text, "\(paid.errorText)")
    let reference = shopper.reference
    try await waitFor("the message to the shopper", { try await export(["email": .string(Planted.email)]) }) {
      let order = $0["orders"]?.elements.first { $0["order"]?["merchantReference"]?.text == reference }
      return order?["mails"]?.elements.contains { $0["state"] == "sent" } == true
    }
    return (shopper, payment)
  }

  private func export(_ subject: JSONValue) async throws -> JSONValue {
    try await system.admin("POST", "/privacy/export", subject.serialized())
  }

  private func erase(_ subject: JSONValue, because reason: String = "asked%20for%20it") async throws -> JSONValue {
    try await system.admin("POST", "/privacy/erase?by=ann&reason=\(reason)", subject.serialized())
  }

  /// Of the files of the store: database, log and the others.
  private func inFiles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: system.directory)
      .filter { $0.hasPrefix("tender.db") || $0.hasPrefix("contacts.keys") }
      .compactMap { FileManager.default.contents(atPath: "\(system.directory)/\($0)") }
      .flatMap { Planted.found(in: $0) }
  }

  @Test func `gets all that is kept, is erased from every file, and the books stay`() async throws {
    let (shopper, payment) = try await pays()
    let all = String(decoding: try await export(["customer": .string(Planted.customer)]).serialized(), as: UTF8.self)
    #expect(Set(Planted.words).subtracting(Planted.found(in: all)) == ["wilhelmina@brocklehurst"])
    if StoreEngineUnderTest.isFile {
      let plain = Set(try inFiles())
      #expect(plain.contains("marmoset") && plain.contains("customer-61f7aa"), "the scan finds nothing")
      #expect(!plain.contains("Tangerine Mews") && !plain.contains("5550 6612"), "the contact is in clear")
    }
    let before = try await system.admin("GET", "/payments/\(payment)")

    let erased = try await erase(["email": .string(Planted.email.uppercased())])
    #expect(erased["orders"]?.elements.count == 1 && erased["mails"] != .integer(0), "\(erased)")
    if StoreEngineUnderTest.isFile { #expect(try inFiles() == []) }
    #expect(try await export(["customer": .string(Planted.customer)])["orders"]?.elements.isEmpty == true)
    #expect(try await erase(["email": .string(Planted.email)])["orders"]?.elements.isEmpty == true)
    let answer = try await shopper.shop.signed(
      "GET", "/v2/kitsune/baskets/\(shopper.basket)", at: system.clock.wall.now())
    #expect(answer.status == 200 && answer.body["order"]?["merchantReference"]?.text == shopper.reference)
    #expect(answer.body["order"]?["amount"] != nil && answer.body["order"]?["lines"] != nil)
    #expect(Planted.found(in: String(decoding: answer.body.serialized(), as: UTF8.self)) == [])
    #expect(Planted.found(in: system.log.text) == [])

    let after = try await system.admin("GET", "/payments/\(payment)")
    for key in ["amount", "captured", "status", "order", "card"] { #expect(after[key] == before[key], "\(key)") }
    let refunded = try await system.admin("POST", "/payments/\(payment)/refund?amount=300")
    #expect(refunded["refunded"] == .integer(300), "\(refunded)")
    #expect(try await system.admin("GET", "/journal/verification")["isIntact"] != .bool(false))
  }

  @Test func `is named by exactly one thing, and by no reason`() async throws {
    let both = try await erase(["email": "a@b.example", "customer": "c"])
    #expect(both["code"] == "privacy_subject", "\(both)")
    #expect(try await export([:])["code"] == "privacy_subject")
    let named = try await erase(["email": "a@b.example"], because: "A%40B.example%20wants%20it")
    #expect(named["code"] == "reason_names_person", "\(named)")
    #expect(try await erase(["email": "a@b.example"], because: "%20")["code"] == "reason_missing")
  }
}

@Suite struct `A store with contacts` {
  private let folder: TemporaryStore
  private let keys: RowKeys.Files

  init() throws {
    folder = try TemporaryStore()
    keys = RowKeys.Files(folder.directory + "/contacts.keys", copy: folder.directory + "/copy/contacts.keys")
    try FileManager.default.createDirectory(atPath: folder.directory + "/copy", withIntermediateDirectories: true)
  }

  private func place(_ engine: StoreEngineUnderTest) async throws -> StorePlace {
    guard engine == .postgres else { return .file(folder.path) }
    return .postgres(try await EmptyDatabase(engine).settings())
  }

  private static let orders = (1...3).map { OrderID("019aba5e7c0000000000000000000\($0)00") }

  /// Orders of two shoppers, and a message to one of them.
  private func sell(_ database: Database) async throws {
    for (number, id) in Self.orders.enumerated() {
      let email = number == 2 ? "other@person.example" : Planted.email
      let text = """
        {"amountOfMoney": {"amount": 1250, "currencyCode": "EUR"},
         "customer": {"merchantCustomerId": "\(number == 2 ? "other" : Planted.customer)",
           "contactDetails": {"emailAddress": "\(email)", "phoneNumber": "+44 20 5550 6612"},
           "personalInformation": {"name": {"firstName": "Wilhelmina", "surname": "Brocklehurst"}}},
         "shipping": {"address": {"street": "12 Tangerine Mews", "countryCode": "IE", "zip": "EC1A 4RD"}}}
        """
      let order = ServerOrder(
        try DirectJSON.read(DirectOrder.self, Array(text.utf8)), id: id, of: "shop", amount: .eur(1250),
        reference: "R-\(number)")
      try await database.write { try order.save(in: $0) }
    }
    let address = try #require(MailAddress(Planted.email))
    let brand = MailBrand(name: "Shop")
    var mail = QueuedMail(.order, of: "shop", to: [address], .test(brand), brand)
    mail.order = Self.orders[0]
    try await database.write { [mail] in try MailOutbox.add(mail, random: .system, in: $0) }
  }

  /// Every row of every table that can name somebody, as text.
  private static let tables = [
    "orders", "order_contacts", "mail_messages", "guests", "baskets", "quotes", "hosted_checkouts", "platform_orders",
    "office_audit", "outbox", "webhook_deliveries", "office_erasures", "idempotency",
  ]

  private func findPlanted(_ database: Database) async throws -> [String] {
    var found: [String] = []
    for table in Self.tables {
      for row in try await database.read({ try $0.rows("SELECT * FROM \(table)") }) {
        found += Planted.found(in: "\(row)").map { "\($0) in \(table)" }
      }
    }
    return found
  }

  private func copy(_ tables: [String], to suffix: String, in database: Database, _ engine: StoreEngineUnderTest)
    async throws
  {
    try await database.write { store in
      for table in tables {
        let (copy, heading) = ("\(table)_\(suffix)", "CREATE TABLE \(table)")
        if engine == .sqlite {
          let row = try store.row("SELECT sql FROM sqlite_master WHERE name = $1", .text(table))
          let text = try #require(try row?.text("sql")).replacing(" REFERENCES orders (id)", with: "")
          try store.run(text.replacing(heading, with: "CREATE TABLE \(copy)", maxReplacements: 1))
        } else {
          try store.run("CREATE TABLE \(copy) (LIKE \(table))")
        }
      }
    }
    try await database.write { store in
      for table in tables { try store.run("INSERT INTO \(table)_\(suffix) SELECT * FROM \(table)") }
    }
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `that comes back from before an erasure forgets again, and its old rows open no more`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await place(engine)
    let journal = try await ServerStore.open(place, keys: keys)
    let database = journal.database
    try await sell(database)
    let former = try String(contentsOfFile: keys.path, encoding: .utf8)
    #expect(try await !findPlanted(database).isEmpty)
    let tables = ["orders", "order_contacts", "mail_messages", "erased_orders"]
    try await copy(tables, to: "backup", in: database, engine)
    var subject = PrivacySubject()
    subject.email = Planted.email
    let action = OfficeAction("ann", from: "", "privacy.erase", reason: "asked for")
    let erased = try await Privacy(database).erase(subject, action)
    #expect(Set(erased.orders) == Set(Self.orders.prefix(2)) && erased.mails == 1)
    #expect(try await findPlanted(database) == [])
    #expect(try await OrderContacts.email(of: Self.orders[2], in: database) == "other@person.example")
    #expect(try await database.read { try OfficeAudit($0).firstBroken() } == nil)

    // The backup takes the place of the rows, and an old file of keys that of the newer one, beside its copy.
    try await database.write { store in
      for table in tables.reversed() { try store.run("DELETE FROM \(table)") }
      for table in tables { try store.run("INSERT INTO \(table) SELECT * FROM \(table)_backup") }
    }
    await database.close()
    try PrivateFile.write(former, to: keys.path)
    let restored = try await ServerStore.open(place, keys: keys).database
    #expect(try await findPlanted(restored) == [])
    for order in Self.orders.prefix(2) {
      #expect(try await OrderContacts.email(of: order, in: restored) == nil)
      let old = try await restored.read { store in
        try store.row("SELECT sealed FROM order_contacts_backup WHERE order_id = $1", .text(order.rawValue))?
          .blob("sealed")
      }
      #expect(try restored.rowKeys?.open(#require(old), of: order.rawValue) == nil)
    }
    #expect(try await Privacy(restored).find(subject).isEmpty)
    #expect(try await restored.read { try MailOutbox.list(nil, limit: 10, in: $0) }.isEmpty)
    #expect(try await OrderContacts.email(of: Self.orders[2], in: restored) == "other@person.example")
    await restored.close()
  }

  @Test(arguments: ["direct", "approved"])
  func `forgets the searches of the office that name the person, by whatever it was found, and no other`(
    _ way: String
  ) async throws {
    let database = try await ServerStore.open(try await place(StoreEngineUnderTest.chosen), keys: keys).database
    try await sell(database)
    let hers = [
      "address": "q=wilhelmina%40brocklehurst.example", "customer": "q=\(Planted.customer)&status=captured",
      "reference": "q=R-0",
    ]
    let others = [
      "ten": "q=R-01", "other": "q=other%40person.example", "longer": "q=\(Planted.customer)9",
      "\(Planted.customer) at this route": "route=\(Planted.customer)", "R-0": "status=captured",
      "search": "status=voided",
    ]
    try await database.write { store in
      try store.run(
        """
        INSERT INTO office_users (name, has_codes, last_code, enabled, refund_limits, created_at)
        VALUES ('ann', 0, 0, 1, '[]', 0)
        """)
      for (name, query) in hers.merging(others, uniquingKeysWith: { $1 }) {
        try SavedFilters(store: store).keep(name, query, of: "ann")
      }
    }
    if way == "direct" {
      var subject = PrivacySubject()
      subject.order = "R-0"
      let action = OfficeAction("ann", from: "", "privacy.erase", reason: "asked for")
      #expect(try await Privacy(database).erase(subject, action).orders == [Self.orders[0]])
    } else {
      #expect(try await Privacy(database).erase(ids: [Self.orders[0].rawValue]).orders == [Self.orders[0]])
    }
    let left = try await database.read { try SavedFilters(store: $0).all(of: "ann") }
    #expect(left.map(\.query).sorted() == others.values.sorted())
    // One that is only called by the person stays under another name, and one whose condition has the same word as it is.
    #expect(Set(left.map(\.name)) == Set(others.keys).subtracting(["R-0"]).union(["search 2"]))
    await database.close()
  }

  @Test func `forgets the search for an erased address also where an older database brings it back`() async throws {
    let place = try await place(.sqlite)
    let database = try await ServerStore.open(place, keys: keys).database
    try await sell(database)
    try await database.write { store in
      try store.run(
        """
        INSERT INTO office_users (name, has_codes, last_code, enabled, refund_limits, created_at)
        VALUES ('ann', 0, 0, 1, '[]', 0)
        """)
      for (name, text) in [("hers", Planted.email.uppercased()), ("other", "other@person.example")] {
        try SavedFilters(store: store).keep(name, "q=\(text.replacing("@", with: "%40"))", of: "ann")
      }
    }
    await database.close()
    try run("for f in store.db*; do cp $f old.${f#store.}; done")
    let erasing = try await ServerStore.open(place, keys: keys).database
    var subject = PrivacySubject()
    subject.email = Planted.email
    let action = OfficeAction("ann", from: "", "privacy.erase", reason: "asked for")
    #expect(try await Privacy(erasing).erase(subject, action).orders.count == 2)
    await erasing.close()
    try run("rm -f store.db*; for f in old.db*; do cp $f store.${f#old.}; done")
    let restored = try await ServerStore.open(place, keys: keys).database
    #expect(try await restored.read { try SavedFilters(store: $0).all(of: "ann").map(\.name) } == ["other"])
    await restored.close()
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `has a node's keys destroyed that another node has erased, and the doctor sees which file lacks it`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let database = try await ServerStore.open(try await place(engine), keys: keys).database
    try await sell(database)
    let other = RowKeys.Files(folder.directory + "/other.keys", copy: folder.directory + "/other.copy")
    for path in [other.path, try #require(other.copy)] {
      try PrivateFile.write(try String(contentsOfFile: keys.path, encoding: .utf8), to: path)
    }
    let node = database.sealed(under: try RowKeys(existing: other))
    var subject = PrivacySubject()
    subject.email = Planted.email
    let action = OfficeAction("ann", from: "", "privacy.erase", reason: "asked for")
    #expect(try await Privacy(database).erase(subject, action).orders.count == 2)
    func lacking() async throws -> [String: Int]? { try await Privacy.countKeysOfErased(in: other, database) }
    #expect(try await lacking() == [other.path: 2, other.copy ?? "": 2])
    // Who asks again there finds nobody, and the keys go all the same.
    #expect(try await Privacy(node).erase(subject, action) == .nothing)
    #expect(node.rowKeys?.destroyed == Set(Self.orders.prefix(2).map(\.rawValue)))
    #expect(try await lacking() == [other.path: 0, other.copy ?? "": 0])
    try FileManager.default.removeItem(atPath: other.path)
    #expect(try await lacking() == [other.copy ?? "": 0])
    await database.close()
  }

  @Test func `erases nobody while the file of its keys cannot be written, also not at the next start`() async throws {
    let place = try await place(.sqlite)
    var database = try await ServerStore.open(place, keys: keys).database
    try await sell(database)
    var subject = PrivacySubject()
    subject.email = Planted.email
    let draft = folder.directory + "/.contacts.keys.new"
    try FileManager.default.createDirectory(atPath: draft + "/full", withIntermediateDirectories: true)
    let action = OfficeAction("ann", from: "", "privacy.erase", reason: "asked for")
    let refused = await #expect(throws: Problem.self) { try await Privacy(database).erase(subject, action) }
    #expect(refused?.detail.hasPrefix("Nobody was erased") == true, "\(String(describing: refused))")
    try FileManager.default.removeItem(atPath: draft)
    await database.close()
    database = try await ServerStore.open(place, keys: keys).database
    #expect(try await Privacy(database).find(subject).count == 2)
    #expect(try await OrderContacts.email(of: Self.orders[0], in: database) == Planted.email)
    await database.close()
  }

  @Test func `erases nobody while the copy of its keys cannot be written, and opens all the same`() async throws {
    let copy = folder.directory + "/not mounted"
    let keys = RowKeys.Files(keys.path, copy: copy + "/contacts.keys")
    let place = try await place(.sqlite)
    var database = try await ServerStore.open(place, keys: keys).database
    try await sell(database)
    var subject = PrivacySubject()
    subject.email = Planted.email
    let action = OfficeAction("ann", from: "", "privacy.erase", reason: "asked for")
    for _ in 0..<2 {
      let refused = await #expect(throws: Problem.self) { try await Privacy(database).erase(subject, action) }
      #expect(
        refused?.code == "contact_keys_unwritable" && refused?.detail.contains(copy) == true,
        "\(String(describing: refused))"
      )
      #expect(try await Privacy(database).find(subject).count == 2)
      #expect(try await OrderContacts.email(of: Self.orders[0], in: database) == Planted.email)
      await database.close()
      database = try await ServerStore.open(place, keys: keys).database
    }
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
    #expect(try await Privacy(database).erase(subject, action).orders.count == 2)
    try FileManager.default.removeItem(atPath: copy)
    await database.close()
    database = try await ServerStore.open(place, keys: keys).database
    #expect(try await findPlanted(database) == [])
    await database.close()
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `says no more whose an order was, once that is older than its limit`(_ engine: StoreEngineUnderTest) async throws
  {
    let database = try await ServerStore.open(try await place(engine), keys: keys).database
    try await sell(database)
    let sold = try #require(Timestamp(ofID: Self.orders[0].rawValue))
    func left(before end: Timestamp) async throws -> [String] {
      while try await !database.write({ try Privacy.forgetContacts(before: end, atMost: 2, in: $0) }) {}
      // Messages have a limit of their own.
      return try await findPlanted(database).filter { !$0.hasSuffix(" mail_messages") }
    }
    #expect(try await !left(before: sold).isEmpty)
    #expect(try await left(before: sold.adding(.milliseconds(1))) == [])
    for order in Self.orders { #expect(try await OrderContacts.email(of: order, in: database) == nil) }
    let amounts = try await database.read { try $0.rows("SELECT amount FROM orders").map { try $0.integer("amount") } }
    #expect(amounts == [1250, 1250, 1250])
    #expect(database.rowKeys?.destroyed == [])
    await database.close()
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `seals what an earlier version has written in clear, and still finds it`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await place(engine)
    let former = try await ServerStore.open(place).database
    try await sell(former)
    #expect(try await findPlanted(former).contains { $0.hasSuffix(" order_contacts") })
    await former.close()
    let database = try await ServerStore.open(place, keys: keys).database
    while try await !database.write({ try OrderContacts.sealSome(atMost: 2, in: $0) }) {}
    #expect(try await !findPlanted(database).contains { $0.hasSuffix(" order_contacts") })
    var subject = PrivacySubject()
    subject.email = Planted.email
    #expect(try await Privacy(database).find(subject).count == 2)
    #expect(try await OrderContacts.email(of: Self.orders[2], in: database) == "other@person.example")
    await database.close()
  }

  /// Runs a line of the shell in the folder.
  private func run(_ line: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", line]
    process.currentDirectoryURL = URL(fileURLWithPath: folder.directory)
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(line)")
  }

  private func contents(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: "\(folder.directory)/\(name)"))
  }

  /// A server that keeps everything in `data`, with a copy of the contact keys elsewhere, whose store has orders, and a
  /// backup of it.
  private func backedUp() async throws -> (ServerConfiguration, Journal, StoreBackup.Report) {
    let data = folder.directory + "/data"
    var configuration = ServerConfiguration(
      environment: .simulated, directory: data, host: "127.0.0.1", port: 0, sandboxURL: nil,
      acquirer: .init(connector: "sandbox", baseURL: "http://127.0.0.1:1", apiKey: ""))
    configuration.contactKeyCopy = keys.copy
    try PrivateFile.makeFolder(data)
    try PrivateFile.write(String(repeating: "0", count: 64) + "\n", to: data + "/fingerprint.key")
    let journal = try await ServerStore.open(configuration.store, keys: configuration.contactKeys)
    try await sell(journal.database)
    try run("age-keygen -o key.txt 2>/dev/null && age-keygen -y key.txt > backup.pub")
    let backup = StoreBackup(configuration, to: folder.directory + "/backups", for: folder.directory + "/backup.pub")
    return (configuration, journal, try await backup.make(withKeys: true, keep: nil))
  }

  private func restore(
    _ backup: StoreBackup.Report, _ configuration: ServerConfiguration, withoutContacts: Bool = false
  ) async throws -> StoreRestore.Report {
    try run("rm -rf data")
    return try await StoreRestore(configuration, identity: folder.directory + "/key.txt")
      .run(backup.store, keys: backup.keys, migrates: false, withoutContacts: withoutContacts)
  }

  @Test func `that is restored from a backup brings back nobody who was erased since`() async throws {
    let (configuration, journal, backup) = try await backedUp()
    try run("age -d -i key.txt backups/*.store.age > plain.db && age -d -i key.txt backups/*.keys.age > plain.json")
    let secrets = try String(contentsOfFile: configuration.contactKeyFile, encoding: .utf8)
      .split(whereSeparator: \.isWhitespace).filter { $0.utf8.count >= 32 && Hex.decode(String($0)) != nil }
    #expect(secrets.count == 3)
    for name in ["plain.db", "plain.json"] {
      let plain = try contents(name)
      // The name of the keys, which is no secret, is the first.
      for secret in secrets.dropFirst() { #expect(plain.range(of: Data(secret.utf8)) == nil, "\(name)") }
      #expect(plain.range(of: Data("tender contact keys".utf8)) == nil, "\(name)")
    }
    let clear = Set(Planted.found(in: try contents("plain.db")))
    #expect(clear.contains("customer-61f7aa"), "the scan finds nothing")
    #expect(clear.isDisjoint(with: ["Tangerine Mews", "5550 6612", "EC1A 4RD"]), "\(clear)")

    var subject = PrivacySubject()
    subject.email = Planted.email
    let action = OfficeAction("ann", from: "", "privacy.erase", reason: "asked for")
    #expect(try await Privacy(journal.database).erase(subject, action).orders.count == 2)
    await journal.database.close()
    let report = try await restore(backup, configuration)
    // The copy of the keys is there.
    #expect(!report.needsContactKeys && report.keys.count == 1)
    #expect(!FileManager.default.fileExists(atPath: configuration.contactKeyFile))

    let restored = try await ServerStore.open(configuration.store, keys: configuration.contactKeys).database
    #expect(try await findPlanted(restored) == [])
    #expect(try await OrderContacts.email(of: Self.orders[2], in: restored) == "other@person.example")
    let old = try await Database.sqlite(path: folder.directory + "/plain.db", migrations: [])
    for order in Self.orders.prefix(2) {
      let sealed = try await old.read {
        try $0.row("SELECT sealed FROM order_contacts WHERE order_id = $1", .text(order.rawValue))?.blob("sealed")
      }
      #expect(try restored.rowKeys?.open(#require(sealed), of: order.rawValue) == nil)
    }
    await old.close()
    await restored.close()
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.directory + "/data") {
      #expect(Planted.found(in: try contents("data/" + file)) == [], "\(file)")
    }
  }

  @Test func `whose keys are lost is restored without what named anybody, or does not open`() async throws {
    let (configuration, journal, backup) = try await backedUp()
    await journal.database.close()
    _ = try await restore(backup, configuration)
    let copy = try #require(keys.copy)
    try await #require(throws: CallFailure.self) { try await restore(backup, configuration, withoutContacts: true) }
    try FileManager.default.removeItem(atPath: copy)
    _ = try await restore(backup, configuration)
    await #expect(throws: ConfigurationError.self) {
      try await ServerStore.open(configuration.store, keys: configuration.contactKeys)
    }
    #expect(try await !restore(backup, configuration, withoutContacts: true).needsContactKeys)
    let restored = try await ServerStore.open(configuration.store, keys: configuration.contactKeys).database
    #expect(try await findPlanted(restored) == [])
    for order in Self.orders { #expect(try await OrderContacts.email(of: order, in: restored) == nil) }
    await restored.close()
  }

  @Test func `does not open without its keys, nor with another store's`() async throws {
    let place = try await place(.sqlite)
    let database = try await ServerStore.open(place, keys: keys).database
    try await sell(database)
    await database.close()
    for path in [keys.path, try #require(keys.copy)] { try FileManager.default.removeItem(atPath: path) }
    await #expect(throws: ConfigurationError.self) { try await ServerStore.open(place, keys: keys) }
    #expect(!FileManager.default.fileExists(atPath: keys.path))
    _ = try RowKeys(keys)
    await #expect(throws: ConfigurationError.self) { try await ServerStore.open(place, keys: keys) }
    let unopened = try await ServerStore.openExisting(place, keys: RowKeys.Files(folder.directory + "/nowhere"))
    var subject = PrivacySubject()
    subject.email = Planted.email
    await #expect(throws: Problem.self) { try await Privacy(unopened.database).find(subject) }
    await unopened.database.close()
  }
}

extension OrderContacts {
  fileprivate static func email(of order: OrderID, in database: Database) async throws -> String? {
    try await database.read { try email(of: order, in: $0) }
  }
}

import Administration
import Foundation
import HTTPTransport
import Ledger
import Logging
import Settings
import Storage
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite(.enabled(if: PostgresUnderTest.isPresent)) struct `Two nodes on one PostgreSQL` {
  @Test func `take a payment at one that was begun at the other, and answer alike`() async throws {
    let (first, second) = try await nodes()
    let shopper = try await collecting(first)
    let other = shopper.at(second)
    let payment = try await shopper.payment(try await shopper.token())
    let answer = try await other.pays(payment)
    #expect(answer.status == 200 && answer.body["status"] == "captured", "\(answer.errorText)")
    for again in [try await shopper.pays(payment), try await shopper.outcome()] {
      #expect(again.body == answer.body && again.status == 200)
    }
    #expect(try await shopper.holds().count == 1)
  }

  @Test func `take a payment that both get at once only once`() async throws {
    let (first, second) = try await nodes()
    let shopper = try await collecting(first)
    let payment = try await shopper.payment(try await shopper.token())
    let answers = try await withThrowingTaskGroup(of: JSONClient.Answer.self) { group in
      for number in 0..<32 {
        let shopper = shopper.at(number.isMultiple(of: 2) ? first : second)
        group.addTask { try await shopper.pays(payment) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.contains { $0.status == 200 })
    // A store that keeps a call waiting for too long refuses it, before it does anything.
    let refusals: [JSONValue?] = ["payment_in_progress", "store_unavailable"]
    for answer in answers {
      #expect(answer.status == 200 || refusals.contains(answer.body["code"]), "\(answer.errorText)")
    }
    #expect(try await shopper.holds().count == 1)
  }

  @Test func `refuse a payment token at one that was used at the other`() async throws {
    let (first, second) = try await nodes()
    let shopper = try await collecting(first)
    let token = try await shopper.token()
    #expect(try await shopper.pays(try await shopper.payment(token)).status == 200)
    let thief = try await collecting(second)
    let answer = try await thief.pays(try await thief.payment(token))
    #expect(answer.status >= 400)
    #expect(try await thief.holds().isEmpty)
  }

  @Test func `refuse a node whose fingerprint key is another one, before it listens`() async throws {
    let system = try await TestSystem.shared.value
    let cluster = try await Cluster()
    _ = try await system.secondServer { cluster.add(&$0) }
    await #expect {
      _ = try await system.secondServer {
        cluster.add(&$0)
        $0.fingerprintKeyFile = $0.storePath + ".fingerprint.key"
      }
    } throws: { "\($0)".contains("fingerprint.key") }
  }

  @Test func `publish one key set for guest tokens, although each signs with a key of its own`() async throws {
    let system = try await TestSystem.shared.value
    let cluster = try await Cluster()
    let first = try await system.secondServer { cluster.add(&$0) }
    let second = try await system.secondServer {
      cluster.add(&$0)
      $0.guestTokenKeyFile = $0.storePath + ".guest-token.key"
    }
    var sets: [JSONValue] = []
    for node in [first, second] {
      sets.append(try await JSONClient(node.server, sender: node.sender).require("GET", "/applepay/jwks.json"))
    }
    #expect(sets[0] == sets[1] && sets[0]["keys"]?.elements.count == 2)
  }

  @Test func `take over within seconds that another node has retired a processing key`() async throws {
    let cluster = try await Cluster()
    let server = try await TestSystem.shared.value.secondServer { cluster.add(&$0) }
    let shopper = try await collecting(server)
    #expect(try await shopper.pays(try await shopper.payment(try await shopper.token())).status == 200)
    let database = try await Database.postgres(PostgresSettings(address: cluster.address), migrations: [])
    // The node's own records of the key are written beside the payments.
    try await waitFor("the use of the key in the store", { try await cluster.unusedKeys(database) }) { $0 == 0 }
    try await database.write {
      try $0.run("UPDATE processing_keys SET state = 'retired', state_since = $1", .integer(.max - 1))
    }
    func pays() async throws -> JSONClient.Answer {
      let next = try await collecting(server)
      return try await next.pays(try await next.payment(try await next.token()))
    }
    try await waitFor("the refusal of the retired key", { try await pays() }) { $0.body["code"] == "retired_key" }
    await database.close()
  }

  @Test(arguments: ["capture", "refund"])
  func `go on with what they have reserved when its commit is not answered`(verb: String) async throws {
    let doubt = try await Doubt(verb)
    doubt.proxy.cut("first-\(verb)")
    let answer = try await doubt.call(200, named: "first-\(verb)")
    #expect(doubt.proxy.cuts == 1)
    #expect(answer.status == 201, "\(answer.errorText)")
    #expect(try await doubt.moved() == 200)
    #expect(try await doubt.listed() == 1)
  }

  @Test(arguments: ["capture", "refund"])
  func `do not say that nothing was done when they cannot know it`(verb: String) async throws {
    let doubt = try await Doubt(verb)
    doubt.proxy.cut("first-\(verb)", staysDown: true)
    let answer = try await doubt.call(200, named: "first-\(verb)")
    let error = try #require(answer.body["errors"]?.elements.first)
    #expect(doubt.proxy.cuts == 1 && answer.status == 503)
    #expect(error["id"] == "OUTCOME_NOT_RECORDED" && error["retriable"] == false, "\(answer.errorText)")
    #expect(!answer.headers.contains { $0.name.lowercased() == "retry-after" })
    doubt.proxy.comeBack()
    // Who asks finds it.
    #expect(try await doubt.listed() == 1)
  }

  @Test func `show the pool and the database in their metrics`() async throws {
    let (cluster, port) = (try await Cluster(), try FreePorts.row(of: 1))
    let server = try await TestSystem.shared.value.secondServer {
      cluster.add(&$0)
      $0.metricsPort = port
    }
    let shopper = try await collecting(server)
    #expect(try await shopper.pays(try await shopper.payment(try await shopper.token())).status == 200)
    try await waitUntil("the port of the metrics") { (try? RawConnection(port: port)) != nil }
    let request = OutboundRequest(method: "GET", url: "http://127.0.0.1:\(port)/metrics")
    func page() async throws -> String {
      String(decoding: try await server.sender.send(request, TestRun.whole).body, as: UTF8.self)
    }
    // On a slow machine a transaction may have been open for more than a second.
    let text = try await waitFor("a page of metrics without an old transaction", { try await page() }) {
      $0.contains("\ntender_database_oldest_transaction_seconds 0.")
    }
    for (name, kind) in [
      ("connections", "gauge"), ("connections_in_use", "gauge"), ("waits_total", "counter"),
      ("wait_seconds_total", "counter"), ("trips_total", "counter"), ("retries_total", "counter"),
      ("commits_in_doubt_total", "counter"),
    ] {
      #expect(text.contains("# TYPE tender_store_\(name) \(kind)\n"), "\(name)")
    }
    #expect(text.contains("\ntender_store_connections 8\n") && text.contains("\ntender_database_standbys 0\n"))
    #expect(text.contains("\ntender_store_retries_total{reason=\"deadlock\"} "))
    #expect(!text.contains("tender_database_replication_lag"))
  }

  @Test func `do not start with real money on a database that loses what it confirmed`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tender-nodes-\(RandomBytes.system.hex(4))")
    let configuration = try await ServerConfiguration.load(
      file: nil,
      variables: [
        "TENDER_ENVIRONMENT": "production", "TENDER_PUBLIC_URL": "https://pay.example.com", "TENDER_PORT": "0",
        "TENDER_HOST": "127.0.0.1", "TENDER_DIRECTORY": directory.path,
        "TENDER_STORE_URL": try await Cluster().address + "%20-c%20synchronous_commit%3Doff",
      ])
    await #expect {
      _ = try await TenderServer(configuration, logger: Logger(label: "node") { _ in SwiftLogNoOpLogHandler() })
    } throws: { "\($0)".contains("synchronous_commit = off") }
  }

  @Test func `refuse a second node at the first one's socket`() async throws {
    let system = try await TestSystem.shared.value
    let cluster = try await Cluster()
    let socket = FileManager.default.temporaryDirectory.appending(path: "n\(RandomBytes.system.hex(4)).sock").path
    _ = try await system.secondServer {
      cluster.add(&$0)
      $0.adminSocket = socket
    }
    await #expect {
      _ = try await system.secondServer {
        cluster.add(&$0)
        $0.adminSocket = socket
      }
    } throws: { "\($0)".contains("administration.socket") }
  }

  @Test func `serve with a role that can neither change a table nor delete from the journal`() async throws {
    let cluster = try await Cluster()
    let address = try await cluster.addressOfRole()
    let server = try await TestSystem.shared.value.secondServer {
      cluster.add(&$0)
      $0.storeURL = address
    }
    let shopper = try await collecting(server)
    #expect(try await shopper.pays(try await shopper.payment(try await shopper.token())).status == 200)
    let database = try await Database.postgres(PostgresSettings(address: address), migrations: [])
    for statement in [
      "DELETE FROM payments", "DELETE FROM operations", "DELETE FROM audit", "DELETE FROM outbox",
      "DELETE FROM token_uses", "DELETE FROM office_audit", "UPDATE audit SET captured = captured",
      "DELETE FROM migrations", "DROP TABLE payments", "ALTER TABLE payments ADD COLUMN more BIGINT",
      "CREATE TABLE more (id BIGINT)", "TRUNCATE payments",
    ] {
      await #expect("\(statement)") { try await database.write { try $0.run(statement) } } throws: { error in
        "\(error)".contains("permission denied") || "\(error)".contains("must be owner")
      }
    }
    await database.close()
  }

  /// A payment at a node whose way to the database ends at a commit. 400 of it are captured where a refund follows.
  private struct Doubt {
    let proxy: CuttingProxy
    private let shopper: Shopper
    private let payment: String
    private let verb: String

    init(_ verb: String) async throws {
      let system = try await TestSystem.shared.value
      let cluster = try await Cluster()
      let (address, proxy) = try cluster.address(through: CuttingProxy.init(to:))
      let shop = try await system.secondServer {
        cluster.add(&$0)
        $0.storeURL = address
      }
      (self.proxy, self.verb) = (proxy, verb)
      shopper = try await Shopper.enters(system, shop, service: "collection", capture: "manual")
      let answer = try await shopper.pays()
      payment = try #require(answer.body["paymentId"]?.text, "\(answer.errorText)")
      guard verb == "refund" else { return }
      let captured = try await signed("POST", "/capture", ["amount": 400])
      try #require(captured.status == 201, "\(captured.errorText)")
    }

    private func signed(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONClient.Answer {
      try await shopper.shop.signed(
        method, "/v2/harbour/payments/\(payment)\(path)", body, at: shopper.system.clock.wall.now())
    }

    func call(_ units: Int64, named name: String) async throws -> JSONClient.Answer {
      let references: JSONValue = ["merchantReference": .string(name)]
      return try await signed(
        "POST", "/\(verb)",
        verb == "capture"
          ? ["amount": .integer(units), "references": references]
          : ["amountOfMoney": ["amount": .integer(units), "currencyCode": "EUR"], "references": references])
    }

    /// Captured or refunded at the acquirer.
    func moved() async throws -> Int64? {
      guard case .integer(let units)? = try await shopper.holds().first?[verb == "capture" ? "captured" : "refunded"]
      else { return nil }
      return units
    }

    /// How many the merchant sees.
    func listed() async throws -> Int {
      try await signed("GET", "/\(verb)s").body["\(verb)s"]?.elements.count ?? 0
    }
  }

  /// Two servers on one new database.
  private func nodes() async throws -> (Shopfront, Shopfront) {
    let system = try await TestSystem.shared.value
    let cluster = try await Cluster()
    return (
      try await system.secondServer { cluster.add(&$0) }, try await system.secondServer { cluster.add(&$0) }
    )
  }

  private func collecting(_ shop: Shopfront) async throws -> Shopper {
    let shopper = try await Shopper.enters(try await TestSystem.shared.value, shop, service: "collection")
    return shopper
  }
}

@Suite struct `The address of a store on PostgreSQL` {
  @Test(arguments: [
    ("mysql://db/tender", "something else"),
    ("postgres://tender:hunter2@db.example.com/tender?sslmode=require", "sslmode must be verify-full"),
    ("postgres://tender:hunter2@db.example.com/tender?colour=red", "not a libpq connection string"),
  ])
  func `is checked before anything connects, and stays out of the message`(
    address: String, reason: String
  ) async throws {
    let refusal = await #expect(throws: ConfigurationError.self) {
      _ = try await ServerConfiguration.load(file: nil, variables: ["TENDER_STORE_URL": address])
    }
    let text = refusal?.diagnostic ?? ""
    #expect(text.contains("store.url") && text.contains(reason), "\(text)")
    #expect(!text.contains("hunter2") && !text.contains("mysql:"), "\(text)")
  }
}

/// A new database, and the keys that all of its nodes share.
private struct Cluster {
  let address: String
  private let files: String
  private let database: EmptyDatabase

  init() async throws {
    database = try await EmptyDatabase(.postgres)
    address = try database.address
    files = FileManager.default.temporaryDirectory.appending(path: "tender-nodes-\(RandomBytes.system.hex(4))").path
  }

  /// The address for a role that has the rights of a server, and no more, on the tables of this version.
  func addressOfRole() async throws -> String {
    let role = "server_\(RandomBytes.system.hex(4))"
    let owner = try await ServerStore.open(.postgres(PostgresSettings(address: address))).database
    let tables = try await owner.tableNames()
    try await owner.write { store in
      try store.run("CREATE ROLE \(role) LOGIN")
      let schema = try store.row("SELECT CAST(current_schema() AS TEXT) AS name")?.text("name") ?? ""
      try store.run("GRANT USAGE ON SCHEMA \(schema) TO \(role)")
      for statement in StoreGrants.statements(to: role, on: tables) { try store.run(statement) }
    }
    await owner.close()
    return address.replacing("//tender@", with: "//\(role)@")
  }

  /// How many processing keys have opened no payment token, as far as their node has written.
  func unusedKeys(_ database: Database) async throws -> Int {
    try await database.read { store in
      let used = try store.rows("SELECT last_used FROM processing_keys WHERE last_used IS NOT NULL").count
      return used == 0 ? 1 : 0
    }
  }

  func address(through proxy: (Int) throws -> CuttingProxy) throws -> (address: String, proxy: CuttingProxy) {
    try database.address(through: proxy)
  }

  func add(_ node: inout ServerConfiguration) {
    node.storeURL = address
    node.adminSocket = nil
    node.guestTokenKeyFile = files + "/guest-token.key"
    node.fingerprintKeyFile = files + "/fingerprint.key"
    node.storeKeyFile = files + "/store.key"
    node.contactKeyFile = files + "/contacts.keys"
  }
}

@Suite struct `The rights of a server's role` {
  @Test func `name every table from which a server deletes, and no other`() throws {
    #expect(try tables(of: "DELETE FROM") == StoreGrants.cleared.union(StoreGrants.forgotten))
  }

  @Test func `leave no table without UPDATE that a server changes`() throws {
    #expect(try tables(of: "UPDATE").isDisjoint(with: StoreGrants.final))
  }

  /// The tables that a server's statements of this kind name. The sandbox has stores of its own; a copy of a store is
  /// made by its owner.
  private func tables(of statement: String) throws -> Set<String> {
    let files = try #require(FileManager.default.enumerator(atPath: Repository.url("Sources").path))
    let pattern = try Regex("\\b\(statement) ([a-z_]+)", as: (Substring, Substring).self)
    return try Set(
      files.compactMap { $0 as? String }
        .filter { $0.hasSuffix(".swift") && !$0.hasPrefix("Sandbox/") && !$0.hasPrefix("Base/Storage/Copy/") }
        .flatMap { try String(contentsOf: Repository.url("Sources/\($0)"), encoding: .utf8).matches(of: pattern) }
        .map { String($0.output.1) })
  }
}

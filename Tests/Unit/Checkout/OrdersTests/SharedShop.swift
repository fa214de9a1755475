import ApplePayToken
import DirectWire
import Foundation
import Gateway
import JWTKit
import Ledger
import Orders
import Storage
import TenderPayments
import TenderTesting

/// Orders of two processes on one database. An SQLite file has one process, whose writes begin at the same time.
struct SharedShop: Sendable {
  /// A basket that can be paid.
  struct Shown: Sendable {
    let basket: BasketID
    let payment: PlaceOrderRequest
  }

  let place: EmptyDatabase
  let databases: [Database]
  let orders: [OrderService]
  let acquirer = FakeAcquirer()
  private let wallet: Wallet

  init(_ engine: StoreEngineUnderTest) async throws {
    place = try await EmptyDatabase(engine)
    wallet = try Wallet(Shop.merchant, clock: .system)
    let migrations = Journal.migrations + OrderService.migrations
    var databases: [Database] = []
    for _ in 0..<(engine == .postgres ? 2 : 1) { databases.append(try await place.open(migrations)) }
    self.databases = databases
    orders = databases.map { [wallet, acquirer] database in
      var policy = GatewayPolicy()
      (policy.timeout, policy.budget) = (TestRun.whole, TestRun.whole)
      let gateway = PaymentGateway(
        opener: wallet.opener, journal: Journal(database), acquirer: acquirer.acquirer, policy: policy)
      return OrderService(gateway: gateway, terms: { _ in MerchantTerms() })
    }
  }

  /// One more process, which waits for locks without a limit; only on PostgreSQL.
  func patientDatabase() async throws -> Database {
    try await Database.postgres(
      try place.settings {
        ($0.lockLimit, $0.statementLimit, $0.idleLimit) = (TestRun.whole, TestRun.whole, TestRun.whole)
      }, migrations: Journal.migrations + OrderService.migrations)
  }

  func service(over database: Database) -> OrderService {
    let gateway = PaymentGateway(opener: wallet.opener, journal: Journal(database), acquirer: acquirer.acquirer)
    return OrderService(gateway: gateway, terms: { _ in MerchantTerms() })
  }

  /// The process that the number falls on.
  func order(_ number: Int) -> OrderService { orders[number % orders.count] }

  /// Runs it 64 times at once.
  func atOnce<R: Sendable>(_ body: @escaping @Sendable (Int, OrderService) async throws -> R) async throws -> [R] {
    try await withThrowingTaskGroup(of: R.self) { group in
      for number in 0..<64 { group.addTask { try await body(number, order(number / 2)) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  static func basket(_ number: Int) -> BasketID { BasketID("\(10_000 + number)56789abcdef0123456789abcdef") }

  /// A basket to be collected, of one fish at a price.
  static func document(_ number: Int, price: Int64) -> BasketDocument {
    BasketDocument(
      currencyCode: .euro, countryCode: "IE", merchantReference: "HK-\(number)", businessName: "Harbour Kitchen",
      serviceTypes: ["collection"],
      items: [BasketDocument.Item(id: "fish", label: "Fish and chips", unitAmount: price)])
  }

  /// A new basket whose sheet is open, and what its shopper authorizes.
  func shown(_ number: Int, price: Int64) async throws -> Shown {
    let (id, service) = (Self.basket(number), order(number))
    try await service.put(Self.document(number, price: price), as: id, of: Shop.merchant)
    let quote = try await service.sheet(id, of: Shop.merchant).quote
    let token = try wallet.token(quote.total, applicationData: "tender:v1:\(Shop.merchant):\(id)")
    return Shown(
      basket: id,
      payment: PlaceOrderRequest(
        basket: id, quote: quote.id, token: token, billingContact: nil, shippingContact: .dublin))
  }

  func baskets(_ count: Int, price: Int64) async throws -> [Shown] {
    var all: [Shown] = []
    for number in 0..<count { all.append(try await shown(number, price: price)) }
    return all
  }

  /// Lets every statement that inserts into a table take a little longer; only on PostgreSQL.
  func pauseAfterInserts(into table: String) async throws {
    try await databases[0].write { store in
      try store.run(
        """
        CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_sleep(0.005); RETURN NULL; END'
        """)
      try store.run("CREATE TRIGGER pause AFTER INSERT ON \(table) FOR EACH STATEMENT EXECUTE FUNCTION pause()")
    }
  }

  /// How many baskets show a quote of other contents than theirs.
  func staleQuotes() async throws -> Int {
    try await databases[0].read { store in
      try store.rows("SELECT total, document FROM baskets JOIN quotes ON quotes.id = current_quote").filter { row in
        let document = try JSONDecoder().decode(BasketDocument.self, from: Data(try row.text("document").utf8))
        return try row.integer("total") != document.items[0].unitAmount
      }.count
    }
  }

  /// Returns when a transaction waits for a row of this database's baskets, and not at a ``StatementGate``.
  func untilSomebodyWaits() async throws {
    try await waitUntil("a transaction that waits for a basket") {
      try await databases[0].read { store in
        try !store.rows(
          """
          SELECT l.pid FROM pg_locks w JOIN pg_locks l ON l.pid = w.pid
          WHERE NOT w.granted AND w.locktype <> 'advisory'
            AND l.locktype = 'relation' AND l.relation = CAST('baskets' AS regclass)
          """
        ).isEmpty
      }
    }
  }
}

import Crypto
package import Ledger
package import Storage
package import TenderPayments

/// A merchant's session for one app or page, which calls the client API under its id.
package struct ClientSession: Sendable, Hashable {
  package let merchant: MerchantID
  /// Stands in the paths of the client API in the merchant's place.
  package let customer: String
  package let expiresAt: Timestamp
}

/// The client sessions, in the store, so that every node knows them. A session's id is a secret of its client: the store
/// holds a hash of it.
package struct ClientSessions: Sendable {
  package static let lifetime = Duration.seconds(3 * 3_600)
  /// How many tokens a request may name.
  package static let maximumTokens = 10

  private let database: Database
  private let clock: WallClock
  private let random: RandomBytes

  package init(_ database: Database, clock: WallClock, random: RandomBytes) {
    (self.database, self.clock, self.random) = (database, clock, random)
  }

  /// A new session. Those that have ended are removed in the same commit.
  ///
  /// - Returns: its id too, which is known from now on to its client alone.
  package func create(for merchant: MerchantID) async throws -> (id: String, session: ClientSession) {
    let (id, now) = (random.hex(24), clock.now())
    let session = ClientSession(
      merchant: merchant, customer: random.hex(12), expiresAt: now.adding(Self.lifetime))
    try await database.write { store in
      try Self.removeEnded(at: now, in: store)
      try store.run(
        "INSERT INTO client_sessions (id, merchant, customer, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)",
        .text(Self.name(id)), .text(merchant.rawValue), .text(session.customer), .time(now), .time(session.expiresAt))
    }
    return (id, session)
  }

  /// The session of this id; nil when there is none, or it has ended.
  package func find(_ id: String) async throws -> ClientSession? {
    let now = clock.now()
    return try await database.read { store in
      let row = try store.row(
        "SELECT * FROM client_sessions WHERE id = $1 AND expires_at > $2", .text(Self.name(id)), .time(now))
      return try row.map(ClientSession.init)
    }
  }

  /// Notes the one use of a customer input.
  ///
  /// - Parameter call: a repeat of the same call may use it again, because it gets the same answer.
  /// - Returns: false when another call has used it.
  package func use(_ input: CustomerInput, for call: IdempotentCall) async throws -> Bool {
    let (name, session, now) = ("\(call.call) \(call.key)", Self.name(input.clientSessionID), clock.now())
    return try await database.write { store in
      try store.run(
        "INSERT INTO customer_inputs (session, nonce, call, used_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        .text(session), .text(input.nonce), .text(name), .time(now))
      let row = try store.row(
        "SELECT call FROM customer_inputs WHERE session = $1 AND nonce = $2", .text(session), .text(input.nonce))
      return try row?.text("call").utf8.elementsEqual(name.utf8) == true
    }
  }

  private static func removeEnded(at now: Timestamp, in store: Transaction) throws {
    try store.run(
      "DELETE FROM customer_inputs WHERE session IN (SELECT id FROM client_sessions WHERE expires_at <= $1)", .time(now)
    )
    try store.run("DELETE FROM client_sessions WHERE expires_at <= $1", .time(now))
  }

  private static func name(_ id: String) -> String { Hex.encode(SHA256.hash(data: Array(id.utf8))) }
}

extension ClientSession {
  fileprivate init(_ row: Row) throws {
    merchant = MerchantID(try row.text("merchant"))
    customer = try row.text("customer")
    expiresAt = try row.time("expires_at")
  }
}

extension ClientSessions {
  /// To be opened in the server's store.
  package static let migrations: [Migration] = [
    Migration(
      "client-sessions-1",
      """
      CREATE TABLE client_sessions (
        id TEXT PRIMARY KEY NOT NULL,
        merchant TEXT NOT NULL,
        customer TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
      );
      CREATE INDEX client_sessions_expiry ON client_sessions (expires_at);
      CREATE TABLE customer_inputs (
        session TEXT NOT NULL,
        nonce TEXT NOT NULL,
        call TEXT NOT NULL,
        used_at BIGINT NOT NULL,
        PRIMARY KEY (session, nonce)
      );
      """)
  ]
}

package import Orders
package import Storage
package import TenderPayments

/// An erasure that waits for a second person. It has the orders that were found, and not by what they were found: that
/// would name the person.
package struct ErasureRequest: Sendable, Hashable {
  package let id: String
  package let orders: [String]
  package let merchant: MerchantID
  package let reason: String
  package let requestedBy: String
  package let requestedAt: Timestamp
}

/// The table `office_erasures`.
package struct ErasureRequests {
  static let migration = Migration(
    "privacy-office-1",
    """
    CREATE TABLE office_erasures (
      id TEXT PRIMARY KEY NOT NULL,
      orders TEXT NOT NULL,
      merchant TEXT NOT NULL,
      reason TEXT NOT NULL,
      requested_by TEXT NOT NULL,
      requested_at BIGINT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('waiting', 'approved', 'rejected')),
      decided_by TEXT,
      decided_at BIGINT,
      CHECK (decided_by IS NULL OR decided_by <> requested_by OR state = 'rejected')
    );
    CREATE INDEX office_erasures_waiting ON office_erasures (id) WHERE state = 'waiting';

    """)

  /// How many are shown at once.
  static let page = 100

  let store: Transaction

  package init(_ store: Transaction) { self.store = store }

  /// Once for the same orders, as long as they wait.
  package func request(
    _ id: String, _ orders: [FoundOrder], of merchant: MerchantID, reason: String, by user: String
  ) throws {
    let names = orders.map(\.id.rawValue).joined(separator: " ")
    guard try store.row("SELECT id FROM office_erasures WHERE state = 'waiting' AND orders = $1", .text(names)) == nil
    else { throw OfficeRefusal.conflict("This erasure waits already for a second person.") }
    try store.run(
      """
      INSERT INTO office_erasures (id, orders, merchant, reason, requested_by, requested_at, state)
      VALUES ($1, $2, $3, $4, $5, $6, 'waiting')
      """, .text(id), .text(names), .text(merchant.rawValue), .text(reason), .text(user), .time(store.now))
  }

  /// The oldest first.
  package func waiting() throws -> [ErasureRequest] {
    try store.rows("SELECT * FROM office_erasures WHERE state = 'waiting' ORDER BY id LIMIT \(Self.page)")
      .map(ErasureRequest.init)
  }

  package func find(waiting id: String) throws -> ErasureRequest? {
    try store.row("SELECT * FROM office_erasures WHERE state = 'waiting' AND id = $1", .text(id))
      .map(ErasureRequest.init)
  }

  /// False when another user has decided already.
  package func reject(_ id: String, by user: String) throws -> Bool {
    try store.changes(
      """
      UPDATE office_erasures SET state = 'rejected', decided_by = $2, decided_at = $3
      WHERE id = $1 AND state = 'waiting'
      """, .text(id), .text(user), .time(store.now)) == 1
  }

  /// Notes an approval, after the orders were erased: until then the request waits. It replaces a rejection of meanwhile,
  /// which came too late.
  package func approve(_ id: String, by user: String) throws {
    try store.run(
      """
      UPDATE office_erasures SET state = 'approved', decided_by = $2, decided_at = $3
      WHERE id = $1 AND state <> 'approved' AND requested_by <> $2
      """, .text(id), .text(user), .time(store.now))
  }

  /// Lets requests wait again that are approved and not carried out: earlier versions noted the approval before they
  /// erased, and could end between the two.
  package func awaitAgain() throws {
    let approved = try store.rows("SELECT * FROM office_erasures WHERE state = 'approved'").map(ErasureRequest.init)
    guard !approved.isEmpty else { return }
    let erased = try OrderErasure.findErased(in: store)
    for request in approved {
      let left = try request.orders.filter { try !erased.contains($0) && FoundOrder.find($0, in: store) != nil }
      guard !left.isEmpty else { continue }
      try store.run(
        "UPDATE office_erasures SET state = 'waiting', decided_by = NULL, decided_at = NULL WHERE id = $1",
        .text(request.id))
    }
  }
}

extension ErasureRequest {
  fileprivate init(_ row: Row) throws {
    self.init(
      id: try row.text("id"), orders: try row.text("orders").split(separator: " ").map(String.init),
      merchant: MerchantID(try row.text("merchant")), reason: try row.text("reason"),
      requestedBy: try row.text("requested_by"), requestedAt: try row.time("requested_at"))
  }
}

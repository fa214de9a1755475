package import Storage
package import TenderPayments

/// The searches that a user has kept.
package struct SavedFilters {
  private static let most: Int64 = 50

  let store: Transaction

  package init(store: Transaction) { self.store = store }

  package func all(of user: String) throws -> [(name: String, query: String)] {
    try store.rows("SELECT * FROM office_filters WHERE user_name = $1 ORDER BY name", .text(user)).map {
      (try $0.text("name"), try $0.text("query"))
    }
  }

  /// - Parameter query: of the address of the page of payments.
  /// - Throws: ``OfficeRefusal`` beyond 50. One of the name is replaced.
  package func keep(_ name: String, _ query: String, of user: String) throws {
    let others = try store.row(
      "SELECT count(*) AS n FROM office_filters WHERE user_name = $1 AND name <> $2", .text(user), .text(name))?
      .integer("n")
    guard others ?? 0 < Self.most else {
      throw OfficeRefusal.conflict("You have 50 searches; remove one first.", at: "name")
    }
    try store.run(
      """
      INSERT INTO office_filters (user_name, name, query) VALUES ($1, $2, $3)
      ON CONFLICT (user_name, name) DO UPDATE SET query = $3
      """, .text(user), .text(name), .text(query))
  }

  /// Gives a search another name: the first one free of `name`, `name 2` and so on.
  func rename(_ former: String, to name: String, of user: String) throws {
    let taken = try Set(all(of: user).map(\.name))
    let free = ([name] + (2...taken.count + 2).map { "\(name) \($0)" }).first { !taken.contains($0) } ?? name
    try store.run(
      "UPDATE office_filters SET name = $3 WHERE user_name = $1 AND name = $2", .text(user), .text(former), .text(free))
  }

  package func remove(_ name: String, of user: String) throws {
    try store.run("DELETE FROM office_filters WHERE user_name = $1 AND name = $2", .text(user), .text(name))
  }
}

/// A comparison of the journal with a provider's listing or report.
package struct ReconciliationRun: Sendable {
  package let at: Timestamp
  package let user: String
  package let route: String
  /// The days, or the name of the report's file.
  package let source: String
  package let differences: Int64

  package init(at: Timestamp, user: String, route: String, source: String, differences: Int64) {
    self.at = at
    self.user = user
    self.route = route
    self.source = source
    self.differences = differences
  }
}

package struct ReconciliationRuns {
  let store: Transaction

  package init(store: Transaction) {
    self.store = store
  }

  package func note(_ run: ReconciliationRun) throws {
    let insert = """
      INSERT INTO office_reconciliations (id, at, user_name, route, source, differences)
      VALUES ((SELECT coalesce(max(id), 0) + 1 FROM office_reconciliations), $1, $2, $3, $4, $5)
      ON CONFLICT (id) DO NOTHING
      """
    // Another transaction may take the number meanwhile.
    while try store.changes(
      insert, [.time(run.at), .text(run.user), .text(run.route), .text(run.source), .integer(run.differences)]) == 0
    {}
  }

  /// The newest first.
  package func newest(limit: Int64 = 50) throws -> [ReconciliationRun] {
    try store.rows("SELECT * FROM office_reconciliations ORDER BY id DESC LIMIT $1", .integer(limit)).map { row in
      ReconciliationRun(
        at: try row.time("at"), user: try row.text("user_name"), route: try row.text("route"),
        source: try row.text("source"), differences: try row.integer("differences"))
    }
  }
}

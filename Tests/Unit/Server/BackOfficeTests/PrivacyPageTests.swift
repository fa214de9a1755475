import Administration
import BackOffice
import HTTPTypes
import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

extension OfficeBench {
  /// The order of a captured payment, with the shopper's address.
  fileprivate func sold(_ order: String, _ email: String) async throws -> PaymentID {
    let payment = try await captured(order)
    try await database.write { store in
      try store.run(
        """
        INSERT INTO orders (id, merchant, basket, quote, merchant_reference, amount, currency, service, created_at,
          updated_at, note) VALUES ($1, 'shop', $2, 'quote', $3, 1250, 'EUR', 'collection', $4, $4, 'by the marmoset')
        """, .text(order), .text("basket of \(order)"), .text("R-\(order)"), .time(store.now))
      try store.run(
        "INSERT INTO order_contacts (order_id, contact, updated_at, email) VALUES ($1, $2, $3, $4)", .text(order),
        .text("{\"emailAddress\":\"\(email)\"}"), .time(store.now), .text(email.lowercased()))
      try store.run(
        "INSERT INTO office_filters (user_name, name, query) VALUES ('ann', 'hers', $1)",
        .text("email=aoife%40example.com"))
    }
    return payment
  }

  fileprivate func notes() async throws -> Int64 {
    try await database.read { try $0.row("SELECT count(note) AS n FROM orders")?.integer("n") ?? 0 }
  }

  fileprivate func actions() async throws -> [OfficeAction] {
    try await database.read { try OfficeAudit($0).entries(limit: 20) }.map(\.action).filter {
      $0.action.hasPrefix("privacy.")
    }
  }
}

@Suite struct `The page of privacy` {
  private static let aoife = ["kind": "email", "name": "Aoife@example.com"]

  private static func because(_ reason: String) -> [String: String] { aoife.merging(["reason": reason]) { $1 } }

  @Test func `finds, hands out and erases what is kept of a person`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("ann", [Grant(.administrator)])
    let payment = try await bench.sold("order-1", "aoife@example.com")
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      #expect(try await visitor.get("/privacy").status == .ok)
      let found = try await visitor.post("/privacy/find", Self.aoife)
      #expect(found.status == .ok && found.text.contains("R-order-1") && found.text.contains("/payments/\(payment)"))
      let file = try await visitor.post("/privacy/export", Self.aoife)
      #expect(file.headers[.contentDisposition] == "attachment; filename=\"person.json\"")
      #expect(file.text.contains("by the marmoset") && file.text.contains("aoife@example.com"))
      let refused = try await visitor.post("/privacy/erase", Self.because("aoife@example.com asked for it"))
      #expect(refused.status == .badRequest && refused.text.contains("without naming the person"))
      #expect(try await bench.notes() == 1)
      let erased = try await visitor.post("/privacy/erase", Self.because("asked for it"))
      #expect(erased.headers[.location] == "/privacy?done=erased")
      #expect(try await visitor.post("/privacy/find", Self.aoife).text.contains("Nothing is kept of this person"))
      #expect(try await visitor.get("/payments/\(payment)").status == .ok)
    }
    #expect(try await bench.notes() == 0)
    #expect(try await bench.database.read { try $0.rows("SELECT name FROM office_filters") }.isEmpty)
    let actions = try await bench.actions()
    #expect(actions.map(\.action) == ["privacy.erase.outcome", "privacy.erase", "privacy.export"])
    #expect(actions.allSatisfy { !"\($0)".lowercased().contains("aoife") }, "\(actions)")
    #expect(actions[1].reason == "asked for it" && actions[1].before == "order-1")
    #expect(try await bench.database.read { try OfficeAudit($0).firstBroken() } == nil)
  }

  @Test func `is for administrators of every merchant alone`() async throws {
    let bench = try await OfficeBench()
    for grants in [[Grant(.operator)], [Grant(.administrator, of: "shop")]] {
      try await bench.visit(as: grants) { visitor async throws in
        #expect(try await visitor.get("/privacy").status == .forbidden)
        #expect(try await visitor.post("/privacy/erase", Self.because("asked")).status == .forbidden)
      }
    }
  }

  /// - Returns: the request that waits.
  private static func request(_ visitor: Visitor) async throws -> String {
    let asked = try await visitor.post("/privacy/erase", because("asked for it"))
    #expect(asked.headers[.location] == "/privacy?done=erasureRequested")
    let page = try await visitor.get("/privacy")
    return try #require(page.text.firstMatch(of: /\/privacy\/([0-9a-f]{32})\/reject/).map { String($0.output.1) })
  }

  @Test func `says why an erasure failed that a second person approved, and lets it wait`() async throws {
    let bench = try await OfficeBench(erasuresNeedTwo: true, keyCopy: "disk/contacts.keys")
    try await bench.user("ann", [Grant(.administrator)])
    _ = try await bench.sold("order-1", "aoife@example.com")
    let request = try await bench.visit(as: [Grant(.administrator)]) { try await Self.request($0) }
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let refused = try await visitor.post("/privacy/\(request)/approve")
      #expect(refused.status == .badRequest && refused.text.contains("Nobody was erased"), "\(refused.text)")
      #expect(try await bench.notes() == 1)
      #expect(try await visitor.get("/privacy").text.contains("/privacy/\(request)/approve"))
      try PrivateFile.makeFolder(bench.files.directory + "/disk")
      let approved = try await visitor.post("/privacy/\(request)/approve")
      #expect(approved.headers[.location] == "/privacy?done=erased")
      #expect(try await visitor.post("/privacy/\(request)/approve").status == .conflict)
    }
    #expect(try await bench.notes() == 0)
    let actions = try await bench.actions().map(\.action)
    #expect(actions.first == "privacy.erase.outcome" && actions.count == 5, "\(actions)")
  }

  @Test func `lets an erasure wait again that an earlier version approved and did not carry out`() async throws {
    let bench = try await OfficeBench(erasuresNeedTwo: true)
    try await bench.user("ann", [Grant(.administrator)])
    _ = try await bench.sold("order-1", "aoife@example.com")
    let request = try await bench.visit(as: [Grant(.administrator)]) { try await Self.request($0) }
    try await bench.database.write { store in
      try store.run("UPDATE office_erasures SET state = 'approved', decided_by = 'zoe', decided_at = 1")
      try ErasureRequests(store).awaitAgain()
    }
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let approved = try await visitor.post("/privacy/\(request)/approve")
      #expect(approved.headers[.location] == "/privacy?done=erased", "\(approved.text)")
    }
    try await bench.database.write { try ErasureRequests($0).awaitAgain() }
    #expect(try await bench.database.read { try ErasureRequests($0).waiting() }.isEmpty)
    #expect(try await bench.notes() == 0)
  }

  @Test func `has a second person decide, where that is configured`() async throws {
    let bench = try await OfficeBench(erasuresNeedTwo: true)
    try await bench.user("ann", [Grant(.administrator)])
    _ = try await bench.sold("order-1", "aoife@example.com")
    let request = try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let asked = try await visitor.post("/privacy/erase", Self.because("asked for it"))
      #expect(asked.headers[.location] == "/privacy?done=erasureRequested")
      #expect(try await visitor.post("/privacy/erase", Self.because("asked again")).status == .conflict)
      let page = try await visitor.get("/privacy")
      let id = try #require(page.text.firstMatch(of: /\/privacy\/([0-9a-f]{32})\/reject/).map { String($0.output.1) })
      #expect(!page.text.contains("/privacy/\(id)/approve"))
      #expect(try await visitor.post("/privacy/\(id)/approve").status == .conflict)
      #expect(try await !visitor.get("/").text.contains("An erasure waits"))
      return id
    }
    #expect(try await bench.notes() == 1)
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      #expect(try await visitor.get("/").text.contains("An erasure waits for a second person"))
      #expect(try await visitor.get("/privacy").text.contains("asked for it"))
      let approved = try await visitor.post("/privacy/\(request)/approve")
      #expect(approved.headers[.location] == "/privacy?done=erased")
      #expect(try await visitor.post("/privacy/\(request)/approve").status == .conflict)
    }
    #expect(try await bench.notes() == 0)
    let actions = try await bench.actions()
    #expect(actions.map(\.action) == ["privacy.erase.outcome", "privacy.erase", "privacy.request"])
  }
}

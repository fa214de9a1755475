import Acquiring
import Administration
import BackOffice
import HTTPTypes
import Ledger
import MerchantIdentity
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `The pages of payments` {
  @Test func `find a payment by id, order, basket, last four digits and amount`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let queries = [
        "q=\(id)", "q=order-1", "q=%20ORDER-1+", "q=basket%20of%20order-1", "q=0492", "q=0012", "amount=12.50%20EUR",
        "amount=12.50+EUR", "status=captured", "merchant=shop", "route=sandbox", "from=2027-01-01&until=2027-01-31",
      ]
      for query in queries {
        #expect(try await visitor.get("/payments?\(query)").text.contains("/payments/\(id)"), "\(query)")
      }
      for query in ["q=0493", "q=nothing", "amount=12.51%20EUR", "status=voided", "merchant=other", "until=2026-12-31"]
      {
        #expect(try await !visitor.get("/payments?\(query)").text.contains("/payments/\(id)"), "\(query)")
      }
    }
  }

  @Test func `answer HEAD as GET, without a body`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit { visitor async throws in
      for path in ["/sign-in", "/", "/payments/\(id)", "/nowhere"] {
        let (get, head) = (try await visitor.get(path), try await visitor.head(path))
        #expect(head.status == get.status && head.text.isEmpty, "\(path)")
      }
    }
  }

  @Test func `show everything that happened`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let page = try await visitor.get("/payments/\(id)")
      for text in [
        "€12.50", "Asked sandbox: authorize", "capture of €12.50: approved", "€12.50 was captured.", "Event 1", "hash ",
        "Visa 0492 (",
        "debit", "5a5a",
      ] {
        #expect(page.text.contains(text), "\(text)")
      }
      #expect(!page.text.contains("<form method=\"post\" action=\"/payments"))
      let evidence = try await visitor.get("/payments/\(id)/evidence")
      #expect(evidence.status == .ok && evidence.text.contains("SHA-256"))
    }
  }

  @Test func `hide payments and merchants of others, as if they were not there`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    let (request, before) = (try await bench.request(of: "shop").id, try await bench.merchantStates())
    try await bench.visit(as: [Grant(.administrator, of: "other")]) { visitor async throws in
      for path in [
        "/payments/\(id)", "/payments/\(id)/evidence", "/merchants/shop",
        "/merchants/shop/certificates/\(request)/request",
      ] {
        #expect(try await visitor.get(path).status == .notFound, "\(path)")
      }
      for path in ["/payments", "/payments.csv", "/payments?q=\(id)", "/payments?merchant=shop", "/", "/overview"] {
        #expect(try await !visitor.get(path).text.contains("/payments/\(id)"), "\(path)")
      }
      let key = String(repeating: "a", count: 32)
      for path in [
        "/payments/\(id)/refund", "/payments/\(id)/resolve", "/payments/\(id)/approvals/\(key)/approve",
        "/merchants/shop/add-key",
      ] {
        let fields = ["reason": "because", "key": key, "as": "failed", "kind": "api-key"]
        #expect(try await visitor.post(path, fields).status == .notFound, "\(path)")
      }
      let replay = ["payment": id.rawValue, "sequence": "1", "reason": "because"]
      #expect(try await visitor.post("/webhooks/replay", replay).status == .notFound)
      let foreign = ["certificate": request, "reason": "because"]
      #expect(try await visitor.post("/merchants/other/activate-certificate", foreign).status == .notFound)
    }
    #expect(bench.asked.isEmpty)
    #expect(try await bench.merchantStates() == before)
  }

  @Test func `show texts of shoppers as texts`() async throws {
    let bench = try await OfficeBench()
    let html = "<script>alert(1)</script>\"'><img src=x> 0492"
    let id = try await bench.captured("<b>order</b>", card: html)
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      _ = try await visitor.post(
        "/payments/\(id)/acknowledge", ["reason": html, "key": String(repeating: "a", count: 32)])
      for path in [
        "/payments", "/payments?q=%3Cscript%3E", "/payments/\(id)", "/payments/\(id)/evidence", "/audit",
        "/overview", "/payments?merchant=%22%3E%3Cscript%3E",
      ] {
        let text = try await visitor.get(path).text
        #expect(!text.contains("<script>") && !text.contains("<img") && !text.contains("<b>"), "\(path)")
      }
    }
  }

  /// As a store may hold them from before amounts were limited.
  @Test func `show and add up any amounts, and the charts of others go on`() async throws {
    let bench = try await OfficeBench()
    for number in 0..<3 {
      let use = TokenUse(transactionID: "declined \(number)", payloadHash: "declined \(number)")
      let order = Order.sample("declined-\(number)", .eur(.max))
      guard case .new(let attempt) = try await bench.journal.claim(order, spending: use, card: .sample) else {
        throw OfficeBench.NoPayment()
      }
      _ = try await bench.journal.record(.declined(Decline(reason: .other, code: "05")), for: attempt)
      _ = try await bench.captured("largest-\(number)", .eur(.max))
    }
    bench.clock.advance(.seconds(86_400))
    _ = try await bench.captured("order-1", .eur(1250))
    while try await FigureCounting(bench.database).step() != .nothingNew {}
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let page = try await visitor.get("/overview")
      #expect(page.status == .ok && page.text.contains("12.50"), "\(page.text)")
      #expect(page.text.contains("with what was voided or released later") && page.text.contains("until now"))
      for path in ["/payments", "/payments.csv", "/overview?days=1", "/overview?merchant=shop"] {
        #expect(try await visitor.get(path).status == .ok, "\(path)")
      }
    }
  }

  @Test func `keep formulas out of the CSV`() async throws {
    let bench = try await OfficeBench()
    for (number, start) in ["=", "+", "-", "@", "\t"].enumerated() {
      _ = try await bench.captured("order-\(number)", card: "\(start)HYPERLINK(\"http://evil\") 0492")
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let lines = try await visitor.get("/payments.csv").text.split(separator: "\r\n")
      #expect(lines.count == 6)
      for line in lines.dropFirst() {
        #expect(line.contains("\"'"), "\(line)")
        #expect(!line.contains(/(^|,)"?[=+@\t-]/), "\(line)")
      }
    }
  }

  @Test func `keep what stands behind a quote with a combining mark in the cell of its text`() async throws {
    let bench = try await OfficeBench()
    try await bench.captured("order-1", card: "Visa\"\u{301},=HYPERLINK(\"http://evil\") 0492")
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let lines = try await visitor.get("/payments.csv").text.split(separator: "\r\n").map(CSVLine.init)
      #expect(lines.count == 2 && lines[0].cells.count == lines[1].cells.count)
      #expect(lines[1].cells.contains("Visa\u{301},=HYPERLINK(http://evil) 0492"), "\(lines[1])")
    }
  }

  /// Spreadsheets take it for the end of a cell where a comma is the decimal mark.
  @Test func `hold no formula behind a semicolon`() async throws {
    let bench = try await OfficeBench()
    try await bench.captured("order-1", card: "Visa;=1+1;\" =2+2;-3 0492")
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let text = try await visitor.get("/payments.csv").text
      #expect(text.contains("\"Visa;'=1+1;\"\" '=2+2;'-3 0492\""), "\(text)")
    }
  }

  @Test func `draw charts whose labels are texts, whatever stands behind a character of HTML`() async throws {
    let bench = try await OfficeBench()
    try await bench.captured()
    try await bench.database.write {
      try $0.run("UPDATE payments SET route = $1", .text("<\u{301}script\"\u{301}>\u{301}&\u{301}"))
    }
    while case .backlog = try await FigureCounting(bench.database).step() {}
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let bytes = Array(try await visitor.get("/overview").text.utf8)
      #expect(bytes.contains("&lt;\u{301}script&quot;\u{301}&gt;\u{301}&amp;\u{301}"))
      #expect(!bytes.contains("<\u{301}script"))
    }
  }

  @Test func `have every payment in pages and in the CSV, once`() async throws {
    let bench = try await OfficeBench()
    for number in 0..<120 {
      bench.clock.advance(.seconds(1))
      try await bench.captured("order-\(number)")
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      var (path, found) = ("/payments", [Substring]())
      while true {
        let text = try await visitor.get(path).text
        found += text.matches(of: /href="\/payments\/([0-9a-f]{32})"/).map(\.output.1)
        guard let next = text.firstMatch(of: /href="(\/payments\?[^"]*before=[^"]*)"/)?.output.1 else { break }
        path = String(next)
      }
      #expect(found.count == 120 && Set(found).count == 120)
      #expect(try await visitor.get("/payments.csv").text.split(separator: "\r\n").count == 121)
    }
  }
}

@Suite struct `A refund in the office` {
  @Test func `is one, however often its form is sent, and by two operators at once`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.user("anna", [Grant(.operator)], limits: "50.00 EUR")
    try await bench.user("bert", [Grant(.operator)], limits: "50.00 EUR")
    try await bench.visit { anna in
      try await anna.signIn("anna")
      let key = try await anna.get("/payments/\(id)").value(of: "key")
      let form = ["amount": "5.00", "reason": "the shopper asked", "key": key]
      try await bench.visit { bert in
        try await bert.signIn("bert")
        let page = try await bert.get("/payments/\(id)")
        #expect(page.value(of: "key") == key)
        let first = try await anna.post("/payments/\(id)/refund", form)
        let second = try await anna.post("/payments/\(id)/refund", form)
        #expect(first.status == .seeOther && second.status == .seeOther)
        #expect(try await bert.post("/payments/\(id)/refund", form).status == .seeOther)
      }
    }
    #expect(bench.asked.count == 1)
  }

  @Test func `is judged with what the same person has refunded alone, of this payment and within a day`() async throws {
    let bench = try await OfficeBench()
    let (first, second) = (try await bench.captured(), try await bench.captured("order-2"))
    try await bench.user("anna", [Grant(.operator)], limits: "5.00 EUR")
    try await bench.visit { anna in
      try await anna.signIn("anna")
      func refunds(_ payment: PaymentID, _ amount: String) async throws -> Bool {
        let answer = try await anna.post(
          "/payments/\(payment)/refund", ["amount": amount, "reason": "broken", "key": RandomBytes.system.hex(16)])
        return answer.headers[.location]?.hasSuffix("done=refunded") == true
      }
      #expect(try await refunds(first, "2.50"))
      #expect(try await refunds(first, "2.50"))
      for _ in 0..<8 { #expect(try await !refunds(first, "2.50")) }
      #expect(try await !refunds(second, "0.01"))
      bench.clock.advance(.seconds(86_400))
      try await anna.signIn("anna")
      #expect(try await !refunds(first, "0.01"), "of one payment, whatever the day")
      #expect(try await refunds(second, "5.00"))
      #expect(try await !refunds(second, "0.01"))
    }
    #expect(bench.asked.count == 3)
    // What did not reach the provider, or was refused there, is not counted; what a person says of it changes nothing.
    try await bench.visit(as: [Grant(.operator)], limits: "2.50 EUR") { bert in
      let form = ["amount": "2.50", "reason": "broken"]
      for end in ["state = 'declined'", "state = 'failed'", "state = 'failed', decided = 1"] {
        _ = try await bert.post("/payments/\(first)/refund", form.merging(["key": RandomBytes.system.hex(16)]) { $1 })
        try await bench.database.write { store in
          try store.run(
            """
            UPDATE operations SET \(end)
            WHERE payment = $1 AND number = (SELECT max(number) FROM operations WHERE payment = $1)
            """, .text(first.rawValue))
        }
      }
      #expect(bench.asked.count == 6)
      let more = ["amount": "0.01", "reason": "broken", "key": RandomBytes.system.hex(16)]
      let answer = try await bert.post("/payments/\(second)/refund", more)
      #expect(answer.headers[.location]?.hasSuffix("done=requested") == true)
    }
    #expect(bench.asked.count == 6)
  }

  @Test(arguments: ["refund", "capture"])
  func `without an amount is asked about with what is left, and nothing is done`(_ verb: String) async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured(capturing: .eur(100))
    try await bench.visit(as: [Grant(.operator)], limits: "50.00 EUR") { anna in
      let form = ["reason": "all \"of\" it", "key": String(repeating: "0", count: 32)]
      let answer = try await anna.post("/payments/\(id)/\(verb)", form)
      #expect(answer.status == .badRequest && bench.asked.isEmpty)
      let left = verb == "refund" ? "1.00" : "11.50"
      #expect(answer.text.contains("All that is left, €\(left)"))
      #expect(answer.text.contains("value=\"\(left) EUR\"") && answer.text.contains("value=\"all &quot;of&quot; it\""))
      let typed = form.merging(["amount": "\(left) eur"]) { $1 }
      #expect(try await anna.post("/payments/\(id)/\(verb)", typed).status == .seeOther)
      #expect(bench.asked.map(\.amount.decimalString) == [left])
    }
  }

  @Test func `that is mistyped keeps the form, and says what is wrong with it`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.operator)], limits: "50.00 EUR") { anna in
      let form = ["amount": "5,oo", "reason": "cold", "key": String(repeating: "0", count: 32)]
      let answer = try await anna.post("/payments/\(id)/refund", form)
      #expect(answer.status == .badRequest && answer.text.contains("“5,oo”: use a point"))
      let other = try await anna.post("/payments/\(id)/refund", form.merging(["amount": "5.00 USD"]) { $1 })
      #expect(other.status == .badRequest && other.text.contains("“5.00 USD”: the currency must be EUR"))
      #expect(answer.text.contains("value=\"5,oo\"") && answer.text.contains("value=\"cold\""))
      #expect(answer.text.contains("at most €12.50"))
    }
  }

  @Test func `above the limit waits for a second person`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.user("anna", [Grant(.operator)], limits: "5.00 EUR")
    try await bench.user("bert", [Grant(.operator)], limits: "5.00 EUR")
    let key = try await bench.visit { anna in
      try await anna.signIn("anna")
      let key = try await anna.get("/payments/\(id)").value(of: "key")
      _ = try await anna.post(
        "/payments/\(id)/refund", ["amount": "5.00", "reason": "small", "key": String(repeating: "0", count: 32)])
      #expect(bench.asked.count == 1)
      let answer = try await anna.post("/payments/\(id)/refund", ["amount": "5.01", "reason": "large", "key": key])
      #expect(answer.headers[.location]?.hasSuffix("done=requested") == true)
      let approval = try #require(try await bench.approvals().first)
      let home = try await anna.get("/").text
      #expect(home.contains("Look or withdraw") && !home.contains("Approve or reject"))
      let own = try await anna.post("/payments/\(id)/approvals/\(approval)/approve", ["reason": "mine"])
      #expect(own.status == .conflict)
      return approval
    }
    #expect(bench.asked.count == 1)
    try await bench.visit { bert in
      try await bert.signIn("bert")
      let home = try await bert.get("/").text
      #expect(home.contains("waits for a second person") && home.contains("Approve or reject"))
      for _ in 0..<2 {
        let answer = try await bert.post("/payments/\(id)/approvals/\(key)/approve", ["reason": "right"])
        #expect(answer.status == .seeOther)
      }
    }
    #expect(bench.asked.map(\.amount) == [.eur(500), .eur(501)])
    // The provider is asked once for good, and not for as long as the refund's key is remembered.
    bench.clock.advance(.seconds(7_200))
    try await bench.visit { bert in
      try await bert.signIn("bert")
      let answer = try await bert.post("/payments/\(id)/approvals/\(key)/approve", ["reason": "again"])
      #expect(answer.status == .conflict)
    }
    #expect(bench.asked.count == 2)
  }

  @Test func `that was approved and cannot be made is in the audit as refused, and waits on`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    for name in ["anna", "bert"] { try await bench.user(name, [Grant(.operator)], limits: "1.00 EUR") }
    let approval = try await bench.visit { anna in
      try await anna.signIn("anna")
      let key = try await anna.get("/payments/\(id)").value(of: "key")
      _ = try await anna.post("/payments/\(id)/refund", ["amount": "5.00", "reason": "large", "key": key])
      return try #require(try await bench.approvals().first)
    }
    let meanwhile = try await bench.journal.reserve(.refund, .eur(1050), of: id)
    _ = try await bench.journal.record(FakeAcquirer.approval(meanwhile.reference), for: meanwhile)
    try await bench.visit { bert in
      try await bert.signIn("bert")
      let answer = try await bert.post("/payments/\(id)/approvals/\(approval)/approve", ["reason": "right"])
      #expect(answer.status == .conflict)
      #expect(try await bench.approvalStates() == ["waiting"])
      let rejected = try await bert.post("/payments/\(id)/approvals/\(approval)/reject", ["reason": "too much"])
      #expect(rejected.headers[.location]?.hasSuffix("done=rejected") == true)
      #expect(try await bench.approvalStates() == ["rejected"])
    }
    let entries = try await bench.database.read { store in
      try store.rows("SELECT action, state_after FROM office_audit ORDER BY seq").map {
        "\(try $0.text("action")) \(try $0.text("state_after"))"
      }
    }
    let (refused, rejected) = (entries.dropLast().last ?? "", entries.last)
    #expect(refused.hasPrefix("payment.refund.refused ") && refused.contains("2.00 EUR"), "\(entries)")
    #expect(rejected == "refund.rejected 5.00 EUR asked for by anna", "\(entries)")
    #expect(!entries.contains { $0.hasPrefix("refund.approved") }, "\(entries)")
    #expect(bench.asked.isEmpty)
  }

  @Test func `that its own requester approves is in the audit as refused`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.operator)], limits: "1.00 EUR") { anna async throws in
      let form = ["amount": "5.00", "reason": "large", "key": String(repeating: "0", count: 32)]
      _ = try await anna.post("/payments/\(id)/refund", form)
      let approval = try #require(try await bench.approvals().first)
      let answer = try await anna.post("/payments/\(id)/approvals/\(approval)/approve", ["reason": "mine"])
      #expect(answer.status == .conflict)
    }
    let entries = try await bench.database.read { try OfficeAudit($0).entries(subject: id.rawValue) }
    #expect(entries.map(\.action.action) == ["payment.refund.refused", "refund.request"])
    #expect(entries.first?.action.after.contains("asked for this refund yourself") == true)
    #expect(bench.asked.isEmpty)
  }

  @Test func `that another user approves first is refused to its own requester, and is in the audit once`() async throws
  {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    for name in ["anna", "bert"] { try await bench.user(name, [Grant(.operator)], limits: "1.00 EUR") }
    try await bench.visit { anna in
      try await anna.signIn("anna")
      let form = ["amount": "5.00", "reason": "large", "key": String(repeating: "0", count: 32)]
      _ = try await anna.post("/payments/\(id)/refund", form)
      let path = "/payments/\(id)/approvals/\(try #require(try await bench.approvals().first))/approve"
      try await bench.visit { bert in
        try await bert.signIn("bert")
        // At the same moment: whoever is first, one of them alone approves it.
        async let own = anna.post(path, ["reason": "mine"]).status
        let answer = try await bert.post(path, ["reason": "right"])
        #expect(answer.headers[.location]?.hasSuffix("done=approved") == true)
        #expect(try await own == .conflict)
      }
      #expect(try await anna.post(path, ["reason": "mine"]).status == .conflict)
    }
    let entries = try await bench.database.read { try OfficeAudit($0).entries(subject: id.rawValue) }
    let ends = [
      "payment.refund.outcome", "payment.refund.refused", "payment.refund.refused", "refund.approved", "refund.request",
    ]
    #expect(entries.map(\.action.action).sorted() == ends)
    #expect(bench.asked.count == 1)
  }

  @Test func `is answered as done where the store does not take the entry of what came of it`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.losesEnds()
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let form = ["amount": "5.00", "reason": "damaged", "key": RandomBytes.system.hex(16)]
      let answer = try await visitor.post("/payments/\(id)/refund", form)
      #expect(answer.headers[.location]?.hasSuffix("done=refunded") == true, "\(answer.text)")
      let refused = try await visitor.post("/payments/\(id)/refund", form.merging(["amount": "5,oo"]) { $1 })
      #expect(refused.status == .badRequest && refused.text.contains("5,oo"))
    }
    #expect(bench.asked.count == 1)
    let entries = try await bench.database.read { try OfficeAudit($0).entries(subject: id.rawValue) }
    #expect(entries.map(\.action.action) == ["payment.refund"])
  }

  @Test func `of two payments waits twice, under one key and for one amount too`() async throws {
    let bench = try await OfficeBench()
    let payments = [try await bench.captured(), try await bench.captured("order-2")]
    try await bench.visit(as: [Grant(.operator)], limits: "1.00 EUR") { anna async throws in
      let form = ["amount": "5.00", "reason": "large", "key": String(repeating: "0", count: 32)]
      for id in payments + payments {
        let answer = try await anna.post("/payments/\(id)/refund", form)
        #expect(answer.headers[.location]?.hasSuffix("done=requested") == true)
      }
    }
    #expect(try await bench.approvals().count == 2)
  }

  @Test func `is not asked for while fifty of the same person wait`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.operator)], limits: "0.01 EUR") { anna async throws in
      let form = ["amount": "0.02", "reason": "large"]
      var keys: [String] = []
      for _ in 0..<50 {
        keys.append(RandomBytes.system.hex(16))
        let answer = try await anna.post("/payments/\(id)/refund", form.merging(["key": keys.last ?? ""]) { $1 })
        #expect(answer.headers[.location]?.hasSuffix("done=requested") == true)
      }
      let more = try await anna.post("/payments/\(id)/refund", form.merging(["key": RandomBytes.system.hex(16)]) { $1 })
      #expect(more.status == .conflict && more.text.contains("wait for a second person"))
      let again = try await anna.post("/payments/\(id)/refund", form.merging(["key": keys[0]]) { $1 })
      #expect(again.headers[.location]?.hasSuffix("done=requested") == true)
    }
    #expect(try await bench.approvals().count == 50)
  }

  @Test func `of two people waits twice, and again after one was withdrawn`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    for name in ["anna", "bert"] { try await bench.user(name, [Grant(.operator)], limits: "1.00 EUR") }
    let key = try await bench.visit { anna in
      try await anna.signIn("anna")
      return try await anna.get("/payments/\(id)").value(of: "key")
    }
    for (name, amount) in [("anna", "5.00"), ("bert", "3.00")] {
      try await bench.visit { visitor in
        bench.clock.advance(.seconds(30))
        try await visitor.signIn(name)
        for _ in 0..<2 {
          let answer = try await visitor.post(
            "/payments/\(id)/refund", ["amount": amount, "reason": "large", "key": key])
          #expect(answer.headers[.location]?.hasSuffix("done=requested") == true)
        }
      }
    }
    let waiting = try await bench.approvals()
    #expect(waiting.count == 2)
    try await bench.visit { anna in
      bench.clock.advance(.seconds(30))
      try await anna.signIn("anna")
      for approval in waiting {
        _ = try await anna.post("/payments/\(id)/approvals/\(approval)/reject", ["reason": "withdrawn"])
      }
      let again = ["amount": "5.00", "reason": "large"]
      let stale = try await anna.post("/payments/\(id)/refund", again.merging(["key": key]) { $1 })
      #expect(stale.status == .conflict)
      let fresh = try await anna.get("/payments/\(id)").value(of: "key")
      let answer = try await anna.post("/payments/\(id)/refund", again.merging(["key": fresh]) { $1 })
      #expect(answer.headers[.location]?.hasSuffix("done=requested") == true)
    }
    #expect(try await bench.approvals().count == 3)
  }

  @Test func `needs a reason, and stands in the audit chain with actor, state and reason`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let key = try await visitor.get("/payments/\(id)").value(of: "key")
      #expect(try await visitor.post("/payments/\(id)/refund", ["key": key]).status == .badRequest)
      let form = ["key": key, "reason": "damaged"]
      for amount in ["12,50", "99.00", "12.50"] {
        _ = try await visitor.post("/payments/\(id)/refund", form.merging(["amount": amount]) { $1 })
      }
    }
    let entries = try await bench.database.read { try OfficeAudit($0).entries(subject: id.rawValue) }.reversed()
    #expect(
      entries.map(\.action.action) == [
        "payment.refund.refused", "payment.refund.refused", "payment.refund.refused", "payment.refund",
        "payment.refund.outcome",
      ])
    #expect(entries.map(\.action.reason) == ["", "damaged", "damaged", "damaged", "damaged"])
    #expect(entries.last?.action.after.hasPrefix("refund of 12.50 EUR: approved, key ") == true)
    let entry = try #require(entries.first { $0.action.action == "payment.refund" }?.action)
    #expect(entry.actor.hasPrefix("user-") && entry.before.contains("captured 12.50 EUR"))
  }
}

@Suite struct `The audit chain of the office` {
  private struct Fault: Error {}

  @Test func `never replaces what came of an attempt`() async throws {
    let bench = try await OfficeBench()
    try await bench.losesEnds()
    let asked = OfficeAction("anna", from: "", "payment.refund")
    #expect(try await OfficeAudit.attempt(asked, in: bench.database) { "approved" } == "approved")
    await #expect(throws: Fault.self) { try await OfficeAudit.attempt(asked, in: bench.database) { throw Fault() } }
    let entries = try await bench.database.read { try OfficeAudit($0).entries() }
    #expect(entries.map(\.action.action) == ["payment.refund", "payment.refund"])
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `takes what is done at the same moment, one after the other`(_ engine: StoreEngineUnderTest) async throws {
    let database = try await EmptyDatabase(engine)
    let store = try await database.open(MerchantStore.migrations + OfficeSchema.migrations)
    try await store.write { try OfficeAudit($0).note(OfficeAction("anna", from: "", "begin")) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<60 {
        group.addTask {
          try await store.write { try OfficeAudit($0).note(OfficeAction("anna", from: "", "act \(number)")) }
        }
      }
      try await group.waitForAll()
    }
    let (count, broken) = try await store.read {
      (try OfficeAudit($0).entries().count, try OfficeAudit($0).firstBroken())
    }
    #expect(count == 61 && broken == nil)
    await store.close()
  }

  @Test func `shows that an entry was changed or removed`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.administrator)])
    #expect(try await bench.database.read { try OfficeAudit($0).firstBroken() } == nil)
    try await bench.database.write { try $0.run("UPDATE office_audit SET actor = 'somebody' WHERE seq = 2") }
    #expect(try await bench.database.read { try OfficeAudit($0).firstBroken() } == 2)
    try await bench.database.write { try $0.run("DELETE FROM office_audit WHERE seq = 1") }
    #expect(try await bench.database.read { try OfficeAudit($0).firstBroken() } == 1)
  }
}

@Suite struct `The page of a merchant` {
  @Test func `reads no other merchants`() async throws {
    let bench = try await OfficeBench()
    let request = try await bench.request(of: "shop").id
    // Whoever reads the secrets of all fails.
    try await bench.database.write { store in
      try store.run("UPDATE merchant_secrets SET key_id = 'lost' WHERE merchant = 'other'")
    }
    await #expect(throws: (any Error).self) { try await bench.merchants.perform(.listKeys(merchant: nil)) }
    try await bench.visit(as: [Grant(.viewer)]) { viewer async throws in
      for page in ["", "/certificates/\(request)/request"] {
        #expect(try await viewer.get("/merchants/shop\(page)").status == .ok, "\(page)")
      }
      #expect(try await viewer.get("/merchants/none").status == .notFound)
    }
  }

  @Test func `changes it by the use cases of the command line, and shows a new secret once`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.administrator, of: "shop")]) { visitor async throws in
      let fields = ["kind": "api-key", "reason": "the shop's second server"]
      let page = try await visitor.post("/merchants/shop/add-key", fields)
      let secret = try #require(page.text.firstMatch(of: /class="secret">([0-9a-f]{64})</)?.output.1)
      #expect(page.status == .ok)
      #expect(try await !visitor.get("/merchants/shop").text.contains(secret))
      _ = try await visitor.post("/merchants/shop/disable", ["reason": "closed"])
      let row = try await bench.request(of: "shop")
      #expect(try await visitor.get("/merchants/shop/certificates/\(row.id)/request").text == row.request)
      #expect(
        try await visitor.post("/merchants/shop/add-key", ["kind": "certificate-key", "reason": "x"]).status
          == .badRequest)
    }
    #expect(try await bench.merchants.parts(of: "shop").keys?.count { $0.kind == .apiKey } == 2)
    #expect(try await bench.merchants.merchant("shop")?.enabled == false)
  }
}

@Suite struct `The page of reconciliation` {
  @Test func `compares days with the provider's listing`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    let capture = try #require(try await bench.journal.operations(of: id).last?.reference)
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let page = try await visitor.get("/reconciliation?route=sandbox&from=2027-01-15&until=2027-01-15")
      #expect(page.text.contains("missing there") && page.text.contains("\(capture)"), "\(page.text)")
      let other = try await visitor.get("/reconciliation?route=sandbox&from=2027-01-16&until=2027-01-17")
      #expect(other.status == .ok && !other.text.contains("missing there"))
      for period in ["from=2027-01-02&until=2027-01-01", "from=2027-01-01&until=2027-03-01", "from=x&until=y"] {
        #expect(try await visitor.get("/reconciliation?route=sandbox&\(period)").status == .badRequest)
      }
    }
  }
}

/// A line of CSV as a spreadsheet reads it, byte by byte (RFC 4180).
struct CSVLine {
  /// Without quotation marks.
  let cells: [String]

  init(_ line: some StringProtocol) {
    var (cells, isQuoted) = ([[UInt8]()], false)
    for byte in line.utf8 {
      switch byte {
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: ",") where !isQuoted: cells.append([])
      default: cells[cells.count - 1].append(byte)
      }
    }
    self.cells = cells.map { String(decoding: $0, as: UTF8.self) }
  }
}

extension [UInt8] {
  fileprivate func contains(_ text: String) -> Bool { firstRange(of: Array(text.utf8)) != nil }
}

import Administration
import BackOffice
import HTTPTypes
import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

extension OfficeBench {
  /// The merchant's order of a payment, with the shopper's address.
  fileprivate func place(_ order: String, _ reference: String, email: String = "Aoife@example.com") async throws {
    try await database.write { store in
      try store.run(
        """
        INSERT INTO orders (id, merchant, basket, quote, merchant_reference, amount, currency, service, created_at,
          updated_at) VALUES ($1, 'shop', $2, 'quote', $3, 1250, 'EUR', 'collection', $4, $4)
        """, .text(order), .text("basket of \(order)"), .text(reference), .time(store.now))
      try store.run(
        "INSERT INTO order_contacts (order_id, contact, updated_at, email) VALUES ($1, $2, $3, $4)", .text(order),
        .text("{\"emailAddress\":\"\(email)\"}"), .time(store.now), .text(email.lowercased()))
    }
  }
}

@Suite struct `A list of payments` {
  @Test func `shows the others where one row cannot be read, on every page`() async throws {
    let bench = try await OfficeBench()
    var made: [PaymentID] = []
    for number in 1...53 { made.append(try await bench.captured("order-\(number)")) }
    let ids = made.sorted { $0.rawValue < $1.rawValue }
    let odd = ids[40]
    try await bench.database.write {
      try $0.run("UPDATE payments SET currency = 'later', alarm = 'odd' WHERE id = $1", .text(odd.rawValue))
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let page = try await visitor.get("/payments")
      #expect(page.status == .ok && page.text.contains("/payments/\(ids[52])"))
      #expect(page.text.matches(of: /before=(?<id>[0-9a-f-]+)/).map { String($0.id) } == [ids[3].rawValue])
      #expect(try await visitor.get("/").status == .ok)
    }
  }

  @Test func `of refunds that wait shows the others where one row cannot be read`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.database.write { store in
      for (number, currency) in ["later", "EUR"].enumerated() {
        try store.run(
          """
          INSERT INTO office_approvals (id, payment, merchant, amount, currency, reason, requested_by, requested_at,
            state)
          VALUES ($1, $2, 'shop', 100, $3, $4, 'ann', 0, 'waiting')
          """, .text("request \(number)"), .text(id.rawValue), .text(currency), .text("spoiled \(number)"))
      }
    }
    try await bench.visit(as: [Grant(.operator)]) { visitor async throws in
      let page = try await visitor.get("/")
      #expect(page.status == .ok && page.text.contains("spoiled 1") && !page.text.contains("spoiled 0"))
    }
  }
}

@Suite struct `A search for payments` {
  @Test(arguments: [
    ("amount=12,50", "“12,50”: use a point"), ("amount=12.50", "“12.50”: write the currency too"),
    ("amount=12.505+EUR", "EUR has at most 2 decimals"), ("from=yesterday", "Write the day as 2026-11-23"),
    ("from=2026-11-24&until=2026-11-23", "The last day is before the first"), ("status=paid", "“paid” is no status"),
    ("q=or", "at least 3 letters"),
  ])
  func `that is refused lists no payment, and says why`(_ query: String, _ reason: String) async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let page = try await visitor.get("/payments?\(query)")
      #expect(page.status == .badRequest && page.text.contains(reason) && page.text.contains("aria-invalid"))
      #expect(!page.text.contains("/payments/\(id)") && !page.text.contains("No payment fits"))
      let file = try await visitor.get("/payments.csv?\(query)")
      #expect(file.status == .badRequest && !file.text.contains(id.rawValue))
    }
  }

  @Test func `shows every payment of a reference, in any spelling of it, and beside the cards that end so`()
    async throws
  {
    let bench = try await OfficeBench()
    let orders = ["order-1", "order-2", "order-3"]
    for (order, reference) in zip(orders, ["HK-1042", "HK-1042", "hk-1042"]) {
      try await bench.captured(order)
      try await bench.place(order, reference)
    }
    let ids = try await bench.database.read { store in
      try orders.flatMap { try PaymentPage.Item.all(.order, $0, of: nil, in: store).map(\.payment.id) }
    }
    #expect(ids.count == 3)
    let (numbered, card) = (try await bench.captured("order-4"), try await bench.captured("order-5", card: "Visa 1042"))
    try await bench.place("order-4", "1042")
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let found = try await visitor.get("/payments?q=hk-1042").text
      for id in ids { #expect(found.contains("/payments/\(id)")) }
      let digits = try await visitor.get("/payments?q=1042").text
      for id in [numbered, card] { #expect(digits.contains("/payments/\(id)")) }
      #expect(!digits.contains("/payments/\(ids[0])"))
    }
  }
}

@Suite struct `A search by a name and by conditions` {
  @Test(arguments: ["aoife@example.com", "HK-1", "hk-"])
  func `finds what fits all of them, on the page and in the file`(_ text: String) async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured("order-1")
    try await bench.place("order-1", "HK-1")
    let conditions = [
      ("status=captured", "status=refunded"), ("amount=12.50+EUR", "amount=12.51+EUR"),
      ("amount=12.50+EUR", "amount=12.50+USD"), ("merchant=shop", "merchant=other"), ("", "alarm=1"),
      ("from=2000-01-01", "from=2099-01-01"), ("until=2099-01-01", "until=2000-01-01"), ("", "route=none"),
    ]
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      for (fitting, other) in conditions {
        for path in ["/payments", "/payments.csv"] {
          let found = try await visitor.get("\(path)?q=\(text)&\(fitting)").text
          #expect(found.contains(id.rawValue), "\(path) \(fitting)")
          let none = try await visitor.get("\(path)?q=\(text)&\(other)").text
          #expect(!none.contains(id.rawValue), "\(path) \(other)")
        }
      }
    }
  }

  @Test func `goes on with the older ones, as long as there are some`() async throws {
    let bench = try await OfficeBench()
    for number in 1...51 {
      try await bench.captured("order-\(number)")
      try await bench.place("order-\(number)", "HK-\(number)")
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let lines = try await visitor.get("/payments.csv?q=aoife@example.com").text.split(separator: "\r\n")
      #expect(lines.count == 52)
      let page = try await visitor.get("/payments?q=aoife@example.com").text
      let last = try #require(lines.last).prefix { $0 != "," }
      #expect(page.contains("before=") && !page.contains(last))
    }
  }

  @Test func `says of a merchant that is nowhere that there is none`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      #expect(try await visitor.get("/payments?merchant=shpo").text.contains("There is no merchant shpo"))
    }
  }
}

@Suite struct `The amounts of a payment` {
  @Test func `say what was captured and what was released, on its page, in lists and in CSV`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured("order-1", .eur(2000), capturing: .eur(500))
    let void = try await bench.journal.reserve(.void, nil, of: id)
    _ = try await bench.journal.record(FakeAcquirer.approval(void.reference), for: void)
    let whole = try await bench.captured("order-2")
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      for page in ["/payments/\(id)", "/payments"] {
        #expect(try await visitor.get(page).text.contains("€5.00 captured, €15.00 released"), "\(page)")
      }
      #expect(try await !visitor.get("/payments/\(whole)").text.contains("€12.50 captured"))
      let lines = try await visitor.get("/payments.csv").text.split(separator: "\r\n")
      #expect(lines[0].hasSuffix(",released"))
      #expect(lines.dropFirst().contains { $0.contains(id.rawValue) && $0.hasSuffix(",15.00") }, "\(lines)")
    }
  }

  @Test func `stand beside the shopper's e-mail, as long as it is kept`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.place("order-1", "HK-1")
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      #expect(try await visitor.get("/payments/\(id)").text.contains("Aoife@example.com"))
      try await bench.database.write { try $0.run("DELETE FROM order_contacts") }
      let page = try await visitor.get("/payments/\(id)")
      #expect(page.status == .ok && !page.text.contains("e-mail</dt>"))
    }
  }
}

@Suite struct `The one field of the search` {
  @Test(arguments: [
    ("12.50%20EUR", "of €12.50", true), ("%E2%82%AC12.50", "of €12.50", true), ("12.51eur", "of €12.51", false),
    ("2027-01-15", "begun on 15 Jan 2027 in UTC", true), ("2027-01-14", "begun on 14 Jan 2027 in UTC", false),
    ("0492", "whose card ends with 0492", true), ("aoife@example.com", "of the shopper aoife@example.com", true),
    ("HK-1", "with “HK-1” in a reference", true),
  ])
  func `understands an amount, a day, a card, an address and a reference, and says which`(
    _ text: String, _ understood: String, _ isFound: Bool
  ) async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured("order-1")
    try await bench.place("order-1", "HK-1")
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let page = try await visitor.get("/payments?q=\(text)").text
      #expect(page.contains(understood), "\(page)")
      #expect(page.contains("/payments/\(id)") == isFound)
    }
  }
}

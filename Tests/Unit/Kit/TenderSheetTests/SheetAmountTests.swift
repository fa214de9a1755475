import TenderPayments
import TenderSheet
import Testing

private func amount(_ minorUnits: Int64, _ code: String) throws -> Amount {
  Amount(minorUnits: minorUnits, currency: try #require(Currency(code: code)))
}

@Suite struct `An amount on the sheet` {
  @Test(
    arguments: [
      (1_250, "EUR", "12.50"), (-5, "EUR", "-0.05"), (0, "EUR", "0.00"), (1_200, "JPY", "1200"), (-1, "JPY", "-1"),
      (1_250, "KWD", "1.250"), (1_234, "KWD", "1.234"), (-1, "BHD", "-0.001"), (0, "KWD", "0.000"),
      (12_310, "CLF", "1.2310"),
    ] as [(Int64, String, String)]) func `has Apple's grammar`(_ units: Int64, _ code: String, _ text: String) throws
  {
    let amount = try amount(units, code)
    #expect(try amount.sheetText == text)
    #expect(try Amount(sheetText: text, currency: amount.currency) == amount)
  }

  @Test(arguments: ["", "-", "1.", ".50", "1.5", "1.500", "1,50", "+1", "1e2", " 1", "1.-5", "--1", "1.5.0", "١"])
  func `is read in no other form`(_ text: String) throws {
    let euro = try #require(Currency(code: "EUR"))
    #expect(throws: SheetViolation.malformedAmount) { try Amount(sheetText: text, currency: euro) }
  }
}

@Suite struct `A summary` {
  private func line(_ label: String, _ units: Int64, _ code: String = "EUR") throws -> SummaryItem {
    SummaryItem(label: label, amount: try amount(units, code))
  }

  @Test func `adds up, with discounts, under the business name`() throws {
    let lines = [try line("Fish", 1_290), try line("Offer", -129), try line("Bike", 250)]
    let summary = try Summary(businessName: "Harbour", lines: lines, currency: lines[0].amount.currency)
    #expect(summary.total == (try line("Harbour", 1_411)))
    #expect(summary.items == lines)
  }

  @Test func `has no subtotal above a lone total`() throws {
    let fish = try line("Fish", 1_290)
    let summary = try Summary(businessName: "Harbour", lines: [fish], currency: fish.amount.currency)
    #expect(summary.items.isEmpty)
    #expect(summary.total.amount == fish.amount)
  }

  @Test func `with a pending line has a pending total of zero`() throws {
    let fish = try line("Fish", 1_290)
    let lines = [fish, .pending("Delivery", fish.amount.currency)]
    let summary = try Summary(businessName: "Harbour", lines: lines, currency: fish.amount.currency)
    #expect(summary.total.kind == .pending)
    #expect(summary.total.amount.minorUnits == 0)
    #expect(summary.items.count == 2)
  }

  @Test func `keeps a lone pending line, and gives no pending line an amount`() throws {
    let ride = SummaryItem(label: "Ride", amount: try amount(3_000, "EUR"), kind: .pending)
    let lone = try Summary(businessName: "Harbour", lines: [ride], currency: ride.amount.currency)
    #expect(lone.items == [.pending("Ride", ride.amount.currency)] && lone.total.kind == .pending)
    let zero = try Summary(
      businessName: "Harbour", lines: [.pending("Ride", ride.amount.currency)], currency: ride.amount.currency)
    #expect(zero.items == lone.items)
  }

  @Test func `adds up in yen and in dinars`() throws {
    for (code, total) in [("JPY", "1480"), ("KWD", "1.480")] {
      let lines = [try line("A", 1_290, code), try line("B", 190, code)]
      let summary = try Summary(businessName: "Shop", lines: lines, currency: lines[0].amount.currency)
      #expect(try summary.total.amount.sheetText == total)
    }
  }

  @Test func `is refused when a sheet cannot show it`() throws {
    let euro = try #require(Currency(code: "EUR"))
    let rows: [(String, [SummaryItem], Currency, String)] = [
      ("Shop", [try line("A", 100), try line("B", -101)], euro, "total_negative"),
      ("Shop", [try line("A", .max), try line("B", 1)], euro, "amount_overflow"),
      ("Shop", [try line("A", 100, "USD")], euro, "currency_mismatch"),
      ("Shop", [try line("", 100)], euro, "label_empty"), ("", [try line("A", 100)], euro, "label_empty"),
    ]
    for (name, lines, currency, code) in rows {
      let violation = try #require(throws: SheetViolation.self) {
        try Summary(businessName: name, lines: lines, currency: currency)
      }
      #expect(violation.code == code)
    }
  }
}

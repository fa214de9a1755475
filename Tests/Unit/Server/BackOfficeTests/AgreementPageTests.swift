import Acquiring
import Administration
import BackOffice
import HTTPTypes
import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `The pages of agreements` {
  /// An agreement of the merchant whose first payment was captured.
  private func begun(_ bench: OfficeBench, _ order: String, of merchant: MerchantID) async throws -> AgreementID {
    let journal = bench.journal
    let terms = AgreementTerms(paymentDescription: "Vegetable box", managementURL: "https://shop.example/box")
    let (id, attempt) = try await bench.database.write { store in
      let order = Order(
        id: OrderID(order), merchant: merchant, basket: BasketID("basket-" + order), amount: .eur(1_250),
        applicationDataHash: [], merchantReference: "R-" + order, capture: .immediate)
      let attempt = try journal.claim(order, spending: .sample(order.id.rawValue.count), card: .sample, in: store)
      let monthly = RecurringPayment(
        terms: terms,
        regular: RecurringPayment.Billing(label: "Box", amount: .eur(1_250), interval: BillingInterval(.month)))
      let new = NewAgreement(terms: .recurring(monthly), timeZone: "UTC", merchantReference: "R-" + order.id.rawValue)
      return (try journal.begin(new, with: attempt, in: store), attempt)
    }
    _ = try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
    return id
  }

  @Test func `list a viewer's agreements, show one, and let an operator end it with a reason`() async throws {
    let bench = try await OfficeBench()
    let id = try await begun(bench, "one", of: "shop")
    let other = try await begun(bench, "three", of: "other")
    try await bench.visit(as: [Grant(.viewer, of: "shop")]) { visitor async throws in
      let list = try await visitor.get("/agreements").text
      #expect(list.contains("R-one") && list.contains("€12.50") && !list.contains("R-three"))
      #expect(try await visitor.get("/agreements?status=ended").text.contains("There is no such agreement."))
      let page = try await visitor.get("/agreements/\(id)").text
      #expect(page.contains("Vegetable box") && page.contains("Next period") && !page.contains("End for good"))
      #expect(try await visitor.get("/agreements/\(other)").status == .notFound)
      #expect(try await visitor.post("/agreements/\(id)/end", ["reason": "asked"]).status == .forbidden)
    }
    try await bench.visit(as: [Grant(.operator, of: "shop")]) { visitor async throws in
      #expect(try await visitor.get("/agreements/\(id)").text.contains("End for good"))
      #expect(try await visitor.post("/agreements/\(id)/end", ["reason": ""]).status == .badRequest)
      #expect(try await visitor.post("/agreements/\(id)/end", ["reason": "the shopper asked"]).status == .seeOther)
      let page = try await visitor.get("/agreements/\(id)").text
      #expect(page.contains("ended by operator") && page.contains("the shopper asked"))
      #expect(!page.contains("End for good"))
      #expect(try await visitor.post("/agreements/\(other)/end", ["reason": "asked"]).status == .notFound)
    }
    #expect(try await bench.journal.agreement(id, of: "shop")?.status == .ended)
    let entries = try await bench.database.read { try OfficeAudit($0).entries(subject: id.rawValue) }
    #expect(entries.map(\.action.action) == ["agreement.end.outcome", "agreement.end"])
  }
}

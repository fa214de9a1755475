import Acquiring
import DirectWire
import Foundation
import Ledger
import Orders
import Storage
import StrictJSON
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

@Suite struct `A basket with an agreement` {
  private static let day: Int64 = 86_400

  private static var storing: AcquirerCapabilities {
    var capabilities = FakeAcquirer.verifying
    capabilities.storesCredentials = [.network]
    return capabilities
  }

  private static func moment(_ days: Int64) -> WireTime { WireTime(Shop.noon.adding(.seconds(days * day))) }

  private static let regular = AgreementDocument.Billing(
    label: "Vegetable box", amount: 1_290, interval: .init(.month))

  private static func agreement(
    _ change: (inout AgreementDocument) -> Void = { _ in }
  ) -> AgreementDocument {
    var agreement = AgreementDocument(
      description: "Vegetable box, every month", managementURL: "https://harbour.example/box",
      billingAgreement: "Until you end it.", timeZone: "Europe/Dublin", recurring: .init(regular: regular))
    change(&agreement)
    return agreement
  }

  private static func basket(
    _ agreement: AgreementDocument = agreement(), price: Int64 = 1_290,
    _ change: (inout BasketDocument) -> Void = { _ in }
  ) -> BasketDocument {
    var document = BasketDocument.dinner
    document.items = [.init(id: "box", label: "Vegetable box", unitAmount: price)]
    (document.serviceTypes, document.fees) = (["collection"], [])
    (document.agreement, document.customer) = (agreement, "c-7")
    change(&document)
    return document
  }

  private func put(_ document: BasketDocument, _ shop: Shop) async throws {
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
  }

  @Test func `shows it on the sheet, and is begun by the payment in one commit`() async throws {
    let shop = try await Shop(capabilities: Self.storing)
    try await put(Self.basket(), shop)
    let sheet = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).request
    guard case .recurring(let shown)? = sheet.agreement else { throw Unexpected() }
    #expect(shown.regular.amount == .eur(1_290) && shown.terms.managementURL == "https://harbour.example/box")
    let placed = try await shop.pays()
    #expect(placed.payment.status == .captured)
    let agreements = try await shop.database.read { try Journal.agreements(of: [Shop.merchant], in: $0) }
    let agreement = try #require(agreements.first)
    #expect(agreements.count == 1 && agreement.status == .active && agreement.firstPayment == placed.payment.id)
    #expect((agreement.merchantReference, agreement.customer) == ("HK-1042", "c-7"))
    #expect((agreement.terms, agreement.timeZone) == (.recurring(shown), "Europe/Dublin"))
    let asked = try #require(shop.acquirer.authorizations.first?.sale.agreement)
    #expect(asked == .init(.recurring, shopper: placed.order.id.rawValue))
  }

  @Test func `keeps the identifier of the merchant token that the card gave, and its number nowhere`() async throws {
    let shop = try await Shop(capabilities: Self.storing)
    try await put(Self.basket(), shop)
    let quote = try await shop.opens()
    let token = try await shop.token(for: quote, card: "visa-credit")
    _ = try await shop.pays(token: token, quote: quote)
    let agreement = try #require(
      try await shop.database.read { try Journal.agreements(of: [Shop.merchant], in: $0).first })
    #expect(agreement.merchantToken?.hasPrefix("MT-") == true)
    guard case .network(let card)? = shop.acquirer.authorizations.first?.instrument else { throw Unexpected() }
    for table in ["agreements", "agreement_changes", "payments", "operations", "token_uses", "orders"] {
      let rows = try await shop.database.read { try $0.rows("SELECT * FROM \(table)").map { "\($0)" } }
      #expect(!rows.contains { $0.contains(card.dpan.revealed) }, "\(table) has the number")
    }
  }

  @Test func `of a card that gives none is begun all the same`() async throws {
    let shop = try await Shop(capabilities: Self.storing)
    try await put(Self.basket(), shop)
    _ = try await shop.pays()
    let agreement = try await shop.database.read { try Journal.agreements(of: [Shop.merchant], in: $0).first }
    #expect(agreement?.merchantToken == nil && agreement?.status == .active)
  }

  @Test func `is refused before a sheet where no route keeps a credential`() async throws {
    let shop = try await Shop()
    await refusal(.agreementNotOffered, field: "agreement") { try await put(Self.basket(), shop) }
    try await put(Self.basket { $0.agreement = nil }, shop)
  }

  @Test
  func `is refused before a sheet where credentials are kept of sealed payment tokens, and these are opened here`()
    async throws
  {
    var capabilities = FakeAcquirer.verifying
    capabilities.storesCredentials = [.sealed]
    let shop = try await Shop(capabilities: capabilities)
    await refusal(.agreementNotOffered, field: "agreement") { try await put(Self.basket(), shop) }
  }

  @Test func `that is declined begins none, and another card begins it`() async throws {
    let shop = try await Shop(capabilities: Self.storing)
    try await put(Self.basket(), shop)
    shop.acquirer.authorizes(.declined(Decline(reason: .insufficientFunds, code: "51")))
    #expect(try await shop.pays().payment.status == .declined)
    shop.acquirer.authorizes { reference, _ in FakeAcquirer.approval(reference) }
    #expect(try await shop.pays().payment.status == .captured)
    let agreements = try await shop.database.read { try Journal.agreements(of: [Shop.merchant], in: $0) }
    #expect(Set(agreements.map(\.status)) == [.active, .ended])
  }

  @Test func `with a trial of zero verifies the card, and with a pending total holds the estimate`() async throws {
    let free = try await Shop(capabilities: Self.storing)
    let trial = Self.agreement {
      $0.recurring?.trial = .init(label: "Free month", amount: 0, interval: .init(.month))
      $0.recurring?.regular.startsAt = Self.moment(30)
    }
    try await put(Self.basket(trial, price: 0), free)
    #expect(try await free.pays().payment.status == .verified)
    #expect(
      try await free.database.read { try Journal.agreements(of: [Shop.merchant], in: $0).map(\.status) } == [.active])
    let pending = try await Shop(capabilities: Self.storing)
    try await put(
      Self.basket { ($0.pending, $0.capture, $0.estimate) = (true, .manual, 6_000) }, pending)
    #expect(try await pending.pays().payment.authorized == 6_000)
    #expect(
      try await pending.database.read { try Journal.agreements(of: [Shop.merchant], in: $0).map(\.status) } == [.active]
    )
  }

  /// What the totals' rules refuse where the basket is stored.
  @Test func `must have the first period's price in its total, unless that begins later or costs nothing`() async throws
  {
    let shop = try await Shop(capabilities: Self.storing)
    await refusal(.basketInvalid, field: "agreement") { try await put(Self.basket(price: 1_289), shop) }
    await refusal(.basketInvalid, field: "agreement") { try await put(Self.basket(price: 0), shop) }
    try await put(Self.basket(price: 1_291), shop)
    try await put(Self.basket(Self.agreement { $0.recurring?.regular.startsAt = Self.moment(1) }, price: 0), shop)
    let paid = Self.agreement {
      $0.recurring?.trial = .init(label: "First month", amount: 100, interval: .init(.month), endsAt: Self.moment(31))
    }
    try await put(Self.basket(paid, price: 100), shop)
    await refusal(.basketInvalid, field: "agreement") { try await put(Self.basket(paid, price: 99), shop) }
  }

  @Test func `is refused by the property that is wrong`() async throws {
    let shop = try await Shop(capabilities: Self.storing)
    let reload = AgreementDocument.Reload(label: "Card", amount: 2_000, threshold: 500)
    let stay = AgreementDocument.Deferred(label: "Stay", amount: 9_000, date: Self.moment(10))
    let wrong: [(String, (inout AgreementDocument) -> Void)] = [
      ("agreement", { $0.recurring = nil }),
      ("agreement", { $0.automaticReload = reload }),
      ("agreement.managementURL", { $0.managementURL = "http://harbour.example" }),
      ("agreement.managementURL", { $0.managementURL = "https://" }),
      ("agreement.description", { $0.description = "" }),
      ("agreement.description", { $0.description = "a\u{202E}b" }),
      ("agreement.recurring.regular.label", { $0.recurring?.regular.label = "" }),
      ("agreement.billingAgreement", { $0.billingAgreement = String(repeating: "a", count: 501) }),
      ("agreement.timeZone", { $0.timeZone = "CET" }),
      ("agreement.recurring.regular.interval.count", { $0.recurring?.regular.interval.count = 0 }),
      ("agreement.recurring.regular.amount", { $0.recurring?.regular.amount = 0 }),
      ("agreement.recurring.regular.amount", { $0.recurring?.regular.amount = -1 }),
      (
        "agreement.recurring.regular.endsAt",
        {
          $0.recurring?.regular.startsAt = Self.moment(2)
          $0.recurring?.regular.endsAt = Self.moment(1)
        }
      ),
      (
        "agreement.recurring.regular.startsAt",
        { $0.recurring?.trial = .init(label: "Trial", amount: 0, interval: .init(.month)) }
      ),
      ("agreement.deferred.date", { $0.set(deferred: stay, { $0.date = Self.moment(0) }) }),
      ("agreement.deferred.amount", { $0.set(deferred: stay, { $0.amount = 0 }) }),
      (
        "agreement.deferred.freeCancellation.until",
        { $0.set(deferred: stay, { $0.freeCancellation = .init(until: Self.moment(11), timeZone: "Europe/Dublin") }) }
      ),
      (
        "agreement.deferred.freeCancellation.timeZone",
        { $0.set(deferred: stay, { $0.freeCancellation = .init(until: Self.moment(9), timeZone: "Dublin") }) }
      ),
    ]
    for (field, change) in wrong {
      let document = Self.basket(Self.agreement(change))
      await refusal(.basketInvalid, field: field) { try await put(document, shop) }
    }
    for change in [
      { $0.set(deferred: stay, { _ in }) }, { ($0.recurring, $0.automaticReload) = (nil, reload) },
    ] as [(inout AgreementDocument) -> Void] {
      try await put(Self.basket(Self.agreement(change)), shop)
    }
  }

  @Test func `refuses a misspelt property by its name`() throws {
    let text = """
      {"currencyCode": "EUR", "countryCode": "IE", "merchantReference": "R", "businessName": "B", "serviceTypes": ["none"],
       "items": [{"id": "a", "label": "A", "unitAmount": 1}],
       "agreement": {"description": "D", "managementURL": "https://e.example", "recuring": {}}}
      """
    let error = #expect(throws: JSONError.self) {
      try StrictJSONDecoder().decode(BasketDocument.self, from: Array(text.utf8))
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains("recuring"))
  }

  @Test func `is written as it is read`() throws {
    let document = Self.basket()
    let bytes = Array(try JSONEncoder().encode(document))
    #expect(try StrictJSONDecoder().decode(BasketDocument.self, from: bytes) == document)
  }
}

extension AgreementDocument {
  fileprivate mutating func set(deferred: Deferred, _ change: (inout Deferred) -> Void) {
    var deferred = deferred
    change(&deferred)
    (recurring, self.deferred) = (nil, deferred)
  }
}

private struct Unexpected: Error {}

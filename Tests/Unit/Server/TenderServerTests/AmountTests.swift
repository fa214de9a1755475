import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// What a merchant's server sends to a running server. It is the tests' own process: a sum that overflows ends them all.
@Suite struct `An amount of more than twelve digits` {
  let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  private static let most = JSONValue.integer(.max)

  private static func money(_ amount: JSONValue = most, _ currency: String = "EUR") -> JSONValue {
    ["amount": amount, "currencyCode": .string(currency)]
  }

  private static func item(_ details: JSONValue, _ money: JSONValue = money(1450)) -> [String: JSONValue] {
    ["shoppingCart": ["items": [["amountOfMoney": money, "orderLineDetails": details]]]]
  }

  /// Members of an order, and the property that is at fault.
  private static let orders: [([String: JSONValue], String)] = [
    (["shipping": ["shippingCost": most, "shippingCostTax": 1]], "order.shipping.shippingCost"),
    (["shipping": ["shippingCost": 1, "shippingCostTax": most]], "order.shipping.shippingCostTax"),
    (["discount": ["amount": .integer(.min)]], "order.discount.amount"), (["amountOfMoney": money()], amount),
    (["amountOfMoney": money(.integer(1_000_000_000_000))], amount), (["amountOfMoney": money(most, "CLP")], amount),
    (
      item(["productName": "Tea", "productPrice": most, "quantity": 9_999]),
      "order.shoppingCart.items[0].orderLineDetails.productPrice"
    ),
    (item(["productName": "Tea"], money()), "order.shoppingCart.items[0].amountOfMoney.amount"),
  ]
  private static let amount = "order.amountOfMoney.amount"

  @Test(arguments: orders.indices) func `is refused in an order of a hosted checkout or a link`(_ place: Int)
    async throws
  {
    // Added up, they leave 64 bits.
    let shopping = Self.item(["productName": "Tea", "productPrice": 1450])
    let (members, property) = Self.orders[place]
    let order = shopping.merging(members) { $1 }
    let page = try await HostedShopper.create(system, order: order)
    #expect(page.status == 400 && Self.property(page) == property, "\(page.body)")
    let reference: JSONValue = ["merchantReference": "L-1"]
    let link = try await HostedShopper.signed(
      system, "market", "POST", "paymentlinks",
      ["order": Self.object(["amountOfMoney": Self.money(1450), "references": reference].merging(order) { $1 })])
    #expect(link.status == 400 && Self.property(link) == property, "\(link.body)")
    try await answers()
  }

  @Test func `is none where the largest amounts together are one, and the checkout has a single line`() async throws {
    let most = JSONValue.integer(Amount.limit.upperBound)
    let shopper = try await HostedShopper.enters(
      system,
      order: Self.item(["productName": "Tea", "productPrice": most, "quantity": 9_999]).merging([
        "shipping": ["shippingCost": most, "shippingCostTax": most], "discount": ["amount": most],
      ]) { $1 })
    let sheet = try await shopper.sheet()
    #expect(sheet["request"]?["total"]?["amount"]?.text == "14.50")
    #expect((sheet["request"] ?? .null)["lineItems"] == nil, "\(sheet)")
  }

  @Test(arguments: ["EUR", "CLP"]) func `is refused for a payment, which then is in no chart`(_ currency: String)
    async throws
  {
    for _ in 0..<3 {
      let answer = try await HostedShopper.signed(
        system, "market", "POST", "payments",
        [
          "order": ["amountOfMoney": Self.money(Self.most, currency)],
          "mobilePaymentMethodSpecificInput": ["paymentProductId": 302, "encryptedPaymentData": "{}"],
        ])
      #expect(answer.status == 400 && Self.property(answer) == Self.amount, "\(answer.body)")
    }
    try await answers()
  }

  @Test func `is refused for a capture, a cancel and a refund`() async throws {
    let shopper = try await HostedShopper.enters(system, mode: "FINAL_AUTHORIZATION")
    #expect(try await shopper.pays().body["status"] == "authorized")
    let status = try await shopper.status()
    let id = try #require(status["createdPaymentOutput"]?["payment"]?["id"]?.text)
    for (act, body, property) in [
      ("capture", ["amount": Self.most], "amount"),
      ("cancel", ["amountOfMoney": Self.money()], "amountOfMoney.amount"),
      ("refund", ["amountOfMoney": Self.money()], "amountOfMoney.amount"),
    ] as [(String, JSONValue, String)] {
      let answer = try await HostedShopper.signed(system, "market", "POST", "payments/\(id)/\(act)", body)
      #expect(answer.status == 400 && Self.property(answer) == property, "\(act): \(answer.body)")
    }
  }

  @Test(arguments: ["292278994-08-17T07:12:55Z", "+999999999999-01-01T00:00:00Z", "9223372036854775807"])
  func `has an equal in times, which are refused too`(_ time: String) async throws {
    let order: JSONValue = ["amountOfMoney": Self.money(900), "references": ["merchantReference": "L-1"]]
    let answer = try await HostedShopper.signed(
      system, "market", "POST", "paymentlinks", ["order": order, "expirationDate": .string(time)])
    #expect(answer.status == 400, "\(answer.body)")
    try await answers()
  }

  private static func property(_ answer: JSONClient.Answer) -> String? {
    answer.body["errors"]?.elements.first?["propertyName"]?.text.map {
      $0.hasPrefix("$.") ? String($0.dropFirst(2)) : $0
    }
  }

  private static func object(_ members: [String: JSONValue]) -> JSONValue {
    .object(members.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { $0[$1.key] = $1.value })
  }

  private func answers() async throws {
    #expect(try await HostedShopper.signed(system, "market", "GET", "services/testconnection").status == 200)
  }
}

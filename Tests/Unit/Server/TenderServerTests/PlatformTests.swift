import Administration
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// A merchant without a processing certificate: devices encrypt to the platform's key, and the application data names
/// the merchant's domain.
@Suite struct `A merchant whom a platform serves` {
  private let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  private func shopper() async throws -> Shopper {
    try await Shopper.enters(system, system.stall, service: "collection")
  }

  /// A token as a device makes it where Apple knows the domain as registered by the platform.
  private func token(_ shopper: Shopper, naming domain: String?) async throws -> JSONValue {
    try await system.sandbox.require(
      "POST", "/device/tokens",
      [
        "cardId": "visa-debit", "publicKeyOf": .string(TestSystem.platformMerchant.merchantIdentifier),
        "amount": .string(shopper.total), "currency": "EUR",
        "applicationData": domain.map { .string(Base64.encode(Array($0.utf8))) } ?? .null,
      ])
  }

  @Test func `is named to the wallet by its domain, and is paid`() async throws {
    let shopper = try await shopper()
    #expect(shopper.request["applicationData"]?.text == Base64.encode(Array("stall.localhost".utf8)))
    let answer = try await shopper.pays(try await shopper.payment(token(shopper, naming: "stall.localhost")))
    #expect(answer.body["status"] == "captured", "\(answer.errorText)")
    #expect(try await shopper.holds().count == 1)
  }

  @Test(arguments: [
    ("harbour.localhost", "application_data_mismatch"), ("stall.localhost:8406", "application_data_mismatch"),
    ("www.stall.localhost", "application_data_mismatch"), (nil, "application_data_missing"),
  ])
  func `is not paid by a token that names another domain`(domain: String?, code: String) async throws {
    let shopper = try await shopper()
    let answer = try await shopper.pays(try await shopper.payment(token(shopper, naming: domain)))
    #expect(answer.status == 422 && answer.body["code"]?.text == code, "\(answer.errorText)")
    #expect(try await shopper.holds().isEmpty)
  }

  @Test func `is not paid by a token for its domain that was encrypted to another merchant's key`() async throws {
    let (shopper, other) = (try await shopper(), try await Shopper.enters(system, service: "collection"))
    let token = try await other.token(amount: shopper.total, applicationData: shopper.request["applicationData"])
    let answer = try await shopper.pays(try await shopper.payment(token))
    #expect(answer.status == 422 && answer.body["code"] == "unknown_key", "\(answer.errorText)")
  }

  @Test func `has a key that opens nothing for merchants with keys of their own`() async throws {
    let shopper = try await Shopper.enters(system, service: "collection")
    let answer = try await shopper.pays(try await shopper.payment(token(shopper, naming: "harbour.localhost")))
    #expect(answer.status == 422 && answer.body["code"] == "unknown_key", "\(answer.errorText)")
  }

  /// A platform's token names no basket: what keeps it from paying twice is that it is spent once.
  @Test func `is paid once by a token, whatever basket it comes with`() async throws {
    let (first, second) = (try await shopper(), try await shopper())
    let token = try await token(first, naming: "stall.localhost")
    let paid = try await first.pays(try await first.payment(token))
    #expect(paid.body["status"] == "captured", "\(paid.errorText)")
    let again = try await second.pays(try await second.payment(token))
    #expect(again.status == 409 && again.body["code"] == "token_reused", "\(again.errorText)")
    #expect(try await second.holds().isEmpty)
  }
}

/// 254 bytes are the most that mail has (RFC 5321); an index of PostgreSQL takes no more than 2,704.
@Suite(.serialized) struct `An e-mail address that is too long` {
  private static let member = "order.customer.contactDetails.emailAddress"

  private let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  private static func address(_ bytes: Int) -> String { String(repeating: "a", count: bytes - 12) + "@example.com" }

  private static func property(_ answer: JSONClient.Answer) -> String? {
    answer.body["errors"]?.elements.first?["propertyName"]?.text
  }

  @Test(arguments: [255, 3_000])
  func `is refused by its name where a merchant's server sends it`(bytes: Int) async throws {
    let customer: JSONValue = ["contactDetails": ["emailAddress": .string(Self.address(bytes))]]
    let money: JSONValue = ["amount": 900, "currencyCode": "EUR"]
    let input: JSONValue = ["paymentProductId": 302, "encryptedPaymentData": "{}"]
    let (order, page): (JSONValue, JSONValue) = (
      ["amountOfMoney": money, "customer": customer], ["returnUrl": "https://market.example/done"]
    )
    let shipped: JSONValue = [
      "amountOfMoney": money, "shipping": ["emailAddress": .string(Self.address(bytes))],
    ]
    for (resource, body, name) in [
      ("payments", ["order": order, "mobilePaymentMethodSpecificInput": input], Self.member),
      ("payments", ["order": shipped, "mobilePaymentMethodSpecificInput": input], "order.shipping.emailAddress"),
      ("hostedcheckouts", ["order": order, "hostedCheckoutSpecificInput": page], Self.member),
      ("paymentlinks", ["order": order], Self.member),
    ] as [(String, JSONValue, String)] {
      let answer = try await HostedShopper.signed(system, "market", "POST", resource, body)
      #expect(answer.status == 400 && Self.property(answer) == name, "\(resource): \(answer.body)")
    }
    let usual: JSONValue = [
      "amountOfMoney": money, "customer": ["contactDetails": ["emailAddress": .string(Self.address(254))]],
    ]
    let link = try await HostedShopper.signed(system, "market", "POST", "paymentlinks", ["order": usual])
    #expect(link.status == 201, "\(link.body)")
  }

  @Test func `is refused by its name where a page sends it, and one of 254 bytes is paid`() async throws {
    let shopper = try await Shopper.enters(system, service: "collection")
    guard case .object(var payment) = try await shopper.payment(try await shopper.token()),
      case .object(var contact)? = payment["shippingContact"]
    else { return }
    for bytes in [255, 254] {
      contact["emailAddress"] = .string(Self.address(bytes))
      payment["shippingContact"] = .object(contact)
      let answer = try await shopper.pays(.object(payment))
      #expect(answer.status == (bytes == 254 ? 200 : 400), "\(answer.body)")
      #expect(bytes == 254 || answer.body["field"] == "$.shippingContact.emailAddress", "\(answer.body)")
    }
  }
}

/// What is too long to be read back must not be paid.
@Suite(.serialized) struct `An order that a call takes` {
  private let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  private static func text(_ length: Int) -> JSONValue { .string(String(repeating: "x", count: length)) }

  /// Every member of a contact, by its path below `order`.
  private static let members =
    ["firstName", "surname", "title"].map { "customer.personalInformation.name.\($0)" }
    + ["customer.contactDetails.phoneNumber", "customer.merchantCustomerId"]
    + ["customer.billingAddress", "customer.shippingAddress", "shipping.address"].flatMap { address in
      ["street", "houseNumber", "additionalInfo", "state", "zip", "city", "countryCode", "name.firstName"]
        .map { "\(address).\($0)" }
    }

  private static func longest(_ member: String) -> Int { member.hasSuffix("merchantCustomerId") ? 200 : 256 }

  private static func order(_ amount: JSONValue, _ texts: [(String, JSONValue)]) -> JSONValue {
    texts.reduce(["amountOfMoney": amount]) { $0.setting($1.0.split(separator: ".").map(String.init), $1.1) }
  }

  @Test func `has no text that is longer than an order keeps: it is refused by its member`() async throws {
    let (money, input): (JSONValue, JSONValue) = (
      ["amount": 900, "currencyCode": "EUR"], ["paymentProductId": 302, "encryptedPaymentData": "{}"]
    )
    let lines = ("customer.billingAddress.street", JSONValue.string(String(repeating: "a\n", count: 17)))
    let doubled = ("customer.billingAddress.countryCode", JSONValue.string(String(repeating: "ß", count: 200)))
    for (member, text) in Self.members.map({ ($0, Self.text(Self.longest($0) + 1)) }) + [lines, doubled] {
      let order = Self.order(money, [(member, text)])
      let body: JSONValue = ["order": order, "mobilePaymentMethodSpecificInput": input]
      let answer = try await HostedShopper.signed(system, "market", "POST", "payments", body)
      let property = answer.body["errors"]?.elements.first?["propertyName"]
      #expect(answer.status == 400 && property?.text == "order.\(member)", "\(member): \(answer.body)")
      let link = try await HostedShopper.signed(system, "market", "POST", "paymentlinks", ["order": order])
      #expect(link.status == 400, "\(member): \(link.body)")
    }
  }

  @Test func `is shown, mailed and answered with texts as long as may be`() async throws {
    let shopper = try await Shopper.enters(system, system.kitsune, amount: 1500, service: "collection")
    let token = try await shopper.token()
    let data = try #require(token["paymentData"] ?? token["token"]?["paymentData"])
    let billed = Self.members.filter {
      $0.hasPrefix("customer") && !$0.contains("shipping") && !$0.hasSuffix("houseNumber")
    }
    let address = "customer.contactDetails.emailAddress"
    let order = Self.order(
      ["amount": 1500, "currencyCode": "JPY"],
      billed.map { ($0, Self.text(Self.longest($0))) } + [
        ("references.merchantReference", .string(shopper.reference)),
        (address, .string("long-\(shopper.reference)@example.com")),
      ])
    let body: JSONValue = [
      "order": order,
      "mobilePaymentMethodSpecificInput": [
        "paymentProductId": 302, "authorizationMode": "SALE",
        "encryptedPaymentData": .string(String(decoding: data.serialized(), as: UTF8.self)),
      ],
    ]
    let paid = try await HostedShopper.signed(system, "kitsune", "POST", "payments", body)
    let id = try #require(paid.body["payment"]?["id"]?.text, "\(paid.body)")
    let read = try await HostedShopper.signed(system, "kitsune", "GET", "payments/\(id)")
    #expect(read.status == 200, "\(read.body)")
    let anna = try await OfficePerson(office: system.office, store: system.directory, system.sender)
    let page = try await anna.get("/payments/\(id.split(separator: "_")[0])")
    #expect(page.status == 200 && page.text.contains("long-\(shopper.reference)@example.com"), "\(page.status)")
    try await waitUntil("the order's message") {
      try await system.mails { $0["subject"]?.text?.contains(shopper.reference) == true }.count == 1
    }
  }

  @Test(
    arguments: [
      ("addressLines", .array([.string(String(repeating: "b\n", count: 17))])),
      ("countryCode", .string(String(repeating: "ß", count: 200))), ("givenName", text(257)),
    ] as [(String, JSONValue)])
  func `has no contact of a sheet that is too long once it is kept`(field: String, value: JSONValue) async throws {
    let shopper = try await Shopper.enters(system, service: "collection")
    guard case .object(var payment) = try await shopper.payment(try await shopper.token()) else { return }
    payment["billingContact"] = .object([field: value])
    let answer = try await shopper.pays(.object(payment))
    #expect(answer.status == 400 && answer.body["field"]?.text == "$.billingContact.\(field)", "\(answer.body)")
  }
}

extension JSONValue {
  /// The object with a value at the end of a path, whose objects are made.
  fileprivate func setting(_ path: [String], _ value: JSONValue) -> JSONValue {
    guard let first = path.first else { return value }
    guard case .object(var object) = self else { return self }
    object[first] = (object[first] ?? [:]).setting(Array(path.dropFirst()), value)
    return .object(object)
  }
}

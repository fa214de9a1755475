import Administration
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
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

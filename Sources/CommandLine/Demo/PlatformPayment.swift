import CommandSupport
import Foundation
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer

/// A payment that a merchant's server makes over the platform API: Worldline Direct's calls, signed, and a payment token
/// that the simulated device issues. `docs/platform.md` describes them.
struct PlatformPayment {
  let shop: SigningShop
  let sandbox: JSONClient
  /// Apple's name of the merchant, whom the device encrypts to.
  let merchantIdentifier: String
  let currency: Currency
  let card: String
  /// Minor units.
  let amount: Int64
  let isQuiet: Bool

  private(set) var steps: [SandboxPayment.Step] = []
  private var payment = ""
  private let reference = "PAY-" + RandomBytes.system.hex(8)

  init(
    shop: SigningShop, sandbox: JSONClient, merchantIdentifier: String, currency: Currency, card: String, amount: Int64,
    isQuiet: Bool
  ) {
    (self.shop, self.sandbox, self.merchantIdentifier) = (shop, sandbox, merchantIdentifier)
    (self.currency, self.card, self.amount, self.isQuiet) = (currency, card, amount, isQuiet)
  }

  var isGood: Bool { steps.allSatisfy(\.failures.isEmpty) }

  mutating func run() async throws {
    try await step("connection") { try await $0.testConnection() }
    try await step("product") { try await $0.showProduct() }
    try await step("payment") { try await $0.pay() }
    guard isGood else { return }
    try await step("capture") { try await $0.capture() }
    try await step("refund") { try await $0.refund() }
    try await step("look-up") { try await $0.lookUp() }
    try await step("acquirer") { try await $0.compareWithAcquirer() }
  }
}

// The steps. Each returns what it checked; a check that fails begins with "not".
extension PlatformPayment {
  private func testConnection() async throws -> [String] {
    let answer = try await shop.call("GET", "/services/testconnection")
    return ["signed v1HMAC as \(shop.key.merchant)", expect("the result is OK", answer.body["result"] == "OK", answer)]
  }

  private func showProduct() async throws -> [String] {
    let query = "countryCode=IE&currencyCode=\(currency.code.inQuery)"
    let answer = try await shop.call("GET", "/products/302/networks?\(query)")
    let networks = (answer.body["networks"]?.elements ?? []).compactMap(\.text)
    return [expect("Apple Pay with \(networks.joined(separator: ", "))", !networks.isEmpty, answer)]
  }

  private mutating func pay() async throws -> [String] {
    let token = try await sandbox.require(
      "POST", "/device/tokens",
      [
        "cardId": .string(card), "publicKeyOf": .string(merchantIdentifier),
        "amount": .string(money(amount).decimalString), "currency": .string(currency.code),
      ])
    let answer = try await shop.call("POST", "/payments", document(token["paymentData"] ?? .null))
    payment = answer.body["payment"]?["id"]?.text ?? ""
    return [
      "a payment token for \(money(amount))", "reference \(reference)",
      expect("201, payment \(payment)", answer.status == 201, answer),
      expect("held: PENDING_CAPTURE", answer.body["payment"]?["status"] == "PENDING_CAPTURE", answer),
    ]
  }

  private func capture() async throws -> [String] {
    let answer = try await shop.call(
      "POST", "/payments/\(payment)/capture", ["amount": .integer(captured), "isFinal": true])
    return [expect("captured \(money(captured)), the rest released", answer.body["status"] == "CAPTURED", answer)]
  }

  private func refund() async throws -> [String] {
    let answer = try await shop.call(
      "POST", "/payments/\(payment)/refund",
      ["amountOfMoney": ["amount": .integer(refunded), "currencyCode": .string(currency.code)]])
    return [expect("refunded \(money(refunded))", answer.body["status"] == "REFUNDED", answer)]
  }

  private func lookUp() async throws -> [String] {
    let answer = try await shop.call("GET", "/payments/\(payment)/details")
    let kept = answer.body["paymentOutput"]?["acquiredAmount"]?["amount"]?.whole
    return [
      "\(answer.body["Operations"]?.elements.count ?? 0) operations",
      expect("kept \(money(captured - refunded))", kept == captured - refunded, answer),
    ]
  }

  /// Compares the result with the acquirer's own ledger.
  private func compareWithAcquirer() async throws -> [String] {
    let key = try await sandbox.require("GET", "/sandbox/ca.json")["acquirerKey"]?.text ?? ""
    let ledger = try await sandbox.require(
      "GET", "/acquirer/v1/authorizations", headers: [HTTPField("Authorization", "Bearer \(key)")])
    let holds = (ledger["authorizations"]?.elements ?? []).filter { $0["merchantReference"]?.text == reference }
    let agrees = holds.first?["captured"]?.whole == captured && holds.first?["refunded"]?.whole == refunded
    return [agrees && holds.count == 1 ? "its ledger agrees" : "not the same in its ledger: \(holds.count) holds"]
  }
}

// What the steps share.
extension PlatformPayment {
  private var captured: Int64 { amount - amount / 5 }
  private var refunded: Int64 { amount / 4 }
  private func money(_ units: Int64) -> Amount { Amount(minorUnits: units, currency: currency) }

  private func document(_ paymentData: JSONValue) -> JSONValue {
    [
      "order": [
        "amountOfMoney": ["amount": .integer(amount), "currencyCode": .string(currency.code)],
        "references": ["merchantReference": .string(reference)],
      ],
      "mobilePaymentMethodSpecificInput": [
        "paymentProductId": 302, "authorizationMode": "PRE_AUTHORIZATION", "requiresApproval": true,
        "encryptedPaymentData": .string(String(decoding: paymentData.serialized(), as: UTF8.self)),
      ],
    ]
  }

  private func expect(_ claim: String, _ holds: Bool, _ answer: JSONClient.Answer) -> String {
    holds ? claim : "not \(claim): \(answer.isSuccess ? "HTTP \(answer.status)" : answer.errorText)"
  }

  private mutating func step(_ name: String, _ body: (inout PlatformPayment) async throws -> [String]) async throws {
    let start = ContinuousClock.now
    let checks = try await body(&self)
    let step = SandboxPayment.Step(
      name: name, checks: checks, failures: checks.filter { $0.hasPrefix("not ") }, took: ContinuousClock.now - start)
    steps.append(step)
    if !isQuiet { SandboxPayment.show(step) }
  }

  var report: JSONValue {
    [
      "good": .bool(isGood), "paymentId": .string(payment), "merchantReference": .string(reference),
      "steps": .array(steps.map(\.json)),
    ]
  }
}

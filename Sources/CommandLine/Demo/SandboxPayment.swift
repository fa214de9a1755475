import CommandSupport
import Crypto
import Foundation
import HTTPTransport
import Storage
import StrictJSON
import TenderPayments
import TenderServer

/// A payment from basket to capture, over HTTP alone: as a shop, a browser and a device make it.
///
/// Every step reports what it checked and how long it took.
struct SandboxPayment {
  struct Plan: Sendable {
    let card: String
    let contact: String
    let method: String?
    let coupon: String?
    let amount: Int64
    let collects: Bool
    let declinesFirst: Bool
    let cancels: Bool
    let replays: Bool
    /// Whether the payment goes to an emulated provider: it may tell later that it has captured.
    let isThroughProvider: Bool
    let tokenFile: String?
    /// What the shopper agrees to beyond this payment.
    var agreement: JSONValue?
  }

  let page: JSONClient
  let shop: SigningShop
  let sandbox: JSONClient
  let origin: String
  let isQuiet: Bool

  private(set) var steps: [Step] = []
  private(set) var isGood = true
  private let basket = RandomBytes.system.hex(16)
  private var metadata: JSONValue = .null
  private var quote = ""
  private var total = ""
  private var request: JSONValue = .null

  struct Step {
    let name: String
    let checks: [String]
    let failures: [String]
    let took: Duration

    var json: JSONValue {
      [
        "name": .string(name), "checks": .array(checks.map(JSONValue.string)),
        "failures": .array(failures.map(JSONValue.string)), "microseconds": .integer(took.microseconds),
      ]
    }
  }

  init(page: JSONClient, shop: SigningShop, sandbox: JSONClient, origin: String, isQuiet: Bool) {
    self.page = page
    self.shop = shop
    self.sandbox = sandbox
    self.origin = origin
    self.isQuiet = isQuiet
  }

  mutating func run(_ plan: Plan) async throws {
    try await step("metadata") { try await $0.readMetadata() }
    try await step("basket") { try await $0.storeBasket(plan) }
    try await step("sheet") { try await $0.openSheet(plan) }
    if !plan.collects { try await step("address") { try await $0.chooseAddress(plan) } }
    if let coupon = plan.coupon { try await step("coupon") { try await $0.enter(coupon) } }
    if plan.cancels { return try await step("cancel") { try await $0.cancel(plan) } }
    if plan.declinesFirst { try await step("declined card") { try await $0.payDeclined(plan) } }
    try await step("payment") { try await $0.pay(plan) }
    guard steps.last?.failures.isEmpty == true else { return }
    try await step("outcome") { try await $0.askOutcome(plan) }
    if plan.agreement != nil { try await step("agreement") { try await $0.readAgreement() } }
    if plan.isThroughProvider || plan.amount == 0 { return }
    try await step("acquirer") { try await $0.compareWithAcquirer() }
  }
}

// The steps. Each returns what it checked; a check that fails begins with "not".
extension SandboxPayment {
  private mutating func readMetadata() async throws -> [String] {
    metadata = try await page.require("GET", "/applepay/metadata")
    return [
      "environment \(text(metadata["environment"]))", "merchant \(text(metadata["merchantIdentifier"]))",
      expect("Apple Pay is enabled for \(origin)", metadata["enabled"] == .bool(true)),
    ]
  }

  private func storeBasket(_ plan: Plan) async throws -> [String] {
    let answer = try await shop.store(document(plan), as: basket)
    guard answer.isSuccess else { throw CallFailure("the server refused the basket: \(answer.errorText)") }
    return [
      "signed v1HMAC as \(shop.key.merchant)", "reference \(reference)",
      expect("the basket is open", answer.body["state"]?.text == "open"),
    ]
  }

  private mutating func openSheet(_ plan: Plan) async throws -> [String] {
    let answer = try await page.require("GET", "/applepay/basket/\(basket)")
    request = answer["request"] ?? .null
    quote = text(answer["quoteId"])
    total = text(request["total"]?["amount"])
    return [
      "\(text(request["total"]?["label"])) \(total) \(text(request["currencyCode"]))", "quote \(quote)",
      expect("application data binds the request to this basket", request["applicationData"]?.text != nil),
    ]
  }

  private mutating func chooseAddress(_ plan: Plan) async throws -> [String] {
    let redacted = try await contact(plan)["redacted"] ?? .null
    var answer = try await page.require("POST", "/applepay/basket/\(basket)/update", ["shippingContact": redacted])
    let offered = answer["update"]?["newShippingMethods"]?.elements ?? []
    let failures = answer["update"]?["errors"]?.elements ?? []
    guard failures.isEmpty else { throw CallFailure("not delivered there: \(text(failures[0]["code"]))") }
    let method = plan.method ?? text(offered.first?["identifier"])
    answer = try await page.require("POST", "/applepay/basket/\(basket)/update", ["shippingMethod": .string(method)])
    follow(answer)
    return [
      "only the redacted address was sent (\(text(redacted["postalCode"])))",
      "\(offered.count) methods, chose \(method)", "total \(total)",
    ]
  }

  private mutating func enter(_ coupon: String) async throws -> [String] {
    let answer = try await page.require("POST", "/applepay/basket/\(basket)/update", ["couponCode": .string(coupon)])
    let errors = answer["update"]?["errors"]?.elements ?? []
    follow(answer)
    return errors.isEmpty
      ? ["accepted", "total \(total)"] : [expect("the coupon is good (\(text(errors[0]["code"])))", false)]
  }

  private func cancel(_ plan: Plan) async throws -> [String] {
    let payment = try await authorizedSheet(plan, card: plan.card)
    let cancelled = try await page.call("DELETE", "/applepay/payment/\(basket)")
    let late = try await page.call("POST", "/applepay/payment", payment)
    return [
      expect("cancelled (\(cancelled.status))", cancelled.status == 204),
      expect("a payment afterwards is refused (\(text(late.body["code"])))", late.body["code"] == "basket_cancelled"),
    ]
  }

  private func payDeclined(_ plan: Plan) async throws -> [String] {
    let answer = try await page.call(
      "POST", "/applepay/payment", try await authorizedSheet(plan, card: "visa-insufficient-funds"))
    return [
      expect(
        "402 \(text(answer.body["code"])): another card may pay",
        answer.status == 402 && answer.body["code"] == "declined")
    ]
  }

  private func pay(_ plan: Plan) async throws -> [String] {
    let payment = try await authorizedSheet(plan, card: plan.card)
    if let file = plan.tokenFile { try save(payment["token"], to: file) }
    let answer = try await page.call("POST", "/applepay/payment", payment)
    guard answer.isSuccess else { return ["not taken: \(answer.errorText)"] }
    var checks = [
      plan.isThroughProvider ? "token verified" : "token verified, decrypted and confirmed", taken(answer, plan),
      expect("for exactly what the sheet showed, \(total)", answer.body["receipt"]?["amount"]?.text == total),
      expect("a guest token came with it", answer.body["guestToken"]?.text != nil),
    ]
    if plan.replays {
      let again = try await page.call("POST", "/applepay/payment", payment)
      checks.append(expect("sent again, it is the same payment", again.body == answer.body))
    }
    return checks
  }

  private func taken(_ answer: JSONClient.Answer, _ plan: Plan) -> String {
    guard plan.amount > 0 else { return expect("the card was verified", answer.body["status"] == "verified") }
    guard plan.isThroughProvider else { return expect("captured", answer.body["status"] == "captured") }
    return expect("authorized or captured", ["authorized", "captured"].contains(answer.body["status"]?.text))
  }

  private func askOutcome(_ plan: Plan) async throws -> [String] {
    let answer = try await page.call("GET", "/applepay/payment/\(basket)")
    return [
      "order \(text(answer.body["orderId"]))", "payment \(text(answer.body["paymentId"]))", taken(answer, plan),
    ]
  }

  private func readAgreement() async throws -> [String] {
    let listed = try await shop.call("GET", "/agreements").body["agreements"]?.elements ?? []
    guard let ours = listed.first(where: { $0["merchantReference"]?.text == reference }) else {
      return ["not there: no agreement has the reference \(reference)"]
    }
    let token = ours["hasMerchantToken"] == true ? "the card gave a merchant token" : "the card gave no merchant token"
    return [
      "agreement \(text(ours["id"]))", token, expect("it is active", ours["status"] == "active"),
      ours["next"]?["due"]?.text.map { "the next period begins at \($0)" } ?? "no period has a date to come",
    ]
  }

  /// Compares the result with the acquirer's own ledger.
  private func compareWithAcquirer() async throws -> [String] {
    let key = text(try await sandbox.require("GET", "/sandbox/ca.json")["acquirerKey"])
    let ledger = try await sandbox.require(
      "GET", "/acquirer/v1/authorizations", headers: [HTTPField("Authorization", "Bearer \(key)")])
    let ours = (ledger["authorizations"]?.elements ?? []).filter { $0["merchantReference"]?.text == reference }
    let held = ours.filter { ($0["authorized"]?.whole ?? 0) > 0 }
    guard let currency = Currency(code: text(request["currencyCode"])),
      let paid = try? Amount(decimal: total, currency: currency)
    else {
      return [expect("the total is an amount", false)]
    }
    return [
      expect("one hold for this order", held.count == 1),
      expect(
        "its ledger has \(paid) captured", held.first?["captured"]?.whole == paid.minorUnits),
    ]
  }
}

// What the steps share.
extension SandboxPayment {
  /// Requests a merchant session and issues a payment token for it, as an authorized sheet does.
  private func authorizedSheet(_ plan: Plan, card: String) async throws -> JSONValue {
    let session = try await page.require("POST", "/applepay/validate", ["basketId": .string(basket)])
    var order: JSONObject = [
      "cardId": .string(card), "merchantSession": session, "amount": .string(total),
      "currency": request["currencyCode"] ?? .null, "applicationData": request["applicationData"] ?? .null,
    ]
    let kinds = ["recurringPaymentRequest", "automaticReloadPaymentRequest", "deferredPaymentRequest"]
    if let shown = kinds.lazy.compactMap({ request[$0] }).first {
      order["agreement"] = true
      order["agreementText"] = shown["paymentDescription"]
      order["tokenNotificationURL"] = shown["tokenNotificationURL"]
    }
    let token = try await sandbox.require("POST", "/device/tokens", .object(order))
    let contact = try await contact(plan)
    return ["basketId": .string(basket), "quoteId": .string(quote), "token": token, "shippingContact": contact]
  }

  private func contact(_ plan: Plan) async throws -> JSONValue {
    let all = try await sandbox.require("GET", "/device/contacts").elements
    guard let contact = all.first(where: { $0["id"]?.text == plan.contact }) else {
      throw CallFailure(
        "no contact \(plan.contact); there are \(all.compactMap { $0["id"]?.text }.joined(separator: ", "))")
    }
    return contact
  }

  private mutating func follow(_ answer: JSONValue) {
    quote = text(answer["quoteId"])
    total = text(answer["update"]?["newTotal"]?["amount"])
  }

  private var reference: String { "PAY-\(basket.prefix(8))" }

  private func document(_ plan: Plan) -> JSONValue {
    if let agreement = plan.agreement {
      return [
        "currencyCode": metadata["currencyCode"] ?? .null, "countryCode": metadata["countryCode"] ?? .null,
        "merchantReference": .string(reference), "businessName": metadata["displayName"] ?? .null,
        "serviceTypes": ["none"], "contactFields": [], "capture": "immediate", "agreement": agreement,
        "items": [["id": "item", "label": "The first payment", "unitAmount": .integer(plan.amount)]],
      ]
    }
    return [
      "currencyCode": metadata["currencyCode"] ?? .null, "countryCode": metadata["countryCode"] ?? .null,
      "merchantReference": .string(reference), "businessName": metadata["displayName"] ?? .null,
      "serviceTypes": ["delivery", "collection"], "serviceType": plan.collects ? "collection" : "delivery",
      "items": [["id": "item", "label": "One of everything", "unitAmount": .integer(plan.amount), "quantity": 1]],
      "zones": .array(["GB", "US", "DE", "FR", "JP", "IE"].map(Self.zone)),
      "shippingMethods": [
        ["identifier": "bike", "label": "Bike", "detail": "30 to 45 minutes", "amount": 250],
        ["identifier": "van", "label": "Van", "detail": "Today", "amount": 100],
      ],
      "coupons": [["code": "LUNCH10", "label": "Lunch offer", "percentBasisPoints": 1_000]], "capture": "immediate",
    ]
  }

  private static func zone(_ country: String) -> JSONValue {
    ["id": .string(country), "countryCode": .string(country), "postalPrefixes": [], "methods": ["bike", "van"]]
  }

  private func save(_ token: JSONValue?, to file: String) throws {
    try PrivateFile.write(String(decoding: (token ?? .null).serialized(), as: UTF8.self), to: file)
  }

  private func text(_ value: JSONValue?) -> String { value?.text ?? "?" }

  private func expect(_ claim: String, _ holds: Bool) -> String { holds ? claim : "not " + claim }

  private mutating func step(_ name: String, _ body: (inout SandboxPayment) async throws -> [String]) async throws {
    let start = ContinuousClock.now
    let checks = try await body(&self)
    let failures = checks.filter { $0.hasPrefix("not ") }
    let step = Step(name: name, checks: checks, failures: failures, took: ContinuousClock.now - start)
    isGood = isGood && failures.isEmpty
    steps.append(step)
    if !isQuiet { Self.show(step) }
  }

  static func show(_ step: Step) {
    let mark = step.failures.isEmpty ? Terminal.styled("✓", .green) : Terminal.styled("✗", .red)
    let time = "\(step.took.microseconds / 1_000) ms"
    Terminal.say("\(mark) \(Terminal.styled(step.name, .bold))  \(Terminal.styled(time, .dim))")
    for check in step.checks { Terminal.say("    \(check)") }
  }

  var report: JSONValue {
    [
      "good": .bool(isGood), "basketId": .string(basket), "merchantReference": .string(reference),
      "total": .string(total),
      "steps": .array(steps.map(\.json)),
    ]
  }
}

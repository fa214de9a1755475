import AcquirerSandbox
import TenderPayments
import TokenIssuer

/// A sale that a caller requests.
struct BraintreeSale: Sendable {
  let amount: Amount
  let merchantAccount: String
  let order: String?
  let card: BraintreeCard
  let isSubmitted: Bool
}

/// A network token that a sale is made with. It is never stored.
struct BraintreeCard: Sendable {
  let dpan: DPAN
  let cryptogram: Cryptogram
  let expirationMonth: String
  let expirationYear: String

  init(_ token: NetworkToken) {
    (dpan, cryptogram) = (token.dpan, token.cryptogram)
    expirationMonth = String(token.expiry.mmyy.prefix(2))
    expirationYear = String(token.expiry.year)
  }

  /// Reads a request's `apple-pay-card`; collects what is wrong with it.
  init?(_ element: BraintreeElement, _ errors: inout [BraintreeValidationError]) {
    let fields = [
      ("number", "93508"), ("expiration-month", "93509"), ("expiration-year", "93510"), ("cryptogram", "93511"),
    ]
    for (name, code) in fields where element.value(name) == nil { errors.append(.card(code, name)) }
    guard let dpan = element.value("number").flatMap(DPAN.init), let month = element.value("expiration-month"),
      let year = element.value("expiration-year"), let cryptogram = element.value("cryptogram"),
      month.wholeMatch(of: /0[1-9]|1[0-2]/) != nil, year.wholeMatch(of: /[0-9]{4}|[0-9]{2}/) != nil
    else {
      if errors.isEmpty { errors.append(.card("93508", "number")) }
      return nil
    }
    self.dpan = dpan
    self.cryptogram = Cryptogram(base64: cryptogram)
    (expirationMonth, expirationYear) = (month, year.utf8.count == 2 ? "20" + year : year)
  }

  /// `Apple Pay - Visa`.
  var type: String { "Apple Pay - " + (SandboxCards.card(dpan: dpan)?.networkName ?? "Unknown") }
}

extension BraintreeSale {
  /// What a sale may hold, by Braintree's libraries; of these only what a sale by Apple Pay needs is used.
  private static let known: Set<String> = [
    "type", "amount", "apple-pay-card", "billing", "channel", "credit-card", "customer", "customer-id",
    "custom-fields", "descriptor", "device-data", "discount-amount", "line-items", "merchant-account-id", "options",
    "order-id", "payment-method-nonce", "payment-method-token", "processing-merchant-category-code",
    "purchase-order-number", "risk-data", "shipping", "shipping-amount", "ships-from-postal-code", "tax-amount",
    "tax-exempt", "transaction-source", "accept-partial-authorization",
  ]
  private static let knownCard: Set<String> = [
    "number", "cardholder-name", "cryptogram", "expiration-month", "expiration-year", "eci-indicator",
  ]

  /// - Throws: ``BraintreeProblem``: every fault of the request at once, or 403 for a field that does not exist.
  init(_ body: BraintreeElement, of account: BraintreeAccount) throws {
    try Self.refuseUnknown(body)
    var errors: [BraintreeValidationError] = []
    let merchantAccount = body.value("merchant-account-id") ?? account.defaultMerchantAccount
    let currency = account.merchantAccounts[merchantAccount]
    if currency == nil { errors.append(.accountInvalid) }
    let amount = currency.flatMap { BraintreeMoney.read(body.value("amount"), $0, &errors) }
    let order = body.value("order-id")
    if (order?.utf8.count ?? 0) > 255 { errors.append(.orderTooLong) }
    if let name = body["descriptor"]?.value("name"), !Self.isDescriptor(name) { errors.append(.descriptorInvalid) }
    errors += Self.faults(customer: body["customer"]) + Self.faults(billing: body["billing"])
    let card = Self.card(body, &errors)
    guard errors.isEmpty, let amount, let card else {
      throw BraintreeProblem(status: 422, errors: errors, message: errors.map(\.message).joined(separator: "\n"))
    }
    self.init(
      amount: amount, merchantAccount: merchantAccount, order: order, card: card,
      isSubmitted: body["options"]?.value("submit-for-settlement") == "true")
  }

  private static func faults(customer: BraintreeElement?) -> [BraintreeValidationError] {
    faults(email: customer?.value("email"), phone: customer?.value("phone"))
      + tooLong(customer, "customer", [("81608", "First name"), ("81613", "Last name")])
  }

  static func faults(email: String?, phone: String?) -> [BraintreeValidationError] {
    var faults: [BraintreeValidationError] = []
    if let email, !email.isEmailAddress { faults.append(.emailInvalid) }
    if email?.isLonger(than: 255) == true { faults.append(.emailTooLong) }
    if phone?.isLonger(than: 255) == true { faults.append(.phoneTooLong) }
    return faults
  }

  private static func faults(billing: BraintreeElement?) -> [BraintreeValidationError] {
    var faults = tooLong(
      billing, "billing",
      [("81805", "First name"), ("81806", "Last name"), ("81812", "Street address"), ("81807", "Locality")])
    if let country = billing?.value("country-code-alpha2"), !CountryCode.isAssigned(country) {
      faults.append(.countryNotAccepted)
    }
    if let code = billing?.value("postal-code") {
      if code.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9 -]*/) == nil { faults.append(.postalCodeInvalid) }
      if code.filter({ $0.isLetter || $0.isNumber }).count > 9 { faults.append(.postalCodeTooLong) }
    }
    return faults
  }

  private static func tooLong(
    _ element: BraintreeElement?, _ object: String, _ fields: [(code: String, name: String)]
  ) -> [BraintreeValidationError] {
    fields.map { (name: $0.name, fault: BraintreeValidationError.tooLong($0.code, $0.name, in: object)) }.filter {
      element?.value($0.name.lowercased().replacing(" ", with: "-"))?.isLonger(than: 255) == true
    }.map(\.fault)
  }

  private static func refuseUnknown(_ body: BraintreeElement) throws(BraintreeProblem) {
    let unknown =
      body.children.map(\.name).filter { !known.contains($0) }
      + (body["apple-pay-card"]?.children.map(\.name).filter { !knownCard.contains($0) } ?? [])
    guard body.name == "transaction", body.value("type") == "sale", unknown.isEmpty else {
      throw BraintreeProblem(status: 403, message: "Invalid params: \(unknown.joined(separator: ", "))")
    }
  }

  private static func card(
    _ body: BraintreeElement, _ errors: inout [BraintreeValidationError]
  ) -> BraintreeCard? {
    guard let card = body["apple-pay-card"] else {
      errors.append(body["credit-card"] == nil ? .cardRequired : .notSupported)
      return nil
    }
    return BraintreeCard(card, &errors)
  }

  static func isDescriptor(_ text: String) -> Bool {
    text.wholeMatch(of: /(.{3}|.{7}|.{12})\*.+/) != nil && text.utf8.count <= 22
  }
}

/// Amounts as Braintree writes them: decimal, with the decimals of the merchant account's currency.
enum BraintreeMoney {
  static func read(
    _ text: String?, _ currency: Currency, _ errors: inout [BraintreeValidationError]
  ) -> Amount? {
    guard let text else {
      errors.append(.amountRequired)
      return nil
    }
    guard let amount = try? Amount(decimal: text, currency: currency) else {
      errors.append(.amountInvalid)
      return nil
    }
    if !amount.isPositive { errors.append(.amountNotPositive) }
    return amount.isPositive ? amount : nil
  }
}

import HTTPTypes

/// A request that Braintree answers without doing anything.
struct BraintreeProblem: Error, Sendable, Hashable {
  let status: Int
  var errors: [BraintreeValidationError] = []
  var message = ""

  static let notFound = BraintreeProblem(status: 404)

  static func invalid(_ error: BraintreeValidationError) -> BraintreeProblem {
    BraintreeProblem(status: 422, errors: [error], message: error.message)
  }

  /// The document for 422; other statuses have no body.
  var document: BraintreeElement? {
    guard status == 422 else { return nil }
    return BraintreeElement(
      "api-error-response",
      [Self.errors(errors), BraintreeElement("params", []), BraintreeElement("message", message)])
  }

  static func errors(_ errors: [BraintreeValidationError]) -> BraintreeElement {
    let none = BraintreeElement("errors", type: "array", [])
    guard !errors.isEmpty else { return BraintreeElement("errors", [none]) }
    let own = errors.filter { $0.object == "transaction" }.map(\.element)
    let nested = Dictionary(grouping: errors.filter { $0.object != "transaction" }, by: \.object)
      .sorted { $0.key < $1.key }.map { name, errors in
        BraintreeElement(name, [BraintreeElement("errors", type: "array", errors.map(\.element))])
      }
    return BraintreeElement(
      "errors",
      [none, BraintreeElement("transaction", [BraintreeElement("errors", type: "array", own)] + nested)])
  }
}

/// A fault of one field. The codes are those of Braintree's libraries.
struct BraintreeValidationError: Sendable, Hashable {
  let code: String
  let attribute: String
  let message: String
  /// The object that the field belongs to.
  var object = "transaction"

  init(_ code: String, _ attribute: String, _ message: String, in object: String = "transaction") {
    (self.code, self.attribute, self.message, self.object) = (code, attribute, message, object)
  }

  fileprivate var element: BraintreeElement {
    BraintreeElement(
      "error",
      [
        BraintreeElement("code", code), BraintreeElement("attribute", attribute, type: "symbol"),
        BraintreeElement("message", message),
      ])
  }

  static let amountRequired = Self("81502", "amount", "Amount is required.")
  static let amountInvalid = Self("81503", "amount", "Amount is an invalid format.")
  static let amountNotPositive = Self("81531", "amount", "Amount must be greater than zero.")
  static let accountInvalid = Self("91513", "merchant_account_id", "Merchant account ID is invalid.")
  static let orderTooLong = Self("91501", "order_id", "Order ID is too long.")
  static let cardRequired = Self("91508", "base", "Cannot determine payment method.")
  static let notSupported = Self(
    "91577", "base", "Merchant account does not support payment instrument.")
  static let cannotVoid = Self("91504", "base", "Transaction can only be voided if status is authorized.")
  static let cannotSettle = Self("91507", "base", "Cannot submit for settlement unless status is authorized.")
  static let cannotSettleParts = Self("915103", "base", "Cannot submit for partial settlement.")
  static let partsNotSupported = Self("915102", "base", "Processor does not support partial settlement.")
  static let settlementTooLarge = Self("91522", "amount", "Settlement amount is too large.")
  static let cannotRefund = Self("91506", "base", "Cannot refund a transaction unless it is settled.")
  static let cannotRefundCredit = Self("91505", "base", "Cannot refund a credit.")
  static let refunded = Self("91512", "base", "Transaction has already been completely refunded.")
  static let refundTooLarge = Self("91521", "amount", "Refund amount is too large.")
  static let nonceUnknown = Self("91565", "payment_method_nonce", "Unknown or expired payment_method_nonce.")
  static let descriptorInvalid = Self("92201", "name", "Name is invalid.", in: "descriptor")
  static let emailInvalid = Self("81604", "email", "Email is an invalid format.", in: "customer")
  static let emailTooLong = Self("81605", "email", "Email is too long.", in: "customer")
  static let phoneTooLong = Self("81614", "phone", "Phone is too long.", in: "customer")
  static let countryNotAccepted = Self(
    "91814", "country_code_alpha2", "Country code alpha-2 is not accepted.", in: "billing")
  static let postalCodeTooLong = Self(
    "81809", "postal_code", "Postal code may contain no more than 9 letter or number characters.", in: "billing")
  static let postalCodeInvalid = Self(
    "81813", "postal_code", "Postal code can only contain letters, numbers, spaces, and hyphens.", in: "billing")
  static let cannotSimulate = Self("91575", "base", "Cannot simulate the settlement of this transaction.")

  /// - Parameter name: the field's, as the message has it.
  static func tooLong(_ code: String, _ name: String, in object: String) -> Self {
    Self(code, name.lowercased().replacing(" ", with: "_"), "\(name) is too long.", in: object)
  }

  static func card(_ code: String, _ attribute: String) -> Self {
    Self(code, attribute, "\(attribute) is required.", in: "apple-pay-card")
  }
}

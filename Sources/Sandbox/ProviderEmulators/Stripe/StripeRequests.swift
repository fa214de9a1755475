import AcquirerSandbox
import StrictJSON
import TenderPayments

/// `POST /v1/payment_intents`, with which the intent is confirmed at once; the sandbox has no other way to confirm one.
struct StripePaymentRequest: Sendable {
  /// What the shopper pays with.
  enum Method: Sendable {
    case token(String)
    case card(NetworkToken)
  }

  let money: StripeMoney
  let method: Method
  let capturesByItself: Bool
  let wantsMulticapture: Bool
  let metadata: [String: String]
  let expands: Bool

  init(_ text: String) throws(StripeProblem) {
    let fields = try StripeParameters(text, known: Self.known, maps: ["metadata"])
    money = try Self.money(fields)
    guard try fields.flag("confirm") == true else {
      throw .invalid("confirm", "The sandbox confirms a PaymentIntent when it is created: send confirm=true.")
    }
    capturesByItself = try Self.capturesByItself(fields)
    wantsMulticapture = fields["payment_method_options[card][request_multicapture]"] == "if_available"
    metadata = try fields.map("metadata")
    expands = fields.all("expand[]").contains("latest_charge")
    if fields["payment_method_options[card][statement_descriptor]"] != nil || fields["statement_descriptor"] != nil {
      throw .invalid("statement_descriptor", "For card charges, use statement_descriptor_suffix instead.")
    }
    method = try Self.method(fields)
    try Self.checkContact(fields)
  }

  /// The messages are Stripe's.
  private static func checkContact(_ fields: StripeParameters) throws(StripeProblem) {
    let details = "payment_method_data[billing_details]"
    if let phone = fields["\(details)[phone]"], phone.isLonger(than: 20) {
      throw .invalid(
        "\(details)[phone]",
        "Invalid string: \(phone.prefix(10))...\(phone.suffix(10)); must be at most 20 characters")
    }
    if let email = fields["\(details)[email]"], !email.isEmailAddress {
      throw .invalid("\(details)[email]", "Invalid email address: \(email)", code: "email_invalid")
    }
  }

  private static func money(_ fields: StripeParameters) throws(StripeProblem) -> StripeMoney {
    guard let value = try fields.integer("amount") else { throw .missing("amount") }
    let code = try fields.text("currency")
    guard let money = StripeMoney(value: value, currency: code) else {
      throw .invalid("currency", "Invalid currency: \(code).")
    }
    guard value >= 1 else {
      throw .invalid("amount", "This value must be greater than or equal to 1.", code: "parameter_invalid_integer")
    }
    guard money.isWhole else { throw .invalid("amount", "Invalid amount for this currency.") }
    return money
  }

  private static func capturesByItself(_ fields: StripeParameters) throws(StripeProblem) -> Bool {
    switch fields["capture_method"] {
    case "manual": return false
    case nil, "automatic", "automatic_async": return true
    default: throw .invalid("capture_method", "Invalid capture_method")
    }
  }

  private static func method(_ fields: StripeParameters) throws(StripeProblem) -> Method {
    guard try fields.text("payment_method_data[type]") == "card" else {
      throw .invalid("payment_method_data[type]", "The sandbox takes cards only.")
    }
    let types = fields.all("payment_method_types[]")
    guard types.isEmpty || types.contains("card") else {
      throw .invalid("payment_method_types", "The payment method type is not allowed by payment_method_types.")
    }
    if let token = fields["payment_method_data[card][token]"] { return .token(token) }
    return .card(try networkToken(fields))
  }

  private static func networkToken(_ fields: StripeParameters) throws(StripeProblem) -> NetworkToken {
    let (card, options) = (
      "payment_method_data[card][network_token]", "payment_method_options[card][network_token]"
    )
    guard fields["\(card)[tokenization_method]"] == "apple_pay" else {
      throw .invalid("\(card)[tokenization_method]", "The tokenization method has to be apple_pay.")
    }
    guard let number = DPAN(try fields.text("\(card)[number]")) else {
      throw .invalid("\(card)[number]", "Your card number is incorrect.", code: "incorrect_number")
    }
    let (month, year) = (try fields.text("\(card)[exp_month]"), try fields.text("\(card)[exp_year]"))
    guard year.utf8.count == 4, let expiry = CardExpiry(yymm: year.suffix(2) + (month.count == 1 ? "0" : "") + month)
    else { throw .invalid("\(card)[exp_year]", "Your card's expiration is invalid.", code: "invalid_expiry_year") }
    let cryptogram = try fields.text("\(options)[cryptogram]")
    guard Base64.decode(cryptogram)?.isEmpty == false else {
      throw .invalid("\(options)[cryptogram]", "Invalid cryptogram.")
    }
    let indicator = fields["\(options)[electronic_commerce_indicator]"]
    guard indicator?.wholeMatch(of: /[0-9]{2}/) != nil || indicator == nil else {
      throw .invalid("\(options)[electronic_commerce_indicator]", "The indicator has two digits.")
    }
    return NetworkToken(dpan: number, expiry: expiry, cryptogram: Cryptogram(base64: cryptogram), eci: indicator)
  }

  private static let known: Set<String> = [
    "amount", "automatic_payment_methods[allow_redirects]", "automatic_payment_methods[enabled]", "capture_method",
    "confirm", "confirmation_method", "currency", "customer", "description", "error_on_requires_action", "expand[]",
    "off_session", "payment_method_data[billing_details][email]", "payment_method_data[billing_details][name]",
    "payment_method_data[billing_details][phone]", "payment_method_data[card][exp_month]",
    "payment_method_data[card][exp_year]", "payment_method_data[card][last4]",
    "payment_method_data[card][network_token][exp_month]", "payment_method_data[card][network_token][exp_year]",
    "payment_method_data[card][network_token][number]",
    "payment_method_data[card][network_token][tokenization_method]", "payment_method_data[card][token]",
    "payment_method_data[type]", "payment_method_options[card][network_token][cryptogram]",
    "payment_method_options[card][network_token][electronic_commerce_indicator]",
    "payment_method_options[card][request_multicapture]", "payment_method_options[card][request_three_d_secure]",
    "payment_method_types[]", "receipt_email", "return_url", "setup_future_usage", "statement_descriptor",
    "statement_descriptor_suffix",
  ]
}

/// `POST /v1/tokens` with the parameters of a payment token, as Stripe's own library for apps sends them.
struct StripeTokenRequest: Sendable {
  let paymentData: JSONValue

  init(_ text: String) throws(StripeProblem) {
    let fields = try StripeParameters(text, known: Self.known)
    guard let token = try? JSONReader.read(Array(try fields.text("pk_token").utf8)) else {
      throw .invalid("pk_token", "The pk_token is no JSON.")
    }
    for name in ["pk_token_instrument_name", "pk_token_payment_network", "pk_token_transaction_id"] {
      _ = try fields.text(name)
    }
    paymentData = token
  }

  private static let known: Set<String> = [
    "card[address_city]", "card[address_country]", "card[address_line1]", "card[address_line2]",
    "card[address_state]", "card[address_zip]", "card[name]", "pk_token", "pk_token_instrument_name",
    "pk_token_payment_network", "pk_token_transaction_id",
  ]
}

/// `POST /v1/payment_intents/{id}/capture`.
struct StripeCaptureRequest: Sendable {
  /// Nil for all that can be captured.
  let value: Int64?
  let isFinal: Bool
  let metadata: [String: String]
  let expands: Bool

  init(_ text: String) throws(StripeProblem) {
    let fields = try StripeParameters(
      text, known: ["amount_to_capture", "expand[]", "final_capture", "statement_descriptor_suffix"],
      maps: ["metadata"])
    value = try fields.integer("amount_to_capture")
    guard value ?? 1 >= 1 else {
      throw .invalid("amount_to_capture", "This value must be greater than or equal to 1.")
    }
    isFinal = try fields.flag("final_capture") ?? true
    metadata = try fields.map("metadata")
    expands = fields.all("expand[]").contains("latest_charge")
  }
}

/// `POST /v1/payment_intents/{id}/cancel`.
struct StripeCancelRequest: Sendable {
  let reason: String?

  init(_ text: String) throws(StripeProblem) {
    let fields = try StripeParameters(text, known: ["cancellation_reason", "expand[]"])
    reason = fields["cancellation_reason"]
    guard [nil, "abandoned", "duplicate", "fraudulent", "requested_by_customer"].contains(reason) else {
      throw .invalid("cancellation_reason", "Invalid cancellation_reason")
    }
  }
}

/// `POST /v1/refunds`.
struct StripeRefundRequest: Sendable {
  let intent: String
  /// Nil for all that is left.
  let value: Int64?
  let reason: String?
  let metadata: [String: String]

  init(_ text: String) throws(StripeProblem) {
    let fields = try StripeParameters(
      text, known: ["amount", "expand[]", "payment_intent", "reason"], maps: ["metadata"])
    intent = try fields.text("payment_intent")
    value = try fields.integer("amount")
    guard value ?? 1 >= 1 else { throw .invalid("amount", "This value must be greater than or equal to 1.") }
    reason = fields["reason"]
    guard [nil, "duplicate", "fraudulent", "requested_by_customer"].contains(reason) else {
      throw .invalid("reason", "Invalid reason")
    }
    metadata = try fields.map("metadata")
  }
}

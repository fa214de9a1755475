import AcquirerSandbox
import StrictJSON
import TenderPayments

/// `POST /payments`.
struct CheckoutComPaymentRequest: Sendable {
  /// What the shopper pays with.
  enum Source: Sendable {
    /// A token of `POST /tokens`.
    case token(String)
    case networkToken(NetworkToken)
    /// What Checkout.com stores of an earlier payment.
    case instrument(String)
  }

  let source: Source
  let amount: CheckoutComAmount
  let reference: String?
  let processingChannel: String
  /// Checkout.com captures unless it is told not to.
  let capturesByItself: Bool
  let allowsPartialApproval: Bool
  /// `Regular`, `Recurring` or `Unscheduled`.
  let paymentType: String
  /// Whether the card is stored for later payments.
  let stores: Bool
  /// The first payment of the series; nil for a payment of the shopper's own.
  let previous: String?

  init(_ body: JSONField) throws {
    amount = try Self.amount(body)
    source = try Self.source(body)
    reference = try body.memberIfPresent("reference")?.text(limit: 80, "reference_invalid")
    guard let channel = try body.memberIfPresent("processing_channel_id")?.string else {
      throw CheckoutComProblem.invalid("processing_channel_id_required")
    }
    processingChannel = channel
    capturesByItself = try body.memberIfPresent("capture")?.bool ?? true
    allowsPartialApproval = try body.memberIfPresent("partial_authorization")?.memberIfPresent("enabled")?.bool ?? false
    if let type = try body.memberIfPresent("authorization_type")?.string,
      !["Final", "Estimated", "Incremental"].contains(type)
    {
      throw CheckoutComProblem.invalid("authorization_type_invalid")
    }
    paymentType = try body.memberIfPresent("payment_type")?.string ?? "Regular"
    guard ["Regular", "Recurring", "MOTO", "Installment", "Unscheduled"].contains(paymentType) else {
      throw CheckoutComProblem.invalid("payment_type_invalid")
    }
    stores = try body.memberIfPresent("source")?.memberIfPresent("store_for_future_use")?.bool ?? false
    previous = try Self.previous(body, source, paymentType)
    try Self.checkDescriptor(body)
    try Self.checkContact(body)
  }

  /// A payment without its shopper names the first one and a stored instrument; one with a shopper names neither.
  private static func previous(_ body: JSONField, _ source: Source, _ type: String) throws -> String? {
    let isMerchants = try body.memberIfPresent("merchant_initiated")?.bool ?? false
    let previous = try body.memberIfPresent("previous_payment_id")?.string
    guard case .instrument = source else {
      if isMerchants { throw CheckoutComProblem.invalid("merchant_initiated_invalid") }
      return nil
    }
    guard isMerchants, let previous else { throw CheckoutComProblem.invalid("previous_payment_id_required") }
    guard type != "Regular" else { throw CheckoutComProblem.invalid("payment_type_invalid") }
    return previous
  }

  /// Zero verifies the card.
  private static func amount(_ body: JSONField) throws -> CheckoutComAmount {
    guard let code = try body.memberIfPresent("currency")?.string else {
      throw CheckoutComProblem.invalid("currency_required")
    }
    guard Currency(code: code)?.isMoney == true else { throw CheckoutComProblem.invalid("currency_invalid") }
    guard let value = try body.memberIfPresent("amount")?.minorUnits, value >= 0,
      let amount = CheckoutComAmount(value: value, currency: code)
    else { throw CheckoutComProblem.invalid("amount_invalid") }
    return amount
  }

  private static func source(_ body: JSONField) throws -> Source {
    guard let source = try body.memberIfPresent("source") else {
      throw CheckoutComProblem.invalid("payment_source_required")
    }
    if try source.memberIfPresent("type")?.string == "id" {
      guard let id = try source.memberIfPresent("id")?.string else {
        throw CheckoutComProblem.invalid("source_id_required")
      }
      return .instrument(id)
    }
    guard let token = try source.memberIfPresent("token")?.string else {
      throw CheckoutComProblem.invalid("token_required")
    }
    switch try source.memberIfPresent("type")?.string {
    case "token": return .token(token)
    case "network_token": return .networkToken(try networkToken(token, source))
    default: throw CheckoutComProblem.invalid("payment_source_invalid")
    }
  }

  private static func networkToken(_ number: String, _ source: JSONField) throws -> NetworkToken {
    guard try source.memberIfPresent("token_type")?.string == "applepay" else {
      throw CheckoutComProblem.invalid("token_type_invalid")
    }
    guard let dpan = DPAN(number) else { throw CheckoutComProblem.invalid("card_number_invalid") }
    guard let cryptogram = try source.memberIfPresent("cryptogram")?.string, Base64.decode(cryptogram)?.isEmpty == false
    else { throw CheckoutComProblem.invalid("cryptogram_invalid") }
    return NetworkToken(
      dpan: dpan, expiry: try expiry(source), cryptogram: Cryptogram(base64: cryptogram),
      eci: try source.memberIfPresent("eci")?.text(limit: 2, "eci_invalid"))
  }

  private static func expiry(_ source: JSONField) throws -> CardExpiry {
    guard let month = try source.memberIfPresent("expiry_month")?.integer, (1...12).contains(month) else {
      throw CheckoutComProblem.invalid("card_expiry_month_invalid")
    }
    guard let year = try source.memberIfPresent("expiry_year")?.integer, (2000...2099).contains(year),
      let expiry = CardExpiry(yymm: String("\(year)".suffix(2)) + (month < 10 ? "0\(month)" : "\(month)"))
    else { throw CheckoutComProblem.invalid("card_expiry_year_invalid") }
    return expiry
  }

  private static func checkContact(_ body: JSONField) throws {
    let customer = try body.memberIfPresent("customer")
    let email = try customer?.memberIfPresent("email")?.text(limit: 255, "customer_email_invalid")
    guard email?.isEmailAddress ?? true else { throw CheckoutComProblem.invalid("customer_email_invalid") }
    _ = try customer?.memberIfPresent("name")?.text(limit: 100, "customer_name_invalid")
    guard let address = try body.memberIfPresent("source")?.memberIfPresent("billing_address") else { return }
    let country = try address.memberIfPresent("country")?.string
    guard country.map(CountryCode.isAssigned) ?? true else {
      throw CheckoutComProblem.invalid("address_country_invalid")
    }
    for (member, code, limit) in [
      ("address_line1", "address_line1", 200), ("city", "address_city", 50), ("zip", "address_zip", 50),
    ] { _ = try address.memberIfPresent(member)?.text(limit: limit, code + "_invalid") }
  }

  private static func checkDescriptor(_ body: JSONField) throws {
    guard let descriptor = try body.memberIfPresent("billing_descriptor") else { return }
    for (member, limit) in [("name", 25), ("city", 13)] {
      let code = "billing_descriptor_\(member)"
      guard let field = try descriptor.memberIfPresent(member) else {
        throw CheckoutComProblem.invalid(code + "_required")
      }
      _ = try field.text(limit: limit, code + "_invalid")
    }
  }
}

/// A capture, void or refund of a payment.
struct CheckoutComActionRequest: Sendable {
  let reference: String?
  /// Nil for all that there is.
  let value: Int64?
  /// Whether the rest of the authorization is released: a capture says so unless it is told otherwise.
  let isFinal: Bool
  /// Given back in the list of actions and in events.
  let metadata: JSONObject?

  init(_ body: JSONField) throws {
    metadata = try body.memberIfPresent("metadata")?.object
    reference = try body.memberIfPresent("reference")?.text(limit: 80, "reference_invalid")
    value = try body.memberIfPresent("amount")?.minorUnits
    if let value, value <= 0 { throw CheckoutComProblem.invalid("amount_invalid") }
    let type = try body.memberIfPresent("capture_type")?.string ?? "Final"
    guard ["Final", "NonFinal"].contains(type) else { throw CheckoutComProblem.invalid("capture_type_invalid") }
    isFinal = type == "Final"
  }
}

extension JSONField {
  /// A text of 1 to `limit` characters.
  fileprivate func text(limit: Int, _ code: String) throws -> String {
    let text = try string
    guard !text.isEmpty, !text.isLonger(than: limit) else { throw CheckoutComProblem.invalid(code) }
    return text
  }
}

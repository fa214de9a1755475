import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

/// What follows an authorization at Checkout.com.
///
/// The reference of an action is ours and the word of its kind: `018f….capture`; it stands in the action's metadata too.
/// What a person did in the dashboard has the payment's reference or none, by which the two are told apart.
enum CheckoutComAction: String, Sendable, CaseIterable {
  case capture, void, refund

  /// The end of the path.
  var path: String { rawValue + "s" }
  /// The word of the list of actions.
  var type: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

  func reference(_ operation: AttemptReference) -> String { "\(operation).\(rawValue)" }

  /// Our name of an operation, from its description in an event or a list; nil where it names none of this kind.
  func operation(_ action: JSONField) throws(JSONError) -> AttemptReference? {
    let reference = try action.memberIfPresent("reference")?.string
    let metadata = try action.memberIfPresent("metadata")?.memberIfPresent("operation")?.string
    return reference.flatMap(ours) ?? metadata.flatMap(ours)
  }

  /// Our name of the operation; nil for a reference that is not of this kind.
  private func ours(_ reference: String) -> AttemptReference? {
    guard reference.utf8.count > rawValue.utf8.count + 1, reference.hasSuffix(".\(rawValue)") else { return nil }
    return AttemptReference(String(reference.dropLast(rawValue.count + 1)))
  }
}

/// The bodies that go to Checkout.com, with the names of its Python library.
struct CheckoutComMessages: Sendable {
  let settings: CheckoutComSettings

  /// - Parameter source: the token of the first step, or the network token.
  func payment(
    _ request: AuthorizationRequest, _ channel: String, _ source: JSONObject
  ) throws(AmountError) -> JSONValue {
    var source = source
    if !request.isCharge { source["billing_address"] = request.sale.shopper.flatMap(Self.address) }
    var body: JSONObject = [
      "source": .object(source), "amount": try CheckoutComAmount.wire(request.amount),
      "currency": .string(request.amount.currency.code), "payment_type": "Regular",
      "reference": .string(request.reference.rawValue), "capture": false, "processing_channel_id": .string(channel),
    ]
    if let agreement = request.sale.agreement { add(agreement, request.instrument, to: &body) }
    body["authorization_type"] = request.sale.authorization.map { $0 == .final ? "Final" : "Estimated" }
    body["customer"] = request.sale.shopper.flatMap(Self.customer)
    body["billing_descriptor"] = request.sale.statementDescriptor.flatMap(descriptor)
    body["metadata"] = request.sale.order.map { ["order": .string(String($0.prefix(100)))] }
    return .object(body)
  }

  /// The first payment lets Checkout.com store the card as an instrument, which later ones name with that payment.
  private func add(
    _ agreement: SaleDetails.CredentialUse, _ instrument: PaymentInstrument, to body: inout JSONObject
  ) {
    body["payment_type"] = .string(agreement.isRecurring ? "Recurring" : "Unscheduled")
    switch instrument {
    case .stored(let credential):
      body["merchant_initiated"] = true
      body["previous_payment_id"] = .string(credential.firstPayment)
    case .network, .sealed:
      body["merchant_initiated"] = false
      guard case .object(var source)? = body["source"] else { return }
      source["store_for_future_use"] = true
      body["source"] = .object(source)
    }
  }

  static func token(_ name: String) -> JSONObject { ["type": "token", "token": .string(name)] }

  static func stored(_ name: String) -> JSONObject { ["type": "id", "id": .string(name)] }

  /// The indicator is sent as Apple delivered it, with two digits, and never made up.
  static func networkToken(_ card: NetworkToken) -> JSONObject {
    var source: JSONObject = [
      "type": "network_token", "token": .string(card.dpan.revealed), "expiry_month": .integer(Int64(card.expiry.month)),
      "expiry_year": .integer(Int64(card.expiry.year)), "token_type": "applepay",
      "cryptogram": .string(card.cryptogram.revealed),
    ]
    source["eci"] = card.eci.map { .string($0.utf8.count == 1 ? "0\($0)" : $0) }
    return source
  }

  static func tokenRequest(_ token: EncryptedPaymentToken) -> JSONValue {
    ["type": "applepay", "token_data": .object(token.paymentData)]
  }

  static func action(_ kind: CheckoutComAction, _ request: FollowUpRequest) throws(AmountError) -> JSONValue {
    let name = JSONValue.string(kind.reference(request.reference))
    var body: JSONObject = ["reference": name, "metadata": ["operation": name]]
    if kind != .void { body["amount"] = try CheckoutComAmount.wire(request.amount) }
    if kind == .capture { body["capture_type"] = request.isFinal || request.isWhole ? "Final" : "NonFinal" }
    return .object(body)
  }

  /// The name and the city, within Checkout.com's limits; nil where the city is not configured.
  private func descriptor(_ name: String) -> JSONValue? {
    let text = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || " .,'_-?+*/&".contains($0)) }.prefix(25)
    guard let city = settings.descriptorCity, !text.isEmpty else { return nil }
    return ["name": .string(String(text)), "city": .string(city)]
  }

  /// Limits of this and of the address: Checkout.com's published API reference, `Customer` and `Address`. Nil without
  /// an e-mail address, by which Checkout.com knows customers.
  private static func customer(_ shopper: SaleDetails.Shopper) -> JSONValue? {
    guard let email = shopper.emailAddress(within: 255) else { return nil }
    var customer: JSONObject = ["email": .string(email)]
    let name = [shopper.givenName, shopper.familyName].compactMap { $0 }.joined(separator: " ")
    customer["name"] = Optional(name).within(100).map(JSONValue.string)
    return .object(customer)
  }

  /// For the address check of issuers; nil without a country.
  private static func address(_ shopper: SaleDetails.Shopper) -> JSONValue? {
    guard let country = shopper.assignedCountryCode else { return nil }
    var address: JSONObject = ["country": .string(country)]
    let texts = [
      ("address_line1", shopper.addressLines.first, 200), ("city", shopper.locality, 50),
      ("zip", shopper.postalCode, 50),
    ]
    for (name, text, limit) in texts {
      address[name] = text.within(limit).map(JSONValue.string)
    }
    return .object(address)
  }

  static func transcript(_ request: OutboundRequest, _ result: Result<InboundResponse, TransportError>) -> Transcript {
    let answer =
      switch result {
      case .success(let response): "\(response.status) \(scrubber.scrub(response.body))"
      case .failure(let error): "\(error)"
      }
    return Transcript(
      request: "\(request.method) \(request.url) \(scrubber.scrub(request.body))", response: answer)
  }

  private static let scrubber = Scrubber(showing: [
    "id", "action_id", "reference", "amount", "currency", "type", "status", "approved", "response_code",
    "response_summary", "capture", "capture_type", "processing_channel_id", "token_type", "eci", "error_type",
    "request_id", "processed_on", "total_count", "limit", "skip", "payment_type", "merchant_initiated",
    "previous_payment_id", "store_for_future_use",
  ])
}

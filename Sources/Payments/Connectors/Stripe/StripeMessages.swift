import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

/// What Tender asks of Stripe. The idempotency key of an operation is our reference and the operation's word,
/// `018f….capture`: Stripe's events repeat it, and keys of a person in the dashboard look otherwise.
enum StripeOperation: String, CaseIterable, Sendable {
  case token, authorize, capture, void, refund
  /// Ends an intent that waits for the shopper.
  case abandon

  func key(_ reference: AttemptReference) -> String { "\(reference).\(rawValue)" }

  /// The operation and our reference of it; nil for a key that is not ours.
  static func read(_ key: String) -> (operation: StripeOperation, reference: AttemptReference)? {
    let parts = key.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let operation = StripeOperation(rawValue: String(parts[1])) else { return nil }
    let reference = AttemptReference(String(parts[0]))
    return StripeName.isReference(reference) ? (operation, reference) : nil
  }
}

/// The parameters that go to Stripe.
enum StripeMessages {
  /// The metadata by which an intent and a refund bear our reference, and an intent our captures with their amounts.
  static let reference = "tender_reference"
  static let capturePrefix = "capture_"

  /// The payment token, as Stripe's own library for apps sends it.
  static func token(_ verified: VerifiedPaymentToken, _ sale: SaleDetails) -> StripeForm {
    var form = StripeForm()
    form.add(
      "pk_token", String(decoding: JSONValue.object(verified.token.paymentData).serialized(), as: UTF8.self))
    form.add("pk_token_instrument_name", sale.cardName ?? "Apple Pay")
    form.add("pk_token_payment_network", sale.cardNetwork?.appleName ?? "Unknown")
    form.add("pk_token_transaction_id", Hex.encode(verified.token.transactionID))
    return form
  }

  /// A PaymentIntent that is confirmed at once and captured later.
  static func intent(_ request: AuthorizationRequest, _ settings: StripeSettings) -> StripeForm {
    var form = StripeForm()
    form.add(request.amount)
    form.add("currency", request.amount.currency.code.lowercased())
    form.add("confirm", "true")
    form.add("capture_method", "manual")
    form.add("payment_method_types[0]", "card")
    form.add("payment_method_data[type]", "card")
    switch request.instrument {
    case .sealed: form.add("payment_method_data[card][token]", request.prepared)
    case .network(let card): add(card, to: &form)
    case .stored: break
    }
    if settings.multicapture { form.add("payment_method_options[card][request_multicapture]", "if_available") }
    add(request.sale, to: &form)
    form.add("metadata[\(reference)]", request.reference.rawValue)
    form.add("expand[0]", "latest_charge")
    return form
  }

  /// The indicator is sent as Apple delivered it, with two digits, and never made up.
  private static func add(_ card: NetworkToken, to form: inout StripeForm) {
    let (month, year) = (String(card.expiry.mmyy.prefix(2)), "\(card.expiry.year)")
    form.add("payment_method_data[card][exp_month]", month)
    form.add("payment_method_data[card][exp_year]", year)
    form.add("payment_method_data[card][last4]", card.dpan.lastFour)
    let token = "payment_method_data[card][network_token]"
    form.add("\(token)[number]", card.dpan.revealed)
    form.add("\(token)[exp_month]", month)
    form.add("\(token)[exp_year]", year)
    form.add("\(token)[tokenization_method]", "apple_pay")
    let options = "payment_method_options[card][network_token]"
    form.add("\(options)[cryptogram]", card.cryptogram.revealed)
    form.add(
      "\(options)[electronic_commerce_indicator]", card.eci.map { $0.utf8.count == 1 ? "0\($0)" : $0 })
  }

  /// An address that Stripe would check and does not need is not sent. It refuses phone numbers of more than 20
  /// characters: `must be at most 20 characters`, as reported in github.com/odoo/odoo/pull/109728.
  private static func add(_ sale: SaleDetails, to form: inout StripeForm) {
    let (details, shopper) = ("payment_method_data[billing_details]", sale.shopper)
    let name = [shopper?.givenName, shopper?.familyName].compactMap { $0 }.joined(separator: " ")
    form.add("\(details)[name]", name.isEmpty ? nil : name)
    form.add("\(details)[phone]", (shopper?.phoneNumber).within(20))
    form.add("metadata[tender_order]", sale.order)
  }

  /// - Parameter keepsRest: whether more of the authorization is captured later.
  static func capture(_ request: FollowUpRequest, keepsRest: Bool) -> StripeForm {
    var form = StripeForm()
    form.add(request.amount, as: "amount_to_capture")
    if keepsRest { form.add("final_capture", "false") }
    form.add("metadata[\(capturePrefix)\(request.reference)]", "\(request.amount.minorUnits)")
    return form
  }

  static func refund(_ request: FollowUpRequest) -> StripeForm {
    var form = StripeForm()
    form.add("payment_intent", request.authorization)
    form.add(request.amount)
    form.add("metadata[\(reference)]", request.reference.rawValue)
    return form
  }

  static var abandonment: StripeForm {
    var form = StripeForm()
    form.add("cancellation_reason", "abandoned")
    return form
  }

  /// The query of an intent with its charge.
  static var expandingCharge: StripeForm {
    var form = StripeForm()
    form.add("expand[0]", "latest_charge")
    return form
  }

  static func search(_ reference: AttemptReference) -> StripeForm {
    var form = StripeForm()
    form.add("query", "metadata['\(Self.reference)']:'\(reference)'")
    return form
  }

  /// One page of a listing.
  ///
  /// - Parameter last: the last name of the page before.
  static func page(
    created period: Range<Timestamp>? = nil, intent: String? = nil, after last: String? = nil
  ) -> StripeForm {
    var form = StripeForm()
    form.add("payment_intent", intent)
    form.add("created[gte]", period.map { "\($0.lowerBound.seconds)" })
    form.add("created[lte]", period.map { "\($0.upperBound.adding(.microseconds(-1)).seconds)" })
    form.add("limit", "100")
    form.add("starting_after", last)
    return form
  }
}

// Transcripts show what is named here, and of everything else only that it was there.
extension StripeMessages {
  private static let shownFields: Set<String> = [
    "amount", "amount_to_capture", "cancellation_reason", "capture_method", "confirm", "created", "currency",
    "expand", "final_capture", "limit", "metadata", "payment_intent", "payment_method_types", "query",
    "starting_after",
  ]

  private static let scrubber = Scrubber(showing: [
    "id", "object", "amount", "amount_capturable", "amount_received", "amount_refunded", "cancellation_reason",
    "capture_method", "code", "created", "currency", "decline_code", "failure_reason", "has_more", "livemode",
    "param", "payment_intent", "status", "tender_order", "tender_reference", "type",
  ])

  static func transcript(
    _ method: String, _ url: String, _ form: StripeForm, _ result: Result<InboundResponse, TransportError>
  ) -> Transcript {
    let answer =
      switch result {
      case .success(let response): "\(response.status) \(scrubber.scrub(response.body))"
      case .failure(let error): "\(error)"
      }
    return Transcript(request: "\(method) \(url) \(form.masked(except: shownFields))", response: answer)
  }
}

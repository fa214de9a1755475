import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

/// What follows an authorization at Adyen.
///
/// The reference of a modification is ours and the word of its kind: `018f….capture`. An event about what a person did
/// in Adyen's dashboard has the payment's reference instead, by which the two are told apart.
enum AdyenModification: String, CaseIterable {
  case capture, void, refund

  /// The end of the path.
  var path: String {
    switch self {
    case .capture: "captures"
    case .void: "cancels"
    case .refund: "refunds"
    }
  }

  func reference(_ operation: AttemptReference) -> String { "\(operation).\(rawValue)" }

  /// Our name of the operation; nil for a reference that is not of this kind.
  func operation(_ reference: String) -> AttemptReference? {
    guard reference.hasSuffix(".\(rawValue)") else { return nil }
    return AttemptReference(String(reference.dropLast(rawValue.count + 1)))
  }
}

/// The bodies that go to Adyen, and what its answers mean.
///
/// An answer counts only when it parses strictly and is about our reference, and about our amount where it names one.
/// Everything else leaves the outcome unknown.
enum AdyenMessages {
  /// A `PaymentRequest`. Members that Adyen would check and does not need, such as addresses, are not sent. Nil for a later
  /// payment of an agreement of which Adyen stores nothing.
  static func payment(_ request: AuthorizationRequest, _ account: String, returnURL: String) -> JSONValue? {
    var body: JSONObject = [
      "merchantAccount": .string(account), "reference": .string(request.reference.rawValue),
      "amount": amount(request.amount), "returnUrl": .string(returnURL), "shopperInteraction": "Ecommerce",
    ]
    var extra: JSONObject = ["manualCapture": "true"]
    extra["authorisationType"] = request.sale.authorization.map { $0 == .final ? "FinalAuth" : "PreAuth" }
    switch request.instrument {
    case .sealed(let verified): body["paymentMethod"] = applePay(verified.token)
    case .network(let card):
      body["paymentMethod"] = scheme(card)
      body["mpiData"] = authentication(card)
      extra["paymentdatasource.type"] = "applepay"
    case .stored(let credential):
      guard let stored = credential.reference, request.sale.agreement != nil else { return nil }
      body["paymentMethod"] = ["type": "scheme", "storedPaymentMethodId": .string(stored)]
      body["shopperInteraction"] = "ContAuth"
    }
    if let agreement = request.sale.agreement { add(agreement, isFirst: !request.isCharge, to: &body) }
    body["additionalData"] = .object(extra)
    add(request.sale, to: &body)
    return .object(body)
  }

  /// Adyen tokenizes the first payment's card under our name of the shopper, and takes the token for later ones.
  private static func add(
    _ agreement: SaleDetails.CredentialUse, isFirst: Bool, to body: inout JSONObject
  ) {
    body["shopperReference"] = .string(agreement.shopper)
    body["recurringProcessingModel"] = .string(agreement.isRecurring ? "Subscription" : "UnscheduledCardOnFile")
    if isFirst { body["storePaymentMethod"] = true }
  }

  private static func applePay(_ token: EncryptedPaymentToken) -> JSONValue {
    let paymentData = JSONValue.object(token.paymentData).serialized()
    return ["type": "applepay", "applePayToken": .string(Base64.encode(paymentData))]
  }

  private static func scheme(_ card: NetworkToken) -> JSONValue {
    [
      "type": "scheme", "number": .string(card.dpan.revealed),
      "expiryMonth": .string(String(card.expiry.mmyy.prefix(2))),
      "expiryYear": .string("\(card.expiry.year)"),
    ]
  }

  /// The device has authenticated the cardholder. The indicator is sent as Apple delivered it, with two digits, and
  /// never made up.
  private static func authentication(_ card: NetworkToken) -> JSONValue {
    var data: JSONObject = [
      "authenticationResponse": "Y", "directoryResponse": "Y", "cavv": .string(card.cryptogram.revealed),
    ]
    data["eci"] = card.eci.map { .string($0.utf8.count == 1 ? "0\($0)" : $0) }
    return .object(data)
  }

  /// Limits and forms of Adyen's published `PaymentRequest` and `ShopperName`, version 72.
  private static func add(_ sale: SaleDetails, to body: inout JSONObject) {
    body["merchantOrderReference"] = sale.order.map(JSONValue.string)
    body["shopperStatement"] = sale.statementDescriptor.flatMap(statement).map(JSONValue.string)
    body["mcc"] = sale.merchantCategory.map(JSONValue.string)
    guard let shopper = sale.shopper else { return }
    if let first = shopper.givenName.within(80), let last = shopper.familyName.within(80) {
      body["shopperName"] = ["firstName": .string(first), "lastName": .string(last)]
    }
    body["shopperEmail"] = shopper.emailAddress(within: 256).map(JSONValue.string)
    body["countryCode"] = shopper.assignedCountryCode.map(JSONValue.string)
    if let phone = shopper.phoneNumber, phone.wholeMatch(of: /\+[0-9]{5,18}/) != nil {
      body["telephoneNumber"] = .string(phone)
    }
  }

  /// The characters that Adyen allows on a statement, 22 of them; nil when none is left.
  private static func statement(_ text: String) -> String? {
    let allowed = text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || " .,'_-?+*/".contains($0)) }
    return allowed.isEmpty ? nil : String(allowed.prefix(22))
  }

  static func modification(_ kind: AdyenModification, _ request: FollowUpRequest, _ account: String) -> JSONValue {
    var body: JSONObject = [
      "merchantAccount": .string(account), "reference": .string(kind.reference(request.reference)),
    ]
    if kind != .void { body["amount"] = amount(request.amount) }
    return .object(body)
  }

  static func cancel(_ request: InquiryRequest, _ account: String) -> JSONValue {
    ["merchantAccount": .string(account), "paymentReference": .string(request.reference.rawValue)]
  }

  private static func amount(_ amount: Amount) -> JSONValue {
    ["currency": .string(amount.currency.code), "value": .integer(amount.minorUnits)]
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
    "merchantAccount", "reference", "merchantReference", "paymentReference", "pspReference", "paymentPspReference",
    "currency", "value", "type", "manualCapture", "shopperInteraction", "eci", "resultCode", "refusalReason",
    "refusalReasonCode", "status", "errorCode", "errorType", "merchantOrderReference", "mcc", "shopperReference",
    "recurringProcessingModel", "storePaymentMethod", "storedPaymentMethodId",
  ])
}

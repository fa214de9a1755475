import Acquiring
import DirectWire
import HTTPTransport
import StrictJSON
import TenderPayments

/// What follows an authorization at Worldline Direct.
///
/// The merchant's reference of an operation is ours and the word of its kind, `018f….capture`, of at most 40 characters:
/// so an event about an operation that a person began in the Merchant Portal is told from ours.
enum WorldlineDirectOperation: String, CaseIterable {
  case capture, void, refund

  /// The end of the path.
  var path: String { self == .void ? "cancel" : rawValue }

  /// The end of the path that lists operations of this kind; nothing where the payment itself tells.
  var list: String {
    switch self {
    case .capture: "/captures"
    case .void: ""
    case .refund: "/refunds"
    }
  }

  init?(_ kind: InquiredOperation) {
    switch kind {
    case .authorization, .increment: return nil
    case .capture: self = .capture
    case .void: self = .void
    case .refund: self = .refund
    }
  }

  /// Nil where it would be too long.
  func reference(_ operation: AttemptReference) -> String? {
    let text = "\(operation.rawValue).\(rawValue)"
    return text.utf8.count <= DirectReferences.referenceLimit ? text : nil
  }

  /// Our name of the operation; nil for a reference that is not ours.
  static func operation(_ reference: String) -> AttemptReference? {
    allCases.lazy.compactMap { kind in
      reference.hasSuffix(".\(kind.rawValue)")
        ? AttemptReference(String(reference.dropLast(kind.rawValue.count + 1))) : nil
    }.first
  }
}

/// The bodies that go to Worldline Direct.
enum WorldlineDirectMessages {
  /// Nil for a payment token in `RSA_v1`, for which Worldline names no members. A sale is authorized, and captured by
  /// an operation of its own.
  ///
  /// - Parameter usual: the route's.
  static func payment(_ request: AuthorizationRequest, _ usual: AuthorizationType) -> CreatePaymentRequest? {
    var input = MobilePaymentInput(
      authorizationMode: .init(request.sale.authorization ?? usual), requiresApproval: true)
    input.transactionId = request.sale.transactionID
    switch request.instrument {
    case .network(let card):
      input.decryptedPaymentData = DecryptedPaymentData(card, cardholderName: request.sale.cardholderName)
    case .sealed(let verified):
      guard case .ephemeralPublicKey(let key) = verified.token.keyMaterial else { return nil }
      input.encryptedPaymentData = .data(Base64.encode(verified.token.data))
      input.ephemeralKey = Base64.encode(key)
      input.publicKeyHash = Base64.encode(verified.token.publicKeyHash)
    case .stored: return nil
    }
    if request.sale.agreement != nil { input.paymentProduct302SpecificInput = .init(isRecurring: true) }
    let references = DirectReferences(
      merchantReference: request.reference.rawValue, merchantParameters: request.sale.order,
      softDescriptor: request.sale.statementDescriptor)
    return CreatePaymentRequest(
      order: DirectOrder(
        amountOfMoney: AmountOfMoney(request.amount), references: references,
        customer: request.sale.shopper.flatMap(customer)),
      mobilePaymentMethodSpecificInput: input)
  }

  /// A later payment of an agreement. Worldline says of Apple Pay's agreements that they recur, and of no other kind.
  static func subsequent(_ request: AuthorizationRequest, _ usual: AuthorizationType) -> SubsequentPaymentRequest {
    SubsequentPaymentRequest(
      order: .init(
        amountOfMoney: AmountOfMoney(request.amount),
        references: DirectReferences(
          merchantReference: request.reference.rawValue, merchantParameters: request.sale.order,
          softDescriptor: request.sale.statementDescriptor)),
      input: .init(subsequentType: "Recurring", authorizationMode: .init(request.sale.authorization ?? usual)))
  }

  /// Limits of Worldline Direct's API reference, `ContactDetails` and `PersonalName`. Nil when nothing is left.
  private static func customer(_ shopper: SaleDetails.Shopper) -> DirectCustomer? {
    var customer = DirectCustomer()
    if let email = shopper.emailAddress(within: 70) {
      customer.contactDetails = .init(emailAddress: email)
    }
    if let first = shopper.givenName.within(15), let last = shopper.familyName.within(70) {
      customer.personalInformation = .init(firstName: first, surname: last)
    }
    customer.billingAddress = shopper.assignedCountryCode.map { .init(countryCode: $0) }
    return customer == DirectCustomer() ? nil : customer
  }

  static func capture(_ request: FollowUpRequest) -> CapturePaymentRequest {
    CapturePaymentRequest(
      amount: request.amount, isFinal: request.isFinal, references: references(.capture, request))
  }

  static func cancel(_ request: FollowUpRequest) -> CancelPaymentRequest {
    CancelPaymentRequest(
      amountOfMoney: AmountOfMoney(request.amount), isFinal: request.isWhole,
      operationReferences: references(.void, request))
  }

  static func refund(_ request: FollowUpRequest) -> RefundPaymentRequest {
    RefundPaymentRequest(
      amountOfMoney: AmountOfMoney(request.amount), references: references(.refund, request))
  }

  private static func references(_ kind: WorldlineDirectOperation, _ request: FollowUpRequest) -> DirectReferences {
    DirectReferences(merchantReference: kind.reference(request.reference))
  }

  static func transcript(_ request: OutboundRequest, _ result: Result<InboundResponse, TransportError>) -> Transcript {
    let answer =
      switch result {
      case .success(let response): "\(response.status) \(scrubber.scrub(response.body))"
      case .failure(let error): "\(error)"
      }
    return Transcript(request: "\(request.method) \(request.url) \(scrubber.scrub(request.body))", response: answer)
  }

  private static let scrubber = Scrubber(showing: [
    "amount", "currencyCode", "merchantReference", "paymentProductId", "authorizationMode", "requiresApproval",
    "isFinal", "id", "status", "statusCode", "statusCategory", "paymentMethod", "errorId", "errorCode", "code",
    "category", "httpStatusCode", "propertyName", "retriable", "result",
  ])
}

public import StrictJSON
public import TenderPayments
public import TenderSheet

/// What the sheet hands over when the shopper has agreed: Apple's `PKPayment`, `ApplePayPayment`.
///
/// It cannot be printed or encoded by accident; ``PaymentSubmission`` is its one way out.
public struct AuthorizedPayment: Sendable {
  /// `PKPaymentToken.paymentData`: JSON, passed on as it is. Empty in the iOS Simulator.
  public let paymentData: [UInt8]
  /// The device's name for the transaction.
  public let transactionIdentifier: String
  /// The card as people read it: `Visa 0492`.
  public let displayName: String?
  /// The card's network as Apple spells it: `MasterCard`.
  public let network: String?
  /// What kind of card it is, as far as the device tells.
  public let methodType: PaymentMethodType
  /// The identifier of the shipping method that was selected.
  public let shippingMethod: String?
  /// Where the goods go, and whom to call. Not signed: the server checks it again.
  public let shippingContact: FullContact?
  /// The card holder's address; only where it was asked for.
  public let billingContact: FullContact?

  /// What the sheet handed over.
  public init(
    paymentData: [UInt8], transactionIdentifier: String, displayName: String? = nil, network: String? = nil,
    methodType: PaymentMethodType = .unknown, shippingMethod: String? = nil, shippingContact: FullContact? = nil,
    billingContact: FullContact? = nil
  ) {
    self.paymentData = paymentData
    self.transactionIdentifier = transactionIdentifier
    self.displayName = displayName
    self.network = network
    self.methodType = methodType
    self.shippingMethod = shippingMethod
    self.shippingContact = shippingContact
    self.billingContact = billingContact
  }
}

extension AuthorizedPayment: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Never the contents: neither a payment token nor an address is for logs.
  public var description: String { "AuthorizedPayment" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The body of `POST /applepay/payment`.
public struct PaymentSubmission: Sendable {
  /// The basket that is paid.
  public let basket: BasketID
  /// The quote whose total the shopper saw last.
  public let quote: QuoteID
  /// What the sheet handed over.
  public let payment: AuthorizedPayment

  /// A payment of a basket, at the price of a quote.
  public init(basket: BasketID, quote: QuoteID, payment: AuthorizedPayment) {
    self.basket = basket
    self.quote = quote
    self.payment = payment
  }

  /// Apple Pay JS's form, which the server reads from pages and apps alike.
  ///
  /// - Throws: `JSONError` when `paymentData` is no JSON.
  public func json() throws(JSONError) -> JSONValue {
    var body: JSONObject = ["basketId": .string(basket.rawValue), "quoteId": .string(quote.rawValue)]
    body["token"] = .object([
      "paymentData": try JSONReader.read(payment.paymentData), "paymentMethod": .object(method),
      "transactionIdentifier": .string(payment.transactionIdentifier),
    ])
    body["shippingContact"] = payment.shippingContact.map(\.json)
    body["billingContact"] = payment.billingContact.map(\.json)
    return .object(body)
  }

  private var method: JSONObject {
    var method: JSONObject = [:]
    method["displayName"] = payment.displayName.map(JSONValue.string)
    method["network"] = payment.network.map(JSONValue.string)
    method["type"] = payment.methodType == .unknown ? nil : .string(payment.methodType.rawValue)
    return method
  }
}

extension FullContact {
  /// Apple's `ApplePayPaymentContact`; what is missing is left out.
  fileprivate var json: JSONValue {
    let texts: [(String, String?)] = [
      ("givenName", givenName), ("familyName", familyName), ("phoneticGivenName", phoneticGivenName),
      ("phoneticFamilyName", phoneticFamilyName), ("phoneNumber", phoneNumber), ("emailAddress", emailAddress),
      ("subLocality", subLocality), ("locality", locality), ("subAdministrativeArea", subAdministrativeArea),
      ("administrativeArea", administrativeArea), ("postalCode", postalCode), ("country", country),
      ("countryCode", countryCode),
    ]
    var object: JSONObject = [:]
    for (key, text) in texts { object[key] = text.map(JSONValue.string) }
    if !addressLines.isEmpty { object["addressLines"] = .array(addressLines.map(JSONValue.string)) }
    return .object(object)
  }
}

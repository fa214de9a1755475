public import StrictJSON
public import TenderPayments
public import TenderSheet

/// The sheet's result when the shopper authorizes: Apple's `PKPayment`, `ApplePayPayment`.
///
/// Its description is masked and it cannot be encoded; only ``PaymentSubmission`` reads its contents.
public struct AuthorizedPayment: Sendable {
  /// `PKPaymentToken.paymentData`: JSON, passed on unchanged. Empty in the iOS Simulator.
  public let paymentData: [UInt8]
  /// The device's name for the transaction.
  public let transactionIdentifier: String
  /// The card's display name: `Visa 0492`.
  public let displayName: String?
  /// The card's network as Apple spells it: `MasterCard`.
  public let network: String?
  /// The kind of card, as far as the device reports it.
  public let methodType: PaymentMethodType
  /// The identifier of the shipping method that was selected.
  public let shippingMethod: String?
  /// The recipient's address, phone and e-mail. Not signed: the server checks it again.
  public let shippingContact: FullContact?
  /// The cardholder's address; only if requested.
  public let billingContact: FullContact?

  /// An authorized payment.
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
  /// Never the contents: payment tokens and addresses must not be logged.
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
  /// An authorized payment.
  public let payment: AuthorizedPayment
  /// A guest's token of an earlier order: the new order is then the same guest's. The server ignores one that it has not
  /// issued.
  public let guestToken: String?

  /// A payment of a basket, at the price of a quote.
  public init(basket: BasketID, quote: QuoteID, payment: AuthorizedPayment, guestToken: String? = nil) {
    self.basket = basket
    self.quote = quote
    self.payment = payment
    self.guestToken = guestToken
  }

  /// The JSON body in the form of Apple Pay JS, which the server reads from pages and apps.
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
    body["guestToken"] = guestToken.map(JSONValue.string)
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
      ("countryCode", countryCode), ("namePrefix", namePrefix),
    ]
    var object: JSONObject = [:]
    for (key, text) in texts { object[key] = text.map(JSONValue.string) }
    if !addressLines.isEmpty { object["addressLines"] = .array(addressLines.map(JSONValue.string)) }
    return .object(object)
  }
}

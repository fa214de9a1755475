import ApplePayToken
import StrictJSON
import TenderPayments

/// `POST /payments`.
struct AdyenPaymentRequest: Sendable {
  /// What the shopper pays with.
  enum Method: Sendable {
    /// Apple's `paymentData`, still encrypted.
    case applePay(JSONValue)
    case card(NetworkToken?, holderName: String?)
    /// What Adyen stores of an earlier payment.
    case stored(AdyenStoredMethod.Use)
  }

  let merchantAccount: String
  let reference: String
  let amount: AdyenAmount
  let method: Method
  /// `additionalData.allowPartialAuth`: otherwise an approval for less is refused.
  let allowsPartialApproval: Bool
  let capturesByItself: Bool
  /// Under which shopper and for what the card is to be stored; nil for not at all.
  let storing: AdyenStoredMethod.Wish?
  /// Adyen's switches for tests.
  let testRefusalCode: String?
  let testError: String?

  init(_ body: JSONField) throws(AdyenProblem) {
    let fields = try AdyenFields(body, "PaymentRequest", known: Self.known)
    merchantAccount = try fields.text("merchantAccount")
    reference = try fields.text("reference", limit: 80)
    amount = try fields.amount(mayBeZero: true)
    _ = try fields.text("returnUrl", limit: 1_024)
    let extra = try fields.texts("additionalData")
    allowsPartialApproval = extra["allowPartialAuth"] == "true"
    capturesByItself = extra["manualCapture"] != "true"
    testRefusalCode = extra["RequestedTestAcquirerResponseCode"]
    testError = extra["RequestedTestErrorResponseCode"]
    method = try Self.method(fields)
    storing = try AdyenStoredMethod.Wish(fields)
    try Self.checkContact(fields)
  }

  private static func checkContact(_ fields: AdyenFields) throws(AdyenProblem) {
    for (name, limit) in [
      ("shopperEmail", 256), ("telephoneNumber", 64), ("countryCode", 100), ("shopperStatement", 10_000),
      ("merchantOrderReference", 1_000),
    ] { _ = try fields.textIfPresent(name, limit: limit) }
    guard let name = fields.objectIfPresent("shopperName") else { return }
    let names = try AdyenFields(name, "ShopperName", known: ["firstName", "lastName"])
    for name in ["firstName", "lastName"] { _ = try names.text(name, limit: 80) }
  }

  private static func method(_ fields: AdyenFields) throws(AdyenProblem) -> Method {
    let field = try fields.object("paymentMethod")
    switch field.value["type"] {
    case .string("applepay"):
      let method = try AdyenFields(field, "ApplePayDetails", known: applePayMembers)
      let text = try method.text("applePayToken")
      guard let bytes = Base64.decode(text), let token = try? JSONReader.read(bytes) else {
        throw AdyenProblem(422, "174", "Unable to decrypt data")
      }
      return .applePay(token)
    case .string("scheme"), nil:
      if field.value["storedPaymentMethodId"] != nil { return .stored(try AdyenStoredMethod.Use(field, fields)) }
      return try card(field, fields)
    default: throw AdyenProblem(422, "14_006", "Unsupported payment method")
    }
  }

  private static func card(_ field: JSONField, _ fields: AdyenFields) throws(AdyenProblem) -> Method {
    let card = try AdyenFields(field, "CardDetails", known: cardMembers)
    guard let dpan = DPAN(try card.text("number")) else { throw .cardNumber }
    let (year, month) = (try card.text("expiryYear"), try card.text("expiryMonth"))
    guard year.utf8.count == 4,
      let expiry = CardExpiry(yymm: year.suffix(2) + (month.utf8.count == 1 ? "0" : "") + month)
    else { throw .expiry }
    let holder = try card.textIfPresent("holderName")
    guard let mpi = fields.objectIfPresent("mpiData") else { return .card(nil, holderName: holder) }
    let data = try AdyenFields(mpi, "ThreeDSecureData", known: mpiMembers)
    guard let cavv = try data.textIfPresent("cavv") else { return .card(nil, holderName: holder) }
    guard Base64.decode(cavv)?.isEmpty == false else { throw .notReadable("mpiData.cavv is no base64") }
    let token = NetworkToken(
      dpan: dpan, expiry: expiry, cryptogram: Cryptogram(base64: cavv), eci: try data.textIfPresent("eci"))
    return .card(token, holderName: holder)
  }

  private static let applePayMembers: Set = [
    "type", "applePayToken", "checkoutAttemptId", "fundingSource", "recurringDetailReference", "sdkData",
    "storedPaymentMethodId",
  ]
  private static let cardMembers: Set = [
    "type", "number", "expiryMonth", "expiryYear", "brand", "holderName", "cvc", "fundingSource", "checkoutAttemptId",
    "networkPaymentReference", "sdkData",
  ]
  private static let mpiMembers: Set = [
    "authenticationResponse", "cavv", "cavvAlgorithm", "challengeCancel", "directoryResponse", "dsTransID", "eci",
    "riskScore", "threeDSVersion", "tokenAuthenticationVerificationValue", "transStatusReason", "xid",
  ]

  /// The members of Adyen's `PaymentRequest`, version 72.
  private static let known: Set = [
    "accountInfo", "additionalAmount", "additionalData", "amount", "applicationInfo", "authenticationData",
    "bankAccount", "billingAddress", "browserInfo", "captureDelayHours", "channel", "checkoutAttemptId", "company",
    "countryCode", "dateOfBirth", "dccQuote", "deliverAt", "deliveryAddress", "deliveryDate", "deviceFingerprint",
    "enableOneClick", "enablePayOut", "enableRecurring", "enhancedSchemeData", "entityType", "fraudOffset",
    "fundOrigin", "fundRecipient", "industryUsage", "installments", "lineItems", "localizedShopperStatement",
    "mandate", "mcc", "merchantAccount", "merchantOrderReference", "merchantRiskIndicator", "metadata", "mpiData",
    "order", "orderReference", "origin", "paymentMethod", "paymentValidations", "platformChargebackLogic",
    "recurringExpiry", "recurringFrequency", "recurringProcessingModel", "redirectFromIssuerMethod",
    "redirectToIssuerMethod", "reference", "returnUrl", "riskData", "sessionValidity", "shopperConversionId",
    "shopperEmail", "shopperIP", "shopperInteraction", "shopperLocale", "shopperName", "shopperReference",
    "shopperStatement", "shopperTaxInfo", "socialSecurityNumber", "splits", "store", "storePaymentMethod",
    "subMerchants", "surcharge", "telephoneNumber", "threeDS2RequestData", "threeDSAuthenticationOnly",
    "trustedShopper",
  ]
}

/// A capture, cancel, refund or reversal of a payment.
struct AdyenModificationRequest: Sendable {
  let merchantAccount: String
  let reference: String?
  /// Nil for cancels and reversals, which are of all that there is.
  let amount: AdyenAmount?
  /// Our reference of the payment, for the cancel that has no other name for it.
  let paymentReference: String?

  init(_ kind: AdyenModification.Kind, _ body: JSONField) throws(AdyenProblem) {
    let fields = try AdyenFields(body, kind.structure, known: kind.members)
    merchantAccount = try fields.text("merchantAccount")
    reference = try fields.textIfPresent("reference", limit: 80)
    amount = kind.hasAmount ? try fields.amount() : nil
    paymentReference = kind == .technicalCancel ? try fields.text("paymentReference", limit: 80) : nil
  }
}

extension AdyenModification.Kind {
  fileprivate var structure: String {
    switch self {
    case .capture: "PaymentCaptureRequest"
    case .cancel: "PaymentCancelRequest"
    case .refund: "PaymentRefundRequest"
    case .reversal: "PaymentReversalRequest"
    case .technicalCancel: "StandalonePaymentCancelRequest"
    }
  }

  fileprivate var members: Set<String> {
    let common: Set = ["applicationInfo", "merchantAccount", "reference"]
    let money: Set = [
      "amount", "enhancedSchemeData", "lineItems", "platformChargebackLogic", "splits", "subMerchants",
    ]
    return switch self {
    case .capture: common.union(money)
    case .refund: common.union(money).union(["capturePspReference", "merchantRefundReason", "store"])
    case .cancel, .reversal: common
    case .technicalCancel: common.union(["paymentReference"])
    }
  }
}

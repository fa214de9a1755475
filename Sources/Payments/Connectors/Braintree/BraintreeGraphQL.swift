import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

// Payment tokens that Braintree decrypts. The first step makes a single-use payment method of the payment token; the
// second authorizes it. Everything afterwards goes through the REST API, by the transaction's legacy id.
extension BraintreeConnector {
  /// The version of the GraphQL API, a date, of which these documents are.
  private static let version = "2019-01-01"

  private static let tokenize = """
    mutation($input: TokenizeApplePayCardInput!) { tokenizeApplePayCard(input: $input) { paymentMethod { id } } }
    """

  private static let authorizeMethod = """
    mutation($input: AuthorizePaymentMethodInput!) { authorizePaymentMethod(input: $input) { transaction { \
    legacyId orderId merchantAccountId status amount { value currencyCode } statusHistory { status \
    ... on AuthorizedEvent { processorResponse { legacyCode authorizationId } } \
    ... on ProcessorDeclinedEvent { processorResponse { legacyCode } } \
    ... on FailedEvent { processorResponse { legacyCode } } \
    ... on GatewayRejectedEvent { gatewayRejectionReason } } } } }
    """

  /// Gives Braintree the payment token. Moves no money.
  func prepare(_ request: AuthorizationRequest, _ deadline: Deadline) async -> Preparation {
    guard case .sealed(let verified) = request.instrument else {
      return .declined(Decline(reason: .configuration, code: "one_step"))
    }
    guard let network = request.sale.cardNetwork else {
      return .declined(Decline(reason: .configuration, code: "card_network_missing"))
    }
    var token: JSONObject = [
      "paymentData": .string(Base64.encode(verified.token.braintreePaymentData)),
      "paymentNetwork": .string(network.appleName),
      "transactionIdentifier": .string(Hex.encode(verified.token.transactionID)),
    ]
    token["paymentInstrumentName"] = request.sale.cardName.map(JSONValue.string)
    let input: JSONObject = ["applePaymentToken": .object(token)]
    let answer = await ask("tokenizeApplePayCard", Self.tokenize, input, deadline)
    return BraintreeGraphQLAnswer(answer, of: "tokenizeApplePayCard").preparation
  }

  func authorizePrepared(_ request: AuthorizationRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    guard let prepared = request.prepared else { return .notSent("there is no payment method yet") }
    let input: JSONObject = [
      "paymentMethodId": .string(prepared), "transaction": .object(transactionInput(request)),
    ]
    let answer = await ask("authorizePaymentMethod", Self.authorizeMethod, input, deadline)
    return BraintreeGraphQLAnswer(answer, of: "authorizePaymentMethod").authorization(request, self)
  }

  private func transactionInput(_ request: AuthorizationRequest) -> JSONObject {
    var input: JSONObject = [
      "amount": .string(messages.text(request.amount)), "orderId": .string(request.reference.rawValue),
    ]
    input["merchantAccountId"] = messages.merchantAccount(request).map(JSONValue.string)
    if let name = request.sale.statementDescriptor, BraintreeMessages.isDescriptor(name) {
      input["descriptor"] = ["name": .string(name)]
    }
    var customer: JSONObject = [:]
    let (shopper, limit) = (request.sale.shopper, BraintreeMessages.textLimit)
    customer["email"] = shopper?.emailAddress(within: limit).map(JSONValue.string)
    customer["phoneNumber"] = (shopper?.phoneNumber).within(limit).map(JSONValue.string)
    if !customer.members.isEmpty { input["customerDetails"] = .object(customer) }
    return input
  }

  private func ask(
    _ field: String, _ document: String, _ input: JSONObject, _ deadline: Deadline
  ) async -> Result<InboundResponse, TransportError> {
    let body: JSONValue = ["query": .string(document), "variables": ["input": .object(input)]]
    let headers = [
      HTTPField("Accept", "application/json"), HTTPField("Authorization", authorization),
      HTTPField("Braintree-Version", Self.version), HTTPField("Content-Type", "application/json"),
      HTTPField("User-Agent", "Tender"),
    ]
    return await exchange(
      OutboundRequest(method: "POST", url: settings.environment.graphQL, headers: headers, body: body.serialized()),
      deadline)
  }
}

/// What Braintree's GraphQL API answered to one mutation.
private enum BraintreeGraphQLAnswer {
  /// The mutation's payload.
  case done(JSONField)
  /// Braintree refused the request, and did nothing.
  case refused(Decline)
  case notSent(String)
  case unknown(Interruption)

  init(_ response: Result<InboundResponse, TransportError>, of field: String) {
    switch response {
    case .failure(.notSent(let reason)): self = .notSent(reason)
    case .failure(let error): self = .unknown(error.interruption)
    case .success(let response): self = Self.read(response, field)
    }
  }

  private static func read(_ response: InboundResponse, _ field: String) -> Self {
    switch response.status {
    case 200: break
    case 401, 403, 404, 426: return .refused(Decline(reason: .configuration, code: "HTTP \(response.status)"))
    case 429: return .notSent("Braintree limits the rate of requests: HTTP 429")
    default: return .unknown(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
    do throws(JSONError) {
      let root = JSONField(try JSONReader.read(response.body))
      let errors = try root.memberIfPresent("errors")?.array ?? []
      let payload = try root.memberIfPresent("data")?.memberIfPresent(field)
      if let first = errors.first, payload == nil { return try refusal(first) }
      guard errors.isEmpty, let payload else {
        return .unknown(Interruption(.unintelligibleAnswer, detail: "neither data alone nor errors alone"))
      }
      return .done(payload)
    } catch {
      return .unknown(Interruption(.unintelligibleAnswer, detail: error.description))
    }
  }

  /// The classes of error before which nothing is done. Any other may come afterwards.
  private static func refusal(_ error: JSONField) throws(JSONError) -> Self {
    let extensions = try error.memberIfPresent("extensions")
    let code = try extensions?.memberIfPresent("legacyCode")?.string
    switch try extensions?.memberIfPresent("errorClass")?.string {
    case "VALIDATION":
      let name = code ?? "VALIDATION"
      return .refused(Decline(reason: BraintreeDeclines.reason(validation: name), code: name))
    case let name? where ["AUTHENTICATION", "AUTHORIZATION", "NOT_FOUND", "UNSUPPORTED_CLIENT"].contains(name):
      return .refused(Decline(reason: .configuration, code: code ?? name))
    case "RESOURCE_LIMIT": return .notSent("Braintree limits the rate of requests: RESOURCE_LIMIT")
    case let name: return .unknown(Interruption(.serverError, detail: name ?? "an error without a class"))
    }
  }

  var preparation: Preparation {
    switch self {
    case .refused(let decline): return .declined(decline)
    case .notSent(let reason): return .failed(Interruption(.connectionLost, detail: "not sent: \(reason)"))
    case .unknown(let interruption): return .failed(interruption)
    case .done(let payload):
      guard let id = try? payload.member("paymentMethod").member("id").string, (1...255).contains(id.utf8.count) else {
        return .failed(Interruption(.unintelligibleAnswer, detail: "no payment method"))
      }
      return .ready(id)
    }
  }

  func authorization(_ request: AuthorizationRequest, _ connector: BraintreeConnector) -> AcquirerAnswer {
    switch self {
    case .refused(let decline): return .declined(decline)
    case .notSent(let reason): return .notSent(reason)
    case .unknown(let interruption): return .unknown(interruption)
    case .done(let payload):
      guard let element = try? payload.member("transaction").braintreeTransaction,
        let transaction = try? BraintreeTransaction(element)
      else { return .unknown(Interruption(.unintelligibleAnswer, detail: "no transaction")) }
      guard transaction.order == request.reference.rawValue,
        transaction.merchantAccount == connector.messages.merchantAccount(request)
      else { return .anotherTransaction }
      return connector.answers.hold(transaction, request.amount)
    }
  }
}

extension JSONField {
  /// A transaction of the GraphQL API in the form of the REST API, so that one reader reads both.
  fileprivate var braintreeTransaction: BraintreeXML {
    get throws(JSONError) {
      let amount = try member("amount")
      var elements = [
        BraintreeXML("id", try member("legacyId").string), BraintreeXML("type", "sale"),
        BraintreeXML("status", try member("status").string.lowercased()),
        BraintreeXML("amount", try amount.member("value").string),
        BraintreeXML("currency-iso-code", try amount.member("currencyCode").string),
        BraintreeXML("merchant-account-id", try member("merchantAccountId").string),
        BraintreeXML("order-id", try member("orderId").string),
      ]
      // The newest event comes first.
      if let event = try memberIfPresent("statusHistory")?.array.first { elements += try event.braintreeResponse }
      return BraintreeXML("transaction", elements)
    }
  }

  fileprivate var braintreeResponse: [BraintreeXML] {
    get throws(JSONError) {
      let response = try memberIfPresent("processorResponse")
      let texts = [
        ("processor-response-code", try response?.memberIfPresent("legacyCode")?.string),
        ("processor-authorization-code", try response?.memberIfPresent("authorizationId")?.string),
        ("gateway-rejection-reason", try memberIfPresent("gatewayRejectionReason")?.string.lowercased()),
      ]
      return texts.compactMap { name, text in text.map { BraintreeXML(name, $0) } }
    }
  }
}

extension EncryptedPaymentToken {
  /// `paymentData` as the device gave it, in Apple's names.
  fileprivate var braintreePaymentData: [UInt8] {
    var header: JSONObject = [
      "publicKeyHash": .string(Base64.encode(publicKeyHash)), "transactionId": .string(Hex.encode(transactionID)),
    ]
    header["applicationData"] = applicationDataHash.map { .string(Hex.encode($0)) }
    switch keyMaterial {
    case .ephemeralPublicKey(let bytes): header["ephemeralPublicKey"] = .string(Base64.encode(bytes))
    case .wrappedKey(let bytes): header["wrappedKey"] = .string(Base64.encode(bytes))
    }
    let data: JSONValue = [
      "version": .string(version.rawValue), "data": .string(Base64.encode(data)),
      "signature": .string(Base64.encode(signature)), "header": .object(header),
    ]
    return data.serialized()
  }
}

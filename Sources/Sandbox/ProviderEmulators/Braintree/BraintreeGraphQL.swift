import AcquirerSandbox
import ApplePayToken
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON
import TenderPayments

/// An error of the GraphQL API: always behind HTTP 200.
struct BraintreeGraphQLError: Error, Sendable, Hashable {
  let errorClass: String
  let message: String
  var legacyCode: String?

  static func invalid(_ message: String, _ legacyCode: String? = nil) -> Self {
    Self(errorClass: "VALIDATION", message: message, legacyCode: legacyCode)
  }
}

// `ping`, `tokenizeApplePayCard` and `authorizePaymentMethod`.
extension BraintreeSandbox {
  func graphQL(_ headers: HTTPFields, _ bytes: [UInt8]) async throws -> JSONValue {
    var name = "data"
    do {
      let account = try account(headers)
      guard let version = HTTPField.Name("Braintree-Version").flatMap({ headers[$0] }),
        version.wholeMatch(of: /20[0-9]{2}-[01][0-9]-[0-3][0-9]/) != nil
      else { throw BraintreeGraphQLError(errorClass: "UNSUPPORTED_CLIENT", message: "Braintree-Version is no date.") }
      let body = JSONField(try JSONReader.read(bytes))
      guard let query = BraintreeQuery(try body.member("query").string) else {
        throw BraintreeGraphQLError.invalid("The document cannot be read.")
      }
      name = query.alias ?? query.field
      let result = try await run(query, try body.memberIfPresent("variables"), account)
      guard let selected = BraintreeQuery.select(query.selections, of: result) else {
        throw BraintreeGraphQLError.invalid("A selected field is undefined.")
      }
      return response(["data": .object([name: selected])])
    } catch let error as BraintreeGraphQLError {
      return response(["data": .object([name: .null]), "errors": [error.json]])
    } catch let error as JSONError {
      return response(["errors": [BraintreeGraphQLError.invalid(error.description).json]])
    }
  }

  private func response(_ members: JSONObject) -> JSONValue {
    var members = members
    members["extensions"] = ["requestId": .string(random.hex(16))]
    return .object(members)
  }

  private func account(_ headers: HTTPFields) throws(BraintreeGraphQLError) -> BraintreeAccount {
    guard let account = accounts.first(where: { $0.accepts(headers) }) else {
      throw BraintreeGraphQLError(errorClass: "AUTHENTICATION", message: "Authentication failed.")
    }
    return account
  }

  private func run(
    _ query: BraintreeQuery, _ variables: JSONField?, _ account: BraintreeAccount
  ) async throws -> JSONValue {
    switch (query.isMutation, query.field) {
    case (false, "ping"): return "pong"
    case (true, "tokenizeApplePayCard"):
      return try await tokenize(try Self.input(query, variables), account)
    case (true, "authorizePaymentMethod"):
      return try await authorize(try Self.input(query, variables), account)
    default: throw BraintreeGraphQLError.invalid("The field \(query.field) is undefined.")
    }
  }

  private static func input(_ query: BraintreeQuery, _ variables: JSONField?) throws -> JSONField {
    guard query.takesInput, let variables else { throw BraintreeGraphQLError.invalid("input is missing.") }
    return try variables.member("input")
  }

  /// Opens the payment token, and keeps the card under a name for one authorization.
  private func tokenize(_ input: JSONField, _ account: BraintreeAccount) async throws -> JSONValue {
    try input.allow("applePaymentToken", "clientMutationId")
    let token = try input.member("applePaymentToken")
    try token.allow("paymentData", "paymentNetwork", "paymentInstrumentName", "transactionIdentifier")
    _ = try token.member("paymentNetwork").string
    guard let bytes = Base64.decode(try token.member("paymentData").string) else {
      throw BraintreeGraphQLError.invalid("Payment data is invalid.", "83520")
    }
    let card: NetworkToken
    do {
      card = try await keys.open(try JSONReader.read(bytes)).networkToken
    } catch let error as PaymentTokenError {
      throw BraintreeGraphQLError.invalid(
        "\(error.stage): \(error.reason)", ["key", "unwrap", "decrypt"].contains("\(error.stage)") ? "83512" : "83520")
    } catch is JSONError {
      throw BraintreeGraphQLError.invalid("Payment data is invalid.", "83520")
    }
    let id = ledger.newPaymentMethodID()
    methods.keep(BraintreeCard(card), as: id, of: account.merchantID, at: clock.now())
    return ["clientMutationId": .null, "type": "ApplePayCard", "paymentMethod": ["id": .string(id)]]
  }

  private func authorize(_ input: JSONField, _ account: BraintreeAccount) async throws -> JSONValue {
    try input.allow("paymentMethodId", "transaction", "clientMutationId")
    let wanted = try input.member("transaction")
    try wanted.allow(
      "amount", "merchantAccountId", "orderId", "descriptor", "customerDetails", "channel", "purchaseOrderNumber",
      "shipping", "lineItems", "riskData", "customFields")
    let (amount, merchantAccount) = try Self.amount(wanted, account)
    if let name = try wanted.memberIfPresent("descriptor")?.memberIfPresent("name")?.string,
      !BraintreeSale.isDescriptor(name)
    {
      throw BraintreeGraphQLError.invalid("Name is invalid.", "92201")
    }
    let customer = try wanted.memberIfPresent("customerDetails")
    let faults = BraintreeSale.faults(
      email: try customer?.memberIfPresent("email")?.string, phone: try customer?.memberIfPresent("phoneNumber")?.string
    )
    if let fault = faults.first { throw BraintreeGraphQLError.invalid(fault.message, fault.code) }
    let id = try input.member("paymentMethodId").string
    guard let card = methods.take(id, of: account.merchantID, at: clock.now()) else {
      throw BraintreeGraphQLError.invalid("Unknown or expired payment method.", "91565")
    }
    let sale = BraintreeSale(
      amount: amount, merchantAccount: merchantAccount, order: try wanted.memberIfPresent("orderId")?.string,
      card: card, isSubmitted: false)
    return ["clientMutationId": .null, "transaction": try await sell(sale, account).json]
  }

  private static func amount(_ wanted: JSONField, _ account: BraintreeAccount) throws -> (Amount, String) {
    let name = try wanted.memberIfPresent("merchantAccountId")?.string ?? account.defaultMerchantAccount
    guard let currency = account.merchantAccounts[name] else {
      throw BraintreeGraphQLError.invalid("Merchant account ID is invalid.", "91513")
    }
    var errors: [BraintreeValidationError] = []
    guard let amount = BraintreeMoney.read(try wanted.member("amount").string, currency, &errors) else {
      throw BraintreeGraphQLError.invalid(errors.first?.message ?? "", errors.first?.code)
    }
    return (amount, name)
  }
}

extension BraintreeGraphQLError {
  var json: JSONValue {
    var extensions: JSONObject = ["errorClass": .string(errorClass), "errorType": "user_error"]
    extensions["legacyCode"] = legacyCode.map(JSONValue.string)
    return ["message": .string(message), "path": [], "extensions": .object(extensions)]
  }
}

extension JSONField {
  /// Refuses every other member, as a GraphQL input type does.
  fileprivate func allow(_ names: String...) throws {
    if let unknown = try object.members.first(where: { !names.contains($0.key) }) {
      throw BraintreeGraphQLError.invalid("\(path).\(unknown.key) is not defined.")
    }
  }
}

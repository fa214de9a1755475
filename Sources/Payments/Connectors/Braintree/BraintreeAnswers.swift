import Acquiring
import HTTPTransport
import TenderPayments

/// What Braintree's answers mean. An answer counts only if it parses and is about our reference, amount, currency and
/// transaction; everything else leaves the outcome unknown.
struct BraintreeAnswers: Sendable {
  let settings: BraintreeSettings
  private var messages: BraintreeMessages { BraintreeMessages(settings: settings) }

  typealias Response = Result<InboundResponse, TransportError>

  func authorization(_ response: Response, _ request: AuthorizationRequest) -> AcquirerAnswer {
    answer(response) { transaction in
      guard transaction.kind == .sale, transaction.order == request.reference.rawValue,
        transaction.merchantAccount == messages.merchantAccount(request)
      else { return .anotherTransaction }
      return hold(transaction, request.amount)
    }
  }

  func capture(_ response: Response, _ request: FollowUpRequest) -> AcquirerAnswer {
    answer(response) { transaction in
      let isWhole = transaction.id == request.authorization
      let isPart =
        transaction.authorization == request.authorization && transaction.order == request.reference.rawValue
      guard transaction.kind == .sale, isWhole || isPart, has(transaction, request.amount) else {
        return .anotherTransaction
      }
      return movement(transaction)
    }
  }

  func void(_ response: Response, _ name: String) -> AcquirerAnswer {
    answer(response) { transaction in
      guard transaction.id == name else { return .anotherTransaction }
      return transaction.status == "voided"
        ? .approved(Approval(acquirerReference: transaction.id)) : .uncertain(transaction)
    }
  }

  func refund(_ response: Response, _ request: FollowUpRequest, of capture: String) -> AcquirerAnswer {
    answer(response) { transaction in
      guard transaction.kind == .credit, transaction.refunded == capture,
        transaction.order == request.reference.rawValue, has(transaction, request.amount)
      else { return .anotherTransaction }
      return movement(transaction)
    }
  }

  func credentials(_ response: Response) -> CredentialCheck {
    switch response {
    case .failure(let error): .unavailable(error.interruption)
    case .success(let response) where response.status == 200 && document(response)?.name == "search-results": .accepted
    case .success(let response) where response.status == 401: .refused("public key and private key are not accepted")
    case .success(let response) where [403, 404].contains(response.status):
      .refused("the keys may not search the transactions of this merchant id")
    case .success(let response): .unavailable(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
  }

  private func document(_ response: InboundResponse) -> BraintreeXML? { try? BraintreeXML.read(response.body) }
}

extension BraintreeAnswers {
  /// Whether the transaction is of this amount.
  func has(_ transaction: BraintreeTransaction, _ amount: Amount) -> Bool {
    messages.amount(transaction.amount, transaction.currency) == amount
  }

  /// Whether all of a capture can still be voided.
  func isUnsettled(_ sale: BraintreeTransaction, all amount: Amount) -> Bool {
    sale.kind == .sale && sale.status == "submitted_for_settlement" && has(sale, amount)
  }

  /// What an authorization's transaction says of the authorization.
  func hold(_ transaction: BraintreeTransaction, _ asked: Amount) -> AcquirerAnswer {
    guard let amount = messages.amount(transaction.authorizedAmount, transaction.currency),
      amount.currency == asked.currency, amount.minorUnits <= asked.minorUnits
    else { return .anotherTransaction }
    if let decline = transaction.decline { return amount == asked ? .declined(decline) : .anotherTransaction }
    if transaction.status == "authorizing" { return .pending(Pending(acquirerReference: transaction.id)) }
    if transaction.isEnded { return .declined(Decline(reason: .holdEnded, code: transaction.status)) }
    guard transaction.isHeld || transaction.isCaptured else { return .uncertain(transaction) }
    // Only an approval for a part has another amount.
    guard amount == asked || transaction.processorCode == "1004" && amount.isPositive else {
      return .anotherTransaction
    }
    return .approved(approval(transaction, amount == asked ? nil : amount))
  }

  /// What the transaction of a capture or refund says of it.
  func movement(_ transaction: BraintreeTransaction) -> AcquirerAnswer {
    if let decline = transaction.decline { return .declined(decline) }
    return transaction.isCaptured ? .approved(approval(transaction, nil)) : .uncertain(transaction)
  }

  private func approval(_ transaction: BraintreeTransaction, _ approved: Amount?) -> Approval {
    Approval(
      acquirerReference: transaction.id, authorizationCode: transaction.authorizationCode,
      networkTransactionID: transaction.networkTransactionID, approvedAmount: approved)
  }
}

extension BraintreeAnswers {
  private func answer(
    _ response: Response, _ read: (BraintreeTransaction) -> AcquirerAnswer
  ) -> AcquirerAnswer {
    switch response {
    case .failure(.notSent(let reason)): .notSent(reason)
    case .failure(let error): .unknown(error.interruption)
    case .success(let response): answer(response, read)
    }
  }

  /// 401, 403, 404 and 426 are refused before anything is done, and so is what exceeds the rate. All other errors may
  /// come after it was done.
  private func answer(
    _ response: InboundResponse, _ read: (BraintreeTransaction) -> AcquirerAnswer
  ) -> AcquirerAnswer {
    switch response.status {
    case 200, 201, 422: body(response, read)
    case 401, 403, 404, 426: .declined(Decline(reason: .configuration, code: "HTTP \(response.status)"))
    case 429: .notSent("Braintree limits the rate of requests: HTTP 429")
    default: .unknown(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
  }

  private func body(
    _ response: InboundResponse, _ read: (BraintreeTransaction) -> AcquirerAnswer
  ) -> AcquirerAnswer {
    do throws(BraintreeXMLError) {
      let document = try BraintreeXML.read(response.body)
      switch (document.name, response.status) {
      case ("transaction", 200), ("transaction", 201): return read(try BraintreeTransaction(document))
      case ("api-error-response", 422): return try refusal(document, read)
      default: throw BraintreeXMLError("HTTP \(response.status) with another document")
      }
    } catch {
      return .unknown(Interruption(.unintelligibleAnswer, detail: error.reason))
    }
  }

  /// With a transaction: Braintree or the bank refused it. Without: Braintree refused the request, and did nothing.
  private func refusal(
    _ document: BraintreeXML, _ read: (BraintreeTransaction) -> AcquirerAnswer
  ) throws(BraintreeXMLError) -> AcquirerAnswer {
    if let element = try document.childIfPresent("transaction") {
      let answer = read(try BraintreeTransaction(element))
      if case .approved = answer { throw BraintreeXMLError("a refusal of a transaction that was approved") }
      return answer
    }
    guard let code = Self.code(in: try document.child("errors")) else { throw BraintreeXMLError("no code") }
    return .declined(Decline(reason: BraintreeDeclines.reason(validation: code), code: code))
  }

  /// The first validation code, at any depth.
  private static func code(in element: BraintreeXML) -> String? {
    if element.name == "error", let code = try? element.text("code"), BraintreeTransaction.isName(code) { return code }
    return element.children.lazy.compactMap { code(in: $0) }.first
  }
}

extension AcquirerAnswer {
  static var anotherTransaction: AcquirerAnswer {
    .unknown(Interruption(.unintelligibleAnswer, detail: "the answer is about another transaction"))
  }

  static func uncertain(_ transaction: BraintreeTransaction) -> AcquirerAnswer {
    .unknown(Interruption(.acquirerUncertain, detail: "the transaction's status is \(transaction.status)"))
  }
}

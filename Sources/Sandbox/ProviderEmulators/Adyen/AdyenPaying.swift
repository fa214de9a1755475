import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

/// A payment request whose card is known.
struct AdyenCardPayment: Sendable {
  let request: AdyenPaymentRequest
  let account: AdyenAccount
  /// Nil when the card came without a cryptogram.
  let card: NetworkToken?
  /// What Adyen stores, where that pays.
  var stored: AdyenStoredMethod?
  /// What is refused whatever the card and the amount.
  let refusal: AdyenRefusal?
  let script: ScriptedResponse

  /// `applepay` or `scheme`.
  var method: String {
    switch request.method {
    case .applePay: "applepay"
    case .card, .stored: "scheme"
    }
  }

  private var sandboxCard: SandboxCard? { stored?.card ?? card.flatMap { SandboxCards.card(dpan: $0.dpan) } }

  var cardSuffix: String { card?.dpan.lastFour ?? stored?.cardSuffix ?? "" }

  /// Adyen's name of the scheme.
  var brand: String {
    switch sandboxCard?.network {
    case .masterCard: "mc"
    case .visa: "visa"
    case .amex: "amex"
    case .discover: "discover"
    case .jcb: "jcb"
    default: "visa"
    }
  }

  /// Adyen's test platform lets modifications fail late by the card holder's name; the sandbox, by a total of 20.93.
  var lateFailure: AdyenPayment.LateFailure? {
    if case .card(_, "capture failed") = request.method { return .capture }
    if case .card(_, "refund failed") = request.method { return .refund }
    return SandboxAmounts.failsLate(request.amount.value) ? .capture : nil
  }
}

extension AdyenStore {
  /// Authorizes or refuses, books it and writes its event.
  func pay(_ wanted: AdyenCardPayment, in transaction: Transaction) throws -> ProviderReply {
    let outcome = try decide(wanted, in: transaction)
    let payment = payment(wanted, outcome, at: transaction.now)
    try payment.insert(in: transaction)
    var stored: String?
    if payment.state == .authorised, let wish = wanted.request.storing, let card = wanted.card {
      let id = newPSPReference()
      try AdyenStoredMethod.keep(card.dpan, as: id, wish, of: payment, in: transaction)
      stored = id
    }
    try book("Received", payment.amount.value, on: payment, in: transaction)
    if outcome != .received { try announce(payment, of: wanted.account, in: transaction) }
    return ProviderReply(200, payment.answer(stored, for: wanted.request.storing?.shopper))
  }

  fileprivate enum Outcome: Equatable {
    case authorised(AdyenAmount), refused(AdyenRefusal), received
  }

  private func decide(_ wanted: AdyenCardPayment, in transaction: Transaction) throws -> Outcome {
    if let refusal = wanted.refusal { return .refused(refusal) }
    if wanted.stored == nil {
      guard let card = wanted.card else { return .refused(.notAuthenticated) }
      guard try accept(card.cryptogram, of: card.dpan, in: transaction) else { return .refused(.refused) }
    }
    switch wanted.script.outcome {
    case .approve, .noAnswer, .noAnswerAfterApproval: return .authorised(wanted.request.amount)
    case .pending: return .received
    case .decline(let code): return .refused(AdyenRefusal(responseCode: code))
    case .approveForLess:
      let isAllowed = wanted.request.allowsPartialApproval
      return isAllowed ? .authorised(wanted.request.amount.half) : .refused(.notEnoughBalance)
    }
  }

  private func payment(_ wanted: AdyenCardPayment, _ outcome: Outcome, at now: Timestamp) -> AdyenPayment {
    var payment = AdyenPayment(
      pspReference: newPSPReference(), account: wanted.account.merchantAccount, reference: wanted.request.reference,
      amount: wanted.request.amount, method: wanted.method, brand: wanted.brand,
      cardSuffix: wanted.cardSuffix, createdAt: now, lateFailure: wanted.lateFailure,
      refusalCode: outcome.refusal?.code, authorizationCode: outcome.refusal == nil ? random.hex(3).uppercased() : nil,
      networkReference: outcome.refusal == nil ? random.next(15).map { String($0 % 10) }.joined() : nil,
      state: outcome.state)
    if case .authorised(let amount) = outcome { payment.authorised = amount.value }
    if wanted.request.capturesByItself { payment.captured = payment.authorised }
    return payment
  }

  /// Books the authorization or the refusal, and writes the event `AUTHORISATION`.
  func announce(_ payment: AdyenPayment, of account: AdyenAccount, in transaction: Transaction) throws {
    let type =
      switch payment.state {
      case .authorised: "Authorised"
      case .error: "Error"
      default: "Refused"
      }
    try book(
      type, payment.state == .authorised ? payment.authorised : payment.amount.value, on: payment, in: transaction)
    if payment.captured > 0 { try book("SentForSettle", payment.captured, on: payment, in: transaction) }
    var event = AdyenEvent.authorisation(payment, at: transaction.now)
    if event.isSuccess, let stored = try AdyenStoredMethod.name(keptWith: payment.pspReference, in: transaction) {
      event.additionalData["tokenization.storedPaymentMethodId"] = .string(stored)
    }
    try write(event, of: account, in: transaction)
  }
}

extension AdyenStore.Outcome {
  fileprivate var refusal: AdyenRefusal? {
    if case .refused(let refusal) = self { refusal } else { nil }
  }

  fileprivate var state: AdyenPayment.State {
    switch self {
    case .authorised: .authorised
    case .received: .received
    case .refused(let refusal): refusal.resultCode == "Error" ? .error : .refused
    }
  }
}

extension AdyenPayment {
  /// The `PaymentResponse`.
  ///
  /// - Parameters:
  ///   - stored: Adyen's name of the card that it stored with this payment.
  ///   - shopper: whose it is.
  func answer(_ stored: String?, for shopper: String?) -> JSONValue {
    var answer: JSONObject = [
      "pspReference": .string(pspReference), "merchantReference": .string(reference), "resultCode": .string(resultCode),
    ]
    if let refusal = refusalCode.flatMap(AdyenRefusal.init) {
      answer["refusalReason"] = .string(refusal.reason)
      answer["refusalReasonCode"] = .string(refusal.code)
    }
    if state == .authorised {
      answer["amount"] = authorisedAmount.json
      answer["paymentMethod"] = method == "scheme" ? ["brand": .string(brand), "type": "scheme"] : ["type": "applepay"]
      var data = additionalData
      data["tokenization.storedPaymentMethodId"] = stored.map(JSONValue.string)
      data["tokenization.shopperReference"] = stored.flatMap { _ in shopper.map(JSONValue.string) }
      data["tokenization.store.operationType"] = stored.map { _ in "created" }
      answer["additionalData"] = .object(data)
    }
    return .object(answer)
  }

  private var resultCode: String {
    switch state {
    case .received: "Received"
    case .refused: "Refused"
    case .error: "Error"
    default: authorised < amount.value ? "PartiallyAuthorised" : "Authorised"
    }
  }

  var additionalData: JSONObject {
    var data: JSONObject = ["paymentMethodVariant": .string(method == "applepay" ? "\(brand)_applepay" : brand)]
    data["authCode"] = authorizationCode.map(JSONValue.string)
    data["networkTxReference"] = networkReference.map(JSONValue.string)
    if authorised < amount.value {
      data["authorisedAmountValue"] = .string("\(authorised)")
      data["authorisedAmountCurrency"] = .string(amount.currency.code)
    }
    return data
  }
}

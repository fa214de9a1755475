import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

/// A payment request whose card is known.
struct CheckoutComCardPayment: Sendable {
  let request: CheckoutComPaymentRequest
  let account: CheckoutComAccount
  let means: Means
  /// `token`, `network_token` or `id`.
  let source: String
  /// A response code that the payment gets whatever its card and amount.
  let refusal: String?
  let script: ScriptedResponse

  enum Means: Sendable {
    case card(NetworkToken)
    case instrument(CheckoutComInstrument)
  }

  private var card: SandboxCard? {
    switch means {
    case .card(let card): SandboxCards.card(dpan: card.dpan)
    case .instrument(let instrument): instrument.card
    }
  }

  var cardSuffix: String {
    switch means {
    case .card(let card): card.dpan.lastFour
    case .instrument(let instrument): instrument.cardSuffix ?? "0000"
    }
  }

  /// Checkout.com's name of the scheme.
  var scheme: String {
    switch card?.network {
    case .masterCard: "Mastercard"
    case .amex: "American Express"
    case .discover: "Discover"
    case .jcb: "JCB"
    default: "Visa"
    }
  }
}

extension CheckoutComStore {
  /// Authorizes or declines, and writes the event: 201 with a result, 202 while it is pending.
  func pay(_ wanted: CheckoutComCardPayment, in transaction: Transaction) throws -> ProviderReply {
    var payment = payment(wanted, at: transaction.now)
    try decide(wanted, &payment, in: transaction)
    if wanted.request.capturesByItself { _ = payment.capture(payment.authorized, isFinal: true) }
    try payment.insert(in: transaction)
    if payment.isApproved, wanted.request.stores, case .card(let card) = wanted.means {
      let (id, type) = (newName("src"), wanted.request.paymentType)
      try CheckoutComInstrument.keep(card.dpan, as: id, for: type, of: payment, in: transaction)
      payment.instrument = id
    }
    var action = CheckoutComAction(
      id: newName("act"), payment: payment.id, kind: .authorization, reference: payment.reference,
      value: payment.isApproved ? payment.authorized : payment.amount.value)
    if payment.state != .pending { (action.responseCode, action.processedAt) = (payment.responseCode, transaction.now) }
    try action.insert(in: transaction)
    if payment.state == .pending { return ProviderReply(202, payment.pendingAnswer) }
    try announce(action, of: payment, in: transaction)
    return ProviderReply(201, payment.answer(action))
  }

  private func payment(_ wanted: CheckoutComCardPayment, at now: Timestamp) -> CheckoutComPayment {
    CheckoutComPayment(
      id: newName("pay"), channel: wanted.account.processingChannel, reference: wanted.request.reference,
      amount: wanted.request.amount, source: wanted.source, scheme: wanted.scheme,
      cardSuffix: wanted.cardSuffix, createdAt: now, responseCode: "",
      authorizationCode: random.hex(3).uppercased(), schemeID: random.next(15).map { String($0 % 10) }.joined(),
      state: .pending)
  }

  /// A cryptogram is accepted once, whatever the result.
  private func decide(
    _ wanted: CheckoutComCardPayment, _ payment: inout CheckoutComPayment, in transaction: Transaction
  ) throws {
    if case .card(let card) = wanted.means {
      guard try accept(card.cryptogram, of: card.dpan, in: transaction) else {
        return payment.decline(CheckoutComResponseCode.doNotHonour)
      }
    }
    if let refusal = wanted.refusal { return payment.decline(refusal) }
    switch wanted.script.outcome {
    case .approve, .noAnswer, .noAnswerAfterApproval: payment.authorize(wanted.request.amount.value)
    case .pending: break
    case .decline(let code): payment.decline(CheckoutComResponseCode.code(iso: code))
    case .approveForLess where wanted.request.allowsPartialApproval:
      payment.authorize(wanted.request.amount.half.value)
    case .approveForLess: payment.decline(CheckoutComResponseCode.partiallyApproved)
    }
  }

  /// Writes the event of an action that is processed.
  func announce(_ action: CheckoutComAction, of payment: CheckoutComPayment, in transaction: Transaction) throws {
    let isVerification = action.kind == .authorization && payment.amount.value == 0
    let type =
      isVerification
      ? (action.isApproved ? "card_verified" : "card_verification_declined")
      : action.kind.event(isApproved: action.isApproved)
    try write(type, payment.eventData(action), of: payment.channel, in: transaction)
  }
}

extension CheckoutComPayment {
  fileprivate mutating func decline(_ code: String) {
    (state, responseCode, authorizationCode, schemeID) = (.declined, code, nil, nil)
  }
}

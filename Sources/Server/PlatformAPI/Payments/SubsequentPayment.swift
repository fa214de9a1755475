import DirectWire
import Gateway
package import Ledger
import Orders
import Storage
import TenderPayments

// `POST /v2/{merchantId}/payments/{id}/subsequent`, step by step: known under this key? which agreement? claim its period (one
// commit, with the order), ask the acquirer, answer.
extension PlatformPayments {
  /// - Parameters:
  ///   - id: of the agreement's first payment, or of one of its charges.
  ///   - body: Worldline's `SubsequentPaymentRequest`, as it arrived.
  /// - Throws: ``PlatformRefusal``, of a declined payment with its `paymentResult`.
  package func subsequent(_ id: String, _ body: [UInt8], _ call: IdempotentCall) async throws -> PlatformAnswer {
    try await refusing {
      if let known = try await gateway.findAnswer(under: call) { return try await answer(charge: known) }
      let payment = try await require(id, of: call.merchant)
      guard let request = try Self.read(SubsequentPaymentRequest.self, body) else {
        throw PlatformRefusal.missing("order")
      }
      guard let agreement = try await journal.database.read({ try Journal.agreement(of: payment.id, in: $0) }) else {
        throw PlatformRefusal(.actionNotAllowed)
      }
      let charge = try Self.charge(agreement, request)
      return try await answer(
        charge: AgreementCharging.perform(charge, request.order.references, under: call, through: gateway))
    }
  }

  private static func charge(_ agreement: Agreement, _ request: SubsequentPaymentRequest) throws -> AgreementCharge {
    let place = "subsequentcardPaymentMethodSpecificInput"
    var charge = AgreementCharge(agreement.id, of: agreement.merchant)
    if let money = request.order.amountOfMoney {
      guard let amount = money.value, amount.currency == agreement.terms.amount.currency else {
        throw PlatformRefusal.invalid(
          "order.amountOfMoney.currencyCode", "The agreement is in \(agreement.terms.amount.currency.code).")
      }
      guard amount.isPositive else {
        throw PlatformRefusal.invalid("order.amountOfMoney.amount", "An amount is more than zero, in minor units.")
      }
      charge.amount = amount
    }
    charge.merchantReference = try name(
      request.order.references?.merchantReference, "order.references.merchantReference")
    let input = request.input
    if let text = input?.subsequentType {
      let fitting = SubsequentPaymentRequest.Kind.fitting(agreement.terms.kind)
      guard let kind = SubsequentPaymentRequest.Kind(text), fitting.contains(kind) else {
        let names = fitting.map(\.rawValue).joined(separator: ", ")
        throw PlatformRefusal.invalid(
          place + ".subsequentType", "Of an agreement that is \(agreement.terms.kind.rawValue) it is one of \(names).")
      }
    }
    charge.period = input?.period
    let isSale = input?.authorizationMode == nil || input?.authorizationMode == .sale
    charge.capture = isSale || input?.autoCapture != nil ? .immediate : .manual
    guard (input?.autoCapture?.delayInMinutes ?? 0) == 0 || isSale else {
      throw PlatformRefusal.invalid(
        place + ".autoCapture.delayInMinutes", "A later payment is captured at once, or by a call.")
    }
    return charge
  }

  private func answer(charge answer: KeyedAnswer) async throws -> PlatformAnswer {
    try await gateway.reading(answer.outcome.payment.id) {
      let order = try await order(of: answer.outcome.payment)
      return try rendered(charge: Done(answer.outcome, order, firstCallAt: answer.firstCallAt))
    }
  }

  private func rendered(charge done: Done) throws -> PlatformAnswer {
    let payment = done.rendering.payment
    switch payment.status {
    case .failed: throw done.refused(PlatformRefusal(.unreached))
    case .declined:
      var refusal = PlatformRefusal(payment.fault)
      refusal.paymentResult = CreatePaymentAnswer(done.rendering.answer)
      throw done.refused(refusal)
    default:
      return try done.answered(SubsequentPaymentAnswer(done.rendering.answer), status: 201)
    }
  }
}

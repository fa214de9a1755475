import Acquiring
import Crypto
import DirectWire
import Gateway
package import Ledger
import Orders
import Storage
import Telemetry
import TenderPayments
import Webhooks

// `POST /v2/{merchantId}/payments`, step by step: known under this key? read the request, confirm the credential, claim
// (one commit, with the order), ask the acquirer, answer.
extension PlatformPayments {
  /// - Parameter body: Worldline's `CreatePaymentRequest`, as it arrived.
  /// - Throws: ``PlatformRefusal``, of a declined payment with its `paymentResult`.
  package func create(_ body: [UInt8], _ call: IdempotentCall) async throws -> PlatformAnswer {
    try await refusing {
      if let known = try await gateway.findAnswer(under: call) { return try await answerAgain(known) }
      try await requireAvailable(call.merchant)
      return try await pay(newPayment(body, call), under: call)
    }
  }

  /// A merchant that is switched off, or without Apple's current terms, is not paid.
  private func requireAvailable(_ merchant: MerchantID) async throws {
    guard let code = await merchants(merchant)?.refusal else { return }
    throw OrderError(code, "the merchant \(merchant) takes no Apple Pay")
  }

  private func pay(_ new: NewPayment, under key: IdempotentCall) async throws -> PlatformAnswer {
    let call = try gateway.newCall(under: key)
    defer { call.end() }
    guard
      case .confirmed(let confirmed) =
        try await gateway.confirm(new.credential, pays: new.order, choosing: new.choice, in: call)
    else { throw GatewayError.tokenReused }
    let stored = new.stored(confirmed)
    let claimed: (attempt: Attempt, order: PlatformOrder)
    do {
      claimed = try await trace(.claim) { try await claim(confirmed, new, stored, call) }
    } catch let taken as KeyTaken {
      return try await answerAgain(gateway.firstAnswer(under: key, taken))
    } catch is ClaimRefused {
      // A repeat of this call, at the same moment, carries the same payment token.
      guard let known = try await gateway.findAnswer(under: key) else { throw GatewayError.tokenReused }
      return try await answerAgain(known)
    }
    return try answer(
      Done(try await gateway.authorize(confirmed, claimed.attempt, in: call), RenderedOrder(claimed.order)))
  }

  /// One commit: the payment's claim and the idempotency key, the order with its contact, the agreement that it begins,
  /// where events go.
  private func claim(
    _ confirmed: ConfirmedOrder, _ new: NewPayment, _ stored: PlatformOrder, _ call: PaymentCall
  ) async throws -> (Attempt, PlatformOrder) {
    try await journal.database.writeOnce { (store, inDoubt: (Attempt, PlatformOrder)?) in
      let attempt: Attempt
      do { attempt = try gateway.claim(confirmed, for: call, in: store) } catch let refused as ClaimRefused {
        guard let inDoubt, refused.isBy(inDoubt.0) else { throw refused }
        return inDoubt
      }
      try new.server.save(in: store)
      var stored = stored
      stored.agreement = try new.agreement.map {
        try journal.begin($0.with(confirmed.merchantToken), with: attempt, in: store)
      }
      try stored.save(as: new.order.id, of: new.order.merchant, in: store)
      try PaymentWebhooks.add(new.webhooks, to: attempt.payment, in: store)
      return (attempt, stored)
    }
  }

  private func answerAgain(_ known: KeyedAnswer) async throws -> PlatformAnswer {
    try await gateway.reading(known.outcome.payment.id) {
      try answer(Done(known.outcome, try await order(of: known.outcome.payment), firstCallAt: known.firstCallAt))
    }
  }

  /// From the operations of the call alone: what else has begun since does not change it.
  private func answer(_ done: Done) throws -> PlatformAnswer {
    let payment = done.rendering.payment
    let result = CreatePaymentAnswer(done.rendering.answer, token: done.rendering.order.agreement?.rawValue)
    switch payment.status {
    case .failed: throw done.refused(PlatformRefusal(.unreached))
    case .declined:
      var refusal = PlatformRefusal(payment.fault)
      refusal.paymentResult = CreatePaymentAnswer(done.rendering.answer)
      throw done.refused(refusal)
    default:
      return try done.answered(result, status: 201)
    }
  }
}

/// A payment as its request asks for it, before anything is opened.
private struct NewPayment: Sendable {
  let order: Order
  let server: ServerOrder
  let credential: PaymentCredential
  let choice: RouteChoice
  let references: DirectReferences?
  let mode: MobilePaymentInput.AuthorizationMode?
  /// The agreement that it begins.
  let agreement: NewAgreement?
  /// Addresses for events of this payment.
  let webhooks: [String]

  func stored(_ confirmed: ConfirmedOrder) -> PlatformOrder {
    var order = PlatformOrder(
      references: references, notVerified: credential.notVerified, authorizationMode: mode)
    order.cardholderName = confirmed.sale.cardholderName
    return order
  }
}

extension PlatformPayments {
  private func newPayment(_ body: [UInt8], _ call: IdempotentCall) async throws -> NewPayment {
    let merchant = call.merchant
    guard let request = try Self.read(CreatePaymentRequest.self, body) else { throw PlatformRefusal.missing("order") }
    guard let terms = await merchants(merchant) else { throw PlatformRefusal(.accessNotAllowed) }
    let amount = try amount(of: request.order, merchant)
    let input = try await input(of: request, call)
    try Self.requireReadable(request.order, input)
    if let long = request.order.tooLong { throw PlatformRefusal.invalid(long.member, "It has at most \(long.limit).") }
    let reference = try Self.name(
      request.order.references?.merchantReference, "order.references.merchantReference")
    let id = OrderID(random.timeOrderedID(clock))
    let server = ServerOrder(request.order, id: id, of: merchant, amount: amount, reference: reference ?? id.rawValue)
    let binding = try await self.binding(of: reference, merchant, amount)
    let expected = await applicationData(merchant) ?? Array((reference ?? "").utf8)
    var choice = server.choice
    choice.captureDelay = try input.captureDelay
    choice.sale.authorization = input.authorizationMode?.type
    choice.sale.transactionID = input.knownTransactionId
    choice.sale.cardholderName = input.decryptedPaymentData?.cardholderName
    choice.sale.statementDescriptor = request.order.references?.softDescriptor
    let agreement = try newAgreement(input.paymentProduct302SpecificInput, binding, server)
    choice.sale.agreement = agreement.map { .init($0.terms.kind, shopper: id.rawValue) }
    return NewPayment(
      order: Order(
        id: id, merchant: merchant, basket: server.basket, amount: amount,
        applicationDataHash: binding?.applicationDataHash ?? Array(SHA256.hash(data: expected)),
        merchantReference: server.merchantReference, capture: input.capture,
        signedAmount: binding?.estimate.map { .zero($0.currency) }),
      server: server, credential: try credential(input, terms, isOfBasket: binding != nil), choice: choice,
      references: request.order.references,
      mode: input.authorizationMode, agreement: agreement, webhooks: try Self.webhooks(request.feedbacks, terms))
  }

  /// What is shown to people or sent to the provider. ``DirectCustomer``'s names and addresses lose what is not readable.
  private static func requireReadable(_ order: DirectOrder, _ input: MobilePaymentInput) throws {
    var name = order.references?.unreadable.map { "order.references.\($0)" }
    if !isReadable(order.customer?.merchantCustomerId) { name = "order.customer.merchantCustomerId" }
    if !isReadable(input.decryptedPaymentData?.cardholderName) {
      name = Self.input + ".decryptedPaymentData.cardholderName"
    }
    guard let name else { return }
    throw PlatformRefusal.invalid(name, "It has control characters or marks of the writing direction.")
  }

  private static func isReadable(_ text: String?) -> Bool { (text ?? "").unicodeScalars.allSatisfy(\.isPrintable) }

  /// What ties the payment token to the merchant's basket of the reference; nil where there is none.
  private func binding(
    of reference: String?, _ merchant: MerchantID, _ amount: Amount
  ) async throws -> BasketBinding? {
    guard let reference, let found = try await self.binding?(reference, merchant) else { return nil }
    if let estimate = found.estimate, estimate.currency != amount.currency || estimate.minorUnits < amount.minorUnits {
      throw PlatformRefusal.invalid("order.amountOfMoney", "The estimate of the order's basket is \(estimate).")
    }
    return found
  }

  /// What the shopper agreed to beyond this payment: as the request says, or else the basket of its reference.
  private func newAgreement(
    _ product: MobilePaymentInput.Product302?, _ binding: BasketBinding?, _ server: ServerOrder
  ) throws -> NewAgreement? {
    let place = Self.input + ".paymentProduct302SpecificInput"
    guard product?.recurring?.recurringPaymentSequenceIndicator ?? "first" == "first" else {
      throw PlatformRefusal.invalid(
        place + ".recurring.recurringPaymentSequenceIndicator", "first; later payments are made by …/subsequent.")
    }
    guard let document = product?.agreement ?? binding?.agreement else {
      guard product?.isRecurring?.value == true else { return nil }
      throw PlatformRefusal.missing(place + ".agreement")
    }
    let (now, zone) = (clock.now(), document.timeZone ?? "UTC")
    let terms = try AgreementRules.check(document, in: server.amount.currency, at: now, place + ".agreement")
    // An estimate is held for what is not known yet, as the sheet showed it.
    let total = binding?.estimate == nil ? server.amount : nil
    try AgreementRules.check(terms, timeZone: zone, pays: total, at: now, place + ".agreement")
    return NewAgreement(
      terms: terms, timeZone: zone, merchantReference: server.merchantReference,
      customer: server.customer, isScheduled: document.schedule == true)
  }

  /// Zero verifies the card, where a route of the merchant's can.
  private func amount(of order: DirectOrder, _ merchant: MerchantID) throws -> Amount {
    guard let amount = order.amountOfMoney.value else {
      throw PlatformRefusal.invalid("order.amountOfMoney.currencyCode", "Not a currency of ISO 4217.")
    }
    let isFree = amount.minorUnits == 0 && gateway.routes.verifiesCards(of: merchant, in: amount.currency)
    guard amount.isPositive || isFree else {
      throw PlatformRefusal.invalid("order.amountOfMoney.amount", "An amount is more than zero, in minor units.")
    }
    return amount
  }

  /// The payment method, with the data that a kit has encrypted for us in its place.
  private func input(of request: CreatePaymentRequest, _ call: IdempotentCall) async throws -> MobilePaymentInput {
    var sent = request.mobilePaymentMethodSpecificInput
    if let sealed = request.encryptedCustomerInput {
      guard let openCustomerInput else {
        throw PlatformRefusal.invalid("encryptedCustomerInput", "It is not taken here.")
      }
      sent = try await openCustomerInput(sealed, sent, call)
    }
    guard let input = sent else { throw PlatformRefusal.missing(Self.input) }
    guard input.paymentProductId == MobilePaymentInput.applePay else {
      throw PlatformRefusal.invalid(Self.input + ".paymentProductId", "302, Apple Pay, is the only product.")
    }
    return input
  }

  private static func webhooks(_ feedbacks: CreatePaymentRequest.Feedbacks?, _ merchant: PlatformMerchant) throws
    -> [String]
  {
    let addresses = feedbacks?.webhooksUrls ?? feedbacks?.webhookUrl.map { [$0] } ?? []
    guard addresses.count <= PaymentWebhooks.limit else {
      throw PlatformRefusal.invalid("feedbacks.webhooksUrls", "At most \(PaymentWebhooks.limit) addresses.")
    }
    for (index, address) in addresses.enumerated() {
      let longest = EndpointName.longestAddress
      let tooLong = address.utf8.count > longest ? "An address has at most \(longest) bytes." : nil
      guard let reason = tooLong ?? merchant.refusalOfWebhook(address) else { continue }
      throw PlatformRefusal.invalid("feedbacks.webhooksUrls[\(index)]", reason)
    }
    return addresses
  }
}

extension MobilePaymentInput {
  /// Hexadecimal, as Apple gives it; nil for anything else.
  fileprivate var knownTransactionId: String? {
    transactionId.flatMap { (1...64).contains($0.utf8.count) && Hex.decode($0) != nil ? $0 : nil }
  }

  /// A sale is captured at once, and so is what needs no approval; a delay only puts the capture off.
  fileprivate var capture: CaptureMode {
    authorizationMode == .sale || requiresApproval == false || autoCapture != nil ? .immediate : .manual
  }

  fileprivate var captureDelay: Duration? {
    get throws {
      guard let minutes = autoCapture?.delayInMinutes, authorizationMode != .sale else { return nil }
      guard (0...43_200).contains(minutes) else {
        throw PlatformRefusal.invalid(
          PlatformPayments.input + ".autoCapture.delayInMinutes", "0 to 43200 minutes.")
      }
      return minutes > 0 ? .seconds(minutes * 60) : nil
    }
  }
}

import AcquirerSandbox
import ApplePayToken
import DirectWire
import HTTPServing
import HTTPTypes
import Hummingbird
import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

/// The routes of the emulated Worldline Direct: authenticate, decode, run once for each idempotence key, render.
struct WorldlineDirectRoutes<Context: RequestContext>: Sendable {
  let service: WorldlineDirectSandbox
  var store: WorldlineDirectStore { service.store }

  /// A call of a merchant that is authenticated.
  struct Call: Sendable {
    let account: WorldlineDirectAccount
    let body: [UInt8]
    /// The id in the path.
    let id: String

    func read<Body: Decodable>(_ type: Body.Type) throws -> Body { try DirectJSON.read(type, body) }
  }

  @Sendable func testConnection(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { _ in ProviderAct { _ in try ProviderReply(200, ConnectionAnswer()) } }
  }

  @Sendable func create(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try await read(try call.read(CreatePaymentRequest.self))
      return ProviderAct(wanted.script) { try store.pay(wanted, for: call.account, in: $0) }
    }
  }

  @Sendable func payment(_ request: Request, _ context: Context) async throws -> Response {
    try await onPayment(request, context) { try ProviderReply(200, $1.answer) }
  }

  @Sendable func details(_ request: Request, _ context: Context) async throws -> Response {
    try await onPayment(request, context) { try ProviderReply(200, $1.details) }
  }

  @Sendable func captures(_ request: Request, _ context: Context) async throws -> Response {
    try await onPayment(request, context) { try ProviderReply(200, CapturesAnswer($1.captures)) }
  }

  @Sendable func refunds(_ request: Request, _ context: Context) async throws -> Response {
    try await onPayment(request, context) { try ProviderReply(200, RefundsAnswer($1.refunds)) }
  }

  @Sendable func capture(_ request: Request, _ context: Context) async throws -> Response {
    try await onPayment(request, context) { call, payment, transaction in
      try store.capture(try call.read(CapturePaymentRequest.self), payment, for: call.account, in: transaction)
    }
  }

  /// SDKs of 2021 send no body.
  @Sendable func cancel(_ request: Request, _ context: Context) async throws -> Response {
    try await onPayment(request, context) { call, payment, transaction in
      let wanted = call.body.isEmpty ? CancelPaymentRequest() : try call.read(CancelPaymentRequest.self)
      return try store.cancel(wanted, payment, for: call.account, in: transaction)
    }
  }

  @Sendable func refund(_ request: Request, _ context: Context) async throws -> Response {
    try await onPayment(request, context) { call, payment, transaction in
      try store.refund(try call.read(RefundPaymentRequest.self), payment, for: call.account, in: transaction)
    }
  }

  @Sendable func subsequent(_ request: Request, _ context: Context) async throws -> Response {
    try await onPayment(request, context) { call, payment, transaction in
      let wanted = try read(try call.read(SubsequentPaymentRequest.self), after: payment, in: transaction)
      return try store.pay(wanted, for: call.account, in: transaction)
    }
  }

  private func onPayment(
    _ request: Request, _ context: Context,
    _ work: @escaping @Sendable (Call, WorldlineDirectPayment) throws -> ProviderReply
  ) async throws -> Response {
    try await onPayment(request, context) { call, payment, _ in try work(call, payment) }
  }

  private func onPayment(
    _ request: Request, _ context: Context,
    _ work: @escaping @Sendable (Call, WorldlineDirectPayment, Transaction) throws -> ProviderReply
  ) async throws -> Response {
    try await answering(request, context) { call in
      ProviderAct { transaction in
        let name = DirectPaymentID(call.id)
        let found = try name.flatMap {
          try WorldlineDirectPayment.find($0.payment, of: call.account.merchantID, in: transaction)
        }
        guard let found else { throw WorldlineDirectRefusal(.unknownPayment) }
        return try work(call, found, transaction)
      }
    }
  }
}

// What a payment request asks for.
extension WorldlineDirectRoutes {
  /// Checks the request, opens sealed payment data, and finds out what the card and the amount are scripted to come to.
  private func read(_ request: CreatePaymentRequest) async throws -> WorldlineDirectWanted {
    guard let amount = request.order.amountOfMoney.value else {
      throw WorldlineDirectRefusal(.invalidValue("order.amountOfMoney.currencyCode", "no currency"))
    }
    guard amount.isPositive else {
      throw WorldlineDirectRefusal(.invalidValue("order.amountOfMoney.amount", "must be positive"))
    }
    if let reference = request.order.references?.merchantReference, reference.count > DirectReferences.referenceLimit {
      throw WorldlineDirectRefusal(.invalidValue("order.references.merchantReference", "longer than 40 characters"))
    }
    if let customer = request.order.customer { try Self.check(customer) }
    guard let input = request.mobilePaymentMethodSpecificInput else {
      throw WorldlineDirectRefusal(.missing("mobilePaymentMethodSpecificInput"))
    }
    guard input.paymentProductId == MobilePaymentInput.applePay else {
      throw WorldlineDirectRefusal(.invalidValue("mobilePaymentMethodSpecificInput.paymentProductId", "is not 302"))
    }
    let (card, isAmountOther) = try await card(input, amount)
    return WorldlineDirectWanted(
      amount: amount, references: request.order.references,
      capturesAtOnce: input.authorizationMode == .sale || input.requiresApproval == false,
      means: .card(card, isRecurring: try Self.isRecurring(input.paymentProduct302SpecificInput)),
      refusal: isAmountOther ? WorldlineDirectStore.errorCode("13") : nil,
      script: ScriptedResponse(dpan: card.dpan, minorUnits: amount.minorUnits))
  }

  /// The first payment of a series says that it is one, in both members.
  private static func isRecurring(_ product: MobilePaymentInput.Product302?) throws(WorldlineDirectRefusal) -> Bool {
    let path = "mobilePaymentMethodSpecificInput.paymentProduct302SpecificInput"
    guard let product else { return false }
    guard product.agreement == nil else {
      throw WorldlineDirectRefusal(.invalidValue("\(path).agreement", "is unknown"))
    }
    guard product.isRecurring?.value == true else { return false }
    guard product.recurring?.recurringPaymentSequenceIndicator == "first" else {
      throw WorldlineDirectRefusal(
        .invalidValue("\(path).recurring.recurringPaymentSequenceIndicator", "is not first"))
    }
    return true
  }

  /// Checks a later payment, and finds the series that the payment in its path began.
  private func read(
    _ request: SubsequentPaymentRequest, after first: WorldlineDirectPayment, in transaction: Transaction
  ) throws -> WorldlineDirectWanted {
    let path = "subsequentcardPaymentMethodSpecificInput"
    guard let money = request.order.amountOfMoney else { throw WorldlineDirectRefusal(.missing("order.amountOfMoney")) }
    guard let amount = money.value, amount.currency == first.amount.currency else {
      throw WorldlineDirectRefusal(.invalidValue("order.amountOfMoney.currencyCode", "is another"))
    }
    guard amount.isPositive else {
      throw WorldlineDirectRefusal(.invalidValue("order.amountOfMoney.amount", "must be positive"))
    }
    guard let kind = request.input?.subsequentType.flatMap({ SubsequentPaymentRequest.Kind($0) }),
      SubsequentPaymentRequest.Kind.fitting(.recurring).contains(kind)
    else { throw WorldlineDirectRefusal(.invalidValue("\(path).subsequentType", "does not fit the series")) }
    guard let series = try WorldlineDirectSeries.find(first, in: transaction) else {
      throw WorldlineDirectRefusal(.actionNotAllowed)
    }
    return WorldlineDirectWanted(
      amount: amount, references: request.order.references, capturesAtOnce: request.input?.authorizationMode == .sale,
      means: .series(series), refusal: series.refusal,
      script: ScriptedResponse(storedCard: series.card, minorUnits: amount.minorUnits))
  }

  private static func check(_ customer: DirectCustomer) throws(WorldlineDirectRefusal) {
    let name = customer.personalInformation?.name
    let limits = [
      ("contactDetails.emailAddress", customer.contactDetails?.emailAddress, 70),
      ("personalInformation.name.firstName", name?.firstName, 15),
      ("personalInformation.name.surname", name?.surname, 70),
    ]
    for (member, text, limit) in limits where text?.isLonger(than: limit) == true {
      throw WorldlineDirectRefusal(.invalidValue("order.customer.\(member)", "longer than \(limit) characters"))
    }
    if let country = customer.billingAddress?.countryCode, !CountryCode.isAssigned(country) {
      throw WorldlineDirectRefusal(.invalidValue("order.customer.billingAddress.countryCode", "no country"))
    }
  }

  /// The network token, and whether the encrypted amount is another one than the order's.
  private func card(_ input: MobilePaymentInput, _ amount: Amount) async throws -> (NetworkToken, Bool) {
    let path = "mobilePaymentMethodSpecificInput"
    switch (input.decryptedPaymentData, input.encryptedPaymentData) {
    case (let decrypted?, nil): return (decrypted.card, false)
    case (nil, let encrypted?):
      let opened = try await open(encrypted, input)
      do { return (try opened.networkToken, opened.amount != amount) } catch {
        throw WorldlineDirectRefusal(.invalidValue("\(path).encryptedPaymentData", error.reason))
      }
    case (nil, nil): throw WorldlineDirectRefusal(.missing("\(path).encryptedPaymentData"))
    case (.some, .some): throw WorldlineDirectRefusal(.invalidValue(path, "has both encrypted and decrypted data"))
    }
  }

  private func open(_ encrypted: EncryptedPaymentData, _ input: MobilePaymentInput) async throws -> PaymentData {
    switch encrypted {
    case .data(let data):
      return try await service.keys.open(
        data: data, ephemeralKey: input.ephemeralKey, publicKeyHash: input.publicKeyHash)
    case .token(let token):
      do { return try await service.keys.open(token) } catch let error as PaymentTokenError {
        throw WorldlineDirectRefusal(
          .invalidValue("mobilePaymentMethodSpecificInput.encryptedPaymentData", error.reason))
      }
    }
  }
}

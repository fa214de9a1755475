package import DirectWire
import Orders
package import TenderPayments
import QRCodes

// Payment links: an address that a merchant sends, and that lives for weeks. The page is that of every hosted checkout.
extension HostedCheckouts {
  /// Worldline allows six months.
  private static let longestLife = Duration.seconds(183 * 86_400)
  private static let usualLife = Duration.seconds(30 * 86_400)

  /// `POST /v2/{merchantId}/paymentlinks`
  ///
  /// - Parameter call: a repeat of it gets the same link; nil for a call without a key.
  package func createLink(
    _ request: CreatePaymentLinkRequest, of merchant: MerchantID, _ call: CreatingCall?
  ) async throws -> PaymentLinkAnswer {
    guard request.isReusableLink != true else {
      throw CheckoutDraft.invalid("isReusableLink", "must be false: a link is paid once")
    }
    let known = try known(merchant)
    let checkout = try await make(by: call, of: merchant, .link) { try draft(request, of: known) }
    var answer = try await link(checkout.id, of: merchant)
    guard request.displayQRCode == true else { return answer }
    answer.qrCodeBase64 = QRCode(pageURL(checkout.id)).map { Base64.encode(Array($0.svg.utf8)) }
    return answer
  }

  /// `GET /v2/{merchantId}/paymentlinks/{paymentLinkId}`
  package func link(_ id: BasketID, of merchant: MerchantID) async throws -> PaymentLinkAnswer {
    let shown = try await require(id, by: merchant, .link)
    let (checkout, basket) = (shown.checkout, shown.basket)
    var answer = PaymentLinkAnswer(
      id: id.rawValue, redirectionUrl: pageURL(id), status: shown.linkStatus, expires: checkout.expiresAt,
      order: .init(amount: AmountOfMoney(basket.total), merchantReference: checkout.merchantReference),
      events: shown.linkEvents)
    answer.recipientName = checkout.recipientName
    if shown.state == .paid { answer.paymentId = basket.payment.map { "\(DirectPaymentID(payment: $0.id.rawValue))" } }
    return answer
  }

  /// `POST /v2/{merchantId}/paymentlinks/{paymentLinkId}/cancel`
  package func cancelLink(_ id: BasketID, of merchant: MerchantID) async throws {
    let shown = try await require(id, by: merchant, .link)
    guard shown.state == .open || shown.state == .cancelled || shown.state == .refused else {
      throw HostedCheckoutError(
        .linkClosed, "the link is \(shown.linkStatus.rawValue) and cannot be cancelled", field: "paymentLinkId")
    }
    try await orderService.cancel(id, of: merchant)
  }

  private func draft(_ request: CreatePaymentLinkRequest, of merchant: HostedMerchant) throws -> CheckoutDraft {
    let details = request.paymentLinkSpecificInput
    let field = "paymentLinkSpecificInput.expirationDate"
    let now = clock.now()
    let expires = try (details?.expirationDate ?? request.expirationDate).map { text in
      guard let time = Timestamp(rfc3339: text) else {
        throw CheckoutDraft.invalid(field, "is no moment with its offset")
      }
      return time
    }
    let end = expires ?? now.adding(Self.usualLife)
    guard end > now, end <= now.adding(Self.longestLife) else {
      throw CheckoutDraft.invalid(field, "must lie in the next six months")
    }
    return try CheckoutDraft(
      Self.order(request, details), request.hostedCheckoutSpecificInput ?? HostedCheckoutInput(),
      request.mobilePaymentMethodSpecificInput, request.cardPaymentMethodSpecificInput, of: merchant, expires: end,
      id: newID(), recipientName: details?.recipientName ?? request.recipientName)
  }

  /// Older SDKs send the amount and the reference beside the order.
  private static func order(
    _ request: CreatePaymentLinkRequest, _ details: CreatePaymentLinkRequest.Details?
  ) -> HostedOrder? {
    guard var order = request.order ?? request.paymentLinkOrder.map({ _ in HostedOrder() }) else { return nil }
    order.amountOfMoney = order.amountOfMoney ?? request.paymentLinkOrder?.amount
    var references = order.references ?? DirectReferences()
    references.merchantReference = references.merchantReference ?? request.paymentLinkOrder?.merchantReference
    order.references = references
    return order
  }
}

extension ShownCheckout {
  /// A link that was declined to its last attempt cannot be paid any more.
  var linkStatus: PaymentLinkAnswer.Status {
    switch state {
    case .open, .processing: .active
    case .paid: .paid
    case .cancelled: .cancelled
    case .refused, .expired: .expired
    }
  }

  fileprivate var linkEvents: [PaymentLinkAnswer.Event] {
    let created = PaymentLinkAnswer.Event(type: "CREATED", at: checkout.createdAt)
    switch state {
    case .paid: return [created] + (basket.payment.map { [.init(type: "PAID", at: $0.createdAt)] } ?? [])
    case .expired: return [created, .init(type: "EXPIRED", at: checkout.expiresAt)]
    default: return [created]
    }
  }
}

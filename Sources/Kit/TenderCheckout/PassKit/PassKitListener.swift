#if canImport(PassKit)
  import Foundation
  import PassKit
  import TenderCheckoutAPI
  import TenderPayments
  import TenderSheet

  /// PassKit's delegate: passes the sheet's events to the conversation and returns its answers. It always calls every
  /// handler, because PassKit's sheet hangs otherwise.
  @MainActor final class PassKitListener: NSObject, PKPaymentAuthorizationControllerDelegate {
    private let conversation: SheetConversation
    private let leave: @MainActor () async -> Void
    /// The items that the sheet shows. Every answer must repeat them, even after the sheet has ended.
    private var items: [SummaryItem]
    private var methods: [ShippingMethod]

    init(
      _ conversation: SheetConversation, showing request: PaymentRequest, leave: @escaping @MainActor () async -> Void
    ) {
      self.conversation = conversation
      self.leave = leave
      items = request.summaryItems
      methods = request.shippingMethods
    }

    func paymentAuthorizationControllerDidFinish(_ controller: PKPaymentAuthorizationController) {
      Task {
        await leave()
        await conversation.close()
      }
    }

    func paymentAuthorizationController(
      _ controller: PKPaymentAuthorizationController, didAuthorizePayment payment: PKPayment,
      handler completion: @escaping (PKPaymentAuthorizationResult) -> Void
    ) {
      let payment = AuthorizedPayment(payment)
      Task {
        let answer = await conversation.authorize(payment) ?? AuthorizationAnswer(.failure([]))
        completion(answer.passKit)
      }
    }

    func paymentAuthorizationController(
      _ controller: PKPaymentAuthorizationController, didSelectPaymentMethod paymentMethod: PKPaymentMethod,
      handler completion: @escaping (PKPaymentRequestPaymentMethodUpdate) -> Void
    ) {
      let change = SheetChange.paymentMethod(PaymentMethodType(paymentMethod.type))
      Task {
        let errors = await show(change)
        completion(PKPaymentRequestPaymentMethodUpdate(errors: errors, paymentSummaryItems: items.map(\.passKit)))
      }
    }

    func paymentAuthorizationController(
      _ controller: PKPaymentAuthorizationController, didSelectShippingContact contact: PKContact,
      handler completion: @escaping (PKPaymentRequestShippingContactUpdate) -> Void
    ) {
      let change = SheetChange.shippingContact(ContactConverter.redacted(contact))
      Task {
        let errors = await show(change)
        completion(
          PKPaymentRequestShippingContactUpdate(
            errors: errors, paymentSummaryItems: items.map(\.passKit), shippingMethods: methods.map(\.passKit)))
      }
    }

    func paymentAuthorizationController(
      _ controller: PKPaymentAuthorizationController, didSelectShippingMethod shippingMethod: PKShippingMethod,
      handler completion: @escaping (PKPaymentRequestShippingMethodUpdate) -> Void
    ) {
      let change = SheetChange.shippingMethod(shippingMethod.identifier ?? "")
      Task {
        _ = await show(change)
        completion(PKPaymentRequestShippingMethodUpdate(paymentSummaryItems: items.map(\.passKit)))
      }
    }

    func paymentAuthorizationController(
      _ controller: PKPaymentAuthorizationController, didChangeCouponCode couponCode: String,
      handler completion: @escaping (PKPaymentRequestCouponCodeUpdate) -> Void
    ) {
      let change = SheetChange.couponCode(couponCode)
      Task {
        let errors = await show(change)
        completion(
          PKPaymentRequestCouponCodeUpdate(
            errors: errors, paymentSummaryItems: items.map(\.passKit), shippingMethods: methods.map(\.passKit)))
      }
    }

    func paymentAuthorizationController(
      _ controller: PKPaymentAuthorizationController,
      didRequestMerchantSessionUpdate handler: @escaping (PKPaymentRequestMerchantSessionUpdate) -> Void
    ) {
      Task { handler(MerchantSession.update(await conversation.merchantSession())) }
    }

    /// Asks for the update after a change and stores its items. Returns nil for no errors, as PassKit requires.
    private func show(_ change: SheetChange) async -> [any Error]? {
      guard let update = await conversation.apply(change) else { return [SheetError.unknown("").passKit] }
      items = update.summaryItems
      methods = update.newShippingMethods ?? methods
      return update.errors.isEmpty ? nil : update.errors.map(\.passKit)
    }
  }
#endif

#if canImport(PassKit)
  import PassKit
  import TenderSheet

  extension PaymentSheet {
    /// PassKit's sheet.
    public static var passKit: PaymentSheet {
      let presenter = PassKitPresenter()
      return PaymentSheet(
        present: { await presenter.present($0, $1) }, dismiss: { await presenter.dismiss() })
    }
  }

  /// Shows one sheet at a time, and keeps it and its delegate alive.
  @MainActor private final class PassKitPresenter {
    private var controller: PKPaymentAuthorizationController?
    private var listener: PassKitListener?

    nonisolated init() {}

    func present(_ opening: SheetOpening, _ conversation: SheetConversation) async -> Bool {
      let request = opening.request.passKit(merchantIdentifier: opening.merchantIdentifier)
      request.shippingContact = opening.contact.map(ContactConverter.passKit)
      let controller = PKPaymentAuthorizationController(paymentRequest: request)
      let listener = PassKitListener(conversation, showing: opening.request) { [weak self] in await self?.dismiss() }
      controller.delegate = listener
      (self.controller, self.listener) = (controller, listener)
      let isShown = await withCheckedContinuation { waiting in
        controller.present { isShown in waiting.resume(returning: isShown) }
      }
      if !isShown { (self.controller, self.listener) = (nil, nil) }
      return isShown
    }

    /// The app must dismiss PassKit's sheet, even after the shopper has closed it.
    func dismiss() async {
      guard let controller else { return }
      (self.controller, self.listener) = (nil, nil)
      await withCheckedContinuation { waiting in
        controller.dismiss { waiting.resume() }
      }
    }
  }
#endif

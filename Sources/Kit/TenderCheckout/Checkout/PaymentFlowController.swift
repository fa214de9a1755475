import TenderCheckoutAPI
public import TenderPayments
public import TenderSheet

/// How a checkout ended.
public enum CheckoutOutcome: Sendable, Hashable {
  /// The order is placed.
  case ordered(PlacedOrder)
  /// Nothing was paid, and the shopper knows. Return to the previous screen.
  case cancelled
  /// It is not known yet whether the order was paid. Show that, and do not offer to pay again.
  case unknown(BasketID)
  /// Apple Pay cannot be used. Continue with the standard checkout and the same details.
  case standardCheckout(FallBack)
  /// A checkout is already in progress; this was a second tap.
  case busy
}

/// Why the standard checkout takes over. Nothing was paid.
public enum FallBack: Sendable, Hashable {
  /// There is no Apple Pay button.
  case unavailable(ApplePayAvailability.Reason)
  /// The known address is not served; the errors are for the app's form.
  case address([SheetError])
  /// The server, the device or the app's backend failed; the code says why.
  case failure(PaymentFailure)
}

/// Runs a checkout from the tap to the order, with the standard checkout as the fallback.
///
/// ```swift
/// let flow = PaymentFlowController(service: service, checkout: checkout) { shopper in
///   try await shop.basket(for: shopper)          // the app's own backend makes baskets
/// }
/// switch await flow.pay(OrderDetails(service: .delivery)) {
/// case .ordered(let order): show(order)
/// case .cancelled, .busy: break
/// case .unknown(let basket): showPending(basket)
/// case .standardCheckout(let reason): showForm(reason)
/// }
/// ```
public actor PaymentFlowController {
  private let service: ApplePayService
  private let checkout: CheckoutService
  private let makeBasket: @Sendable (Shopper) async throws -> BasketID
  private var isPaying = false

  /// - Parameters:
  ///   - service: shows the sheet.
  ///   - checkout: prepares the order.
  ///   - basket: asks the app's own backend for a basket of what the shopper chose.
  public init(
    service: ApplePayService, checkout: CheckoutService,
    basket: @escaping @Sendable (Shopper) async throws -> BasketID
  ) {
    self.service = service
    self.checkout = checkout
    self.makeBasket = basket
  }

  /// Which button to show, and why.
  public func availability() async -> ApplePayAvailability { await service.availability() }

  /// Opens Wallet, for the set-up button.
  public func openWallet() async { await service.openWallet() }

  /// The whole checkout, in the buy button's action.
  ///
  /// - Parameters:
  ///   - details: what the shopper chose before the sheet.
  ///   - shopper: passed to the function that creates the basket.
  ///   - agreement: an agreement beyond this payment, such as a subscription.
  ///   - progress: called at each step of the preparation.
  public func pay(
    _ details: OrderDetails, as shopper: Shopper = .guest, agreement: PaymentAgreement? = nil,
    progress: @Sendable (PreparationProgress) -> Void = { _ in }
  ) async -> CheckoutOutcome {
    guard !isPaying else { return .busy }
    isPaying = true
    defer { isPaying = false }
    guard await !service.isBusy else { return .busy }
    let availability = await service.availability()
    guard availability.button == .buy else { return .standardCheckout(.unavailable(availability.reason)) }
    switch await prepare(details, shopper, agreement, progress) {
    case .success(let sheet): return await present(sheet, details.contact)
    case .failure(let reason): return .standardCheckout(reason.fallBack)
    }
  }

  /// Cancels the checkout in progress, if it is not too late.
  public func cancel() async -> Cancellation { await service.cancel() }

  private struct Unprepared: Error { let fallBack: FallBack }

  private func prepare(
    _ details: OrderDetails, _ shopper: Shopper, _ agreement: PaymentAgreement?,
    _ progress: @Sendable (PreparationProgress) -> Void
  ) async -> Result<PreparedSheet, Unprepared> {
    let basket: BasketID
    do {
      basket = try await makeBasket(shopper)
    } catch {
      let failure = PaymentFailure(code: "basket_not_made", detail: "The app's backend made no basket: \(error)")
      return .failure(Unprepared(fallBack: .failure(failure)))
    }
    do {
      return .success(try await checkout.prepare(basket, details, agreement: agreement, progress: progress))
    } catch {
      switch error {
      case .address(let problems): return .failure(Unprepared(fallBack: .address(problems)))
      case .server(let failure): return .failure(Unprepared(fallBack: .failure(PaymentFailure(failure))))
      }
    }
  }

  private func present(_ sheet: PreparedSheet, _ contact: FullContact?) async -> CheckoutOutcome {
    let reports = await service.reports()
    await service.prepare(sheet, contact: contact)
    // Another controller may have opened the sheet meanwhile; then this was a second tap.
    guard await service.basket == sheet.basket else { return .busy }
    await service.present()
    for await report in reports {
      switch report {
      case .unavailable(let failure): return .standardCheckout(.failure(failure))
      case .finished(.success(let order)): return .ordered(order)
      case .finished(.failure(let failure)): return .standardCheckout(.failure(failure))
      case .finished(.cancelled): return .cancelled
      case .finished(.unknown): return .unknown(sheet.basket)
      case .presented, .completed, .failed, .cancelled, .unknown: continue
      }
    }
    return .cancelled
  }
}

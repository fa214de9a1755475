public import TenderCheckoutAPI
public import TenderPayments
public import TenderSheet

/// Presents the payment sheet, answers its events within Apple's 30 seconds, and reports the result to a delegate and
/// as an async sequence. One sheet at a time.
///
/// ```swift
/// let service = ApplePayService(merchant: merchant, client: client, sheet: .passKit, device: .passKit)
/// await service.prepare(try await checkout.prepare(basket, details))
/// await service.present()                       // in the button's action
/// for await report in await service.reports() { … }
/// ```
public actor ApplePayService {
  private let merchant: MerchantConfiguration
  private let client: CheckoutClient
  private let sheet: PaymentSheet
  private let device: PaymentDevice
  private let checks: AddressChecks
  private let clock: SheetClock
  private let tracking: @Sendable (PlacedOrder) async -> OrderTracking?
  private let reporting: AsyncStream<ApplePayReport>.Continuation
  private var listeners: [AsyncStream<ApplePayReport>.Continuation] = []
  private weak var delegate: (any ApplePayServiceDelegate)?
  package private(set) var conversation: SheetConversation?
  #if DEBUG
    private var simulated: SimulatedPayments?
  #endif

  /// - Parameters:
  ///   - merchant: decides the button; its identifier goes to the device.
  ///   - client: calls the merchant's Tender server.
  ///   - sheet: `.passKit`, or a test's.
  ///   - device: `.passKit`, or a test's.
  ///   - checks: made on the device; the server decides.
  ///   - clock: measures time limits.
  ///   - tracking: returns what Wallet needs to track an order, if the merchant offers it.
  public init(
    merchant: MerchantConfiguration, client: CheckoutClient, sheet: PaymentSheet, device: PaymentDevice,
    checks: AddressChecks = .standard, clock: SheetClock = .system,
    tracking: @escaping @Sendable (PlacedOrder) async -> OrderTracking? = { _ in nil }
  ) {
    self.merchant = merchant
    self.client = client
    self.sheet = sheet
    self.device = device
    self.checks = checks
    self.clock = clock
    self.tracking = tracking
    let (stream, reporting) = AsyncStream.makeStream(of: ApplePayReport.self)
    self.reporting = reporting
    Task { [weak self] in
      for await report in stream { await self?.pass(on: report) }
    }
  }

  deinit {
    reporting.finish()
    for listener in listeners { listener.finish() }
  }

  #if DEBUG
    /// Lets a sandbox replace the empty payment tokens of the iOS Simulator. Not available in a release build.
    public func use(_ simulated: SimulatedPayments) { self.simulated = simulated }
  #endif
}

// Before the sheet.
extension ApplePayService {
  /// Which button to show, and why.
  public func availability() -> ApplePayAvailability { ApplePayAvailability(of: merchant, on: device) }

  /// Opens Wallet, so that the shopper can add a card.
  public func openWallet() async { await device.openWallet() }

  /// Sets what the next sheet shows. Does nothing while a sheet is open.
  ///
  /// Leaves out networks that the device does not know or the app's configuration does not accept.
  ///
  /// - Parameters:
  ///   - prepared: the payment request and its quote.
  ///   - contact: the sheet's contact when it opens.
  public func prepare(_ prepared: PreparedSheet, contact: FullContact? = nil) async {
    guard await conversation?.isBusy != true else { return }
    var prepared = prepared
    let wanted = Set(merchant.networks)
    prepared.request.supportedNetworks = prepared.request.supportedNetworks.known(on: device)
      .filter(wanted.contains)
    await conversation(for: prepared.basket).prepare(prepared, contact: contact)
  }

  /// Shows the sheet, in the button's action. A second tap does nothing.
  public func present() async {
    guard let conversation else {
      reporting.yield(
        .unavailable(PaymentFailure(code: "not_prepared", detail: "Prepare a basket before the sheet is presented.")))
      return
    }
    await conversation.press()
  }

  /// Whether a sheet is open or a payment is in progress.
  public var isBusy: Bool {
    get async { await conversation?.isBusy == true }
  }

  private func conversation(for basket: BasketID) -> SheetConversation {
    if let conversation, conversation.basket == basket { return conversation }
    let fresh = SheetConversation(
      serverCalls(basket), merchantIdentifier: merchant.merchantIdentifier, sheet: sheet, clock: clock,
      report: reporting,
      tracking: tracking)
    conversation = fresh
    return fresh
  }

  private func serverCalls(_ basket: BasketID) -> ServerCalls {
    #if DEBUG
      ServerCalls(client: client, basket: basket, checks: checks, simulated: simulated)
    #else
      ServerCalls(client: client, basket: basket, checks: checks)
    #endif
  }
}

// While it is open, and after.
extension ApplePayService {
  /// The payment in progress; nil before the shopper has authorized it.
  public var payment: ApplePayPaymentHandler? {
    get async { await conversation?.handler }
  }

  /// The basket of the last sheet. Keep it until the payment is finished, for ``resume(_:)``.
  public var basket: BasketID? { conversation?.basket }

  /// Ends the sheet. Once a payment is sent, the server decides whether it can still be cancelled.
  public func cancel() async -> Cancellation { await conversation?.cancel() ?? .tooLate }

  /// Call after a restart of the app: reports the result of a payment that was in progress.
  ///
  /// Keep the basket's id until ``ApplePayReport/finished(_:)``, and pass it at the next start.
  public func resume(_ basket: BasketID) async {
    guard await conversation?.isBusy != true else { return }
    await conversation(for: basket).resume()
  }

  /// The reports from now on. Call it before the sheet is presented.
  public func reports() -> AsyncStream<ApplePayReport> {
    let (stream, listener) = AsyncStream.makeStream(of: ApplePayReport.self)
    listeners.append(listener)
    return stream
  }

  /// Also reports to a delegate, which is held weakly.
  public func report(to delegate: (any ApplePayServiceDelegate)?) { self.delegate = delegate }

  private func pass(on report: ApplePayReport) async {
    listeners.removeAll { listener in
      if case .terminated = listener.yield(report) { return true }
      return false
    }
    if let delegate { await delegate.receive(report) }
  }
}

extension ApplePayServiceDelegate {
  fileprivate func receive(_ report: ApplePayReport) {
    switch report {
    case .presented: applePayServiceDidPresent()
    case .completed(let order): applePayService(didComplete: order)
    case .failed(let failure), .unavailable(let failure): applePayService(didFail: failure)
    case .cancelled, .unknown: break  // reported by the end of the sheet
    case .finished(let result): applePayService(didFinish: result)
    }
  }
}

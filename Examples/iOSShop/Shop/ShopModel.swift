import Foundation
import SwiftUI
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet

/// Everything of Tender in this app.
@MainActor final class ShopModel: ObservableObject {
  /// As in the entitlement.
  static let merchantIdentifier = "merchant.com.example.shop"
  /// The demo's merchant, as the sandbox knows it: whose key its payment tokens are encrypted to.
  static let sandboxMerchant = "merchant.test.harbour"

  @Published private(set) var dishes: [Backend.Dish] = []
  @Published private(set) var currency: Currency?
  @Published private(set) var availability: ApplePayAvailability?
  @Published private(set) var isPaying = false
  @Published var chosen: [String: Int] = [:]
  @Published var service = ServiceType.delivery
  @Published var outcome: CheckoutOutcome?
  @Published var problem: String?

  /// A payment that another device began before this app was open.
  private var handedOver: PaymentHandoff?
  private var isOpen = false

  private let backend: Backend
  private let applePay: ApplePayService
  private let checkout: CheckoutService

  init() {
    backend = Backend(address: Self.address("http://localhost:8401"))
    let client = CheckoutClient(.urlSession(server: Self.address("http://localhost:8400")))
    applePay = ApplePayService(
      merchant: MerchantConfiguration(merchantIdentifier: Self.merchantIdentifier), client: client, sheet: .passKit,
      device: .passKit)
    checkout = CheckoutService(client: client)
  }

  private static func address(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: "/") }

  /// When the first screen appears.
  func open() async {
    #if DEBUG
      await applePay.use(
        SimulatedPayments(sandbox: Self.address("http://localhost:8402"), merchantIdentifier: Self.sandboxMerchant))
    #endif
    availability = await applePay.availability()
    do {
      let menu = try await backend.menu()
      (dishes, currency) = (menu.dishes, Currency(code: menu.currency))
    } catch {
      problem = "The shop does not answer. Is `make demo` running?"
    }
    await resume()
    isOpen = true
    if let handedOver { await take(handedOver) }
  }

  /// Opens the sheet with the basket that a watch has handed over.
  func take(_ handoff: PaymentHandoff) async {
    handedOver = isOpen ? nil : handoff
    guard isOpen else { return }
    service = handoff.service
    await pay { handoff.basket }
  }

  /// The buy button's action.
  func pay() async {
    guard !chosen.isEmpty else {
      problem = "Choose a dish first."
      return
    }
    let (backend, dishes, service) = (backend, chosen, service)
    await pay { try await backend.basket(dishes, service) }
  }

  private func pay(_ basket: @escaping @Sendable () async throws -> BasketID) async {
    isPaying = true
    defer { isPaying = false }
    let flow = PaymentFlowController(service: applePay, checkout: checkout) { _ in
      let basket = try await basket()
      Self.remember(basket)
      return basket
    }
    let outcome = await flow.pay(OrderDetails(service: service, guestToken: Self.guestToken))
    if case .unknown = outcome {} else { Self.remember(nil) }
    if case .ordered(let order) = outcome { Self.guestToken = order.guestToken ?? Self.guestToken }
    switch outcome {
    case .busy, .cancelled: break
    case .standardCheckout(let reason): problem = Self.words(reason)
    case .ordered, .unknown: self.outcome = outcome
    }
  }

  /// The set-up button's action.
  func setUp() async { await applePay.openWallet() }

  /// What was being paid when the app was last killed.
  private func resume() async {
    guard let text = UserDefaults.standard.string(forKey: Self.key) else { return }
    let reports = await applePay.reports()
    await applePay.resume(BasketID(text))
    for await report in reports {
      switch report {
      case .completed(let order): outcome = .ordered(order)
      case .unknown:
        outcome = .unknown(BasketID(text))
        continue
      case .failed: break
      default: continue
      }
      Self.remember(nil)
      return
    }
  }

  private static let key = "basket"

  /// The shopper has no account here: the shop knows a returning guest by this.
  private nonisolated static var guestToken: String? {
    get { UserDefaults.standard.string(forKey: "guest") }
    set { UserDefaults.standard.set(newValue, forKey: "guest") }
  }

  private nonisolated static func remember(_ basket: BasketID?) {
    UserDefaults.standard.set(basket?.rawValue, forKey: "basket")
  }

  private static func words(_ reason: FallBack) -> String {
    switch reason {
    case .unavailable(let reason): reason.explanation
    case .address(let errors): errors.first?.message ?? "There is no delivery to this address."
    case .failure(let failure) where failure.code == "declined": "The card was declined. Nothing was charged."
    case .failure: "This did not work. Nothing was charged."
    }
  }
}

import DirectWire
import HTTPServing
import HostedCheckout
import Hummingbird
import Ledger
import MerchantIdentity
import PlatformAPI
import Settings
import Storage
import TenderPayments

/// The platform's own payment page: its addresses, and below each checkout the calls of the checkout API that its
/// button makes.
struct HostedRoutes: Sendable {
  let controller: HostedController
  let platform: HostedPlatformController
  let caller: HostedCaller

  func add(to router: Router<ServerContext>, calls: CheckoutRoutes, authentication: PlatformAuthentication) {
    addPlatform(to: router.group("/v2/:merchantId").add(middleware: authentication))
    for name in HostedPages.files.names {
      router.get(RouterPath("\(HostedPaths.files)/\(name)")) { try controller.file($0, $1, name) }
    }
    router.get(RouterPath("\(HostedPaths.codes)/:file"), use: controller.picture)
    router.get(RouterPath("\(HostedPaths.arrivals)/:code"), use: controller.arrive)
    let page = router.group(RouterPath("\(HostedPaths.pages)/:checkout"))
    page.get(use: controller.page)
    page.get("/return", use: controller.goBack)
    page.post("/cancel", use: controller.cancel)
    page.post("/handover", use: controller.handOver)
    page.get("/state", use: controller.state)
    page.get("/variant.css", use: controller.style)
    page.get("/logo", use: controller.logo)
    calls.addCalls(to: page.group("/applepay").add(middleware: caller))
  }

  private func addPlatform(to signed: RouterGroup<ServerContext>) {
    signed.post("/hostedcheckouts", use: platform.create)
    signed.get("/hostedcheckouts/:id", use: platform.show)
    signed.post("/paymentlinks", use: platform.createLink)
    signed.get("/paymentlinks/:id", use: platform.showLink)
    signed.post("/paymentlinks/:id/cancel", use: platform.cancelLink)
  }
}

extension HostedRoutes {
  init(_ parts: Composition) {
    let checkouts = HostedCheckouts(
      orderService: parts.orderService, database: parts.database,
      merchants: { [merchants = parts.merchants] in merchants.current[$0]?.hosted },
      payment: { [journal = parts.journal] in try await Self.render($0, $1, journal) },
      origin: parts.configuration.hostedCheckoutURL,
      clock: parts.runtime.clock, random: parts.runtime.random)
    let pages = HostedPages(
      checkouts, in: parts.configuration.environment,
      sandbox: parts.apple.simulated == nil ? nil : parts.configuration.sandboxURL,
      clock: parts.runtime.clock)
    controller = HostedController(checkouts: checkouts, pages: pages, merchants: parts.merchants)
    platform = HostedPlatformController(checkouts: checkouts)
    caller = HostedCaller(pages: controller, merchants: parts.merchants)
  }

  /// The payment as `GET …/payments/{id}` has it.
  private static func render(
    _ payment: Payment, _ checkout: HostedCheckout, _ journal: Journal
  ) async throws -> DirectPayment {
    PaymentRendering(payment, try await journal.operations(of: payment.id), RenderedOrder(payment, checkout)).answer
  }
}

extension RenderedOrder {
  fileprivate init(_ payment: Payment, _ checkout: HostedCheckout) {
    self.init(
      references: checkout.references, basket: checkout.id, notVerified: payment.amountConfirmed ? [] : ["amount"],
      hostedCheckout: checkout.output)
  }

  /// The order of a payment that was made on the platform's own page; nil for every other payment.
  static func find(for payment: Payment, in database: Database) async throws -> RenderedOrder? {
    try await database.read { try HostedCheckout.find(payment.basket, in: $0) }.map { RenderedOrder(payment, $0) }
  }
}

import DirectWire
import HTTPServing
package import HTTPTransport
package import Hummingbird
package import Logging
import ServiceLifecycle
package import TenderPayments

/// A restaurant's web shop that takes Apple Pay through Tender, as small as such a shop can be.
///
/// It is what a merchant writes: a page with Tender's button on it, and a backend that knows the prices. The backend
/// stores each basket at Tender by a signed call, gives the page its id, and afterwards asks Tender for the order.
package struct DemoShop: Service {
  private let configuration: ShopConfiguration
  private let logger: Logger
  private let onListening: @Sendable (_ port: Int) async -> Void

  /// - Parameter onListening: called with the port, which matters where the configuration says 0.
  package init(
    configuration: ShopConfiguration, logger: Logger = Logger(label: "shop"),
    onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
  ) {
    self.configuration = configuration
    self.logger = logger
    self.onListening = onListening
  }

  /// Serves until the task is cancelled or the service group shuts down.
  package func run() async throws {
    let client = try LiveHTTPClient()
    do {
      try await application(client.sender).run()
    } catch {
      try? await client.shutdown()
      throw error
    }
    try await client.shutdown()
  }

  private func application(_ sender: HTTPSender) throws -> some ApplicationProtocol {
    let (configuration, onListening) = (configuration, onListening)
    return Application(
      router: try Self.router(configuration, sender: sender), server: .strict(),
      configuration: .init(address: .hostname(configuration.host, port: configuration.port)),
      onServerRunning: { channel in await onListening(channel.localAddress?.port ?? configuration.port) },
      logger: logger)
  }
}

extension DemoShop {
  /// Every route of the shop. Time, chance and the network are handed in.
  package static func router(
    _ configuration: ShopConfiguration, sender: HTTPSender, clock: WallClock = .system, random: RandomBytes = .system
  ) throws -> Router<BasicRequestContext> {
    let pages = ShopPages(configuration: configuration)
    let (shoppers, kitchen) = (Shoppers(random: random), Kitchen())
    let tender = TenderClient(configuration, sender: sender, clock: clock)
    let orders = OrderController(
      menu: configuration.menu, tender: tender, shoppers: shoppers, orders: OrderStore(), kitchen: kitchen,
      clock: clock, random: random)
    let router = Router(options: [.autoGenerateHeadEndpoints])
    router.add(middleware: PageHeaders(configuration: configuration))
    router.add(middleware: NotFoundPage(pages: pages))
    add(pages, to: router)
    if configuration.publicSandboxURL != nil { addKitchen(kitchen, tender, configuration, pages, to: router) }
    router.get("/smallest") { request, _ in try pages.smallest(try await orders.smallestBasket(request)) }
    if let file = configuration.visitorsPage {
      router.get(PageHeaders.visitorsPath) { request, _ in
        try pages.visitors(file, try await orders.smallestBasket(request))
      }
    }
    if let key = configuration.stall {
      let client = TenderClient(configuration, as: key, sender: sender, clock: clock)
      MarketStall(
        tender: client, publicTenderURL: configuration.publicTenderURL, templates: PageTemplates(WebFiles.pages),
        random: random
      ).add(to: router)
    }
    router.get("/api/menu", use: pages.menu)
    router.post("/api/baskets", use: orders.makeBasket)
    router.post("/api/codes", use: orders.checkCode)
    router.get("/api/orders/{basketId}", use: orders.order)
    router.post("/api/orders/{basketId}/cash", use: orders.orderForCash)
    router.get("/api/shopper", use: shoppers.current)
    router.post("/api/shopper", use: shoppers.signIn)
    router.delete("/api/shopper", use: shoppers.signOut)
    router.post(
      "/api/shopper/guest",
      use: GuestAccounts(tender: tender, shoppers: shoppers, kitchen: kitchen, clock: clock).signIn)
    let association = AssociationForwarder(tenderServerURL: configuration.tenderServerURL, sender: sender)
    router.get("/.well-known/apple-developer-merchantid-domain-association", use: association.forward)
    router.get("/.well-known/apple-developer-merchantid-domain-association.txt", use: association.forward)
    return router
  }

  private static func addKitchen(
    _ kitchen: Kitchen, _ tender: TenderClient, _ configuration: ShopConfiguration, _ pages: ShopPages,
    to router: Router<BasicRequestContext>
  ) {
    let controller = KitchenController(
      kitchen: kitchen, menu: configuration.menu, tender: tender,
      signature: configuration.webhookSecret.map { WebhookSignature(secret: $0) })
    router.get("/kitchen") { _, _ in try pages.page("kitchen", "Kitchen") }
    router.get("/api/kitchen", use: controller.orders)
    router.post(KitchenController.hook, use: controller.receive)
  }

  private static func add(_ pages: ShopPages, to router: Router<BasicRequestContext>) {
    router.get("/") { _, _ in try pages.page("menu", "Menu") }
    router.get("/dish/{id}", use: pages.dish)
    router.get("/basket") { _, _ in try pages.page("basket", "Your basket") }
    router.get("/checkout") { _, _ in try pages.page("checkout", "Checkout") }
    router.get("/account") { _, _ in try pages.page("account", "Sign in") }
    router.get("/order/{basketId}", use: pages.ofOrder("order", "Your order"))
    router.get("/order/{basketId}/trace", use: pages.ofOrder("trace", "The trace of a payment"))
    router.get("/order/{basketId}/payload", use: pages.ofOrder("payload", "Inside the payment token"))
    for name in StaticFiles.shop.names {
      router.get("/\(name)") { _, _ in StaticFiles.shop[name]?.response(caching: "no-cache") }
    }
  }
}

import Hummingbird
import PlatformAPI

/// The platform API, which merchants' servers call, signed v1HMAC.
struct PlatformRoutes: Sendable {
  let platform: PlatformController
  let sessions: ProductSessionController
  let payments: PlatformPaymentController
  let products: PlatformProductController
  let webhooks: PlatformWebhookController
  let clients: ClientController
  let search: SearchController
  let shadow: ShadowController

  func add(to router: Router<ServerContext>) {
    let signed = router.group("/v2/:merchantId").add(middleware: platform.authentication)
    signed.put("/baskets/:basket", use: platform.putBasket)
    signed.get("/baskets/:basket", use: platform.showBasket)
    signed.delete("/baskets/:basket", use: platform.deleteBasket)
    signed.get("/guests/:guest", use: platform.showGuest)
    signed.put("/guests/:guest", use: platform.claimGuest)
    payments.add(to: signed)
    signed.get("/products", use: products.list)
    signed.get("/products/302", use: products.show)
    signed.get("/products/302/networks", use: products.networks)
    signed.get("/products/:product", use: products.show)
    signed.get("/products/:product/networks", use: products.networks)
    signed.post("/products/302/sessions", use: sessions.create)
    signed.post("/webhooks/validateCredentials", use: webhooks.validate)
    signed.post("/webhooks/sendtest", use: webhooks.sendTest)
    signed.post("/sessions", use: clients.create)
    signed.get("/payments", use: search.find)
    signed.get("/agreements", use: search.agreements)
    signed.get("/agreements/:agreement", use: search.agreement)
    signed.post("/agreements/:agreement", use: search.changeAgreement)
    signed.get("/events", use: search.events)
    signed.get("/events/:event", use: search.event)
    signed.post("/shadow", use: shadow.examineOwn)
    signed.get("/services/testconnection", use: platform.testConnection)
  }
}

extension PlatformRoutes {
  init(_ parts: Composition, _ sessions: MerchantSessions) {
    self.sessions = ProductSessionController(sessions: sessions)
    let merchants = PlatformMerchants(parts)
    let stored = PlatformPayments(parts, merchants)
    payments = PlatformPaymentController(payments: stored, metrics: parts.metrics)
    products = PlatformProductController(merchants: merchants)
    webhooks = PlatformWebhookController(
      dispatcher: parts.dispatcher, merchants: merchants, clock: parts.runtime.clock)
    clients = ClientController(parts)
    shadow = ShadowController(gateway: parts.gateway, configuration: parts.configuration, apple: parts.apple)
    search = SearchController(database: parts.database, payments: stored)
    platform = PlatformController(
      orderService: parts.orderService,
      authentication: PlatformAuthentication(
        merchants: parts.merchants, quotas: parts.quotas, uses: parts.keyUses, clock: parts.runtime.clock))
  }
}

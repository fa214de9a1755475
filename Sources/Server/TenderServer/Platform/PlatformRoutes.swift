import Hummingbird

/// The platform API, which merchants' servers call, signed v1HMAC.
struct PlatformRoutes: Sendable {
  let platform: PlatformController
  let sessions: ProductSessionController

  func add(to router: Router<ServerContext>) {
    let signed = router.group("/v2/:merchantId").add(middleware: platform.authentication)
    signed.put("/baskets/:basket", use: platform.putBasket)
    signed.get("/baskets/:basket", use: platform.showBasket)
    signed.delete("/baskets/:basket", use: platform.deleteBasket)
    signed.get("/guests/:guest", use: platform.showGuest)
    signed.put("/guests/:guest", use: platform.claimGuest)
    signed.post("/products/302/sessions", use: sessions.create)
    signed.get("/services/testconnection", use: platform.testConnection)
  }
}

extension PlatformRoutes {
  init(_ parts: Composition, _ sessions: MerchantSessions) {
    self.sessions = ProductSessionController(sessions: sessions)
    platform = PlatformController(
      orderService: parts.orderService, keys: PlatformKeys(parts.folders), clock: parts.runtime.clock)
  }
}

import Hummingbird

/// Every route of the server, on one screen.
struct Routes: Sendable {
  let metadata: MetadataController
  let baskets: BasketController
  let sessions: SessionController
  let payments: PaymentController
  let kit: KitController
  let associations: AssociationController
  let guests: GuestTokenController
  let platform: PlatformController
  let events: EventController
  /// Only in `simulated`.
  let journeys: JourneyController?
  let health: HealthController

  static let payment = "/applepay/payment"

  func add(to router: Router<ServerContext>) {
    // The web kit.
    router.get("/applepay/sri.json", use: kit.integrity)
    router.get("/applepay/v{version}/:file", use: kit.versioned)
    for file in kit.names { router.get("/applepay/\(file)") { try kit.newest($0, $1, file) } }

    // The checkout API: browsers and apps.
    router.get("/applepay/metadata", use: metadata.show)
    router.get("/applepay/jwks.json", use: guests.keys)
    router.get("/applepay/basket/:basket", use: baskets.show)
    router.put("/applepay/basket/:basket/details", use: baskets.prepare)
    router.post("/applepay/basket/:basket/update", use: baskets.update)
    router.post("/applepay/basket/:basket/validatepostalcode", use: baskets.validatePostalCode)
    router.post("/applepay/validate", use: sessions.validate)
    router.post(RouterPath(Self.payment), use: payments.pay)
    router.get("/applepay/payment/:basket", use: payments.outcome)
    router.delete("/applepay/payment/:basket", use: payments.cancel)
    if let journeys { router.get("/applepay/payment/:basket/journey", use: journeys.show) }

    // The domain association file of the host that was asked.
    router.get("/.well-known/apple-developer-merchantid-domain-association", use: associations.show)
    router.get("/.well-known/apple-developer-merchantid-domain-association.txt", use: associations.show)

    // The platform API: merchants' servers, signed v1HMAC.
    let signed = router.group("/v2/:merchantId").add(middleware: platform.errors).add(
      middleware: platform.authentication)
    signed.put("/baskets/:basket", use: platform.putBasket)
    signed.get("/baskets/:basket", use: platform.showBasket)
    signed.delete("/baskets/:basket", use: platform.deleteBasket)
    signed.get("/services/testconnection", use: platform.testConnection)

    // What acquirers and providers say by themselves.
    router.post("/acquirers/:connector/events", use: events.receive)

    // Operations.
    router.get("/healthz", use: health.alive)
    router.get("/readyz", use: health.ready)
  }
}

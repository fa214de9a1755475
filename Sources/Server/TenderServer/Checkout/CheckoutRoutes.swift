import Gateway
import HTTPServing
import Hummingbird
import MerchantIdentity
import Settings
import TenderPayments

/// The checkout API, which browsers and apps call, and the files that their pages load.
struct CheckoutRoutes: Sendable {
  static let payment = "/applepay/payment"

  let kit: KitController
  let metadata: MetadataController
  let baskets: BasketController
  let sessions: SessionController
  let payments: PaymentController
  let guests: GuestTokenController
  let associations: AssociationController
  /// Only in `simulated`.
  let traces: TraceController?

  func add(to router: Router<ServerContext>) {
    addKit(to: router)
    router.get("/applepay/jwks.json", use: guests.keys)
    addCalls(to: router.group("/applepay"))
    if let traces { router.get("/applepay/payment/:basket/trace", use: traces.show) }

    // The domain association file of the host in the request.
    router.get("/.well-known/apple-developer-merchantid-domain-association", use: associations.show)
    router.get("/.well-known/apple-developer-merchantid-domain-association.txt", use: associations.show)
  }

  /// What a page's button calls, below the address that the page names to it.
  func addCalls(to router: RouterGroup<ServerContext>) {
    router.get("/metadata", use: metadata.show)
    router.get("/basket/:basket", use: baskets.show)
    router.put("/basket/:basket/details", use: baskets.prepare)
    router.post("/basket/:basket/update", use: baskets.update)
    router.post("/basket/:basket/validatepostalcode", use: baskets.validatePostalCode)
    router.post("/validate", use: sessions.validate)
    router.post("/payment", use: payments.pay)
    router.get("/payment/:basket", use: payments.outcome)
    router.delete("/payment/:basket", use: payments.cancel)
  }

  /// The web kit's files, and their hashes.
  private func addKit(to router: Router<ServerContext>) {
    router.get("/applepay/sri.json", use: kit.integrity)
    router.get("/applepay/v{version}/:file", use: kit.versioned)
    for file in KitController.files.names { router.get("/applepay/\(file)") { try kit.newest($0, $1, file) } }
  }
}

extension CheckoutRoutes {
  init(_ parts: Composition, _ merchantSessions: MerchantSessions) {
    let callers = Callers(merchants: parts.merchants)
    let baskets = BasketLookup(orderService: parts.orderService, callers: callers)
    kit = KitController()
    metadata = MetadataController(
      environment: parts.configuration.environment, merchants: parts.merchants, callers: callers,
      clock: parts.runtime.clock,
      simulatedSession: parts.apple.simulated?.sessionScriptURL)
    self.baskets = BasketController(orderService: parts.orderService, baskets: baskets)
    sessions = SessionController(
      baskets: baskets, sessions: merchantSessions, merchants: parts.merchants, hosts: parts.apple.hosts,
      callers: callers)
    payments = PaymentController(
      orderService: parts.orderService, baskets: baskets, metrics: parts.metrics, admission: parts.admission,
      traces: parts.traces, clock: parts.runtime.clock,
      newDeadline: parts.gateway.newDeadline)
    guests = GuestTokenController(issuer: parts.guests)
    associations = AssociationController(merchants: parts.merchants)
    traces = TraceController(parts, baskets)
  }
}

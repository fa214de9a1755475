import Hummingbird
import Settings

/// The client API, which apps and pages call under a client session.
struct ClientRoutes: Sendable {
  let client: ClientController
  let products: PlatformProductController
  let authentication: ClientAuthentication

  func add(to router: Router<ServerContext>) {
    // Older kits call version 1, newer ones a second version of some calls.
    for version in ["v1", "v2"] {
      let calls = router.group("/client/\(version)/:customerId")
        .add(middleware: authentication)
      calls.get("/products", use: products.list)
      calls.get("/products/:product", use: products.show)
      calls.get("/products/:product/networks", use: products.networks)
      calls.get("/crypto/publickey", use: client.publicKey)
      calls.post("/services/:service", use: client.refuseCards)
    }
  }
}

extension ClientRoutes {
  init(_ parts: Composition) {
    client = ClientController(parts)
    products = PlatformProductController(merchants: PlatformMerchants(parts))
    authentication = ClientAuthentication(sessions: parts.clientSessions, quotas: parts.quotas)
  }
}

extension ClientController {
  init(_ parts: Composition) {
    (sessions, keys) = (parts.clientSessions, parts.customerInputKeys)
    publicURL = parts.configuration.publicURL
  }
}

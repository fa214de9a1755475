import StrictJSON
import TenderPayments
import TenderTesting

/// Requests that try to make the server work: every route with every attack in turn, the details by the seed.
struct HostileRequests {
  private let routes: [HostileRequest]
  private let attacks: [Attack]
  private var random: SeededGenerator

  init(_ target: CostTarget, seed: UInt64) {
    routes = Self.routes(of: target)
    attacks = HeaderAttacks.all + BodyAttacks.all
    random = SeededGenerator(seed: seed)
  }

  /// How many routes and attacks there are: after so many requests each pair has been sent.
  static func pairs(_ target: CostTarget) -> Int {
    routes(of: target).count * (HeaderAttacks.all.count + BodyAttacks.all.count)
  }

  mutating func request(_ number: Int) -> HostileRequest {
    // The step has no divisor in common with the number of pairs, so that a short run sees something of everything.
    let pair = number &* 7_919 % (routes.count * attacks.count)
    var request = routes[pair % routes.count]
    let attack = attacks[pair / routes.count]
    request.name = "\(request.method) \(request.name): \(attack.name)"
    attack.apply(&request, &random)
    return request
  }

  /// Requests that the server would answer well.
  private static func routes(of target: CostTarget) -> [HostileRequest] {
    let (basket, merchant) = (target.basket, target.key.merchant)
    // Stored by the platform API with whatever it takes.
    let other = String(basket.reversed())
    let contact: JSONValue = ["countryCode": "GB", "postalCode": "EC1A", "locality": "London"]
    let pages = [
      route("POST", "payment", "/applepay/payment", target.payment), route("GET", "metadata", "/applepay/metadata"),
      route("GET", "basket", "/applepay/basket/\(basket)"), route("GET", "large basket", "/applepay/basket/\(other)"),
      route("POST", "large basket", "/applepay/basket/\(other)/update", ["shippingContact": contact]),
      route("GET", "outcome", "/applepay/payment/\(basket)"), route("GET", "kit", "/applepay/tender.js"),
      route(
        "PUT", "details", "/applepay/basket/\(basket)/details",
        ["serviceType": "collection", "note": "n", "requestedFor": "noon", "contact": contact]),
      route("POST", "update", "/applepay/basket/\(basket)/update", ["shippingContact": contact]),
      route("POST", "coupon", "/applepay/basket/\(basket)/update", ["couponCode": "SAVE"]),
      route(
        "POST", "postal code", "/applepay/basket/\(basket)/validatepostalcode",
        ["postalCode": "EC1A", "countryCode": "GB"]),
      route(
        "POST", "validate", "/applepay/validate",
        ["basketId": .string(basket + "x"), "validationURL": "https://apple-pay-gateway.apple.com/"]),
    ].map { route in
      var route = route
      route.set("Origin", target.origin)
      return route
    }
    var put = route("PUT", "platform", "/v2/\(merchant)/baskets/\(other)", target.document)
    var test = route("GET", "platform", "/v2/\(merchant)/services/testconnection")
    (put.signature, test.signature) = (.platform, .platform)
    var event = route("POST", "event", "/acquirers/sandbox/events", ["id": "e", "reference": "r", "amount": 1])
    event.signature = .event
    return pages + [put, test, event, route("GET", "health", "/healthz"), route("GET", "association", association)]
  }

  private static let association = "/.well-known/apple-developer-merchantid-domain-association"

  private static func route(
    _ method: String, _ name: String, _ target: String, _ body: JSONValue? = nil
  ) -> HostileRequest {
    HostileRequest(name: name, method: method, target: target, body: body?.serialized() ?? [])
  }
}

/// One way to make a good request hostile.
struct Attack: Sendable {
  let name: String
  let apply: @Sendable (inout HostileRequest, inout SeededGenerator) -> Void
}

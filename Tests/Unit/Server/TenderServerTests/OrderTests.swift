import Administration
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// What names a shopper, planted into one order.
private enum Planted {
  static let contact: JSONValue = [
    "givenName": "Zebedee", "familyName": "Quillfeather", "phoneNumber": "+44 20 5550 7791",
    "emailAddress": "zeb@quill.example", "addressLines": ["77 Marzipan Court", "Attic 9b"], "locality": "London",
    "postalCode": "EC1A 7ZQ", "countryCode": "GB",
  ]
  static let note = "the xylophone by the door"
  static let words = [
    "Zebedee", "Quillfeather", "5550 7791", "55507791", "zeb@quill", "Marzipan", "Attic 9b", "EC1A 7ZQ", "xylophone",
  ]

  static func found(in text: String) -> [String] { words.filter { text.contains($0) } }
}

@Suite struct `An order of a shopper` {
  private let system: TestSystem
  init() async throws { system = try await TestSystem.shared.value }

  /// A shopper who has written a note and chosen an address, and has paid.
  private func pays(card: String = "visa-debit") async throws -> (shopper: Shopper, answer: JSONClient.Answer) {
    var shopper = try await Shopper.enters(system)
    _ = try await shopper.shop.page.require(
      "PUT", "/applepay/basket/\(shopper.basket)/details",
      ["serviceType": "delivery", "requestedFor": "2026-11-24T19:30", "note": .string(Planted.note)])
    try await shopper.opens()
    try await shopper.chooses()
    return (shopper, try await shopper.pays(try await payment(shopper, Planted.contact, card: card)))
  }

  private func payment(_ shopper: Shopper, _ contact: JSONValue, card: String) async throws -> JSONValue {
    [
      "basketId": .string(shopper.basket), "quoteId": .string(shopper.quote),
      "token": try await shopper.token(card: card), "shippingContact": contact,
    ]
  }

  private func looksUp(_ shopper: Shopper) async throws -> JSONValue {
    try await shopper.shop.signed(
      "GET", "/v2/\(shopper.shop.merchant.id)/baskets/\(shopper.basket)", at: system.clock.wall.now()
    ).body
  }

  @Test func `says to its merchant, and to nobody else, whom it is for and where it goes`() async throws {
    let (shopper, paid) = try await pays()
    #expect(paid.status == 200, "\(paid.errorText)")
    let answer = try await looksUp(shopper)
    let order = try #require(answer["order"])
    #expect(answer["merchantReference"]?.text == shopper.reference)
    #expect(order["note"]?.text == Planted.note && order["requestedFor"] == "2026-11-24T19:30")
    #expect(order["serviceType"] == "delivery" && order["shippingMethod"] == "bike")
    #expect(order["customer"]?["contactDetails"]?["phoneNumber"] == "+44 20 5550 7791")
    let address = order["shipping"]?["address"]
    #expect(address?["street"] == "77 Marzipan Court" && address?["additionalInfo"] == "Attic 9b")
    #expect(address?["name"]?["surname"] == "Quillfeather" && address?["zip"] == "EC1A 7ZQ")
    #expect(Planted.found(in: paid.text).isEmpty)
    let others = try await system.kitsune.signed(
      "GET", "/v2/kitsune/baskets/\(shopper.basket)", at: system.clock.wall.now())
    #expect(others.status == 404 && Planted.found(in: others.text).isEmpty)
  }

  @Test func `has as many lines as fit into 64 KiB, and is refused by that limit beyond`() async throws {
    let shopper = try await Shopper.enters(system, service: "collection")
    func store(_ lines: Int) async throws -> JSONClient.Answer {
      let items = (0..<lines).map {
        ["id": .string("\($0)"), "label": "A", "unitAmount": 1, "quantity": 1] as JSONValue
      }
      return try await shopper.shop.signed(
        "PUT", "/v2/harbour/baskets/\(RandomBytes.system.hex(16))",
        shopper.document(1, "EUR", "collection", "immediate", ["items": .array(items)]), at: system.clock.wall.now())
    }
    let most = try await store(1_200)
    #expect((200..<300).contains(most.status), "\(most.errorText)")
    let more = try await store(1_500)
    #expect(more.text.contains("BODY_TOO_LARGE") && more.text.contains("65536"), "\(more.status) \(more.text)")
  }

  @Test func `goes with every webhook of an endpoint that asks for it`() async throws {
    let (shopper, paid) = try await pays()
    let id = try #require(paid.body["paymentId"]?.text, "\(paid.errorText)")
    let event = try #require(try await captured(id))
    #expect(event["payment"]?["paymentOutput"]?["references"]?["merchantReference"]?.text == shopper.reference)
    #expect(event["tender"]?["merchantReference"]?.text == shopper.reference)
    #expect(event["tender"]?["basketId"]?.text == shopper.basket)
    let (sent, order) = (event["tender"]?["order"], try #require(try await looksUp(shopper)["order"]))
    #expect(event["tender"]?["orderId"] == order["orderId"])
    for key in ["merchantReference", "customer", "shipping", "note", "requestedFor", "lines", "amount"] {
      #expect(sent?[key] != nil && sent?[key] == order[key], "\(key)")
    }
  }

  @Test func `is in no log, no metric, no trace, no error and no list of payments`() async throws {
    let (shopper, paid) = try await pays()
    let (declined, _) = try await pays(card: "visa-insufficient-funds")
    var answers = [paid.text]
    for contact in Self.unfit {
      answers.append(try await declined.pays(try await payment(declined, contact, card: "visa-debit")).text)
    }
    answers.append(try await shopper.shop.page.require("GET", "/applepay/payment/\(shopper.basket)/trace").compact)
    answers.append(try await system.admin("GET", "/payments?limit=500").compact)
    answers.append(try await system.admin("GET", "/webhooks/deliveries?state=delivered&limit=500").compact)
    answers.append(try await system.metrics())
    _ = try await captured(try #require(paid.body["paymentId"]?.text))
    #expect(Planted.found(in: system.webhooks.text) == Planted.words.filter { $0 != "55507791" })
    let log = system.log.text
    #expect(log.contains(#""route":"/applepay/payment""#) == true, "the log has no payment at all")
    for text in answers + [log] { #expect(Planted.found(in: text) == []) }
  }

  /// Contacts that are refused, each for another reason.
  private static let unfit: [JSONValue] = [
    ["givenName": "Zebedee", "familyName": "Quillfeather", "addressLines": ["77 Marzipan Court"], "countryCode": "GB"],
    ["givenName": ["Zebedee"], "phoneNumber": "+44 20 5550 7791"],
    [
      "givenName": "Zebedee", "phoneNumber": "+44 20 5550 7791", "emailAddress": "zeb@quill.example",
      "addressLines": ["77 Marzipan Court"], "locality": "Nuuk", "postalCode": "3900", "countryCode": "GL",
    ],
  ]

  /// The webhook of the payment's capture, once it was sent.
  private func captured(_ payment: String) async throws -> JSONValue? {
    try await waitFor("the webhook of the capture of \(payment)") {
      let bodies = try system.webhooks.text.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
      return bodies.first { $0["tender"]?["paymentId"]?.text == payment && $0["type"] == "payment.captured" }
    } until: {
      $0 != nil
    }
  }
}

extension JSONClient.Answer {
  fileprivate var text: String { "\(errorText) \(body.compact)" }
}

extension JSONValue {
  fileprivate var compact: String { String(decoding: serialized(), as: UTF8.self) }
}

import DirectWire
import Foundation
import HTTPServing
import HTTPTypes
import Hummingbird
import StrictJSON
import Synchronization
import TenderPayments

/// A market stall that has no payment page of its own: its server asks the platform for one, and sends the shopper there.
struct MarketStall: Sendable {
  private static let currency = "EUR"
  private static let wares = [
    Ware(id: "lobster", label: "Lobster roll", amount: 1_450), Ware(id: "chowder", label: "Chowder", amount: 690),
    Ware(id: "oysters", label: "Six oysters", amount: 1_800),
  ]
  private static let languages = [
    "en-IE", "de-DE", "fr-FR", "es-ES", "it-IT", "nl-NL", "pt-PT", "pl-PL", "sv-SE", "da-DK", "fi-FI", "ja-JP", "ar-EG",
  ]

  let tender: TenderClient
  /// `http://localhost:8400`, to which the shopper is sent.
  let publicTenderURL: String
  let templates: PageTemplates
  let checkouts = StallCheckouts()
  let random: RandomBytes

  private struct Ware {
    let id: String
    let label: String
    let amount: Int64
  }

  func add(to router: Router<BasicRequestContext>) {
    router.get("/stall", use: show)
    router.post("/stall", use: pay)
    router.get("/stall/return", use: receive)
  }

  /// `GET /stall`
  private func show(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    try page(
      "stall",
      [
        "wares": Self.wares.map { ["id": $0.id, "label": $0.label, "price": Self.price($0.amount)] },
        "languages": Self.languages,
      ])
  }

  /// `POST /stall`, a form: makes a checkout and sends the browser to its page.
  private func pay(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let form = FormFields(try await BodyReader.collect(request, limit: 4_096)) ?? FormFields(pairs: [])
    guard let ware = Self.wares.first(where: { $0.id == form["ware"] }), let host = request.head.authority else {
      throw ShopError(.badRequest, "unknown_ware", "Choose something that is on the list.")
    }
    let language = Self.languages.first { $0 == form["language"] } ?? Self.languages[0]
    let minutes = form["minutes"].flatMap { Int64($0) } ?? 180
    let answer = try await tender.createCheckout(
      order(ware, language, minutes, returnTo: "http://\(host)/stall/return"))
    guard answer.redirectUrl.hasPrefix(publicTenderURL + "/") else {
      throw ShopError(.badGateway, "tender_refused", "Tender names a page that is not its own.")
    }
    checkouts.keep(answer.returnMAC, for: answer.hostedCheckoutId)
    return Response(status: .seeOther, headers: [.location: answer.redirectUrl])
  }

  /// `GET /stall/return?RETURNMAC=…&hostedCheckoutId=…`: what the browser says is believed only with the mark that
  /// Tender gave the stall; whether it was paid, Tender says.
  private func receive(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let query = request.query
    guard let id = query["hostedCheckoutId"], let mark = query["RETURNMAC"],
      checkouts.knows(String(mark), of: id)
    else { throw ShopError(.forbidden, "forged_return", "The stall has sent no shopper to this page.") }
    let answer = try await tender.checkout(id)
    let payment = answer.createdPaymentOutput
    return try page(
      "stall-return",
      [
        "status": answer.status.rawValue, "category": payment?.paymentStatusCategory.rawValue ?? "",
        "payment": payment?.payment.id ?? "", "paymentStatus": payment?.payment.status ?? "",
        "isPaid": payment?.paymentStatusCategory == .successful,
      ])
  }

  private func order(_ ware: Ware, _ language: String, _ minutes: Int64, returnTo url: String) -> JSONValue {
    [
      "order": [
        "amountOfMoney": ["amount": .integer(ware.amount), "currencyCode": .string(Self.currency)],
        "references": ["merchantReference": .string("STALL-\(random.hex(4).uppercased())")],
        "shoppingCart": [
          "items": [
            [
              "amountOfMoney": ["amount": .integer(ware.amount), "currencyCode": .string(Self.currency)],
              "orderLineDetails": [
                "productName": .string(ware.label), "productPrice": .integer(ware.amount), "quantity": 1,
              ],
            ]
          ]
        ],
      ],
      "hostedCheckoutSpecificInput": [
        "locale": .string(language), "returnUrl": .string(url), "variant": "stall",
        "allowedNumberOfPaymentAttempts": 3, "sessionTimeout": .integer(minutes),
      ],
      "mobilePaymentMethodSpecificInput": ["authorizationMode": "SALE", "paymentProductId": 302],
    ]
  }

  private static func price(_ units: Int64) -> String {
    Currency(code: currency).map { Amount(minorUnits: units, currency: $0).decimalString + " " + currency } ?? ""
  }

  private func page(_ name: String, _ values: [String: Any]) throws -> Response {
    var response = try templates.response(name, values)
    response.headers[.contentSecurityPolicy] = [
      "default-src 'none'", "style-src 'self'", "img-src 'self'", "base-uri 'none'",
      "form-action 'self' \(publicTenderURL)", "frame-ancestors 'none'",
    ].joined(separator: "; ")
    return response
  }
}

/// The marks of the checkouts that the stall has made, in memory.
final class StallCheckouts: Sendable {
  private static let most = 1_000
  private let marks = Mutex<(byID: [String: String], order: [String])>(([:], []))

  func keep(_ mark: String, for id: String) {
    marks.withLock { marks in
      marks.byID[id] = mark
      marks.order.append(id)
      if marks.order.count > Self.most { marks.byID[marks.order.removeFirst()] = nil }
    }
  }

  func knows(_ mark: String, of id: String) -> Bool {
    marks.withLock { $0.byID[id].map { Array($0.utf8) } } == Array(mark.utf8)
  }
}

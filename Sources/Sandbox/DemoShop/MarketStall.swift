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
  /// Each with its own name.
  private static let languages = [
    ("en-IE", "English"), ("de-DE", "Deutsch"), ("fr-FR", "Français"), ("es-ES", "Español"), ("it-IT", "Italiano"),
    ("nl-NL", "Nederlands"), ("pt-PT", "Português"), ("pl-PL", "Polski"), ("sv-SE", "Svenska"), ("da-DK", "Dansk"),
    ("fi-FI", "Suomi"), ("ja-JP", "日本語"), ("ar-EG", "العربية"),
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
    try show(FormFields(pairs: [("language", "en-IE"), ("minutes", "180")]))
  }

  /// - Parameter refusal: why the form, as it was sent, is shown again.
  private func show(_ form: FormFields, _ refusal: ShopError? = nil) throws -> Response {
    func option(_ field: String, _ value: String, _ name: String, _ price: String = "") -> [String: Any] {
      ["value": value, "name": name, "price": price, "isChosen": form[field] == value]
    }
    var values: [String: Any] = [
      "wares": Self.wares.map { option("ware", $0.id, $0.label, Self.price($0.amount)) },
      "languages": Self.languages.map { option("language", $0.0, $0.1) },
      "times": [option("minutes", "180", "3 hours"), option("minutes", "1", "1 minute")],
    ]
    values["error"] = refusal?.detail
    var response = try page("stall", values)
    if let refusal { response.status = refusal.status }
    return response
  }

  /// `POST /stall`, a form: makes a checkout and sends the browser to its page.
  private func pay(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let form = FormFields(try await BodyReader.collect(request, limit: 4_096)) ?? FormFields(pairs: [])
    do { return try await checkOut(form, at: request.head.authority) } catch let refusal as ShopError {
      return try show(form, refusal)
    }
  }

  private func checkOut(_ form: FormFields, at host: String?) async throws -> Response {
    guard let ware = Self.wares.first(where: { $0.id == form["ware"] }), let host else {
      throw ShopError(.badRequest, "unknown_ware", "Choose something that is on the list.")
    }
    let language = Self.languages.first { $0.0 == form["language"] }?.0 ?? "en-IE"
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
    var values: [String: Any] = [
      "status": answer.status.rawValue, "category": payment?.paymentStatusCategory.rawValue ?? "",
      "paymentStatus": payment?.payment.status ?? "", "isPaid": payment?.paymentStatusCategory == .successful,
    ]
    values["payment"] = payment?.payment.id
    return try page("stall-return", values)
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

  /// `€14.50`, as the pages of the language write it.
  private static func price(_ units: Int64) -> String {
    guard let currency = Currency(code: currency) else { return "" }
    return (Decimal(string: Amount(minorUnits: units, currency: currency).decimalString) ?? 0)
      .formatted(.currency(code: currency.code).locale(Locale(identifier: "en")))
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

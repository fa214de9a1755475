import Foundation
import HTTPServing
import DirectWire
import Hummingbird
import TenderPayments

/// The HTML pages, and the menu they show.
struct ShopPages: Sendable {
  let configuration: ShopConfiguration
  private let templates: PageTemplates

  init(configuration: ShopConfiguration) {
    self.configuration = configuration
    templates = PageTemplates(WebFiles.pages)
  }

  /// A page: the frame that all share, around what is this page's own.
  ///
  /// - Parameter name: of the template, and of the script beside it.
  func page(_ name: String, _ title: String, _ values: [String: String] = [:]) throws -> Response {
    try response(name, values.merging(["page": name, "pageTitle": title]) { own, _ in own })
  }

  /// `GET /dish/{id}`
  func dish(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    guard let dish = context.parameters.get("id").flatMap(configuration.menu.dish) else {
      throw HTTPError(.notFound, message: "There is no such dish on the menu.")
    }
    return try page("dish", dish.name, ["dish": dish.id, "name": dish.name])
  }

  /// `GET /order/{basketId}` and the pages below it, whose scripts ask for the order.
  func ofOrder(_ name: String, _ title: String) -> @Sendable (Request, BasicRequestContext) throws -> Response {
    { _, context in
      guard let id = context.parameters.get("basketId"), OrderController.isBasketID(id) else {
        throw HTTPError(.notFound, message: "This shop has no such order.")
      }
      return try page(name, title, ["basket": id])
    }
  }

  /// The least that a page needs to take a payment; `docs/web.md` shows it.
  func smallest(_ basket: BasketID) throws -> Response {
    let dish = configuration.menu.dishes.first
    return try response(
      "smallest", ["basket": basket.rawValue, "dish": dish?.name ?? "", "price": price(dish?.amount ?? 0)])
  }

  /// `12.90 EUR`
  private func price(_ minorUnits: Int64) -> String {
    let code = configuration.menu.currencyCode
    guard let currency = Currency(code: code) else { return code }
    return "\(Amount(minorUnits: minorUnits, currency: currency).decimalString) \(code)"
  }

  /// `GET /page`: the operator's own file, read at each visit, with the id of a basket in the place of `{{basket}}`, and
  /// the server's address in the place of `{{server}}`.
  func visitors(_ file: String, _ basket: BasketID) throws -> Response {
    guard let page = try? String(contentsOfFile: file, encoding: .utf8) else {
      throw HTTPError(.notFound, message: "There is no page in \(file).")
    }
    return .html(
      page.replacing("{{basket}}", with: basket.rawValue).replacing("{{server}}", with: configuration.publicTenderURL))
  }

  /// `GET /api/menu`: dishes with amounts in minor units, and the currency's number of decimals to show them with.
  func menu(_ request: Request, _ context: BasicRequestContext) -> Response {
    JSONAnswer.response(MenuAnswer(configuration.menu))
  }

  private func response(_ name: String, _ values: [String: String]) throws -> Response {
    let menu = configuration.menu
    var shop = [
      "title": menu.title, "tagline": menu.tagline, "theme": menu.theme, "tender": configuration.publicTenderURL,
    ]
    if let sandbox = configuration.publicSandboxURL {
      shop["hasKitchen"] = "yes"
      shop["wallet"] = "\(sandbox)/#cards"
      shop["coupons"] = menu.coupons.map(\.code).joined(separator: ", ")
    }
    if configuration.stall != nil { shop["hasStall"] = "yes" }
    return try templates.response(name, values.merging(shop) { own, _ in own })
  }
}

/// Answers addresses that the shop does not have with a page of its own; calls of its scripts keep their JSON.
struct NotFoundPage: RouterMiddleware {
  let pages: ShopPages

  func handle(
    _ request: Request, context: BasicRequestContext, next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as HTTPError where error.status == .notFound && !request.uri.path.hasPrefix("/api/") {
      var response = try pages.page("not-found", "No such page")
      response.status = .notFound
      return response
    }
  }
}

extension StaticFiles {
  /// The scripts, styles and pictures of the pages.
  static let shop = StaticFiles(WebFiles.all, public: scripts + pictures)

  private static let scripts = [
    "account.js", "basket.js", "checkout.js", "dish.js", "kitchen.js", "menu.js", "not-found.js", "order.js", "pay.js",
    "payload.js", "shop.css", "shop.js", "smallest.js", "trace.js",
  ]

  private static let pictures = [
    "chowder", "crab", "fish", "gyoza", "hero-harbour", "hero-kitsune", "kitsune", "lemonade", "mark-harbour",
    "mark-kitsune", "miso", "mugicha", "oysters", "peas", "shoyu", "tempura",
  ].map { "art/\($0).svg" }
}

private struct MenuAnswer: Encodable {
  let title: String
  let currency: String
  let exponent: Int
  let countryCode: String
  let dishes: [Menu.Dish]

  init(_ menu: Menu) {
    title = menu.title
    currency = menu.currencyCode
    exponent = Currency(code: menu.currencyCode)?.exponent ?? 2
    countryCode = menu.countryCode
    dishes = menu.dishes
  }
}

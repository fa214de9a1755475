import Foundation
import HTTPTypes
import Hummingbird
import Mustache
import NIOCore
import TenderPayments

/// The pages with their scripts, styles and pictures, and the menu they show.
struct ShopPages: Sendable {
  let configuration: ShopConfiguration
  private let templates: MustacheLibrary

  init(configuration: ShopConfiguration) throws {
    self.configuration = configuration
    let pages = WebFiles.all.filter { $0.key.hasSuffix(".html") }
    templates = MustacheLibrary(templates: try pages.mapValues { try MustacheTemplate(string: $0) })
  }

  /// The files that pages load, by their path.
  static let files = WebFiles.all.filter { path, _ in type(of: path) != nil }

  /// One file that pages load.
  static func file(_ path: String) -> Response {
    text(files[path] ?? "", type(of: path) ?? "text/plain; charset=utf-8")
  }

  /// A page: the frame that all share, around the page's own content.
  ///
  /// - Parameter name: of the file below `pages`, and of the script beside it.
  func page(_ name: String, _ title: String, _ values: [String: String] = [:]) -> Response {
    let content = rendered("pages/\(name).html", values)
    return Self.html(rendered("frame.html", ["page": name, "page-title": title, "content": content]))
  }

  /// `GET /dish/{id}`
  func dish(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    guard let dish = context.parameters.get("id").flatMap(configuration.menu.dish) else {
      throw HTTPError(.notFound, message: "There is no such dish on the menu.")
    }
    return page("dish", dish.name, ["dish": dish.id, "name": dish.name])
  }

  /// `GET /order/{basketId}` and the pages below it. The page's script loads the order.
  func ofOrder(_ name: String, _ title: String) -> @Sendable (Request, BasicRequestContext) throws -> Response {
    { _, context in
      guard let id = context.parameters.get("basketId"), OrderController.isBasketID(id) else {
        throw HTTPError(.notFound, message: "This shop has no such order.")
      }
      return page(name, title, ["basket": id])
    }
  }

  /// The least that a page needs to take a payment; `docs/web.md` shows it.
  func smallest(_ basket: BasketID) -> Response {
    Self.html(rendered("smallest.html", ["basket": basket.rawValue]))
  }

  /// `GET /page`: the merchant's file, read anew for each request, with a basket's id in place of `{{basket}}`.
  func visitors(_ file: String, _ basket: BasketID) throws -> Response {
    guard let page = try? String(contentsOfFile: file, encoding: .utf8) else {
      throw HTTPError(.notFound, message: "There is no page in \(file).")
    }
    return Self.html(page.replacing("{{basket}}", with: basket.rawValue))
  }

  /// `GET /api/menu`: dishes with amounts in minor units, and the currency's number of decimals to show them with.
  func menu(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    try JSONResponse.response(MenuResponse(configuration.menu))
  }

  /// A file of the web folder as a template, which escapes the values.
  private func rendered(_ file: String, _ values: [String: String]) -> String {
    let menu = configuration.menu
    let shop = [
      "title": menu.title, "tagline": menu.tagline, "theme": menu.theme, "tender": configuration.publicTenderURL,
    ]
    return templates.render(values.merging(shop) { own, _ in own }, withTemplate: file) ?? ""
  }

  private static func type(of path: String) -> String? {
    switch path.split(separator: ".").last {
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    default: nil
    }
  }

  private static func html(_ text: String) -> Response { Self.text(text, "text/html; charset=utf-8") }

  private static func text(_ text: String, _ type: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: type, .cacheControl: "no-cache"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}

private struct MenuResponse: Encodable {
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

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TenderPayments

/// The pages with their scripts, styles and pictures, and the menu they show.
struct ShopPages: Sendable {
  let configuration: ShopConfiguration

  /// The files that pages load, by their path.
  static let files = WebFiles.all.filter { path, _ in type(of: path) != nil }

  /// One file that pages load.
  static func file(_ path: String) -> Response {
    text(files[path] ?? "", type(of: path) ?? "text/plain; charset=utf-8")
  }

  /// A page: the frame that all share, around what is this page's own.
  ///
  /// - Parameter name: of the file below `pages`, and of the script beside it.
  func page(_ name: String, _ title: String, _ values: [String: String] = [:]) -> Response {
    let main = filled(WebFiles.all["pages/\(name).html"] ?? "", values)
    let head = ["page": name, "page-title": title]
    return Self.text(
      filled(WebFiles.all["frame.html"] ?? "", head).replacingOccurrences(of: "<!-- main -->", with: main),
      "text/html; charset=utf-8")
  }

  /// `GET /dish/{id}`
  func dish(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    guard let dish = context.parameters.get("id").flatMap(configuration.menu.dish) else {
      throw HTTPError(.notFound, message: "There is no such dish on the menu.")
    }
    return page("dish", dish.name, ["dish": dish.id, "name": dish.name])
  }

  /// `GET /order/{basketId}` and the pages below it. What stands on them the page asks for itself.
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
    Self.text(filled(WebFiles.all["smallest.html"] ?? "", ["basket": basket.rawValue]), "text/html; charset=utf-8")
  }

  /// `GET /page`: the file as it is at the moment, with the id of a basket where it says `{{basket}}`.
  func visitors(_ file: String, _ basket: BasketID) throws -> Response {
    guard let page = try? String(contentsOfFile: file, encoding: .utf8) else {
      throw HTTPError(.notFound, message: "There is no page in \(file).")
    }
    return Self.text(page.replacing("{{basket}}", with: basket.rawValue), "text/html; charset=utf-8")
  }

  /// `GET /api/menu`: dishes with amounts in minor units, and the currency's number of decimals to show them with.
  func menu(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    try JSONAnswer.response(MenuShown(configuration.menu))
  }

  private func filled(_ text: String, _ values: [String: String]) -> String {
    let menu = configuration.menu
    let shop = [
      "title": menu.title, "tagline": menu.tagline, "theme": menu.theme, "tender": configuration.publicTenderURL,
    ]
    return values.merging(shop) { own, _ in own }.reduce(text) { text, value in
      text.replacingOccurrences(of: "{{\(value.key)}}", with: Self.escaped(value.value))
    }
  }

  private static func type(of path: String) -> String? {
    switch path.split(separator: ".").last {
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    default: nil
    }
  }

  private static func text(_ text: String, _ type: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: type, .cacheControl: "no-cache"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }

  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;")
      .replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: "\"", with: "&quot;")
  }
}

private struct MenuShown: Encodable {
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

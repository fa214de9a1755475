import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TenderPayments

/// The pages with their scripts and style, and the menu they show.
struct ShopPages: Sendable {
  let configuration: ShopConfiguration

  func index(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    let menu = configuration.menu
    return page("index.html", ["title": menu.title, "tagline": menu.tagline, "theme": menu.theme])
  }

  /// The least that a page needs to take a payment; `docs/web.md` shows it.
  func smallest(_ basket: BasketID) -> Response { page("smallest.html", ["basket": basket.rawValue]) }

  func script(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    Self.text(WebFiles.all["shop.js"] ?? "", "text/javascript; charset=utf-8")
  }

  func smallestScript(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    Self.text(WebFiles.all["smallest.js"] ?? "", "text/javascript; charset=utf-8")
  }

  func style(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    Self.text(WebFiles.all["shop.css"] ?? "", "text/css; charset=utf-8")
  }

  /// `GET /api/menu`: dishes with amounts in minor units, and the currency's number of decimals to show them with.
  func menu(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    try JSONAnswer.response(MenuShown(configuration.menu))
  }

  private func page(_ file: String, _ values: [String: String]) -> Response {
    let page = values.merging(["tender": configuration.publicTenderURL]) { own, _ in own }
      .reduce(WebFiles.all[file] ?? "") { page, value in
        page.replacingOccurrences(of: "{{\(value.key)}}", with: Self.escaped(value.value))
      }
    return Self.text(page, "text/html; charset=utf-8")
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
  let dishes: [Menu.Dish]

  init(_ menu: Menu) {
    title = menu.title
    currency = menu.currencyCode
    exponent = Currency(code: menu.currencyCode)?.exponent ?? 2
    dishes = menu.dishes
  }
}

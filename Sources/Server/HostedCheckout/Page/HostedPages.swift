package import HTTPServing
import HTTPTypes
package import Hummingbird
import NIOCore
import StrictJSON
package import TenderPayments
import QRCodes

/// Answers a shopper's browser: each function one address, without anything of HTTP below it.
package struct HostedPages: Sendable {
  /// Scripts and styles of the pages.
  package static let files = StaticFiles(
    WebFiles.all, compressed: WebFiles.compressed, public: ["hosted.css", "hosted.js", "icon.svg"])

  let checkouts: HostedCheckouts
  private let templates: PageTemplates
  /// The origin of the simulated Apple Pay; nil outside `simulated`.
  private let sandbox: String?
  private let environment: TenderPayments.Environment
  private let clock: WallClock

  package init(
    _ checkouts: HostedCheckouts, in environment: TenderPayments.Environment, sandbox: String?, clock: WallClock
  ) {
    (self.checkouts, self.environment, self.sandbox, self.clock) = (checkouts, environment, sandbox, clock)
    templates = PageTemplates(WebFiles.pages)
  }

  /// `GET /hosted/{id}`: the page, or the way back where the merchant wants no result page.
  package func page(_ id: BasketID, _ request: Request) async throws -> Response {
    guard let shown = try await find(id) else { return try missing(request) }
    if shown.state.isEnded, !shown.checkout.showsResult, let address = shown.returnAddress { return .seeOther(address) }
    let model = model(shown)
    return try shown.state == .open ? render("open", model.open, shown) : render("result", model.result, shown)
  }

  /// `GET /hosted/{id}/return`: only to the address that the merchant has stored.
  package func goBack(_ id: BasketID, _ request: Request) async throws -> Response {
    guard let shown = try await find(id) else { return try missing(request) }
    guard shown.state.isEnded, let address = shown.returnAddress else { return .seeOther(HostedPaths.page(id)) }
    return .seeOther(address)
  }

  /// `POST /hosted/{id}/cancel`
  package func cancel(_ id: BasketID, _ request: Request) async throws -> Response {
    guard try await find(id) != nil else { return try missing(request) }
    try await checkouts.cancel(id)
    return .seeOther("\(HostedPaths.page(id))/return")
  }

  /// `GET /hosted/{id}/state` `{state, attempts?}`, for a page that is open.
  package func state(_ id: BasketID) async throws -> Response {
    guard let shown = try await find(id) else { throw HostedCheckouts.unknown }
    return JSONAnswer.response(StateAnswer(state: shown.state.rawValue, attempts: model(shown).attempts))
  }

  /// `POST /hosted/{id}/handover`: a code that takes the checkout to a phone, as a page or, for the script, as JSON.
  package func handOver(_ id: BasketID, _ request: Request) async throws -> Response {
    guard let shown = try await find(id) else { return try missing(request) }
    guard let handover = try await checkouts.handOver(id) else { return .seeOther(HostedPaths.page(id)) }
    let model = model(shown)
    guard request.headers[.accept] == MediaType.json else { return try render("phone", model.phone(handover), shown) }
    return JSONAnswer.response(
      CodeAnswer(
        picture: HostedPaths.code(handover.code), text: HostedText.phoneText.text(in: model.format.locale),
        expiresAt: handover.expiresAt.description))
  }

  /// `GET /hosted-codes/{code}.svg`
  package func picture(_ code: String) async throws -> Response {
    guard try await checkouts.isGood(code), let picture = QRCode(checkouts.continueURL(code)) else {
      throw HostedCheckouts.unknown
    }
    return .file(Array(picture.svg.utf8), "image/svg+xml")
  }

  /// `GET /hosted-continue/{code}`: once.
  package func arrive(_ code: String, _ request: Request) async throws -> Response {
    guard let id = try await checkouts.arrive(with: code) else {
      return try missing(request, .expiredTitle, .codeSpent, status: .gone)
    }
    return .seeOther(HostedPaths.page(id))
  }

  /// `GET /hosted/{id}/variant.css`
  package func style(_ id: BasketID) async throws -> Response {
    let shown = try await checkouts.load(id)
    return .file(Array(shown.merchant.variant(shown.checkout.variant).css.utf8), "text/css; charset=utf-8")
  }

  /// `GET /hosted/{id}/logo`
  package func logo(_ id: BasketID) async throws -> Response {
    let shown = try await checkouts.load(id)
    guard let logo = shown.merchant.variant(shown.checkout.variant).logo else { throw HostedCheckouts.unknown }
    return .file(logo.bytes, logo.mediaType)
  }
}

extension HostedPages {
  private func model(_ shown: ShownCheckout) -> PageModel {
    PageModel(shown, on: checkouts.origin, in: environment, at: clock.now())
  }

  private func find(_ id: BasketID) async throws -> ShownCheckout? {
    do { return try await checkouts.load(id) } catch let error as HostedCheckoutError
      where error.code == .checkoutUnknown
    {
      return nil
    }
  }

  private func render(
    _ template: String, _ values: [String: Any], _ shown: ShownCheckout?, status: HTTPResponse.Status = .ok
  ) throws -> Response {
    Response(
      status: status, headers: PagePolicy.headers(shown, sandbox: sandbox),
      body: ResponseBody(byteBuffer: ByteBuffer(string: try templates.html(template, values))))
  }

  /// One answer for an id that is wrong and one that never was.
  package func missing(_ request: Request) throws -> Response {
    try missing(request, .unknownTitle, .unknownText, status: .notFound)
  }

  private func missing(
    _ request: Request, _ heading: HostedText, _ text: HostedText, status: HTTPResponse.Status
  ) throws -> Response {
    let values = MissingPage.values(heading, text, languages: request.headers[.acceptLanguage])
    return try render("result", values, nil, status: status)
  }
}

private struct StateAnswer: Encodable {
  let state: String
  let attempts: String?
}

private struct CodeAnswer: Encodable {
  let picture: String
  /// With `{time}` for the end of the code, which the browser knows how to write.
  let text: String
  let expiresAt: String
}

extension Response {
  /// 303: a form's answer, and whatever else leads on, is fetched with GET and never kept.
  fileprivate static func seeOther(_ address: String) -> Response {
    Response(
      status: .seeOther,
      headers: [.location: address, .cacheControl: "no-store", .referrerPolicy: "no-referrer"])
  }

  fileprivate static func file(_ bytes: [UInt8], _ mediaType: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: mediaType, .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}

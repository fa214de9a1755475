import AcquirerSandbox
import HTTPServing
import HTTPTypes
import Hummingbird

/// The front page, the page of recent activity, and the page that simulates a phone or a watch.
struct Pages: Sendable {
  let portal: DeveloperPortal
  let addresses: ListeningAddresses
  let acquirerKeys: [String]
  let activity: RecentActivity
  let acquirers: [any RecentlyActive]
  let shops: [ShopLink]
  private let templates: PageTemplates

  init(
    portal: DeveloperPortal, addresses: ListeningAddresses, acquirerKeys: [String], activity: RecentActivity,
    acquirers: [any RecentlyActive], shops: [ShopLink]
  ) {
    self.portal = portal
    self.addresses = addresses
    self.acquirerKeys = acquirerKeys
    self.activity = activity
    self.acquirers = acquirers
    self.shops = shops
    templates = PageTemplates(WebFiles.pages)
  }

  func front(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let page = FrontPage(
      addresses: addresses.current, merchants: await portal.merchants, acquirerKeys: acquirerKeys,
      refusals: activity.entries(.sessions).filter { $0.refusal != nil }, shops: shops)
    return try response("index", page, allowing: "style-src 'self'")
  }

  /// The last merchant sessions, payment tokens, payments and events, and why some were rejected.
  func recent(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try response("recent", try await RecentPage(activity, acquirers), allowing: "style-src 'self'")
  }

  func recentAsJSON(_ request: Request, _ context: SandboxContext) async throws -> Response {
    JSONAnswer.response(try await RecentPage(activity, acquirers).json)
  }

  /// A second window in which the shopper confirms, as on an iPhone beside a Mac.
  func device(_ request: Request, _ context: SandboxContext) throws -> Response {
    try response("device", [:], allowing: "style-src 'self'; script-src 'self'; connect-src 'self'")
  }

  /// The agreements of the wallet's cards, whose cards a person may replace or remove.
  func agreements(_ request: Request, _ context: SandboxContext) throws -> Response {
    try response("agreements", [:], allowing: "style-src 'self'; script-src 'self'; connect-src 'self'")
  }

  /// The page of a phone that scanned a sheet's code.
  func wallet(_ request: Request, _ context: SandboxContext) throws -> Response {
    try response("wallet", [:], allowing: "style-src 'self'; script-src 'self'; connect-src 'self'")
  }

  /// The window with a code to scan, in browsers that are not Safari.
  func code(_ request: Request, _ context: SandboxContext) throws -> Response {
    try response("code", [:], allowing: "style-src 'self'; script-src 'self'")
  }

  /// A page that no other page may put into a frame.
  func response(_ name: String, _ values: Any, allowing sources: String) throws -> Response {
    var response = try templates.response(name, values)
    response.headers[.contentSecurityPolicy] =
      "default-src 'none'; \(sources); base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return response
  }
}

import HTTPTypes
import Hummingbird
import Mustache

/// The front page, the page that simulates a phone or a watch, and the files of `Web/sandbox`.
struct Pages: Sendable {
  let portal: DeveloperPortal
  let addresses: ListeningAddresses
  let acquirerKeys: [String]
  private let template: MustacheTemplate

  init(portal: DeveloperPortal, addresses: ListeningAddresses, acquirerKeys: [String]) throws {
    self.portal = portal
    self.addresses = addresses
    self.acquirerKeys = acquirerKeys
    template = try MustacheTemplate(string: WebFiles.all["index.mustache"] ?? "")
  }

  func front(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let page = FrontPage(addresses: addresses.current, merchants: await portal.merchants, acquirerKeys: acquirerKeys)
    return .page(
      template.render(page), policy: "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'")
  }

  /// A second window in which the shopper confirms, as on an iPhone beside a Mac.
  func device(_ request: Request, _ context: SandboxContext) throws -> Response {
    .page(
      WebFiles.all["device.html"] ?? "",
      policy: "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; "
        + "form-action 'none'")
  }

  func file(_ request: Request, _ context: SandboxContext) throws -> Response {
    let name = try context.parameter("file")
    if name == SessionScript.name { return .text(SessionScript.text, type: "text/javascript") }
    guard let type = Self.type(of: name), let text = WebFiles.all[name] else { throw Self.notFound }
    return .text(text, type: type)
  }

  /// The fixtures that a shop copies into its tests, as text, so that a browser shows them.
  func fixture(_ request: Request, _ context: SandboxContext) throws -> Response {
    guard let text = WebFiles.all["fixtures/\(try context.parameter("file"))"] else { throw Self.notFound }
    return .text(text, type: "text/plain")
  }

  private static let notFound = SandboxProblem(
    status: 404, code: "not_found", message: "The sandbox serves no such file.")

  /// nil for files that are not served as they are.
  private static func type(of name: String) -> String? {
    switch name.split(separator: ".").last {
    case "js": "text/javascript"
    case "css": "text/css"
    default: nil
    }
  }
}

extension Response {
  /// A page of the sandbox, which no other page may put into a frame.
  fileprivate static func page(_ html: String, policy: String) -> Response {
    var response = Response.text(html, type: "text/html")
    response.headers[.contentSecurityPolicy] = "\(policy); frame-ancestors 'none'"
    return response
  }
}

import HTTPTypes
import Hummingbird
import Mustache

/// The front page, and the files of `Web/sandbox`.
struct Pages: Sendable {
  let portal: DeveloperPortal
  let addresses: SandboxAddressBook
  let acquirerKeys: [String]
  private let template: MustacheTemplate

  init(portal: DeveloperPortal, addresses: SandboxAddressBook, acquirerKeys: [String]) throws {
    self.portal = portal
    self.addresses = addresses
    self.acquirerKeys = acquirerKeys
    template = try MustacheTemplate(string: WebFiles.all["index.mustache"] ?? "")
  }

  func front(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let page = FrontPage(addresses: addresses.current, merchants: await portal.merchants, acquirerKeys: acquirerKeys)
    var response = Response.text(template.render(page), type: "text/html")
    response.headers[.contentSecurityPolicy] =
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return response
  }

  func file(_ request: Request, _ context: SandboxContext) throws -> Response {
    let name = try context.parameter("file")
    guard let type = Self.type(of: name), let text = WebFiles.all[name] else {
      throw SandboxProblem(status: 404, code: "not_found", message: "The sandbox serves no such file.")
    }
    return .text(text, type: type)
  }

  /// nil for files that are not served as they are.
  private static func type(of name: String) -> String? {
    switch name.split(separator: ".").last {
    case "js": "text/javascript"
    case "css": "text/css"
    case "html": "text/html"
    default: nil
    }
  }
}

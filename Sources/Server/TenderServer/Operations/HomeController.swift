import HTTPServing
import Hummingbird
import TenderPayments

/// `GET /`: says what this server is, to whoever opens its address in a browser.
struct HomeController: Sendable {
  let environment: TenderPayments.Environment
  let kitVersion: String
  private let templates = PageTemplates(WebFiles.pages)

  func show(_ request: Request, _ context: ServerContext) throws -> Response {
    let values: [String: Any] = [
      "environment": environment.rawValue, "simulated": environment == .simulated, "version": kitVersion,
    ]
    return try templates.response("home", values)
  }
}

import HTTPServing
import Hummingbird
import TenderPayments

/// `GET /`: says what this server is, to whoever opens its address in a browser.
struct HomeController: Sendable {
  private let html: String

  init(_ environment: TenderPayments.Environment, kitVersion: String) throws {
    let values: [String: Any] = [
      "environment": environment.rawValue, "simulated": environment == .simulated, "version": kitVersion,
    ]
    html = try PageTemplates(WebFiles.pages).html("home", values)
  }

  func show(_ request: Request, _ context: ServerContext) -> Response { .html(html) }
}

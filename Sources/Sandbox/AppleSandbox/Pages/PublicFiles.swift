import HTTPServing
import Hummingbird

/// The files that anyone may load: of `Web/sandbox` the ones listed here, and the script made of `Web/sandbox/session`.
enum PublicFiles {
  private static let files = StaticFiles(
    WebFiles.all.merging([SessionScript.name: SessionScript.text]) { _, joined in joined },
    public: [
      SessionScript.name, "agreements.js", "apple-pay-session.css", "code.js", "device.css", "device.js", "front.css",
      "wallet.js",
    ]
      + fixtures)

  /// What a shop copies into its tests.
  private static let fixtures = [
    "apple-pay-playwright.js", "apple-pay-playwright.ts", "apple-pay-sandbox.d.ts", "apple_pay_playwright.py",
    "apple_pay_selenium.py",
  ].map { "fixtures/\($0)" }

  static func addRoutes(to router: Router<SandboxContext>) { add(files.names, to: router) }

  /// What the page of a phone loads.
  static func addWalletRoutes(to router: Router<SandboxContext>) { add(["device.css", "wallet.js"], to: router) }

  private static func add(_ names: some Sequence<String>, to router: Router<SandboxContext>) {
    for name in names {
      router.get("/\(name)") { request, _ in files[name]?.response(to: request, caching: "no-cache") }
    }
  }
}

/// The simulated `ApplePaySession`: the modules of `Web/sandbox/session`, joined to one classic script.
///
/// A page expects Apple's script, or Safari, to have defined `ApplePaySession` when its own code runs, which no module
/// and no chain of imports can promise. So the parts are modules to those who read and check them, and one file to the
/// browser. Names are unique across them; one that is not is a syntax error in the first test of a browser.
enum SessionScript {
  static let name = "apple-pay-session.js"

  /// In the order of their dependencies; the last one defines what pages see.
  static let parts = [
    "clock", "web-idl", "errors", "dictionaries", "rules", "contacts", "frames", "simulated-device", "wallet", "money",
    "sheet-fields", "sheet", "demands", "choices", "selections", "sheet-errors", "sums", "order", "merchant-validation",
    "confirmation", "phone-link", "transcript", "latest-sheet", "page-sheets", "code-flow", "presentation", "events",
    "session", "payment-details", "payment-errors", "payment-events", "payment-response", "payment-request",
    "native-request", "setup", "driver", "button", "install",
  ]

  static let text: String =
    "// A simulated ApplePaySession for pages under test. It is not Apple's and moves no money.\n"
    + "(() => {\n\"use strict\";\n\n" + parts.map(body).joined(separator: "\n") + "})();\n"

  /// A module without its imports and without the word `export`.
  private static func body(of part: String) -> String {
    let source = WebFiles.all["session/\(part).js"] ?? "throw new Error(\"The sandbox was built without \(part).js\");"
    return source.replacing(#/(?m)^import [^;]*;\n/#, with: "").replacing(#/(?m)^export /#, with: "")
  }
}

import Administration
import HTTPServing
import Hummingbird
import TenderPayments

/// The pages as HTML: the frame that all share, around what is a page's own.
struct OfficePages: Sendable {
  private let templates: PageTemplates
  let settings: OfficeSettings

  init(_ settings: OfficeSettings) {
    templates = PageTemplates(WebFiles.pages)
    self.settings = settings
  }

  /// - Parameter name: of the template.
  func page(
    _ name: String, _ title: String, _ call: OfficeCall, _ values: [String: Any] = [:]
  ) throws -> Response {
    var all = values.merging(frame) { own, _ in own }
    all["title"] = title
    all["csrf"] = OfficeGate.csrf(call.token)
    if call.isSignedIn {
      let user = try call.user
      all["userName"] = user.name
      all["navigation"] = Self.navigation(of: user, at: call.request.uri.path)
    }
    if let done = call.query("done").flatMap({ Self.notices[$0] }) { all["notice"] = done }
    let html = try templates.html(name, Self.withoutEmpty(all))
    return .html(call.refused?.shown(in: html) ?? html)
  }

  /// A section of a template shows a text that is empty, but not one that is missing.
  private static func withoutEmpty(_ values: [String: Any]) -> [String: Any] {
    values.compactMapValues { value in
      switch value {
      case let text as String: text.isEmpty ? nil : text
      case let row as [String: Any]: withoutEmpty(row)
      case let rows as [[String: Any]]: rows.map(withoutEmpty)
      default: value
      }
    }
  }

  func refusal(_ refusal: OfficeRefusal) throws -> Response {
    try templates.response(
      "refusal",
      frame.merging(["title": refusal.status.reasonPhrase, "reason": refusal.reason]) { _, own in own })
  }

  /// The environment, which the head of every page shows in words and colour.
  private var frame: [String: Any] {
    var frame: [String: Any] = ["environment": settings.environment.rawValue]
    switch settings.environment {
    case .simulated: frame["ribbon"] = "Everything here is simulated: no money moves."
    case .appleSandbox: frame["ribbon"] = "A test with Apple’s sandbox and the providers’ test systems: no money moves."
    case .production: break
    }
    return frame
  }

  /// What a page says after a form was sent.
  private static let notices = [
    "captured": "The capture was asked for.", "voided": "The void was asked for.",
    "refunded": "The refund was asked for.", "inquired": "The provider was asked for the outcome.",
    "acknowledged": "The alarm is acknowledged.", "resolved": "Your decision is recorded.",
    "requested": "The refund waits for a second person.", "approved": "The refund was approved and asked for.",
    "rejected": "The refund was rejected.", "replayed": "The webhooks wait for their next delivery.",
    "erased": "The person’s data is erased.", "erasureRequested": "The erasure waits for a second person.",
    "erasureRejected": "The erasure was rejected.",
    "agreement-ended": "The agreement was ended.", "changed": "The change is made.", "ended": "The session was ended.",
    "enrolled": "You can sign in now.", "passkey-added": "The passkey is added: you can sign in with it.",
    "passkey-removed": "The passkey is removed.",
  ]

  private static let menu: [(path: String, title: String, access: Access)] = [
    ("/", "Home", .role(.viewer)), ("/overview", "Overview", .role(.viewer)),
    ("/payments", "Payments", .role(.viewer)), ("/agreements", "Agreements", .role(.viewer)),
    ("/webhooks", "Webhooks", .role(.viewer)),
    ("/reconciliation", "Reconciliation", .everywhere(.viewer)),
    ("/merchants", "Merchants", .role(.viewer)), ("/users", "Users", .everywhere(.administrator)),
    ("/privacy", "Privacy", .everywhere(.administrator)),
    ("/audit", "Audit", .everywhere(.administrator)), ("/settings", "Settings", .everywhere(.administrator)),
  ]

  private static func navigation(of user: OfficeUser, at path: String) -> [[String: Any]] {
    menu.filter { $0.access.allows(user) }.map { entry in
      let isHere = entry.path.count == 1 ? path.count == 1 : path.hasPrefix(entry.path)
      return ["path": entry.path, "name": entry.title, "isHere": isHere]
    }
  }
}

extension OfficeCall {
  fileprivate var refused: RefusedForm? {
    guard let refusal else { return nil }
    let query = OfficeForm(Array((request.uri.query ?? "").utf8), "") ?? .empty
    return RefusedForm(
      method: request.method, path: request.uri.path, sent: request.method == .post ? form : query, refusal: refusal)
  }
}

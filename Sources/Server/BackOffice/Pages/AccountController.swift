import Administration
import Hummingbird

/// A user's own sessions and passkeys.
struct AccountController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] {
    [.get("/account", .signedIn, show), .post("/account/sessions/{session}/end", .signedIn, on: show, end)]
  }

  func show(_ call: OfficeCall) async throws -> Response {
    let user = try call.user
    let format = call.format
    let sessions = try await office.accounts.sessions(of: user.name).map { session -> [String: Any] in
      [
        "id": session.hash, "address": session.address, "agent": session.agent, "browser": Self.browser(session.agent),
        "begun": format.moment(session.createdAt),
        "seen": format.moment(session.seenAt), "isThis": session.hash == call.session?.hash,
      ]
    }
    let passkeys = try await office.accounts.passkeys(of: user.name).map { passkey -> [String: Any] in
      [
        "id": passkey.credential, "name": passkey.name, "added": format.moment(passkey.createdAt),
        "used": passkey.usedAt.map { [format.moment($0)] } ?? [],
      ]
    }
    return try office.pages.page(
      "account", "Your account", call,
      [
        "sessions": sessions, "roles": OfficeUser.text(user.grants, user.limits), "passkeys": passkeys,
        "mayAdd": office.accounts.relyingParty != nil && user.issuer == nil, "provider": user.issuer ?? "",
        "hasNone": office.accounts.relyingParty == nil,
        "language": FormatController.name(of: format.language), "place": format.place,
      ])
  }

  private static let browsers: [(mark: String, name: String)] = [
    ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"), ("Safari/", "Safari"),
  ]
  private static let systems: [(mark: String, name: String)] = [
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
    ("Mac OS X", "Mac"), ("Linux", "Linux"),
  ]

  /// `Chrome on Linux`; the whole text where it names no browser that is known.
  ///
  /// - Parameter agent: the header `User-Agent`.
  private static func browser(_ agent: String) -> String {
    func name(_ names: [(mark: String, name: String)]) -> String? { names.first { agent.contains($0.mark) }?.name }
    guard let browser = name(browsers), let system = name(systems) else { return agent }
    return "\(browser) on \(system)"
  }

  private func end(_ call: OfficeCall) async throws -> Response {
    let name = try call.user.name
    try await office.accounts.end(
      call.parameter("session"), of: name, call.action("session.end", subject: name))
    return .redirect(to: "/account?done=ended", type: .normal)
  }
}

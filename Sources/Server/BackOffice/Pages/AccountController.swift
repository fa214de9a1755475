import Administration
import Hummingbird

/// A user's own sessions.
struct AccountController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] {
    [.get("/account", .signedIn, show), .post("/account/sessions/{session}/end", .signedIn, on: show, end)]
  }

  private func show(_ call: OfficeCall) async throws -> Response {
    let user = try call.user
    let format = call.format
    let sessions = try await office.accounts.sessions(of: user.name).map { session -> [String: Any] in
      [
        "id": session.hash, "address": session.address, "agent": session.agent,
        "begun": format.moment(session.createdAt),
        "seen": format.moment(session.seenAt), "isThis": session.hash == call.session?.hash,
      ]
    }
    return try office.pages.page(
      "account", "Your account", call,
      [
        "sessions": sessions, "roles": UserAdministration.text(user.grants, user.limits),
        "language": FormatController.name(of: format.language), "place": format.place,
      ])
  }

  private func end(_ call: OfficeCall) async throws -> Response {
    let name = try call.user.name
    try await office.accounts.end(
      call.parameter("session"), of: name, call.action("session.end", subject: name))
    return .redirect(to: "/account?done=ended", type: .normal)
  }
}

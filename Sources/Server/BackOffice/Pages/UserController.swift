import Administration
import Hummingbird
import TenderPayments

/// The users of the office: adding, changing, inviting again, disabling.
struct UserController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] {
    [
      .get("/users", .everywhere(.administrator), list), .post("/users", .everywhere(.administrator), on: list, add),
      .post("/users/{user}/change", .everywhere(.administrator), on: list, change),
      .post("/users/{user}/invite", .everywhere(.administrator), on: list, invite),
      .post("/users/{user}/enabled", .everywhere(.administrator), on: list, setEnabled),
    ]
  }

  private func administration(_ call: OfficeCall) throws -> UserAdministration {
    office.users(actor: try call.user.name, address: call.address)
  }

  private func list(_ call: OfficeCall) async throws -> Response { try await list(call, invitation: nil) }

  private func list(_ call: OfficeCall, invitation: Invitation?) async throws -> Response {
    let users = try await office.accounts.read { try $0.all() }
    let merchants = try await office.services.merchants.merchants().map(\.id)
    var values: [String: Any] = [
      "users": users.map(Self.row), "roles": Self.roles(nil), "known": merchants.sorted(),
    ]
    if let invitation, invitation.isMailed { values["notice"] = "The invitation was sent by mail." }
    if let invitation, !invitation.isMailed { values["invitation"] = office.settings.url + invitation.path }
    return try office.pages.page("users", "Users", call, values)
  }

  private static func row(_ user: OfficeUser) -> [String: Any] {
    let merchants = user.grants.compactMap(\.merchant).map(\.rawValue).joined(separator: ", ")
    return [
      "name": user.name, "roles": OfficeUser.text(user.grants, user.limits), "limits": user.limits.text,
      "state": state(of: user), "isEnabled": user.isEnabled, "choices": roles(user.highest), "merchants": merchants,
    ]
  }

  private static func state(of user: OfficeUser) -> String {
    guard user.isEnabled else { return "disabled" }
    if let issuer = user.issuer { return "signs in at \(issuer), which gives the roles" }
    return user.isEnrolled ? "active" : "invited"
  }

  private static func roles(_ chosen: Role?) -> [[String: Any]] {
    Role.allCases.map { ["value": $0.rawValue, "isChosen": $0 == chosen] }
  }

  /// One role, at the merchants that are named, or at every merchant where none is.
  private static func grants(_ form: OfficeForm) throws -> [Grant] {
    guard let role = Role(rawValue: form["role"]) else { throw OfficeRefusal.badRequest("Choose a role.", at: "role") }
    let merchants = form["merchants"].split { $0 == "," || $0 == " " }.map { MerchantID(String($0)) }
    return merchants.isEmpty ? [Grant(role)] : merchants.map { Grant(role, of: $0) }
  }

  private func add(_ call: OfficeCall) async throws -> Response {
    let invitation = try await administration(call).add(
      call.form["name"], Self.grants(call.form), call.form["limits"], reason: call.form.reason)
    return try await list(call, invitation: invitation)
  }

  private func change(_ call: OfficeCall) async throws -> Response {
    try await administration(call).change(
      call.parameter("user"), Self.grants(call.form), call.form["limits"], reason: call.form.reason)
    let isOwn = try call.user.name.utf8.elementsEqual(call.parameter("user").utf8)
    let isOut = try isOwn && !Self.grants(call.form).contains { $0.merchant == nil && $0.role == .administrator }
    return .redirect(to: isOut ? "/?done=changed" : "/users?done=changed", type: .normal)
  }

  private func invite(_ call: OfficeCall) async throws -> Response {
    let invitation = try await administration(call).invite(call.parameter("user"), reason: call.form.reason)
    return try await list(call, invitation: invitation)
  }

  private func setEnabled(_ call: OfficeCall) async throws -> Response {
    try await administration(call).setEnabled(
      call.form["enabled"].utf8.elementsEqual("yes".utf8), call.parameter("user"), reason: call.form.reason)
    return .redirect(to: "/users?done=changed", type: .normal)
  }
}

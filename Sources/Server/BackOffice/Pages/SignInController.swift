import Administration
import HTTPServing
import Hummingbird
import QRCodes
import TenderPayments

/// Signing in and out, and the invitation by which a user gets password and one-time codes.
struct SignInController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] {
    [
      .file("office.css"), .file("charts.js"), .file("passkeys.js"),
      .get("/sign-in", .everyone, form), .post("/sign-in", .everyone, on: form, signIn),
      .get("/invitation/{token}", .everyone, invitation),
      .post("/invitation/{token}", .everyone, on: invitation, enroll),
      .post("/sign-out", .signedIn, on: nil, signOut),
    ]
  }

  private func form(_ call: OfficeCall) throws -> Response { try office.signInPage(call) }

  private func signIn(_ call: OfficeCall) async throws -> Response {
    let credentials = OfficeAccounts.Credentials(
      name: call.form["name"], password: call.form.raw("password"), code: call.form["code"])
    switch try await office.accounts.signIn(credentials, from: call.origin) {
    case .accepted(let session, let device):
      var response = Response.redirect(to: "/", type: .normal)
      office.gate.setCookies(session, device, on: &response)
      return response
    case .refused where RecoveryCodes.isFormer(credentials.code):
      let advice = "Recovery codes of ten letters are not taken any more: ask an administrator for a new invitation."
      return try office.signInPage(call, "Name, password or code is wrong. \(advice)", .forbidden)
    case .refused:
      return try office.signInPage(call, "Name, password or code is wrong. A code can be used once.", .forbidden)
    case .throttled:
      return try office.signInPage(
        call, "There were too many attempts. Wait some minutes before the next one.", .tooManyRequests)
    }
  }

  private func signOut(_ call: OfficeCall) async throws -> Response {
    let user = try call.user
    if let session = call.session {
      try await office.accounts.end(session.hash, of: user.name, call.action("sign-out", subject: user.name))
    }
    var response = Response.redirect(to: "/sign-in", type: .normal)
    office.gate.setCookie("", on: &response)
    return response
  }

  private func invitation(_ call: OfficeCall) async throws -> Response {
    guard let (name, secret) = try await office.accounts.invitation(call.parameter("token")) else {
      throw OfficeRefusal.notFound("This invitation is over. Ask an administrator for another.")
    }
    var values: [String: Any] = [
      "name": name, "token": call.parameter("token"), "secret": secret.base32.grouped,
      "address": secret.address(of: name, issuer: "Tender"), "least": PasswordRule.length.lowerBound,
    ]
    values["picture"] = QRCode(secret.address(of: name, issuer: "Tender"))?.svg ?? ""
    return try office.pages.page("invitation", "Set password and codes", call, values)
  }

  private func enroll(_ call: OfficeCall) async throws -> Response {
    let enrollment = try await office.accounts.enroll(
      call.parameter("token"), password: call.form.raw("password"), code: call.form["code"], from: call.address)
    switch enrollment {
    case .refused(let reason, let field): throw OfficeRefusal.badRequest(reason, at: field)
    case .done(let codes, let device):
      var response = try office.pages.page("recovery-codes", "Recovery codes", call, ["codes": codes])
      office.gate.setDeviceCookie(device, on: &response)
      return response
    }
  }
}

extension BackOffice {
  /// The page with every way to sign in.
  ///
  /// - Parameter error: why the last attempt was refused; empty for none.
  func signInPage(_ call: OfficeCall, _ error: String = "", _ status: HTTPResponse.Status = .ok) throws -> Response {
    var response = try pages.page(
      "sign-in", "Sign in", call,
      [
        "error": error, "name": call.form["name"], "provider": services.openID?.name ?? "",
        "hasPasskeys": accounts.relyingParty != nil,
      ])
    response.status = status
    return response
  }
}

extension OfficeRoute {
  private static let files = StaticFiles(WebFiles.all, public: ["office.css", "charts.js", "passkeys.js"])

  /// The stylesheet or a script of the pages.
  fileprivate static func file(_ name: String) -> OfficeRoute {
    .get("/\(name)", .everyone) { _ in
      files[name]?.response(caching: "no-cache") ?? .init(status: .notFound)
    }
  }
}

extension String {
  /// In groups of four, which are easier to type.
  fileprivate var grouped: String {
    enumerated().map { $0.offset > 0 && $0.offset % 4 == 0 ? " \($0.element)" : "\($0.element)" }.joined()
  }
}

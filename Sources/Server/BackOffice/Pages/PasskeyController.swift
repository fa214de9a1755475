import Administration
import HTTPServing
import Hummingbird
import StrictJSON

/// Adding passkeys and signing in with them. The script asks for the options of a call of `navigator.credentials`, and
/// sends its answer as a form.
struct PasskeyController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] {
    let account: OfficeRoute.Handler = AccountController(office: office).show
    return [
      .post("/sign-in/passkey/options", .everyone, on: nil, signInOptions),
      .post("/sign-in/passkey", .everyone, on: nil, signIn),
      .post("/account/passkeys/options", .signedIn, on: nil, options),
      .post("/account/passkeys", .signedIn, on: account, add),
      .post("/account/passkeys/{credential}/remove", .signedIn, on: account, remove),
    ]
  }

  private func signInOptions(_ call: OfficeCall) async throws -> Response {
    try await Self.answer {
      guard let options = try await office.accounts.signInOptions(to: call.token, at: call.address) else {
        throw OfficeRefusal(
          status: .tooManyRequests, reason: "There were too many attempts. Wait some minutes before the next one.")
      }
      return options
    }
  }

  private func signIn(_ call: OfficeCall) async throws -> Response {
    do {
      let assertion = try RelyingParty.Assertion(
        credential: call.form["credential"], clientData: call.form["clientData"],
        authenticatorData: call.form["authenticatorData"], signature: call.form["signature"],
        userHandle: call.form["userHandle"])
      switch try await office.accounts.signIn(assertion, in: call.token, from: call.origin) {
      case .accepted(let session, let device):
        var response = Response.redirect(to: "/", type: .normal)
        office.gate.setCookies(session, device, on: &response)
        return response
      case .refused, .throttled: throw PasskeyRefusal.unknown
      }
    } catch let refusal as PasskeyRefusal {
      return try office.signInPage(call, refusal.words, refusal == .unreadable ? .badRequest : .forbidden)
    }
  }

  /// A session alone adds no way to sign in: whoever has found one open would come back.
  private func options(_ call: OfficeCall) async throws -> Response {
    try await Self.answer {
      let user = try call.user
      guard try await office.accounts.confirm(call.form["code"], of: user.name) else {
        throw OfficeRefusal.badRequest(
          "This code is not the one of your app, or was used. Type the next one.", at: "code")
      }
      return try await office.accounts.passkeyOptions(of: user, in: call.token)
    }
  }

  private func add(_ call: OfficeCall) async throws -> Response {
    do {
      let registration = try RelyingParty.Registration(
        clientData: call.form["clientData"], attestation: call.form["attestation"])
      try await office.accounts.addPasskey(
        registration, named: call.form["name"], of: call.user, in: call.token, from: call.address)
    } catch let refusal as PasskeyRefusal {
      throw OfficeRefusal.badRequest(refusal.words)
    }
    return .redirect(to: "/account?done=passkey-added", type: .normal)
  }

  private func remove(_ call: OfficeCall) async throws -> Response {
    try await office.accounts.removePasskey(call.parameter("credential"), of: call.user.name, from: call.address)
    return .redirect(to: "/account?done=passkey-removed", type: .normal)
  }

  /// The options, or why there are none, for the script.
  private static func answer(_ options: () async throws -> JSONValue) async throws -> Response {
    do { return JSONAnswer.response(try await options()) } catch let refusal as OfficeRefusal {
      let reason: JSONValue = ["reason": .string(refusal.reason)]
      return JSONAnswer.response(reason, status: refusal.status)
    }
  }
}

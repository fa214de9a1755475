import Administration
import Hummingbird

/// Signing in at a provider: the way there and back.
struct OpenIDController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] {
    [.get("/sign-in/openid", .everyone, begin), .get(OfficeAccounts.callbackPath, .everyone, finish)]
  }

  private var provider: OpenIDProvider {
    get throws {
      guard let provider = office.services.openID else { throw OfficeRefusal.nothing }
      return provider
    }
  }

  private func begin(_ call: OfficeCall) async throws -> Response {
    do {
      let (location, secret) = try await office.accounts.begin(at: try provider, from: call.address)
      var response = Response.redirect(to: location, type: .normal)
      office.gate.setProviderCookie(secret, on: &response)
      return response
    } catch let refusal as OpenIDRefusal {
      return try office.signInPage(call, refusal.words, refusal.status)
    }
  }

  /// Ends on a page: a browser that comes from the provider would follow a redirect without the cookie of the session,
  /// which is sent from the office's own pages alone.
  private func finish(_ call: OfficeCall) async throws -> Response {
    let provider = try provider
    let answer = OfficeAccounts.ProviderAnswer(
      code: call.query("error") == nil ? call.query("code") : nil, state: call.query("state") ?? "",
      issuer: call.query("iss"))
    var response: Response
    do {
      let session = try await office.accounts.signIn(
        answer, keeping: call.providerSecret, at: provider, from: call.origin)
      response = try office.pages.page("provider", "You are signed in", call, ["isSignedIn": true])
      office.gate.setCookie(session, on: &response)
    } catch let refusal as OpenIDRefusal {
      let said = call.query("error").flatMap { $0.wholeMatch(of: /[a-z_]{1,40}/) == nil ? nil : $0 }
      response = try office.pages.page(
        "provider", "Not signed in", call,
        ["reason": refusal.words, "code": refusal.rawValue, "said": said ?? "", "provider": provider.name])
      response.status = refusal.status
    }
    office.gate.setProviderCookie("", on: &response)
    return response
  }
}

extension OpenIDRefusal {
  fileprivate var status: HTTPResponse.Status {
    switch self {
    case .unreachable, .discovery, .exchange: .badGateway
    case .throttled: .tooManyRequests
    case .state, .denied, .mixed, .unreadable, .algorithm, .key, .signature, .issuer, .audience, .expired, .issuedAt,
      .nonce, .subject, .age, .role, .disabled:
      .forbidden
    }
  }
}

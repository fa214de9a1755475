import Administration
import Crypto
import HTTPServing
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Storage
import TenderPayments

/// What every request passes before its handler: session, role, the form's origin and token; and the headers of every
/// answer.
struct OfficeGate: Sendable {
  static let cookie = "tender-office"
  static let deviceCookie = "tender-office-device"
  /// While somebody is at the provider.
  static let providerCookie = "tender-office-provider"

  let accounts: OfficeAccounts
  let settings: OfficeSettings
  let pages: OfficePages
  let random: RandomBytes
  /// The memory that the long bodies of all users share.
  let bodies: BodyBudget

  func answer(_ request: Request, _ context: OfficeContext, _ route: OfficeRoute) async -> Response {
    var response: Response
    do { response = try await pass(request, context, route) } catch {
      response = refusal(error, context)
    }
    addHeaders(to: &response)
    return response
  }

  private func pass(_ request: Request, _ context: OfficeContext, _ route: OfficeRoute) async throws -> Response {
    let known = request.cookies[Self.cookie]?.value ?? ""
    let found = try await accounts.session(known)
    // Whoever has no session gets a value of ours, never keeps one that was planted.
    let token = found == nil && !Self.isToken(known) ? random.hex(32) : known
    if let signIn = try admit(found?.1, request, route) { return signIn }
    let form = try await form(request, token, found.map { (route, $0.1.name) })
    // While a form arrived, its user may have signed out, been disabled, or lost the role.
    let current = found == nil || Self.isRead(request) ? found : try await accounts.session(known)
    if let signIn = try admit(current?.1, request, route) { return signIn }
    let call = OfficeCall(
      request, context, form: form, token: token, session: current?.0, user: current?.1,
      format: try await format(of: current?.1, request), behind: settings.trustedProxies)
    var response = try await answer(call, context, route)
    if found == nil, response.headers[.setCookie] == nil, !Self.same(known, token) { setCookie(token, on: &response) }
    return response
  }

  private func format(of user: OfficeUser?, _ request: Request) async throws -> OfficeFormat {
    let kept =
      if let user {
        try await accounts.database.read { try OfficePreferences.find(of: user.name, in: $0) }
      } else {
        OfficePreferences.none
      }
    return OfficeFormat(kept, accepted: request.headers[.acceptLanguage])
  }

  private static func isRead(_ request: Request) -> Bool { request.method == .get || request.method == .head }

  /// Refuses what the user's role does not allow.
  ///
  /// - Returns: the answer to who is not signed in.
  private func admit(_ user: OfficeUser?, _ request: Request, _ route: OfficeRoute) throws -> Response? {
    guard route.access != .everyone else { return nil }
    guard let user else { return try signIn(for: request) }
    guard route.access.allows(user) else {
      throw OfficeRefusal.forbidden("Your role does not allow this. An administrator can change it.")
    }
    return nil
  }

  /// What is refused is shown on the page of its form, with what was typed.
  private func answer(_ call: OfficeCall, _ context: OfficeContext, _ route: OfficeRoute) async throws -> Response {
    do { return try await route.handler(call) } catch {
      let refusal = known(error, context)
      var call = call
      call.refusal = refusal
      guard let page = route.page, refusal.status != .forbidden, refusal.status != .notFound else { throw refusal }
      var response: Response
      // What the page refuses itself is that it is not there any more.
      do { response = try await page(call) } catch { throw error as? OfficeRefusal ?? refusal }
      response.status = refusal.status
      response.headers[.retryAfter] = refusal.retryAfter.map(String.init)
      return response
    }
  }

  /// A person is led to the page; a form that was sent without a session is refused.
  private func signIn(for request: Request) throws -> Response {
    guard Self.isRead(request) else {
      throw OfficeRefusal.forbidden("You are signed out. Sign in, and send the form again.")
    }
    return .redirect(to: "/sign-in", type: .normal)
  }

  /// The fields of a form that one of the office's own pages has sent.
  ///
  /// - Parameter known: nil for who is not signed in.
  private func form(
    _ request: Request, _ token: String, _ known: (route: OfficeRoute, user: String)?
  ) async throws -> OfficeForm {
    guard !Self.isRead(request) else { return .empty }
    guard isOwn(request) else { throw Self.forged }
    let type = request.headers[.contentType] ?? ""
    let hasFile = known?.route.takesFile == true && OfficeForm.isMultipart(type)
    let limit = known == nil ? OfficeForm.beginning : hasFile ? OfficeForm.fileLimit : OfficeForm.limit
    let share = known.map { bodies.share(of: $0.user) }
    let body = try await BodyReader.collect(request, limit: limit, beginning: OfficeForm.beginning) {
      try check(OfficeForm($0, type, isWhole: false), token)
    } reserve: {
      try share?.grow(to: $0)
    }
    var form = try check(OfficeForm(body, type), token)
    form.share = share
    return form
  }

  /// The token is a field of the form, the first that the office's own pages send.
  @discardableResult private func check(_ form: OfficeForm?, _ token: String) throws -> OfficeForm {
    guard let form else { throw OfficeRefusal.badRequest("The form cannot be read. Send it again.") }
    guard Self.same(form.raw("csrf"), Self.csrf(token)) else { throw Self.forged }
    return form
  }

  private static let forged = OfficeRefusal.forbidden(
    "This form is not from a page of yours, or you have signed in again since. Load the page again.")

  /// Browsers say from which page a form comes; where they do, it must be one of ours.
  private func isOwn(_ request: Request) -> Bool {
    if let site = request.headers[.secFetchSite], !["same-origin", "none"].contains(where: { Self.same($0, site) }) {
      return false
    }
    guard let origin = request.headers[.origin] else { return true }
    let host = request.head.authority ?? ""
    return [settings.url, "http://\(host)", "https://\(host)"].contains { Self.same($0, origin) }
  }

  /// Follows from the cookie, which no other site can read; so it needs no row, and is another one for each session.
  static func csrf(_ token: String) -> String {
    Hex.encode(SHA256.hash(data: Array("tender office csrf \(token)".utf8)))
  }

  private static func isToken(_ text: String) -> Bool { text.utf8.count == 64 && Hex.decode(text) != nil }

  /// In a time that does not depend on where they differ.
  private static func same(_ left: String, _ right: String) -> Bool {
    left.utf8.isEqualInConstantTime(to: right.utf8)
  }
}

// Cookies and headers.
extension OfficeGate {
  func setCookie(_ token: String, on response: inout Response) {
    response.headers[.setCookie] = "\(Self.cookie)=\(token); Path=/\(attributes)"
  }

  /// By which the page of the sign-in alone knows the browser again.
  func setDeviceCookie(_ token: String, on response: inout Response) {
    let age = DeviceTable.life.components.seconds
    let value = "\(Self.deviceCookie)=\(token); Path=/sign-in; Max-Age=\(age)\(attributes)"
    response.headers.append(HTTPField(name: .setCookie, value: value))
  }

  /// After a sign-in. New values: what was there before it opens nothing.
  func setCookies(_ session: String, _ device: String, on response: inout Response) {
    setCookie(session, on: &response)
    setDeviceCookie(device, on: &response)
  }

  /// Comes back with the browser from another site, so it is not as strict as the others; it opens nothing by itself.
  ///
  /// - Parameter secret: empty to take it back.
  func setProviderCookie(_ secret: String, on response: inout Response) {
    let age = secret.isEmpty ? 0 : OfficeAccounts.providerPatience.components.seconds
    let value =
      "\(Self.providerCookie)=\(secret); Path=/sign-in/openid; Max-Age=\(age); HttpOnly; SameSite=Lax"
      + (settings.isSecure ? "; Secure" : "")
    response.headers.append(HTTPField(name: .setCookie, value: value))
  }

  private var attributes: String { "; HttpOnly; SameSite=Strict" + (settings.isSecure ? "; Secure" : "") }

  private static let policy = [
    "default-src 'none'", "script-src 'self'", "connect-src 'self'", "style-src 'self'", "img-src 'self' data:",
    "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")

  private func addHeaders(to response: inout Response) {
    let fixed: [(HTTPField.Name, String)] = [
      (.contentSecurityPolicy, Self.policy), (.xContentTypeOptions, "nosniff"), (.frameOptions, "DENY"),
      // With no referrer at all, browsers would send forms with the origin "null".
      (.referrer, "same-origin"), (.openerPolicy, "same-origin"), (.resourcePolicy, "same-origin"),
    ]
    for (name, value) in fixed { response.headers[name] = value }
    let type = response.headers[.contentType] ?? ""
    if !type.hasPrefix("text/css"), !type.hasPrefix("text/javascript") { response.headers[.cacheControl] = "no-store" }
    if settings.isSecure { response.headers[.strictTransportSecurity] = "max-age=31536000" }
  }

  private func known(_ error: any Error, _ context: OfficeContext) -> OfficeRefusal {
    switch error {
    case let known as OfficeRefusal: return known
    case let failure as BodyReader.Failure: return OfficeRefusal(failure)
    case StorageError.busy:
      return OfficeRefusal(
        status: .serviceUnavailable, reason: "This takes too long. Ask for fewer days or payments, or again later.")
    default:
      context.logger.error("a page of the office failed", metadata: ["error": .string("\(type(of: error)): \(error)")])
      return OfficeRefusal(
        status: .internalServerError, reason: "Something is wrong on our side; the server's log says what.")
    }
  }

  private func refusal(_ error: any Error, _ context: OfficeContext) -> Response {
    let refusal = known(error, context)
    var response = (try? pages.refusal(refusal)) ?? Response(status: refusal.status)
    response.status = refusal.status
    response.headers[.retryAfter] = refusal.retryAfter.map(String.init)
    return response
  }
}

extension OfficeRefusal {
  fileprivate init(_ failure: BodyReader.Failure) {
    self =
      switch failure {
      case .tooLong: OfficeRefusal(status: .contentTooLarge, reason: "The form is too long.")
      case .interrupted, .unsupportedType: .badRequest("The form did not arrive whole. Send it again.")
      case .noRoom:
        OfficeRefusal(
          status: .serviceUnavailable, reason: "Other files are being read. Send this one again in some seconds.",
          retryAfter: 5)
      }
  }
}

extension HTTPField.Name {
  fileprivate static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
  fileprivate static let frameOptions = HTTPField.Name("X-Frame-Options")!
  fileprivate static let referrer = HTTPField.Name("Referrer-Policy")!
  fileprivate static let openerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
  fileprivate static let resourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy")!
}

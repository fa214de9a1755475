package import Administration
import HTTPServing
import HTTPTypes
package import Hummingbird
import NIOCore
import Settings
import TenderPayments

/// An address of the office, who may call it, and what answers.
struct OfficeRoute: Sendable {
  let method: HTTPRequest.Method
  let path: String
  let access: Access
  /// Whether its form may be as long as a file.
  var takesFile = false
  /// The page with its form, which shows a refusal; nil where nothing is typed.
  var page: Handler?
  let handler: Handler

  typealias Handler = @Sendable (OfficeCall) async throws -> Response

  static func get(_ path: String, _ access: Access, on page: Handler? = nil, _ handler: @escaping Handler)
    -> OfficeRoute
  {
    OfficeRoute(method: .get, path: path, access: access, page: page, handler: handler)
  }

  static func post(
    _ path: String, _ access: Access, takesFile: Bool = false, on page: Handler?, _ handler: @escaping Handler
  ) -> OfficeRoute {
    OfficeRoute(method: .post, path: path, access: access, takesFile: takesFile, page: page, handler: handler)
  }
}

/// Who may call an address. At a merchant's own address the role must be held at that merchant too.
package enum Access: Sendable, Hashable {
  case everyone
  case signedIn
  /// At any merchant.
  case role(Role)
  /// At every merchant.
  case everywhere(Role)

  package func allows(_ user: OfficeUser) -> Bool {
    switch self {
    case .everyone, .signedIn: true
    case .role(let role): user.highest.map { $0 >= role } ?? false
    case .everywhere(let role): user.everywhere.map { $0 >= role } ?? false
    }
  }
}

/// One request, after its session, its role and its form were checked.
struct OfficeCall: Sendable {
  let request: Request
  let parameters: Parameters
  let form: OfficeForm
  /// The cookie's token, whether anybody is signed in with it or not.
  let token: String
  let session: OfficeSession?
  private let signedIn: OfficeUser?
  /// Where the caller is.
  let address: String
  let format: OfficeFormat
  /// Why its form is shown again.
  var refusal: OfficeRefusal?

  init(
    _ request: Request, _ context: OfficeContext, form: OfficeForm, token: String, session: OfficeSession?,
    user: OfficeUser?, format: OfficeFormat, behind proxies: TrustedProxies
  ) {
    (self.request, parameters, self.form) = (request, context.parameters, form)
    (self.token, self.session, signedIn, self.format) = (token, session, user, format)
    let header = HTTPField.Name(proxies.header.rawValue)
    address = proxies.caller(at: context.address, said: header.map { request.headers[values: $0] } ?? [])
  }

  /// - Throws: ``OfficeRefusal`` where no user is signed in; routes with a role have refused that before.
  var user: OfficeUser {
    get throws {
      guard let signedIn else { throw OfficeRefusal.forbidden("Sign in first.") }
      return signedIn
    }
  }

  var isSignedIn: Bool { signedIn != nil }

  /// The cookie by which the browser is known after its user has signed out; empty without one.
  var device: String { request.cookies[OfficeGate.deviceCookie]?.value ?? "" }

  /// What the browser keeps while somebody is at the provider; empty without it.
  var providerSecret: String { request.cookies[OfficeGate.providerCookie]?.value ?? "" }

  /// Where it comes from, for a sign-in.
  var origin: OfficeAccounts.Origin {
    OfficeAccounts.Origin(address: address, agent: request.headers[.userAgent] ?? "", device: device)
  }

  func parameter(_ name: String) -> String { parameters.get(name) ?? "" }

  /// A value of the address's query; nil when it is absent or empty.
  func query(_ name: String) -> String? {
    request.query[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// - Throws: ``OfficeRefusal`` without the role at the merchant: as if there were nothing for who may not see it.
  func require(_ role: Role, of merchant: MerchantID) throws {
    guard let held = try user.role(of: merchant) else { throw OfficeRefusal.nothing }
    guard held >= role else {
      throw OfficeRefusal.forbidden("This needs the role \(role.rawValue) at \(merchant).")
    }
  }

  func action(
    _ name: String, merchant: String = "", subject: String, before: String = "", after: String = "",
    reason: String = ""
  ) throws -> OfficeAction {
    OfficeAction(
      try user.name, from: address, name, merchant: merchant, subject: subject, before: before, after: after,
      reason: reason)
  }
}

/// What is known of one request.
package struct OfficeContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  /// The address of the connection: the client's, or that of the proxy in front.
  let address: String

  package init(source: Source) {
    coreContext = .init(source: source)
    address = source.channel.remoteAddress?.ipAddress ?? "local"
  }
}

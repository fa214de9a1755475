import Administration
import DirectWire
import HTTPServing
import HTTPTypes
import Hummingbird
import MerchantIdentity
import PlatformAPI
import TenderPayments

/// Client sessions, and what an app or a page asks under one: Worldline's client API.
struct ClientController: Sendable {
  /// Kits add `/client` to the server's address, unless it is there.
  private static let prefix = "/client/"

  let sessions: ClientSessions
  let keys: CustomerInputKeys
  let publicURL: String

  /// Whether a path belongs to the client API.
  static func serves(_ path: String) -> Bool { path.hasPrefix(prefix) }

  /// `POST /v2/{merchantId}/sessions`
  func create(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    let tokens = try await Self.tokens(request, context)
    let (id, session) = try await sessions.create(for: call.merchant)
    let answer = SessionAnswer(
      clientSessionId: id, customerId: session.customer, clientApiUrl: publicURL + "/client",
      assetUrl: publicURL + "/applepay/", invalidTokens: tokens)
    return JSONAnswer.response(answer, status: .created)
  }

  /// Tender stores no cards, so no token is valid.
  private static func tokens(_ request: Request, _ context: ServerContext) async throws -> [String] {
    let body = try await RequestBody.collect(request)
    guard !body.isEmpty else { return [] }
    let tokens = try RequestBody.refusing { try DirectJSON.read(SessionRequest.self, body) }.tokens ?? []
    guard tokens.count <= ClientSessions.maximumTokens else {
      throw Problem(
        .badRequest, "too_many_tokens", "A session has at most \(ClientSessions.maximumTokens) tokens.", field: "tokens"
      )
    }
    return tokens
  }

  /// `GET …/crypto/publickey`
  func publicKey(_ request: Request, _ context: ServerContext) async throws -> Response {
    let key = try await keys.current()
    return JSONAnswer.response(PublicKeyAnswer(keyId: key.id, publicKey: Base64.encode(key.publicKey)))
  }

  /// `POST …/services/{service}`, such as `getIINdetails`: of card numbers, which are not read.
  func refuseCards(_ request: Request, _ context: ServerContext) throws -> Response {
    throw Problem(.notFound, "cards_not_taken", "Tender takes Apple Pay alone. Send it no card numbers.")
  }
}

/// Verifies `Authorization: GCS v1Client:{clientSessionId}`, and that path and page belong to the session.
struct ClientAuthentication: RouterMiddleware {
  private static let refusal = Problem(
    .forbidden, "client_session_refused",
    "The call names no client session that is open for this customer and page. Create a session again.")
  private static let scheme = "GCS v1Client:"

  let sessions: ClientSessions
  let quotas: Quotas

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    guard let claim = request.headers[.authorization], claim.hasPrefix(Self.scheme),
      let session = try await sessions.find(String(claim.dropFirst(Self.scheme.count))),
      Self.isSame(session.customer, context.parameters.get("customerId")),
      context.caller.map({ $0.merchant.id == session.merchant }) ?? true
    else { throw Self.refusal }
    if let wait = quotas.take(client: session.customer) {
      await quotas.awaitRefusal(of: session.merchant, client: session.customer)
      throw Problem.quotaExceeded(wait)
    }
    var context = context
    context.clientSession = session
    return try await next(request, context)
  }

  /// Compared as bytes.
  private static func isSame(_ customer: String, _ name: String?) -> Bool {
    name?.utf8.elementsEqual(customer.utf8) == true
  }
}

import HTTPServing
import Hummingbird
import Orders

/// The keys by which anybody can check a guest token.
struct GuestTokenController: Sendable {
  let issuer: GuestTokenIssuer

  /// `GET /applepay/jwks.json`, RFC 7517.
  func keys(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(bytes: Array(try await issuer.keySet.utf8), contentType: "application/jwk-set+json")
  }
}

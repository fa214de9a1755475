import Administration
import HTTPServing
import Hummingbird
import StrictJSON
import TenderPayments

/// What `tender privacy` asks of a running server. Persons are named in bodies, which no log has.
struct PrivacyController: Sendable {
  let privacy: Privacy

  /// `POST /privacy/export` with a ``PrivacySubject``
  func export(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await privacy.export(try await subject(request)))
  }

  /// `POST /privacy/erase?by=USER&reason=…` with a ``PrivacySubject``
  func erase(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    let asked = OfficeAction(
      CommandLineOperator(query["by"] ?? "").actor, from: "", "privacy.erase", reason: query["reason"] ?? "")
    return JSONAnswer.response(try await privacy.erase(try await subject(request), asked))
  }

  private func subject(_ request: Request) async throws -> PrivacySubject {
    let body = try await BodyReader.collect(request, limit: 4_096)
    return try RequestBody.refusing { try StrictJSONDecoder().decode(PrivacySubject.self, from: body) }
  }
}

import HTTPServing
import HTTPTypes
import Hummingbird
import StrictJSON
import TenderPayments
import TokenIssuer

/// The acquirer's routes: authenticate, decode, call the store, render.
struct AcquirerRoutes<Context: RequestContext>: Sendable {
  let service: SandboxAcquirerService
  private var store: AcquirerStore { service.store }

  @Sendable func authorize(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { merchant, _, body in
      let (wanted, refusal) = try await service.read(body)
      let stored = try await store.storedCard(wanted, of: merchant)
      let script = ScriptedResponse(wanted, refusal: refusal, storedCard: stored)
      let isNew = try await store.answer(to: wanted.reference, of: merchant) == nil
      if isNew, script.outcome == .noAnswer { return try await silence() }
      let answer = try await store.hold(wanted, of: merchant, script.outcome)
      if isNew, script.outcome == .noAnswerAfterApproval { return try await silence() }
      if isNew { try await Task.sleep(for: script.delay) }
      return JSONAnswer.response(answer.json)
    }
  }

  @Sendable func capture(_ request: Request, _ context: Context) async throws -> Response {
    try await followUp(.capture, request, context)
  }

  @Sendable func void(_ request: Request, _ context: Context) async throws -> Response {
    try await followUp(.void, request, context)
  }

  @Sendable func refund(_ request: Request, _ context: Context) async throws -> Response {
    try await followUp(.refund, request, context)
  }

  @Sendable func reverse(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { merchant, reference, body in
      guard try body.member("reference").string == reference else { throw AcquirerProblem.invalid("reference") }
      let code = try await store.reverse(reference, of: merchant)
      return JSONAnswer.response([
        "reference": .string(reference), "result": .string(code == "12" ? "declined" : "approved"),
        "responseCode": .string(code),
      ])
    }
  }

  @Sendable func inquire(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { merchant, reference, _ in
      guard let answer = try await store.resolvedAnswer(to: reference, of: merchant) else {
        throw AcquirerProblem.notFound
      }
      return JSONAnswer.response(answer.json)
    }
  }

  /// `{url}`: where the merchant receives events.
  @Sendable func sendEvents(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { merchant, _, body in
      try await store.sendEvents(of: merchant, to: try body.member("url").string)
      return JSONAnswer.response(["url": .string(try body.member("url").string)])
    }
  }

  /// `{merchantIdentifier}`: a signing request for the certificate that the merchant's payment tokens are encrypted to.
  @Sendable func requestCertificate(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { _, _, body in
      guard let keys = service.keys else { throw AcquirerProblem.notFound }
      let csr = try await keys.request(for: try body.member("merchantIdentifier").string)
      return JSONAnswer.response(["csr": .string(csr)])
    }
  }

  /// `?limit=` rows, newest first.
  @Sendable func list(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { merchant, _, _ in
      let limit = request.query["limit"].flatMap { Int64($0) } ?? 500
      let holds = try await store.holds(of: merchant, limit: min(max(limit, 0), 100_000))
      return JSONAnswer.response(["authorizations": .array(holds.map(\.json))])
    }
  }

  private func followUp(_ kind: FollowUp, _ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { merchant, name, body in
      let isLater = service.later.contains(kind)
      return JSONAnswer.response(
        try await store.apply(kind, try FollowUpRequest(body), to: name, of: merchant, later: isLater).json)
    }
  }

  /// Waits until the caller has given up.
  private func silence() async throws -> Response {
    try await Task.sleep(for: service.silence)
    return Response(status: .gatewayTimeout)
  }

  /// Authenticates the merchant, reads the body, and renders errors.
  func answering(
    _ request: Request, _ context: Context,
    _ work: @Sendable (_ merchant: String, _ name: String, _ body: JSONField) async throws -> Response
  ) async throws -> Response {
    do {
      let merchant = try merchant(request)
      return try await work(merchant, context.parameters.get("name") ?? "", JSONField(try await body(request)))
    } catch let problem as AcquirerProblem {
      return problem.response
    } catch let error as JSONError {
      return AcquirerProblem(status: 400, code: "invalid_request", message: error.description).response
    } catch BodyReader.Failure.tooLong {
      return AcquirerProblem.tooLong.response
    }
  }

  private func body(_ request: Request) async throws -> JSONValue {
    let bytes = try await BodyReader.collect(request, limit: Self.maximumBody)
    return bytes.isEmpty ? .null : try JSONReader.read(bytes)
  }

  /// The longest body that the acquirer accepts: 64 KiB.
  private static var maximumBody: Int { 65_536 }

  private func merchant(_ request: Request) throws(AcquirerProblem) -> String {
    let header = request.headers[.authorization] ?? ""
    guard header.hasPrefix("Bearer "), let merchant = service.apiKeys[String(header.dropFirst(7))] else {
      throw AcquirerProblem(status: 401, code: "unauthorized", message: "an API key of the acquirer is missing")
    }
    return merchant
  }
}

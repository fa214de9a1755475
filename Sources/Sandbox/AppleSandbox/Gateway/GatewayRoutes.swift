import HTTPServing
import Hummingbird
import Logging
import NIOSSL
import StrictJSON
import SwiftASN1
import TokenIssuer
import X509

/// Apple's gateway over mutual TLS: read the client's certificate, decode, call the service, render.
struct GatewayRoutes: Sendable {
  let service: SessionService
  let registrations: RegistrationService
  let pki: SandboxPKI
  let faults: InjectedFaults
  let activity: RecentActivity

  func paymentSession(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await answer(request, context) { body throws(GatewayError) in try SessionRequest(paymentSession: body) }
  }

  func startSession(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await answer(request, context) { body throws(GatewayError) in try SessionRequest(startSession: body) }
  }

  /// The three calls of the registration API, which a platform makes under its identity certificate.
  func registerMerchant(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let call = try RegistrationCall(try await BodyReader.collect(request, limit: SandboxContext.maximumBody))
    try await registrations.register(call, for: try await client(context))
    activity.note(.sessions, call.partner, "registered \(call.domains.joined(separator: ", "))")
    return Response(status: .ok)
  }

  func unregisterMerchant(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let call = try RegistrationCall(
      unregister: try await BodyReader.collect(request, limit: SandboxContext.maximumBody))
    try await registrations.unregister(call, for: try await client(context))
    activity.note(.sessions, call.partner, "unregistered \(call.domains.joined(separator: ", "))")
    return Response(status: .ok)
  }

  func merchantDetails(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let partner = try await registrations.partner(context.parameter("merchant"), for: try await client(context))
    return JSONAnswer.response(partner.details)
  }

  private func answer(
    _ request: Request, _ context: SandboxContext, decode: ([UInt8]) throws(GatewayError) -> SessionRequest
  ) async throws -> Response {
    if faults.take(.gatewayUnavailable) { throw GatewayError.unavailable }
    let wanted = try decode(await BodyReader.collect(request, limit: SandboxContext.maximumBody))
    let session = try await service.open(wanted, for: client(context))
    activity.note(.sessions, session.merchantIdentifier, "\(wanted.initiative.rawValue) \(wanted.context)")
    return JSONAnswer.response(session.json)
  }

  func client(_ context: SandboxContext) async throws -> GatewayClient {
    guard let peer = try await context.channel.nioSSL_peerCertificate().get(),
      let client = GatewayClient(certificate: try Certificate(derEncoded: peer.toDERBytes()), issuedBy: pki)
    else { throw GatewayError.foreignCertificate }
    return client
  }
}

/// Renders errors in Apple's form, and reports each to the log and the page of recent activity.
struct GatewayErrorMiddleware: RouterMiddleware {
  typealias Context = SandboxContext

  let activity: RecentActivity

  func handle(
    _ request: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch {
      guard let refusal = Self.refusal(error) else { throw error }
      report(refusal, of: request, context)
      return refusal.response
    }
  }

  private static func refusal(_ error: any Error) -> GatewayError? {
    switch error {
    case let refusal as GatewayError: refusal
    case BodyReader.Failure.tooLong: .tooLong
    case let error as any HTTPResponseError where error.status == .notFound: .wrongURL
    default: nil
    }
  }

  private func report(_ refusal: GatewayError, of request: Request, _ context: SandboxContext) {
    let call = "\(request.method.rawValue) \(request.uri.path)"
    activity.note(
      .sessions, "the gateway", call, refusal: "\(refusal.status) \(refusal.message). \(refusal.remedy)")
    context.logger.warning(
      "the gateway refused a call",
      metadata: [
        "call": "\(call)", "status": "\(refusal.status)", "reason": "\(refusal.message)",
        "remedy": "\(refusal.remedy)",
      ])
  }
}

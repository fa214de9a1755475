import HTTPServing
import Hummingbird
import NIOSSL
import StrictJSON
import SwiftASN1
import TokenIssuer
import X509

/// Apple's gateway over mutual TLS: read the client's certificate, decode, call the service, render.
struct GatewayRoutes: Sendable {
  let service: SessionService
  let pki: SandboxPKI
  let faults: InjectedFaults

  func paymentSession(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await answer(request, context) { body throws(GatewayError) in try SessionRequest(paymentSession: body) }
  }

  func startSession(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await answer(request, context) { body throws(GatewayError) in try SessionRequest(startSession: body) }
  }

  private func answer(
    _ request: Request, _ context: SandboxContext, decode: ([UInt8]) throws(GatewayError) -> SessionRequest
  ) async throws -> Response {
    if faults.take(.gatewayUnavailable) { throw GatewayError.unavailable }
    let wanted = try decode(await BodyReader.collect(request, limit: SandboxContext.maximumBody))
    return JSONAnswer.response(try await service.open(wanted, for: client(context)).json)
  }

  private func client(_ context: SandboxContext) async throws -> GatewayClient {
    guard let peer = try await context.channel.nioSSL_peerCertificate().get(),
      let client = GatewayClient(certificate: try Certificate(derEncoded: peer.toDERBytes()), issuedBy: pki)
    else { throw HTTPError(.forbidden) }
    return client
  }
}

/// Renders errors in Apple's form.
struct GatewayErrorMiddleware: RouterMiddleware {
  typealias Context = SandboxContext

  func handle(
    _ request: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let refusal as GatewayError {
      return refusal.response
    } catch BodyReader.Failure.tooLong {
      return GatewayError.tooLong.response
    } catch let error as any HTTPResponseError where error.status == .notFound {
      return GatewayError.wrongURL.response
    }
  }
}

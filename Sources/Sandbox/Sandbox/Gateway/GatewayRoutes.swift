import Hummingbird
import NIOSSL
import StrictJSON
import SwiftASN1
import X509

/// Apple's gateway over mutual TLS: read the client's certificate, decode, ask the desk, render.
struct GatewayRoutes: Sendable {
  let desk: SessionDesk
  let pki: SandboxPKI
  let mischief: Mischief

  func paymentSession(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await answer(request, context) { body throws(GatewayRefusal) in try SessionRequest(paymentSession: body) }
  }

  func startSession(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await answer(request, context) { body throws(GatewayRefusal) in try SessionRequest(startSession: body) }
  }

  private func answer(
    _ request: Request, _ context: SandboxContext, decode: ([UInt8]) throws(GatewayRefusal) -> SessionRequest
  ) async throws -> Response {
    if mischief.take(.gatewayUnavailable) { throw GatewayRefusal.unavailable }
    let wanted = try decode(await request.bytes())
    return .json(try await desk.open(wanted, for: client(context)).json)
  }

  private func client(_ context: SandboxContext) async throws -> GatewayClient {
    guard let peer = try await context.channel.nioSSL_peerCertificate().get(),
      let client = GatewayClient(certificate: try Certificate(derEncoded: peer.toDERBytes()), issuedBy: pki)
    else { throw HTTPError(.forbidden) }
    return client
  }
}

/// Answers what is thrown in Apple's shape.
struct GatewayRefusalMiddleware: RouterMiddleware {
  typealias Context = SandboxContext

  func handle(
    _ request: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let refusal as GatewayRefusal {
      return .json(refusal.json, status: refusal.status)
    } catch let error as any HTTPResponseError where error.status == .notFound {
      return .json(GatewayRefusal.wrongURL.json, status: 404)
    }
  }
}

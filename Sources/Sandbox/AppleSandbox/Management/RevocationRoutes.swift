import Foundation
import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import TenderPayments
import TokenIssuer

/// What the addresses in the sandbox's certificates serve: revocation lists, and OCSP by POST and GET (RFC 6960 §A.1).
struct RevocationRoutes: Sendable {
  let pki: SandboxPKI
  let portal: DeveloperPortal
  let clock: WallClock

  func list(_ request: Request, _ context: SandboxContext) throws -> Response {
    let file = try context.parameter("file")
    guard file.hasSuffix(".crl"), let authority = IssuingAuthority(rawValue: String(file.dropLast(4))) else {
      throw HTTPError(.notFound)
    }
    return Self.response(try pki.revocationList(of: authority, at: clock.now()), "application/pkix-crl")
  }

  func statusByPost(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await status(BodyReader.collect(request, limit: SandboxContext.maximumBody), context)
  }

  /// The request is in the path, in base64.
  func statusByGet(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let text = context.parameters.getCatchAll().joined(separator: "/")
    return try await status(Base64.decode(text.removingPercentEncoding ?? text) ?? [], context)
  }

  private func status(_ request: [UInt8], _ context: SandboxContext) async throws -> Response {
    guard let authority = IssuingAuthority(rawValue: try context.parameter("authority")) else {
      throw HTTPError(.notFound)
    }
    let merchants = Set(await portal.merchants.flatMap(\.certificates).map(\.id))
    let answer = try pki.ocspResponse(to: request, of: authority, merchants: merchants, at: clock.now())
    return Self.response(answer, "application/ocsp-response")
  }

  private static func response(_ bytes: [UInt8], _ type: String) -> Response {
    Response(status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}

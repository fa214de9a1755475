import HTTPServing
import Hummingbird
import StrictJSON
import TenderPayments
import TokenIssuer

/// The developer portal over HTTP: decode, call, render.
struct PortalRoutes: Sendable {
  let portal: DeveloperPortal

  func list(_ request: Request, _ context: SandboxContext) async throws -> Response {
    JSONAnswer.response(["merchants": .array(await portal.merchants.map(\.json))])
  }

  func show(_ request: Request, _ context: SandboxContext) async throws -> Response {
    JSONAnswer.response(try await portal.merchant(context.parameter("merchant")).json)
  }

  func register(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let body = try await request.json()
    let merchant = try await portal.register(
      body.member("merchantIdentifier").string, displayName: body.memberIfPresent("displayName")?.string)
    return JSONAnswer.response(merchant.json, status: .created)
  }

  func issueCertificate(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let body = try await request.json()
    guard let type = MerchantCertificateKind(rawValue: try body.member("type").string) else {
      throw SandboxProblem(
        status: 400, code: "invalid_request", message: "type is identity or processing, nothing else.")
    }
    let record = try await portal.issueCertificate(
      type, csr: body.member("csr").string, to: context.parameter("merchant"))
    return JSONAnswer.response(record.json, status: .created)
  }

  func activate(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let certificate = try await portal.activate(context.parameter("certificate"), of: context.parameter("merchant"))
    return JSONAnswer.response(certificate.json)
  }

  func revoke(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await portal.revoke(context.parameter("certificate"), of: context.parameter("merchant"))
    return Response(status: .noContent)
  }

  /// Gives the merchant the registration API, as Apple does after an application.
  func becomePlatform(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let file = try await portal.makePlatform(context.parameter("merchant"))
    return JSONAnswer.response(["associationFile": .string(file)], status: .created)
  }

  func addDomain(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let domain = try await request.json().member("domain").string
    let added = try await portal.addDomain(domain, to: context.parameter("merchant"))
    return JSONAnswer.response(added.json, status: .created)
  }

  func verifyDomain(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let domain = try await portal.verifyDomain(context.parameter("domain"), of: context.parameter("merchant"))
    return JSONAnswer.response(domain.json)
  }
}

extension PortalMerchant {
  var json: JSONValue {
    [
      "merchantIdentifier": .string(merchantIdentifier), "displayName": .string(displayName),
      "merchantIdentifierHash": .string(hash.description), "certificates": .array(certificates.map(\.json)),
      "domains": .array(domains.map(\.json)),
    ]
  }
}

extension PortalCertificate {
  var json: JSONValue {
    [
      "id": .string(id), "type": .string(type.rawValue), "active": .bool(isActive),
      "expires": .string(Timestamp(seconds: expiresAt).description), "certificate": .string(certificate),
    ]
  }
}

extension PortalDomain {
  var json: JSONValue {
    JSONObject.of([
      "domain": .string(name), "verified": .bool(verifiedAt != nil),
      "verifiedAt": verifiedAt.map { .string(Timestamp(seconds: $0).description) },
      "associationFile": .string(associationFile), "associationURL": associationURL.map(JSONValue.string),
    ])
  }
}

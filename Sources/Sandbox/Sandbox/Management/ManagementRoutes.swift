import Hummingbird
import StrictJSON

/// What a test or a server under test asks of the sandbox as a sandbox.
struct ManagementRoutes: Sendable {
  let pki: SandboxPKI
  let portal: DeveloperPortal
  let sessions: SessionBook
  let device: Device
  let mischief: Mischief
  let addresses: SandboxAddressBook
  /// What a server under test calls the acquirer with; nil without one.
  let acquirerKey: String?

  /// What has to be trusted to work against this sandbox, and where its gateway is.
  func certificateAuthorities(_ request: Request, _ context: SandboxContext) throws -> Response {
    .json([
      "rootPEM": .string(try pki.rootPEM), "tlsRootPEM": .string(try pki.tlsRootPEM),
      "gatewayURL": .string(addresses.current.gatewayURL), "acquirerKey": acquirerKey.map(JSONValue.string) ?? .null,
    ])
  }

  func state(_ request: Request, _ context: SandboxContext) async throws -> Response {
    .json([
      "merchants": .array(await portal.merchants.map { .string($0.merchantIdentifier) }),
      "sessions": .integer(Int64(await sessions.count)), "tokensMinted": .integer(Int64(await device.mintedCount)),
    ])
  }

  /// Forgets all merchant sessions and ordered mischief. Merchants and certificates stay.
  func resetSessions(_ request: Request, _ context: SandboxContext) async throws -> Response {
    await sessions.reset()
    mischief.clear()
    return Response(status: .noContent)
  }

  func misbehave(_ request: Request, _ context: SandboxContext) async throws -> Response {
    guard let kind = Mischief.Kind(rawValue: try await request.json().member("next").string) else {
      let known = Mischief.Kind.allCases.map(\.rawValue).joined(separator: ", ")
      throw SandboxProblem(status: 400, code: "invalid_request", message: "next is one of: \(known).")
    }
    mischief.order(kind)
    return Response(status: .noContent)
  }
}

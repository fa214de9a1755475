import HTTPServing
import Hummingbird
import StrictJSON
import TenderPayments
import TokenIssuer

/// The management API, for tests and for the server under test.
struct ManagementRoutes: Sendable {
  let clock: SimulationClock
  let pki: SandboxPKI
  let portal: DeveloperPortal
  let sessions: SessionStore
  let device: Device
  let faults: InjectedFaults
  let addresses: ListeningAddresses
  /// The acquirer's API key for the server under test; nil without one.
  let acquirerKey: String?
  /// Whether phones on the network reach the page with which they pay.
  let servesPhones: Bool

  /// The roots to trust, the gateway's address, and whether a sheet shows its code unasked.
  func certificateAuthorities(_ request: Request, _ context: SandboxContext) throws -> Response {
    JSONAnswer.response([
      "rootPEM": .string(try pki.rootPEM), "tlsRootPEM": .string(try pki.tlsRootPEM),
      "gatewayURL": .string(addresses.current.gatewayURL), "acquirerKey": acquirerKey.map(JSONValue.string) ?? .null,
      "servesPhones": .bool(servesPhones), "clockAheadMicroseconds": .integer(clock.ahead.microseconds),
    ])
  }

  func state(_ request: Request, _ context: SandboxContext) async throws -> Response {
    JSONAnswer.response([
      "merchants": .array(await portal.merchants.map { .string($0.merchantIdentifier) }),
      "sessions": .integer(Int64(await sessions.count)), "tokensMinted": .integer(Int64(await device.issuedCount)),
    ])
  }

  /// Forgets all merchant sessions and injected faults. Merchants and certificates stay.
  func resetSessions(_ request: Request, _ context: SandboxContext) async throws -> Response {
    await sessions.reset()
    faults.clear()
    return Response(status: .noContent)
  }

  func misbehave(_ request: Request, _ context: SandboxContext) async throws -> Response {
    guard let kind = InjectedFaults.Kind(rawValue: try await request.json().member("next").string) else {
      let known = InjectedFaults.Kind.allCases.map(\.rawValue).joined(separator: ", ")
      throw SandboxProblem(status: 400, code: "invalid_request", message: "next is one of: \(known).")
    }
    faults.inject(kind)
    return Response(status: .noContent)
  }
}

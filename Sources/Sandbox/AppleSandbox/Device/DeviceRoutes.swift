import HTTPServing
import Hummingbird
import StrictJSON
import TenderPayments
import TokenIssuer

/// The simulated device over HTTP, for the sheet's script and for tests.
struct DeviceRoutes: Sendable {
  let device: Device
  let sessions: SessionStore
  let portal: DeveloperPortal

  func cards(_ request: Request, _ context: SandboxContext) -> Response {
    JSONAnswer.response(.array(SandboxCards.all.map(\.json)))
  }

  func contacts(_ request: Request, _ context: SandboxContext) -> Response {
    JSONAnswer.response(.array(SandboxContacts.all.map(\.json)))
  }

  /// Whether a merchant session would be accepted, without using it up: what a browser checks when the page completes
  /// merchant validation.
  func checkSession(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let session = try await request.json().member("merchantSession")
    _ = try await sessions.check(session, on: caller(request).host)
    return JSONAnswer.response(["valid": true])
  }

  /// Whether a page can take payments as this merchant, which a browser asks before it reports an active card.
  func availability(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let merchant = await portal.merchant(identifierOrHash: try context.parameter("merchant"))
    let host = caller(request).host
    let isVerified = merchant.map { merchant in host.map(merchant.hasVerified) ?? true } ?? false
    return JSONAnswer.response(["registered": .bool(merchant != nil), "domainVerified": .bool(isVerified)])
  }

  func pay(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let token = try await device.pay(DevicePaymentRequest(request.json()), from: caller(request))
    return JSONAnswer.response(token.json)
  }

  private func caller(_ request: Request) -> DeviceCaller { DeviceCaller(origin: request.headers[.origin]) }
}

extension SandboxCard {
  /// `network` as a request spells it, `networkName` as a payment token does.
  var json: JSONValue {
    [
      "id": .string(id), "label": .string(label), "network": .string(network.rawValue),
      "networkName": .string(networkName), "type": .string(type.rawValue), "displayName": .string(displayName),
      "outcome": .string(outcome.code), "explanation": .string(outcome.explanation),
    ]
  }
}

extension SandboxContact {
  /// Apple's members beside `id` and `label`, and under `redacted` what a merchant sees of it before authorization.
  var json: JSONValue {
    var object: JSONObject = ["id": .string(id), "label": .string(label)]
    if case .object(let own) = members { for (key, value) in own.members { object[key] = value } }
    object["redacted"] = redacted.members
    return .object(object)
  }
}

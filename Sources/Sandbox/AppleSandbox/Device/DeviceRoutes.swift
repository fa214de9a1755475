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
  let activity: RecentActivity

  func cards(_ request: Request, _ context: SandboxContext) -> Response {
    JSONAnswer.response(.array(SandboxCards.all.map(\.json)))
  }

  func contacts(_ request: Request, _ context: SandboxContext) -> Response {
    JSONAnswer.response(.array(SandboxContacts.all.map(\.json)))
  }

  /// Whether a merchant session would be accepted, without using it up: what a browser checks when the page completes
  /// merchant validation.
  func checkSession(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let body = try await request.json()
    let session = try body.member("merchantSession")
    let host = try caller(request, body).topHost
    try await noting(.sessions, "the device", "checks a merchant session for \(host ?? "an app")") {
      _ = try await sessions.check(session, on: host)
    }
    return JSONAnswer.response(["valid": true])
  }

  /// Whether a page can take payments as this merchant, which a browser asks before it reports an active card. WebKit asks
  /// by the domain of the document that calls, in a frame as well.
  func availability(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let name = try context.parameter("merchant")
    let (merchant, host) = (
      await portal.merchant(identifierOrHash: name), DeviceCaller(origin: request.headers[.origin]).host
    )
    let partner = await portal.partner(name)
    let isVerified = merchant?.hasVerified ?? partner?.hasVerified
    let isRegistered = merchant != nil || partner != nil
    return JSONAnswer.response([
      "registered": .bool(isRegistered),
      "domainVerified": .bool(isRegistered && (host.flatMap { isVerified?($0) } ?? true)),
    ])
  }

  func pay(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let body = try await request.json()
    let caller = try caller(request, body)
    let token = try await noting(.tokens, "the device", "issues a payment token for \(caller.topHost ?? "an app")") {
      let payment = try DevicePaymentRequest(body)
      let token = try await device.pay(payment, from: caller)
      activity.note(
        .tokens, payment.card.id,
        "\(payment.amount) for \(caller.topHost ?? "an app"), transaction \(Hex.encode(token.transactionID))")
      return token
    }
    return JSONAnswer.response(token.json)
  }

  /// Notes why the device rejects a call.
  private func noting<Value: Sendable>(
    _ list: RecentActivity.List, _ subject: String, _ detail: String, _ body: () async throws -> Value
  ) async throws -> Value {
    do {
      return try await body()
    } catch {
      let reason = (error as? SandboxProblem).map { "\($0.code): \($0.message)" } ?? "\(error)"
      activity.note(list, subject, detail, refusal: reason)
      throw error
    }
  }

  private func caller(_ request: Request, _ body: JSONField) throws -> DeviceCaller {
    DeviceCaller(origin: request.headers[.origin], topHost: try body.memberIfPresent("topHost")?.string)
  }
}

extension SandboxCard {
  /// `network` as a request spells it, `networkName` as a payment token does.
  var json: JSONValue {
    [
      "id": .string(id), "label": .string(label), "network": .string(network.rawValue),
      "networkName": .string(networkName), "type": .string(type.rawValue), "displayName": .string(displayName),
      "outcome": .string(outcome.code), "explanation": .string(outcome.explanation),
      "answersWithEMV": .bool(answersWithEMV), "givesMerchantToken": .bool(merchantToken != nil),
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

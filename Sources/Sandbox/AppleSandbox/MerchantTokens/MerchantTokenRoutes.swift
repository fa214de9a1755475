import AcquirerSandbox
import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON
import TenderPayments
import TokenIssuer

/// The wallet's agreements over HTTP, for its page and for tests, and Apple's calls about merchant tokens at the gateway.
struct MerchantTokenRoutes: Sendable {
  let tokens: MerchantTokenStore
  let gateway: GatewayRoutes
  let portal: DeveloperPortal
  let faults: InjectedFaults
  let activity: RecentActivity

  // MARK: The wallet

  func list(_ request: Request, _ context: SandboxContext) async -> Response {
    var rows: [JSONValue] = []
    for token in await tokens.tokens { rows.append(await json(token)) }
    return JSONAnswer.response(.array(rows))
  }

  /// `{"event": "UNLINK", "by": "user", "delivery": "at_once"}`
  func happen(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let body = try await request.json()
    let kinds = MerchantTokenEvent.Kind.allCases.map(\.rawValue)
    let deliveries = MerchantTokenEvent.Delivery.allCases.map(\.rawValue)
    guard let kind = MerchantTokenEvent.Kind(rawValue: try body.member("event").string),
      let delivery = MerchantTokenEvent.Delivery(rawValue: try body.memberIfPresent("delivery")?.string ?? "at_once"),
      case let party = try body.memberIfPresent("by")?.string ?? "user", ["user", "issuer"].contains(party)
    else {
      throw SandboxProblem(
        status: 400, code: "invalid_request",
        message: "event is one of \(kinds.joined(separator: ", ")); delivery one of "
          + "\(deliveries.joined(separator: ", ")); by is user or issuer.")
    }
    let token = try await tokens.happen(kind, to: context.parameter("token"), by: party, delivery)
    return JSONAnswer.response(await json(token))
  }

  private func json(_ token: MerchantToken) async -> JSONValue {
    let events = await tokens.events(of: token)
    return JSONObject.of([
      "merchantTokenIdentifier": .string(token.identifier), "merchantIdentifier": .string(token.merchantIdentifier),
      "merchant": .string(await portal.merchant(identifierOrHash: token.merchantIdentifier)?.displayName ?? ""),
      "card": .string(token.card?.label ?? token.cardID), "suffix": .string(token.suffix),
      "expiry": .string(token.expiry), "agreement": .string(token.agreement),
      "notificationURL": token.notificationURL.map(JSONValue.string), "givenAt": .string(token.givenAt.description),
      "unlinkedBy": token.unlinkedBy.map(JSONValue.string),
      "events": .array(
        events.prefix(5).map { event -> JSONValue in
          [
            "id": .string(event.id), "event": .string(event.kind.rawValue), "by": .string(event.reason),
            "at": .string(event.happenedAt.description), "acknowledged": .integer(Int64(event.acknowledged)),
            "waiting": .integer(Int64(event.notifications)),
          ]
        }),
    ])
  }

  // MARK: The gateway

  func event(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await answering(request, context) { merchants in
      guard let event = await tokens.event(try context.parameter("event"), of: merchants) else {
        throw Refusal(status: 400, message: "no such event of this merchant")
      }
      return Response(
        status: .ok, headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: event.body)))
    }
  }

  func unlink(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await answering(request, context) { merchants in
      let body = try await BodyReader.collect(request, limit: SandboxContext.maximumBody)
      guard case .object(let members)? = try? JSONReader.read(body),
        case .string(let token)? = members["merchantTokenIdentifier"], (1...64).contains(token.count)
      else { throw Refusal(status: 400, message: "merchantTokenIdentifier is missing") }
      guard try await tokens.unlink(token, of: merchants) else {
        throw Refusal(status: 400, message: "the merchant token is not this merchant's")
      }
      activity.note(.tokens, token, "unlinked by the merchant")
      return Response(status: .noContent)
    }
  }

  /// Apple's `ErrorResponse`.
  private struct Refusal: Error {
    let status: Int
    let message: String
  }

  private func answering(
    _ request: Request, _ context: SandboxContext, _ body: ([String]) async throws -> Response
  ) async throws -> Response {
    do {
      if faults.take(.gatewayUnavailable) { throw Refusal(status: 500, message: "the service is unavailable") }
      let client = try await gateway.client(context)
      guard request.headers[.contentType] == "application/json" else {
        throw Refusal(status: 400, message: "Content-Type is not application/json")
      }
      guard let id = HTTPField.Name("x-request-id"), let value = request.headers[id], !value.isEmpty else {
        throw Refusal(status: 400, message: "x-request-id is missing")
      }
      return try await body(try await merchants(named: context.parameter("merchant"), client))
    } catch let refusal as Refusal {
      activity.note(
        .tokens, "the gateway", "\(request.method.rawValue) \(request.uri.path)",
        refusal: "\(refusal.status) \(refusal.message)")
      return JSONAnswer.response(
        [
          "statusCode": .integer(Int64(refusal.status)), "statusMessage": .string(refusal.message),
          "subStatusCode": .integer(0),
        ], status: .init(code: refusal.status))
    }
  }

  /// Under which identifiers the caller's tokens are: its own, or that of a merchant whom it has registered as a platform.
  private func merchants(named name: String, _ client: GatewayClient) async throws -> [String] {
    let own = await portal.merchant(identifierOrHash: client.hash.description)
    guard let own, own.certificates.contains(where: { $0.id == client.certificateID }) else {
      throw Refusal(status: 400, message: "the merchant's certificate is not valid any more")
    }
    if own.merchantIdentifier == name || own.hash.description == name.uppercased() { return [own.merchantIdentifier] }
    let partner = await portal.merchant(own.merchantIdentifier, partner: name)
    guard let partner else { throw Refusal(status: 400, message: "the merchant is not the certificate's") }
    return [partner, own.merchantIdentifier]
  }
}

extension DeveloperPortal {
  /// The name of a partner of the platform, also where the caller gives its hash.
  fileprivate func merchant(_ platform: String, partner name: String) -> String? {
    (try? merchant(platform).partners)?.first {
      $0.identifier == name || MerchantHash(merchantIdentifier: $0.identifier).description == name.uppercased()
    }?.identifier
  }
}

/// Sends Apple's notifications while the sandbox runs.
struct MerchantTokenNotifications: EventSource {
  let tokens: MerchantTokenStore

  func deliverEvents(after delay: Duration, by delivery: EventDelivery) async throws {
    try await tokens.notify(by: delivery.get)
  }
}

import Acquiring
import Administration
import Gateway
import HTTPServing
import HTTPTransport
import HTTPTypes
import Hummingbird
import Ledger
import Logging
import NIOCore
import TenderPayments

/// Receives the events that acquirers and providers send: `POST /acquirers/{connector}/events`, or
/// `/acquirers/{connector}/{account}/events` for a route with an account's name.
///
/// Acknowledges an authentic event even if it changes nothing. An event that arrives before an earlier one gets 503, so
/// that the sender repeats it. One that is about money and cannot be read is refused too, with an error in the log.
struct EventController: Sendable {
  let gateway: PaymentGateway
  let clock: WallClock
  let metrics: Metrics

  func receive(_ request: Request, _ context: ServerContext) async throws -> Response {
    let (route, _) = try route(context)
    let event = InboundEvent(
      headers: request.headers.map { HTTPTransport.HTTPField($0.name.rawName, $0.value) },
      body: try await RequestBody.collect(request), arrivedAt: clock.now())
    do {
      let received = try await gateway.receive(event, through: route)
      for verdict in received.verdicts { count(verdict.name, route) }
      for _ in 0..<received.passedOver { count("passed_over", route) }
      if let refusal = received.refusal { throw refusal }
      guard !received.isEarly else { throw Self.early }
      return Self.response(received.acknowledgement)
    } catch let refusal as EventRefusal {
      count(refusal.rawValue, route)
      let problem = Problem(Self.status(refusal), refusal.rawValue, "\(refusal.reason).")
      if problem.status == .badRequest {
        context.logger.error(
          "an event of a provider waits until it can be read",
          metadata: ["route": .string(route), "reason": .string(refusal.rawValue)])
      }
      throw problem
    }
  }

  private static func status(_ refusal: EventRefusal) -> HTTPResponse.Status {
    switch refusal {
    case .notExpected, .notAuthentic: .unauthorized
    case .unintelligible, .ofAnotherRoute: .badRequest
    }
  }

  /// `GET` at the same address: a provider checks the address before it sends events there.
  func answerChallenge(_ request: Request, _ context: ServerContext) throws -> Response {
    let (_, acquirer) = try route(context)
    guard let answer = acquirer.answerChallenge(request.uri.query ?? "") else {
      throw Problem(.badRequest, "challenge_not_understood", "This is not the provider's question.")
    }
    return Self.response(answer)
  }

  private func route(_ context: ServerContext) throws -> (name: String, acquirer: Acquirer) {
    let names = [context.parameters.get("connector"), context.parameters.get("account")].compactMap { $0 }
    let route = names.joined(separator: "/")
    guard let acquirer = gateway.routes[route] else {
      throw Problem(.notFound, "not_found", "There is no such route here.")
    }
    return (route, acquirer)
  }

  private func count(_ verdict: String, _ route: String) {
    metrics.providerEvents.count(["route": route, "verdict": verdict])
  }

  private static func response(_ acknowledgement: Acknowledgement) -> Response {
    Response(
      status: HTTPResponse.Status(code: acknowledgement.status), headers: [.contentType: acknowledgement.contentType],
      body: ResponseBody(byteBuffer: ByteBuffer(string: acknowledgement.body)))
  }

  private static let early = Problem(
    .serviceUnavailable, "event_early", "An earlier event is missing. Send this event again later.",
    retryAfter: 60)
}

import Acquiring
import Gateway
import HTTPServing
import HTTPTransport
import HTTPTypes
import Hummingbird
import Ledger
import TenderPayments

/// What acquirers and providers say by themselves: `POST /acquirers/{connector}/events`.
///
/// An authentic event is thanked for, whatever it comes to: hardly any becomes better by being sent again. One that comes
/// before something that the books must hear first is to come again, and its sender hears 503.
struct EventController: Sendable {
  let gateway: PaymentGateway
  /// The one connector of this server.
  let connector: String
  let clock: WallClock
  let metrics: Metrics

  func receive(_ request: Request, _ context: ServerContext) async throws -> Response {
    guard context.parameters.get("connector") == connector else {
      throw Problem(.notFound, "not_found", "There is no such connector here.")
    }
    let event = InboundEvent(
      headers: request.headers.map { HTTPTransport.HTTPField($0.name.rawName, $0.value) },
      body: try await RequestBody.bytes(request), arrivedAt: clock.now())
    do {
      let verdict = try await gateway.receive(event)
      metrics.providerEvents.count(["verdict": verdict.name])
      if case .early = verdict { throw Self.early }
      return JSONAnswer.response(["received": true])
    } catch let refusal as EventRefusal {
      metrics.providerEvents.count(["verdict": refusal.rawValue])
      throw Problem(refusal == .unintelligible ? .badRequest : .unauthorized, refusal.rawValue, "\(refusal.reason).")
    }
  }

  private static let early = Problem(
    .serviceUnavailable, "event_early", "Something else must be heard first. Send the event again later.",
    retryAfter: 60)
}

import Acquiring
import Gateway
import HTTPTransport
import HTTPTypes
import Hummingbird
import Ledger
import TenderPayments

/// What acquirers and providers say by themselves: `POST /acquirers/{connector}/events`.
///
/// An authentic event is always thanked for, whatever it comes to: none becomes better by being sent again.
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
      metrics.providerEvents.count(["verdict": Self.name(try await gateway.receive(event))])
      return JSONAnswer.response(["received": true])
    } catch let refusal as EventRefusal {
      metrics.providerEvents.count(["verdict": refusal.rawValue])
      throw Problem(refusal == .unintelligible ? .badRequest : .unauthorized, refusal.rawValue, "\(refusal.reason).")
    }
  }

  private static func name(_ verdict: InboxVerdict) -> String {
    switch verdict {
    case .applied: "applied"
    case .known: "known"
    case .contradicted: "contradicted"
    case .refused: "refused"
    }
  }
}

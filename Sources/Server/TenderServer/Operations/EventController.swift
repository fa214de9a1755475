import Acquiring
import Gateway
import HTTPServing
import HTTPTransport
import HTTPTypes
import Hummingbird
import Ledger
import NIOCore
import TenderPayments

/// Receives the events that acquirers and providers send: `POST /acquirers/{connector}/events`.
///
/// Acknowledges an authentic event even if it changes nothing. An event that arrives before an earlier one gets 503, so
/// that the sender repeats it.
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
      body: try await RequestBody.bytes(request, context), arrivedAt: clock.now())
    do {
      let received = try await gateway.receive(event)
      for verdict in received.verdicts { metrics.providerEvents.count(["verdict": verdict.name]) }
      guard !received.isEarly else { throw Self.early }
      return Self.response(received.acknowledgement)
    } catch let refusal as EventRefusal {
      metrics.providerEvents.count(["verdict": refusal.rawValue])
      throw Problem(refusal == .unintelligible ? .badRequest : .unauthorized, refusal.rawValue, "\(refusal.reason).")
    }
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

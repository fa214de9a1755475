import Administration
import BackOffice
import HTTPServing
import Hummingbird
import Ledger
import Orders
import Settings
import Storage
import TenderPayments
import Webhooks

/// What `tender webhooks` asks of a running server.
struct WebhookAdministrationController: Sendable {
  let administration: WebhookAdministration
  let merchants: LiveMerchants

  /// `GET /webhooks/deliveries?state=dead&limit=50`
  func deliveries(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    let state = query["state"].flatMap(Delivery.State.init) ?? .dead
    return JSONAnswer.response(
      try await administration.deliveries(state, limit: query["limit"].flatMap { Int($0) } ?? 50))
  }

  /// `GET /webhooks/events?after=CURSOR`
  func events(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await administration.events(after: request.query["after"]))
  }

  /// `POST /webhooks/replay?payment=ID&sequence=N&to=ENDPOINT&by=USER`, each of them optional.
  func replay(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    if let name = query["to"] { try requireKnown(name) }
    let count = try await administration.replay(
      query["payment"], sequence: query["sequence"].flatMap { Int64($0) }, to: query["to"],
      endpoints: { [merchants] in merchants.current[$0]?.folder.webhooks.map(\.id) ?? [] },
      by: CommandLineOperator(query["by"] ?? ""))
    return JSONAnswer.response(["replayed": count])
  }

  /// An event that went to an endpoint that is not there would become a dead letter of no endpoint.
  private func requireKnown(_ name: String) throws {
    let names = Set(merchants.current.folders.flatMap(\.webhooks).map(\.id)).sorted()
    guard names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
      throw Problem(
        .unprocessableContent, "unknown_endpoint",
        "No merchant has an endpoint \(name); there are: \(names.isEmpty ? "none" : names.joined(separator: ", ")).",
        field: "to")
    }
  }
}

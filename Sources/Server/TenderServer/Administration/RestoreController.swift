import Administration
import HTTPServing
import Hummingbird

/// What `tender restore` asks of a running server.
struct RestoreController: Sendable {
  /// As of a report for `tender reconcile`.
  private static let maximumBytes = 128 << 20

  let administration: RestoreAdministration

  /// `GET /restore`
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await administration.report())
  }

  /// `POST /restore/listing|report|orders?route=…`, with the file as the body.
  func adopt(_ request: Request, _ context: ServerContext) async throws -> Response {
    let route = try route(request)
    let bytes = try await BodyReader.collect(request, limit: Self.maximumBytes)
    switch context.parameters.get("source") {
    case "listing": return JSONAnswer.response(try await administration.adoptListing(of: route))
    case "report": return JSONAnswer.response(try await administration.adopt(report: bytes, of: route))
    case "orders": return JSONAnswer.response(try await administration.adopt(orders: bytes, of: route))
    default: throw Problem(.notFound, "not_found", "There is nothing at this address.")
    }
  }

  /// `POST /restore/gap?route=…&by=USER&note=…`
  func acceptGap(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    return JSONAnswer.response(
      try await administration.acceptGap(
        of: try route(request), by: CommandLineOperator(query["by"] ?? "", because: query["note"] ?? "")))
  }

  /// `POST /restore/schedules?route=…&by=USER&note=…`
  func resumeSchedules(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    return JSONAnswer.response(
      try await administration.resumeSchedules(
        of: try route(request), by: CommandLineOperator(query["by"] ?? "", because: query["note"] ?? "")))
  }

  private func route(_ request: Request) throws -> String {
    guard let route = request.query["route"] else {
      throw Problem(.badRequest, "bad_request", "Name the route.", field: "route")
    }
    return route
  }
}

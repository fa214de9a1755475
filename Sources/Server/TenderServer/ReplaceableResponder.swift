import Hummingbird
import Synchronization

/// Answers by the router that it was given last. A call keeps the router that it began with.
final class ReplaceableResponder: HTTPResponder {
  private let current: Mutex<RouterResponder<ServerContext>>

  init(_ router: Router<ServerContext>) { current = Mutex(router.buildResponder()) }

  func replace(by router: Router<ServerContext>) {
    let responder = router.buildResponder()
    current.withLock { $0 = responder }
  }

  @Sendable func respond(to request: Request, context: ServerContext) async throws -> Response {
    try await current.withLock { $0 }.respond(to: request, context: context)
  }
}

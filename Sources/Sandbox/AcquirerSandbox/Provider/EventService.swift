package import Logging
import ServiceLifecycle

/// What posts events of its own: an acquirer, a payment provider.
package protocol EventSource: Sendable {
  /// Resolves what has been pending for longer than `delay`, and posts the events that are due.
  func deliverEvents(after delay: Duration, by delivery: EventDelivery) async throws
}

extension EventSource {
  /// Delivers events after two seconds, as while the sandbox runs.
  package func deliverEvents(by delivery: EventDelivery) async throws {
    try await deliverEvents(after: .seconds(2), by: delivery)
  }
}

/// Posts the events of the acquirer and of the providers while the sandbox runs.
package struct EventService: Service {
  private let sources: [any EventSource]
  private let delivery: EventDelivery
  private let logger: Logger

  package init(sources: [any EventSource], delivery: EventDelivery, logger: Logger) {
    self.sources = sources
    self.delivery = delivery
    self.logger = logger
  }

  package func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        for source in sources {
          do { try await source.deliverEvents(by: delivery) } catch {
            logger.error("the delivery of events failed", metadata: ["error": .string("\(error)")])
          }
        }
        do { try await Task.sleep(for: .milliseconds(500)) } catch { return }
      }
    }
  }
}

/// How an event is sent. The caller provides it, because the sandbox itself opens no connections.
package struct EventDelivery: Sendable {
  /// Posts the body with its signature, which is empty where the body holds it; returns whether the recipient
  /// acknowledged it.
  package let post: @Sendable (_ url: String, _ signature: String, _ body: [UInt8]) async -> Bool
  /// Posts a form that holds its own signature.
  package let postForm: @Sendable (_ url: String, _ body: [UInt8]) async -> Bool
  /// Posts JSON with the provider's own headers.
  package let postWithHeaders: HeadersDelivery

  /// Calls an address that says all by itself.
  package let get: @Sendable (_ url: String) async -> Bool

  package typealias HeadersDelivery =
    @Sendable (_ url: String, _ headers: [(name: String, value: String)], _ body: [UInt8]) async -> Bool

  package init(
    form: @escaping @Sendable (_ url: String, _ body: [UInt8]) async -> Bool = { _, _ in false },
    headers: @escaping HeadersDelivery = { _, _, _ in false },
    get: @escaping @Sendable (_ url: String) async -> Bool = { _ in false },
    post: @escaping @Sendable (_ url: String, _ signature: String, _ body: [UInt8]) async -> Bool
  ) {
    postForm = form
    postWithHeaders = headers
    self.get = get
    self.post = post
  }

  /// Delivers nothing: events wait.
  package static let unavailable = EventDelivery { _, _, _ in false }
}

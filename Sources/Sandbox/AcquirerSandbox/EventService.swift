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

package import Logging
import ServiceLifecycle

/// Posts the acquirer's and the provider's events while the sandbox runs.
package struct EventService: Service {
  private let sources: [SandboxAcquirerService]
  private let delivery: EventDelivery
  private let logger: Logger

  package init(sources: [SandboxAcquirerService], delivery: EventDelivery, logger: Logger) {
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

import Logging
import ServiceLifecycle

/// Posts the acquirer's and the provider's events while the sandbox runs.
struct EventService: Service {
  let sources: [SandboxAcquirerService]
  let delivery: EventDelivery
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        for source in sources {
          do { try await source.deliverEvents(by: delivery) } catch {
            logger.error("events wait", metadata: ["error": .string("\(error)")])
          }
        }
        do { try await Task.sleep(for: .milliseconds(500)) } catch { return }
      }
    }
  }
}

package import Logging
package import ServiceLifecycle
import UnixSignals

/// Runs the services of one process. Each starts after the one whose address it needs.
///
/// Each has a name for the log. Without one the service group prints the service with all that it holds, at every start.
package struct ServiceRunner: Sendable {
  private let group: ServiceGroup

  /// - Parameter first: starts at once; the others join while the group runs.
  package init(first: any Service, named name: String, logger: Logger) {
    group = ServiceGroup(
      configuration: .init(
        services: [.init(service: first, serviceName: name)], gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger))
  }

  package func join(_ service: any Service, named name: String) async {
    await group.addServiceUnlessShutdown(.init(service: service, serviceName: name))
  }

  /// Runs until a signal ends it; a failure of `setUp` or of any service ends all.
  package func run(setUp: @escaping @Sendable () async throws -> Void = {}) async throws {
    let group = group
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      tasks.addTask { try await setUp() }
      do { for try await _ in tasks {} } catch {
        tasks.cancelAll()
        throw error
      }
    }
  }

  /// Runs until the work has ended; a failure of a service ends the work.
  package func run<R: Sendable>(during work: @escaping @Sendable () async throws -> R) async throws -> R {
    let (group, result) = (group, OneTimeValue<R>())
    try await run {
      result.set(try await work())
      await group.triggerGracefulShutdown()
    }
    return try await result.value
  }
}

/// A value that one task sets once and another waits for.
package struct OneTimeValue<Value: Sendable>: Sendable {
  private let stream: AsyncStream<Value>
  private let continuation: AsyncStream<Value>.Continuation

  package init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  package func set(_ value: Value) {
    continuation.yield(value)
    continuation.finish()
  }

  package var value: Value {
    get async throws {
      for await value in stream { return value }
      throw CancellationError()
    }
  }
}

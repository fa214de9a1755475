import Synchronization

/// Whether some work has sent a request, or tried to. An answer that was made without one says nothing of the other side.
package final class NetworkUse: Sendable {
  @TaskLocal private static var current: NetworkUse?
  private let happened = Atomic(false)

  private init() {}

  /// Runs the work, and returns with its value whether an ``HTTPSender`` was used for it.
  package static func watching<Value>(_ work: () async -> Value) async -> (value: Value, happened: Bool) {
    let use = NetworkUse()
    let value = await $current.withValue(use, operation: work)
    return (value, use.happened.load(ordering: .relaxed))
  }

  /// Notes that a request goes out. Every ``HTTPSender`` does; work that waits for another's request does it itself.
  package static func note() { current?.happened.store(true, ordering: .relaxed) }

  /// The request was refused on this machine.
  static func takeBack() { current?.happened.store(false, ordering: .relaxed) }
}

import Synchronization

/// Whether some work has sent a request, or tried to. An answer that was made without one says nothing of the other side.
package final class NetworkUse: Sendable {
  @TaskLocal private static var current: NetworkUse?
  /// The requests that went out.
  private let requests = Atomic(0)

  private init() {}

  /// Runs the work, and returns with its value whether an ``HTTPSender`` was used for it.
  package static func watching<Value>(_ work: () async -> Value) async -> (value: Value, happened: Bool) {
    let use = NetworkUse()
    let value = await $current.withValue(use, operation: work)
    return (value, use.requests.load(ordering: .relaxed) > 0)
  }

  /// Notes that a request goes out. Every ``HTTPSender`` does; work that waits for another's request does it itself.
  package static func note() { current?.requests.add(1, ordering: .relaxed) }

  /// The request that was noted was refused on this machine. Those before it count on.
  static func takeBack() { current?.requests.subtract(1, ordering: .relaxed) }
}

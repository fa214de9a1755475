import Synchronization

/// A fault that an emulated provider has on demand.
protocol ProviderFault: RawRepresentable<String>, CaseIterable, Equatable, Sendable {
  /// Whether it waits for the next call; as a rule unless it is one of events.
  var isOfCalls: Bool { get }
}

extension ProviderFault {
  var isOfCalls: Bool { !rawValue.hasPrefix("event") }
}

/// The faults that a test has injected into one emulator; each one is used once.
final class ProviderFaults<Fault: ProviderFault>: Sendable {
  private let pending = Mutex<[Fault]>([])

  func inject(_ fault: Fault) { pending.withLock { $0.append(fault) } }

  /// Whether the fault was injected; removes it.
  func take(_ fault: Fault) -> Bool { take { $0 == fault } != nil }

  /// The first fault of calls.
  func takeForCall() -> Fault? { take(\.isOfCalls) }

  /// The first such fault.
  func take(_ matches: (Fault) -> Bool) -> Fault? {
    pending.withLock { pending in pending.firstIndex(where: matches).map { pending.remove(at: $0) } }
  }
}

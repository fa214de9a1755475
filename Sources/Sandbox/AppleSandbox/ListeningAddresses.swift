import Synchronization

/// The sandbox's addresses, which with port 0 are known only once it listens.
final class ListeningAddresses: Sendable {
  private struct State {
    var addresses: SandboxAddresses
    var listening: Set<Listener> = []
  }

  enum Listener: CaseIterable { case front, gateway, mail }

  private let state: Mutex<State>

  init(_ configuration: SandboxConfiguration) {
    state = Mutex(
      State(
        addresses: SandboxAddresses(
          port: configuration.port, gatewayPort: configuration.gatewayPort, mailPort: configuration.mailPort,
          host: configuration.host, gatewayHost: configuration.tlsHostNames.first ?? configuration.host)))
  }

  var current: SandboxAddresses { state.withLock { $0.addresses } }

  /// Notes a listener's port. Returns the addresses when it was the last one that was missing.
  func note(_ listener: Listener, port: Int) -> SandboxAddresses? {
    state.withLock { state in
      switch listener {
      case .front: state.addresses.port = port
      case .gateway: state.addresses.gatewayPort = port
      case .mail: state.addresses.mailPort = port
      }
      let isNew = state.listening.insert(listener).inserted
      return isNew && state.listening.count == Listener.allCases.count ? state.addresses : nil
    }
  }
}

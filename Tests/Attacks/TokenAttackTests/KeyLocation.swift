import ApplePayToken
import Foundation
import KeyAgent
import TenderPayments
import TenderTesting

/// Where the private keys are; an attack's result must not depend on it.
enum KeyLocation: Sendable, CaseIterable {
  case memory
  case agent

  /// The key, at this location.
  func held(_ key: ProcessingKey) throws -> ProcessingKey {
    guard self == .agent else { return key }
    let agent = try Agent.shared.get()
    agent.server.hold(key, of: .platform)
    return agent.client.key(key.publicKeyHash, key.version)
  }

  /// One agent behind a real socket for the whole run.
  private struct Agent: Sendable {
    /// A socket's path has at most 107 bytes, and temporary directories are sometimes deep.
    static let path = "/tmp/tender-attacked-\(ProcessInfo.processInfo.processIdentifier).sock"
    static let shared = Result { try Agent() }

    let server: KeyAgentServer
    let client: KeyAgentClient

    private init() throws {
      let server = try KeyAgentServer(path: Self.path, idle: TestRun.whole, timeout: TestRun.whole)
      self.server = server
      client = KeyAgentClient(path: Self.path)
      atexit { _ = unlink(Agent.path) }
    }
  }
}

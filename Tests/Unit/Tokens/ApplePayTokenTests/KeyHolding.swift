import ApplePayToken
import Foundation
import KeyAgent
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// Where a test's private keys are held. Every suite that opens payment tokens runs with both.
enum KeyHolding: Sendable, CaseIterable {
  case inMemory
  case byAgent

  @TaskLocal static var current = KeyHolding.inMemory

  /// The key as the test should use it.
  static func held(_ key: ProcessingKey) throws -> ProcessingKey {
    guard current == .byAgent else { return key }
    let agent = try TestAgent()
    agent.server.hold(key, of: .platform)
    let asked = agent.client.key(key.publicKeyHash, key.version)
    return ProcessingKey(
      publicKeyHash: asked.publicKeyHash, version: asked.version,
      heldBy: PatientHolder(holder: asked.holder, agent: agent))
  }
}

/// Waits longer for its holder than a payment would, so that a busy machine does not fail these suites.
struct PatientHolder: ProcessingKeyHolder {
  let holder: any ProcessingKeyHolder
  /// Keeps the agent alive.
  let agent: TestAgent

  var answersAtOnce: Bool { holder.answersAtOnce }

  func contentKey(
    from material: EncryptedPaymentToken.KeyMaterial, within timeout: Duration
  ) throws(PaymentTokenError) -> ContentKey {
    try holder.contentKey(from: material, within: TestRun.whole)
  }

  func keysOfMistakes(
    in material: EncryptedPaymentToken.KeyMaterial, within timeout: Duration
  ) throws(PaymentTokenError) -> [(mistake: KeyDerivationMistake, key: ContentKey)] {
    try holder.keysOfMistakes(in: material, within: TestRun.whole)
  }
}

/// A key agent behind a real socket, for one key. Each test has its own, because another test may hold the same key for
/// another merchant.
final class TestAgent: Sendable {
  private static let made = Mutex(0)

  let server: KeyAgentServer
  let client: KeyAgentClient

  init() throws {
    let number = Self.made.withLock { made in
      made += 1
      return made
    }
    // A socket's path has at most 107 bytes, and temporary directories are sometimes deep.
    let path = "/tmp/tender-keys-\(ProcessInfo.processInfo.processIdentifier)-\(number).sock"
    let server = try KeyAgentServer(path: path, idle: TestRun.whole, timeout: TestRun.whole)
    self.server = server
    client = KeyAgentClient(path: path)
  }

  deinit { server.stop() }
}

/// Runs each test of a suite once with its keys in memory and once with an agent that holds them.
struct EveryKeyHolder: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    for holding in KeyHolding.allCases { try await KeyHolding.$current.withValue(holding) { try await function() } }
  }
}

extension Trait where Self == EveryKeyHolder {
  static var everyKeyHolder: Self { EveryKeyHolder() }
}

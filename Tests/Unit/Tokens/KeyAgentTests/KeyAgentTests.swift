import ApplePayToken
import Crypto
import Foundation
import KeyAgent
import TenderPayments
import TenderTesting
import Testing
import TokenCalls

/// An agent on its own socket, with one key.
private final class Agent: Sendable {
  let path = "/tmp/tender-agent-\(UUID().uuidString.prefix(8)).sock"
  let server: KeyAgentServer
  let secret = P256.KeyAgreement.PrivateKey()
  let key: ProcessingKey
  let client: KeyAgentClient

  init(client user: UInt32? = nil, idle: Duration = TestRun.whole, timeout: Duration = TestRun.whole) throws {
    let server = try KeyAgentServer(path: path, client: user, idle: idle, timeout: timeout)
    self.server = server
    key = try ProcessingKey(privateKeyPEM: secret.pemRepresentation, merchantIdentifier: "merchant.test.agent")
    server.hold(key, of: .merchant(MerchantID("shop")))
    client = KeyAgentClient(path: path)
  }

  deinit { server.stop() }

  /// The key material of a payment token.
  func material() -> EncryptedPaymentToken.KeyMaterial {
    .ephemeralPublicKey(Array(P256.KeyAgreement.PrivateKey().publicKey.derRepresentation))
  }

  func remoteKey() -> any ProcessingKeyHolder { client.key(key.publicKeyHash, .ecV1).holder }
}

/// A client that can send any bytes.
private struct RawClient {
  let handle: FileHandle

  init(_ path: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(Self.withAddress(path) { connect(descriptor, $0, $1) } == 0)
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  /// The request for the list of keys, and one after which the agent closes the connection.
  static let (list, invalid): ([UInt8], [UInt8]) = ([0, 0, 0, 2, 1, 3], [0, 0, 0, 0])

  func send(_ bytes: [UInt8]) throws { try handle.write(contentsOf: Data(bytes)) }

  /// Whether the agent answers a request.
  func isServed() throws -> Bool {
    try send(Self.list)
    return try handle.read(upToCount: 1)?.count == 1
  }

  /// The bytes that the agent sends before it closes the connection.
  func answer(to bytes: [UInt8]) throws -> [UInt8] {
    try send(bytes)
    return Array(try handle.readToEnd() ?? Data())
  }
}

@Suite struct `A server of lines` {
  @Test func `answers any number of lines that arrive together, each once and in order`() throws {
    let path = "/tmp/tender-lines-\(UUID().uuidString.prefix(8)).sock"
    let server = try TokenLineServer(path: path, holding: TokenKeys([], trusting: .apple()), version: "1")
    defer { server.stop() }
    let client = try RawClient(path)
    let count = 4_000
    let sending = Thread {
      try? client.send(Array((0..<count).map { "{\"id\":\($0),\"call\":\"version\"}\n" }.joined().utf8))
    }
    sending.start()
    var (answer, lines): ([UInt8], Int) = ([], 0)
    while lines < count {
      let part = client.handle.availableData
      try #require(!part.isEmpty, "it has closed the connection")
      answer += part
      lines += part.count { $0 == UInt8(ascii: "\n") }
    }
    let ids = String(decoding: answer, as: UTF8.self).split(separator: "\n").map { line in
      line.components(separatedBy: "\"id\":").last.flatMap { Int($0.prefix(while: \.isNumber)) }
    }
    #expect(ids == Array(0..<count))
  }
}

@Suite struct `A key agent` {
  @Test func `derives the same keys as the key itself`() throws {
    let agent = try Agent()
    for _ in 0..<20 {
      let material = agent.material()
      let ours = try agent.key.holder.contentKey(from: material, within: TestRun.whole)
      let theirs = try agent.remoteKey().contentKey(from: material, within: TestRun.whole)
      #expect(ours.bytes == theirs.bytes)
      let mistakes = try agent.remoteKey().keysOfMistakes(in: material, within: TestRun.whole)
      let own = try agent.key.holder.keysOfMistakes(in: material, within: TestRun.whole)
      #expect(mistakes.map(\.mistake) == own.map(\.mistake) && mistakes.map(\.key.bytes) == own.map(\.key.bytes))
    }
  }

  @Test func `says which keys it holds, and those of a platform without a merchant`() throws {
    let agent = try Agent()
    let other = try ProcessingKey(
      privateKeyPEM: P256.KeyAgreement.PrivateKey().pemRepresentation, merchantIdentifier: "merchant.test.other")
    agent.server.hold(other, of: .platform)
    let held = try agent.client.keys(within: TestRun.whole)
    #expect(Set(held.map(\.owner)) == [.platform, .merchant(MerchantID("shop"))])
    #expect(Set(held.map(\.key.publicKeyHash)) == [agent.key.publicKeyHash, other.publicKeyHash])
  }

  @Test func `drops keys that are removed`() throws {
    let agent = try Agent()
    let other = try ProcessingKey(
      privateKeyPEM: P256.KeyAgreement.PrivateKey().pemRepresentation, merchantIdentifier: "merchant.test.other")
    agent.server.hold(only: [(.platform, other)])
    #expect(try agent.client.keys(within: TestRun.whole).map(\.key.publicKeyHash) == [other.publicKeyHash])
    let error = #expect(throws: PaymentTokenError.self) {
      try agent.remoteKey().contentKey(from: agent.material(), within: TestRun.whole)
    }
    #expect(error?.code == .keyAgentUnavailable)
  }

  @Test func `passes a refusal on with its code`() throws {
    let agent = try Agent()
    let error = #expect(throws: PaymentTokenError.self) {
      try agent.remoteKey().contentKey(from: .ephemeralPublicKey([1, 2, 3]), within: TestRun.whole)
    }
    #expect(error?.code == .badEphemeralKey)
    let wrong = #expect(throws: PaymentTokenError.self) {
      try agent.remoteKey().contentKey(from: .wrappedKey([UInt8](repeating: 1, count: 256)), within: TestRun.whole)
    }
    #expect(wrong?.code == .wrongKindOfKey)
  }

  @Test func `has a socket that only its own user can open`() throws {
    let agent = try Agent()
    let attributes = try FileManager.default.attributesOfItem(atPath: agent.path)
    #expect((attributes[.posixPermissions] as? Int) == 0o600)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can change a socket's owner"))
  func `closes the connection of another user`() throws {
    let agent = try Agent(client: 65_534)
    let error = #expect(throws: PaymentTokenError.self) { try agent.client.keys(within: TestRun.whole) }
    #expect(error?.code == .keyAgentUnavailable)
  }

  @Test(
    arguments: [
      [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0x10, 0], [0, 0, 0, 1, 1], [0, 0, 0, 2, 9, 3], [0, 0, 0, 2, 1, 9],
      [0, 0, 0, 3, 1, 3, 0], [0, 0, 0, 2, 1, 1],
    ] as [[UInt8]])
  func `closes the connection after an invalid request`(bytes: [UInt8]) throws {
    let agent = try Agent()
    #expect(try RawClient(agent.path).answer(to: bytes).isEmpty)
    #expect(try agent.client.keys(within: TestRun.whole).count == 1, "and still answers other clients")
  }

  @Test func `does not wait for a message that never ends`() throws {
    let agent = try Agent(timeout: .milliseconds(50))
    #expect(try RawClient(agent.path).answer(to: [0, 0, 0, 200, 1, 1, 7]).isEmpty)
  }

  @Test func `does not keep a connection that is silent`() async throws {
    let agent = try Agent(idle: .milliseconds(50))
    #expect(try RawClient(agent.path).answer(to: []).isEmpty)
    // On a busy machine a connection may be silent for this long before its request is written.
    try await waitFor("an answer to another client") {
      try? agent.client.keys(within: TestRun.whole).count
    } until: {
      $0 == 1
    }
  }

  @Test func `serves many clients at once`() async throws {
    let agent = try Agent()
    let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<200 {
        group.addTask {
          let material = agent.material()
          let ours = try agent.key.holder.contentKey(from: material, within: TestRun.whole)
          return try agent.remoteKey().contentKey(from: material, within: TestRun.whole).bytes != ours.bytes
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(wrong == 0)
  }

  @Test func `closes the 65th connection at once`() throws {
    let agent = try Agent()
    let many = try (0..<64).map { _ in try RawClient(agent.path) }
    for client in many { #expect(try client.isServed()) }
    // The agent closes no connection because it is silent, so any other would be read for ever.
    #expect(try RawClient(agent.path).answer(to: []).isEmpty)
    withExtendedLifetime(many) {}
  }

  @Test func `is reachable again after a restart`() throws {
    let agent = try Agent()
    #expect(try agent.client.keys(within: TestRun.whole).count == 1)
    agent.server.stop()
    let error = #expect(throws: PaymentTokenError.self) { try agent.client.keys(within: TestRun.whole) }
    #expect(error?.code == .keyAgentUnavailable)
    let again = try KeyAgentServer(path: agent.path, idle: TestRun.whole, timeout: TestRun.whole)
    again.hold(agent.key, of: .platform)
    #expect(try agent.client.keys(within: TestRun.whole).map(\.owner) == [.platform])
    again.stop()
  }

  @Test func `is not replaced by a second agent`() throws {
    let agent = try Agent()
    let error = #expect(throws: KeyAgentError.self) { try KeyAgentServer(path: agent.path) }
    #expect(error?.reason == "another key agent listens at \(agent.path)")
    #expect(try agent.client.keys(within: TestRun.whole).count == 1, "and the first one still answers")
  }

  @Test func `replaces the socket of an agent that has ended`() throws {
    let path = "/tmp/tender-dead-\(UUID().uuidString.prefix(8)).sock"
    try leaveSocket(at: path)
    let server = try KeyAgentServer(path: path, idle: TestRun.whole, timeout: TestRun.whole)
    #expect(try KeyAgentClient(path: path).keys(within: TestRun.whole).isEmpty)
    server.stop()
  }

  @Test func `does not remove a socket that replaced its own`() throws {
    let agent = try Agent()
    unlink(agent.path)
    let second = try KeyAgentServer(path: agent.path, idle: TestRun.whole, timeout: TestRun.whole)
    second.hold(agent.key, of: .platform)
    agent.server.stop()
    agent.server.stop()
    #expect(try KeyAgentClient(path: agent.path).keys(within: TestRun.whole).map(\.owner) == [.platform])
    second.stop()
    #expect(!FileManager.default.fileExists(atPath: agent.path))
  }

  @Test func `does not replace what is no socket`() throws {
    let path = "/tmp/tender-file-\(UUID().uuidString.prefix(8)).txt"
    try Data("mine".utf8).write(to: URL(filePath: path))
    defer { unlink(path) }
    #expect(throws: KeyAgentError.self) { try KeyAgentServer(path: path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
  }

  /// A socket left by a killed process.
  private func leaveSocket(at path: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(RawClient.withAddress(path) { bind(descriptor, $0, $1) } == 0)
    close(descriptor)
  }

  @Test func `closes its connections and removes its socket when it is stopped`() async throws {
    let agent = try Agent()
    let client = try RawClient(agent.path)
    #expect(try client.isServed())
    agent.server.stop()
    // A connection that stays open would be read for ever.
    _ = try client.handle.readToEnd()
    await agent.server.untilStopped()
    #expect(!FileManager.default.fileExists(atPath: agent.path))
  }

  @Test func `answers requests that arrive together, each once and in order`() throws {
    let agent = try Agent()
    let one = try RawClient(agent.path).answer(to: RawClient.list + RawClient.invalid)
    #expect(!one.isEmpty)
    let lists = [RawClient.list, RawClient.list, RawClient.list].flatMap(\.self)
    #expect(try RawClient(agent.path).answer(to: lists + RawClient.invalid) == one + one + one)
  }

  @Test func `answers a request that arrives byte by byte`() throws {
    let agent = try Agent()
    let client = try RawClient(agent.path)
    for byte in RawClient.list {
      try client.send([byte])
      usleep(2_000)
    }
    let one = try RawClient(agent.path).answer(to: RawClient.list + RawClient.invalid)
    #expect(try client.answer(to: RawClient.invalid) == one)
  }

  @Test func `without the key, or unreachable, is reported as key_agent_unavailable`() throws {
    let agent = try Agent()
    let unknown = agent.client.key([UInt8](repeating: 7, count: 32), .ecV1).holder
    let first = #expect(throws: PaymentTokenError.self) {
      try unknown.contentKey(from: agent.material(), within: TestRun.whole)
    }
    #expect(first?.code == .keyAgentUnavailable)
    let second = #expect(throws: PaymentTokenError.self) {
      try KeyAgentClient(path: "/tmp/tender-no-agent.sock").keys(within: TestRun.whole)
    }
    #expect(second?.code == .keyAgentUnavailable)
  }

  @Test func `that does not answer is waited for no longer than the given time`() throws {
    let path = "/tmp/tender-mute-\(UUID().uuidString.prefix(8)).sock"
    let mute = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(RawClient.withAddress(path) { bind(mute, $0, $1) } == 0 && listen(mute, 1) == 0)
    defer {
      close(mute)
      unlink(path)
    }
    let error = #expect(throws: PaymentTokenError.self) {
      try KeyAgentClient(path: path).keys(within: .milliseconds(50))
    }
    #expect(error?.code == .keyAgentUnavailable && error?.reason.contains("in time") == true)
  }

  /// The folder of the socket may be another user's, who puts there what he likes.
  @Test func `follows no link in the place of its draft, and makes a socket that only its user can open`() throws {
    let folder = "/tmp/tender-draft-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder + "/precious", withIntermediateDirectories: true)
    try Data("precious".utf8).write(to: URL(fileURLWithPath: folder + "/precious/s"))
    let path = folder + "/keys.sock"
    try FileManager.default.createSymbolicLink(atPath: path + ".d", withDestinationPath: "precious")
    #expect(throws: KeyAgentError.self) { try KeyAgentServer(path: path) }
    #expect(try String(contentsOfFile: folder + "/precious/s", encoding: .utf8) == "precious")
    try FileManager.default.removeItem(atPath: path + ".d")
    let server = try KeyAgentServer(path: path)
    defer { server.stop() }
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600 && !FileManager.default.fileExists(atPath: path + ".d"))
  }

  @Test func `whose socket's path is too long is refused`() {
    #expect(throws: KeyAgentError.self) { try KeyAgentServer(path: "/tmp/" + String(repeating: "x", count: 120)) }
  }
}

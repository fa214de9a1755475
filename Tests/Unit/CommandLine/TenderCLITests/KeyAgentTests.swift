import ApplePayToken
import Crypto
import Foundation
import HTTPTransport
import KeyAgent
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// A key agent with every private key and a server with none, as processes of their own; and a shop that is paid.
@Suite(.serialized) struct `A server without private keys` {
  @Test func `is paid through a key agent, also while a key is rotated`() async throws {
    let town = try Town()
    try await town.place.with("tender-sandbox sandbox --port \(town.port + 2)", sign: "gateway") { _ in
      try await town.makeMerchant()
      try await town.place.with(Town.agent, sign: "tender holds 1 key") { agent in
        try await town.place.with("tender serve --config tender.yaml", sign: "tender serves simulated") { server in
          try await town.place.with(town.shop, sign: "shop  http") { _ in
            try await town.check("agent.txt")
            let certificate = try await town.addKey()
            try await town.hangUp(on: agent, sign: "tender holds 2 keys now")
            try await town.check("agent-rotation.txt")
            try await town.activate(certificate)
            try await town.check("agent-activated.txt")
            #expect(await agent.terminate() == 0, "\(agent.lines)")
            try await town.check("agent-gone.txt")
            try await town.place.with(Town.agent, sign: "tender holds 2 keys") { _ in
              try await town.check("agent-back.txt")
            }
          }
          #expect(await server.terminate() == 0, "\(server.lines)")
        }
      }
    }
  }

  @Test func `cannot be dumped or read by others of its user, and neither can the agent`() async throws {
    let town = try Town()
    try await town.place.with("tender-sandbox sandbox --port \(town.port + 2)", sign: "gateway") { _ in
      try await town.makeMerchant()
      try await town.place.with(Town.plain(Town.agent), sign: "tender holds 1 key") { _ in
        try await town.place.with(Town.plain(Town.server), sign: "tender serves simulated") { _ in
          for process in ["agent.pid", "server.pid"] {
            let limit = try await town.place.run("grep 'core file' /proc/$(cat \(process))/limits")
            #expect(limit.lines.first?.split(separator: " ").suffix(3) == ["0", "0", "bytes"], "\(limit.lines)")
            let maps = try await town.place.run("\(Town.reader) /proc/$(cat \(process))/maps")
            #expect(maps.exitCode != 0 && maps.lines.contains { $0.contains("Permission denied") }, "\(maps.lines)")
          }
        }
      }
    }
    let sleeper = Town.plain("sh -c 'echo $$ > other.pid; echo begun; exec sleep infinity'")
    try await town.place.with(sleeper, sign: "begun") { _ in
      let other = try await town.place.run("\(Town.reader) /proc/$(cat other.pid)/maps")
      #expect(other.exitCode == 0, "another process of the same user can be read: \(other.lines)")
    }
  }

  @Test func `keeps its keys when files that it is to read again are broken`() async throws {
    let place = try TokenFixtures().workshop
    _ = try await place.run("mkdir -p vault/m1/processing && cp processing.* vault/m1/processing/")
    try await place.with(Town.agent, sign: "tender holds 1 key") { agent in
      _ = try await place.run("echo broken > vault/m1/processing/processing.pem; kill -HUP $(cat agent.pid)")
      try await agent.wait(for: "tender still holds 1 key: vault/m1/processing/processing: ")
      #expect(await agent.terminate() == 0)
    }
  }

  @Test func `keeps its keys when a folder cannot be listed, and forgets them when they are gone`() async throws {
    let place = try TokenFixtures().workshop
    _ = try await place.run("mkdir -p vault/m1/processing && cp processing.* vault/m1/processing/")
    try await place.with(Town.agent, sign: "tender holds 1 key at") { agent in
      _ = try await place.run(
        "cd vault/m1 && mv processing away && echo > processing && kill -HUP $(cat ../../agent.pid)")
      try await agent.wait(for: "tender still holds 1 key: ")
      _ = try await place.run("cd vault/m1 && rm processing && kill -HUP $(cat ../../agent.pid)")
      try await agent.wait(for: "tender holds 0 keys now")
      _ = try await place.run("cd vault/m1 && mv away processing && kill -HUP $(cat ../../agent.pid)")
      try await agent.wait(for: "tender holds 1 key now")
      #expect(await agent.terminate() == 0)
    }
  }

  @Test func `opens payment tokens for either key while its keys are swapped`() async throws {
    let place = try TokenFixtures().workshop
    let keys = (0..<3).map { _ in P256.KeyAgreement.PrivateKey() }
    try await Vault.lay([keys[0], keys[1]], in: place)
    try await place.with(Town.agent, sign: "tender holds 2 keys at") { agent in
      let client = KeyAgentClient(path: place.path + "/keys.sock")
      let load = Task { try await Load(client: client, keys: [keys[0], keys[1]]).run() }
      for round in 1...12 {
        try await Vault.lay(round.isMultiple(of: 2) ? [keys[0], keys[1]] : [keys[1], keys[2], keys[0]], in: place)
        _ = try await place.run("kill -HUP $(cat agent.pid)")
        try await agent.wait(for: "keys now", times: round)
      }
      load.cancel()
      #expect(try await load.value > 0)
      #expect(await agent.terminate() == 0)
    }
  }
}

/// A merchant's folder of an agent, whose keys are replaced file by file, as an operator does.
private enum Vault {
  static func lay(_ keys: [P256.KeyAgreement.PrivateKey], in place: Workshop) async throws {
    let pki = try SandboxPKI(directory: place.path + "/pki")
    let drafts = try keys.enumerated().map { number, key in
      let request = try TokenFixtures.request(P256.Signing.PrivateKey(rawRepresentation: key.rawRepresentation))
      let certificate = try pki.certificate(.processing, for: TokenFixtures.merchant, csr: request)
      return (number, certificate, key.pemRepresentation)
    }
    _ = try await place.run("rm -rf draft && mkdir -p draft vault/m1")
    for (number, certificate, key) in drafts {
      try place.write(certificate, to: "draft/\(number).pem")
      try place.write(key, to: "draft/\(number).key")
    }
    let answer = try await place.run("rm -rf old; mv vault/m1/processing old; mv draft vault/m1/processing")
    #expect(answer.exitCode == 0, "\(answer.lines)")
  }
}

/// Key agreements for every key, one after the other, by as many askers as there are keys, until it is cancelled.
private struct Load {
  let client: KeyAgentClient
  let keys: [P256.KeyAgreement.PrivateKey]

  /// - Returns: how many secrets were derived, each the right one.
  func run() async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for key in keys { group.addTask { try await ask(for: key) } }
      return try await group.reduce(0, +)
    }
  }

  /// Each question keeps a thread for as long as it is answered, and the tests need one too.
  private func ask(for secret: P256.KeyAgreement.PrivateKey) async throws -> Int {
    let key = try ProcessingKey(
      privateKeyPEM: secret.pemRepresentation, merchantIdentifier: TokenFixtures.merchant)
    let remote = client.key(key.publicKeyHash, .ecV1).holder
    var count = 0
    repeat {
      let material = EncryptedPaymentToken.KeyMaterial.ephemeralPublicKey(
        Array(P256.KeyAgreement.PrivateKey().publicKey.derRepresentation))
      let here = try key.holder.contentKey(from: material, within: TestRun.whole)
      #expect(try remote.contentKey(from: material, within: TestRun.whole).bytes == here.bytes)
      count += 1
      await Task.yield()
    } while !Task.isCancelled
    return count
  }
}

/// A merchant whose folder is in two places: `vault` with the keys, `merchants` without.
private struct Town {
  let port: Int
  let place: Workshop

  init() throws {
    port = try FreePorts.row(of: 6)
    place = try Workshop(variables: [
      "SERVER": "http://localhost:\(port)", "SANDBOX": "http://localhost:\(port + 2)",
      "HARBOUR": "localhost:\(port + 1)",
    ])
    try place.write(
      """
      environment: simulated
      port: \(port)
      sandboxURL: http://localhost:\(port + 2)/
      directory: data
      merchants:
        directory: merchants
      keyAgent:
        socket: keys.sock

      """, to: "tender.yaml")
  }

  static let agent =
    "sh -c 'echo $$ > agent.pid; exec tender key-agent --merchants vault --socket keys.sock'"

  static let server = "sh -c 'echo $$ > server.pid; exec tender serve --config tender.yaml'"

  /// A command without the capabilities with which root reads every process.
  static func plain(_ command: String) -> String {
    let caps = "-sys_ptrace,-perfmon,-sys_admin"
    return getuid() == 0 ? "setpriv --inh-caps=\(caps) --bounding-set=\(caps) \(command)" : command
  }

  /// Reads a file as another process of the same user.
  static let reader = plain("cat")

  var shop: String {
    "tender-sandbox shop --port \(port + 1) --server http://localhost:\(port) --sandbox http://localhost:\(port + 2)"
      + " --merchant merchants/harbour"
  }

  func makeMerchant() async throws {
    let answer = try await place.run(
      "tender merchant add --sandbox $SANDBOX --directory vault --id harbour --name 'Harbour Kitchen' --domain $HARBOUR"
        + " && cp -r vault merchants && rm merchants/harbour/processing/1.key")
    #expect(answer.exitCode == 0, "\(answer.lines)")
  }

  func check(_ file: String) async throws {
    for difference in try await Transcript(file: file).differences(in: place) { Issue.record("\(difference)") }
  }

  /// Has a second certificate issued, and lays it where it belongs.
  ///
  /// - Returns: its id at the portal.
  func addKey() async throws -> String {
    let key = P256.Signing.PrivateKey()
    let answer = try await portal(
      "certificates", ["type": "processing", "csr": .string(try TokenFixtures.request(key))])
    guard case .string(let certificate)? = answer["certificate"], case .string(let id)? = answer["id"] else {
      throw CocoaError(.fileReadCorruptFile)
    }
    try place.write(certificate, to: "vault/harbour/processing/2.pem")
    try place.write(certificate, to: "merchants/harbour/processing/2.pem")
    try place.write(key.pemRepresentation, to: "vault/harbour/processing/2.key")
    return id
  }

  func activate(_ certificate: String) async throws {
    _ = try await portal("certificates/\(certificate)/activate", [:])
  }

  func hangUp(on agent: RunningProgram, sign: String) async throws {
    _ = try await place.run("kill -HUP $(cat agent.pid)")
    try await agent.wait(for: sign)
  }

  private func portal(_ path: String, _ body: JSONValue) async throws -> JSONValue {
    let client = try LiveHTTPClient()
    let request = OutboundRequest(
      method: "POST", url: "http://localhost:\(port + 2)/portal/merchants/merchant.test.harbour/\(path)",
      headers: [HTTPField("Content-Type", "application/json")], body: body.serialized())
    let answer = try await client.sender.send(request, TestRun.whole)
    try await client.shutdown()
    try #require((200..<300).contains(answer.status))
    return try JSONReader.read(answer.body)
  }
}

import Crypto
import Foundation
import HTTPTransport
import StrictJSON
import Testing

/// A key agent with every private key and a server with none, as processes of their own; and a shop that is paid.
@Suite(.serialized) struct `A server without private keys` {
  @Test func `is paid through a key agent, also while a key is rotated`() async throws {
    let town = try Town()
    try await town.place.with("tender sandbox --port \(town.port + 2)", sign: "gateway") { _ in
      try await town.makeMerchant()
      try await town.place.with(Town.agent, sign: "tender holds 1 keys") { agent in
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

  @Test func `keeps its keys when files that it is to read again are broken`() async throws {
    let place = try TokenFixtures().workshop
    _ = try await place.run("mkdir -p vault/m1/processing && cp processing.* vault/m1/processing/")
    try await place.with(Town.agent, sign: "tender holds 1 keys") { agent in
      _ = try await place.run("echo broken > vault/m1/processing/processing.pem; kill -HUP $(cat agent.pid)")
      try await agent.wait(for: "tender still holds 1 keys: vault/m1/processing/processing: ")
      #expect(await agent.terminate() == 0)
    }
  }
}

/// A merchant whose folder is in two places: `vault` with the keys, `merchants` without.
private struct Town {
  let port: Int
  let place: Workshop

  init() throws {
    port = try FreePorts.row(of: 5)
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
    "sh -c 'echo $$ > agent.pid; exec tender keys agent --merchants vault --socket keys.sock'"

  var shop: String {
    "tender shop --port \(port + 1) --server http://localhost:\(port) --sandbox http://localhost:\(port + 2)"
      + " --merchant merchants/harbour"
  }

  func makeMerchant() async throws {
    let answer = try await place.run(
      "tender merchant add --sandbox $SANDBOX --directory vault --domain $HARBOUR"
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
    let answer = try await client.sender.send(request, .seconds(20))
    try await client.shutdown()
    try #require((200..<300).contains(answer.status))
    return try JSONReader.read(answer.body)
  }
}

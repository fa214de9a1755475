import ApplePayToken
import ArgumentParser
import Foundation
import KeyAgent
import ServiceLifecycle
import TenderPayments
import TenderServer

/// `tender keys agent`
struct KeyAgentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent", abstract: "Holds the private keys in a process of its own, for a server that has none.",
    discussion: """
      It reads <merchants>/<id>/processing/*.pem and *.key, and listens on a socket of this machine. Give the server \
      `keyAgent.socket` and the certificates without the keys.
      """)

  @Option(help: "Where merchants are kept, with their keys.") var merchants = ".tender/merchants"
  @Option(help: "Where to listen.") var socket = ".tender/keys.sock"
  @Option(help: "The number of the user who may ask; the agent's own by default. Only root can name another.")
  var client: UInt32?

  func run() async throws {
    Self.forbidCoreDumps()
    let keys = try KeyFolders(path: merchants).keys()
    guard !keys.isEmpty else { throw CallFailure("there is no key below \(merchants)/<id>/processing") }
    let server: KeyAgentServer
    do { server = try KeyAgentServer(path: socket, client: client) } catch {
      throw CallFailure(error.reason)
    }
    for (owner, key) in keys { server.hold(key, of: owner) }
    Terminal.say("tender holds \(server.count) keys at \(socket)")
    try await Stage(first: KeyAgentService(server: server), logger: Terminal.logger("tender.keys")).run()
  }

  /// The memory of this process is all that its secrets are in.
  private static func forbidCoreDumps() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    #if canImport(Darwin)
      setrlimit(RLIMIT_CORE, &none)
    #else
      setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    #endif
  }
}

/// The agent as a service that ends when the process is asked to.
private struct KeyAgentService: Service {
  let server: KeyAgentServer

  func run() async throws {
    await withGracefulShutdownHandler {
      await withCheckedContinuation { continuation in
        Thread {
          server.run()
          continuation.resume()
        }.start()
      }
    } onGracefulShutdown: {
      server.stop()
    }
  }
}

/// The keys of every merchant's folder.
private struct KeyFolders {
  let path: String

  func keys() throws -> [(ProcessingKeyRing.Owner, ProcessingKey)] {
    guard let merchants = try? FileManager.default.contentsOfDirectory(atPath: path).sorted() else {
      throw CallFailure("there is no folder \(path); --merchants names the one with the keys")
    }
    return try merchants.flatMap { merchant in
      try keyNames(of: merchant).map { name in (.merchant(MerchantID(merchant)), try key(merchant, name)) }
    }
  }

  private func keyNames(of merchant: String) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(merchant)/processing")) ?? []
    return files.sorted().filter { $0.hasSuffix(".key") }.map { String($0.dropLast(4)) }
  }

  private func key(_ merchant: String, _ name: String) throws -> ProcessingKey {
    let file = "\(path)/\(merchant)/processing/\(name)"
    do {
      return try ProcessingKey(
        privateKeyPEM: try String(contentsOfFile: file + ".key", encoding: .utf8),
        certificatePEM: try String(contentsOfFile: file + ".pem", encoding: .utf8))
    } catch let error as PaymentTokenError {
      throw CallFailure("\(file): \(error.reason). \(error.advice)")
    }
  }
}

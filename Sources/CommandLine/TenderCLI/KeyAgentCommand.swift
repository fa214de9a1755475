import ApplePayToken
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import KeyAgent
import Logging
import ServiceLifecycle
import Storage
import StrictJSON
import TenderPayments
import TenderServer
import UnixSignals

/// `tender key-agent`
struct KeyAgentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key-agent", abstract: "Holds the private keys in a process of its own, for a server that has none.",
    discussion: """
      It reads <merchants>/<id>/processing/*.pem and *.key, and listens on a socket of this machine. Give the server \
      `keyAgent.socket` and the certificates without the keys. At a hangup signal (kill -HUP) it reads them again.
      """)

  @Option(help: "Where merchants are kept, with their keys.") var merchants = ".tender/merchants"
  @Option(help: "The platform's folder, whose processing/ holds the keys of merchants without their own.")
  var platform: String?
  @Option(help: "Where to listen.") var socket = ".tender/keys.sock"
  @Option(help: "The number of the user who may ask; the agent's own by default. Only root can name another.")
  var client: UInt32?
  @Flag(help: "Print the socket and the number of keys as a line of JSON.") var json = false

  func run() async throws {
    try ProcessMemory.forbidDumps()
    let folders = KeyFolders(merchants: merchants, platform: platform)
    let keys = try folders.keys()
    guard !keys.isEmpty else { throw CallFailure("there is no key below \(merchants)/<id>/processing") }
    let server: KeyAgentServer
    do { server = try KeyAgentServer(path: socket, client: client, holding: keys) } catch {
      throw CallFailure(error.reason)
    }
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    let line = Terminal.jsonLine(["socket": .string(socket), "keys": .integer(Int64(server.count))])
    Terminal.say(json ? line : "tender holds \(Terminal.counted(server.count, "key")) at \(socket)")
    let logger = Terminal.logger("tender.keys")
    let runner = ServiceRunner(first: KeyAgentService(server: server), named: "key agent", logger: logger)
    try await runner.run {
      await runner.join(
        KeyReading(folders: folders, server: server, hangups: hangups, logger: logger), named: "reading keys again")
    }
  }
}

/// Runs the agent until the process is asked to end.
private struct KeyAgentService: Service {
  let server: KeyAgentServer

  func run() async throws {
    await withGracefulShutdownHandler {
      await server.untilStopped()
    } onGracefulShutdown: {
      server.stop()
    }
  }
}

/// Reads the keys again at SIGHUP. Keys whose files are gone are removed, even the last one;
/// files and folders that cannot be read change nothing.
private struct KeyReading: Service {
  let folders: KeyFolders
  let server: KeyAgentServer
  let hangups: UnixSignalsSequence
  let logger: Logger

  func run() async throws {
    for await _ in hangups.cancelOnGracefulShutdown() {
      do {
        server.hold(only: try folders.keys())
        logger.notice("tender holds \(Terminal.counted(server.count, "key")) now")
      } catch {
        let reason = ErrorLine.text(for: error)
        logger.error("tender still holds \(Terminal.counted(server.count, "key")): \(reason)")
      }
    }
  }
}

/// The keys of every merchant's folder, and of the platform's.
private struct KeyFolders: Sendable {
  let merchants: String
  let platform: String?

  func keys() throws -> [(owner: ProcessingKeyRing.Owner, key: ProcessingKey)] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: merchants).sorted() else {
      throw CallFailure("there is no folder \(merchants); --merchants names the one with the keys")
    }
    let ofMerchants = try names.flatMap { try read("\(merchants)/\($0)", of: .merchant(MerchantID($0))) }
    return ofMerchants + (try platform.map { try read($0, of: .platform) } ?? [])
  }

  private func read(
    _ folder: String, of owner: ProcessingKeyRing.Owner
  ) throws -> [(owner: ProcessingKeyRing.Owner, key: ProcessingKey)] {
    try Self.names(in: folder + "/processing").sorted().filter { $0.hasSuffix(".key") }.map {
      (owner, try key("\(folder)/processing/\($0.dropLast(4))"))
    }
  }

  /// Empty when there is no such folder; throws when it cannot be listed.
  private static func names(in folder: String) throws -> [String] {
    do { return try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
      let isThere = faccessat(AT_FDCWD, folder, F_OK, AT_SYMLINK_NOFOLLOW) == 0
      guard !isThere, errno == ENOENT || errno == ENOTDIR else { throw error }
      return []
    }
  }

  private func key(_ file: String) throws -> ProcessingKey {
    do {
      return try ProcessingKey(
        privateKeyPEM: try PrivateFile.text(file + ".key"),
        certificatePEM: try NamedFile.text(file + ".pem"))
    } catch let error as PaymentTokenError {
      throw CallFailure("\(file): \(error.reason). \(error.advice)")
    }
  }
}

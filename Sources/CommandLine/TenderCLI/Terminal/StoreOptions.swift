import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import Ledger
import Settings
import Storage
import TenderServer

/// Whose store a command asks: the one way in which all of them are told.
struct StoreOptions: ParsableArguments {
  @Option(help: "The server's configuration, as for tender serve; it names the store.") var config: String?
  @Option(help: "The server's store, instead of the configuration's.") var store: String?
  @Option(help: "The port of the server or demo that runs on this machine, instead of a configuration or store.")
  var port: Int?

  func validate() throws {
    guard port == nil || (config == nil && store == nil) else {
      throw ValidationError("Give --port, or --config and --store, not both.")
    }
  }

  /// What follows a command that is printed, so that it reaches the same store.
  var words: String {
    let options = [("--config", config), ("--store", store), ("--port", port.map(String.init))]
    return options.map { name, value in value.map { " \(name) \(Shell.quoted($0))" } ?? "" }.joined()
  }

  func access() async throws -> StoreAccess {
    if let port { return StoreAccess(running: try Self.running(at: port)) }
    if let store, config == nil { return StoreAccess(store: store) }
    return StoreAccess(try await configuration())
  }

  /// Asks as ``StoreAccess/ask(here:there:body:)`` does; by `--port` only the server that runs.
  func ask<Answer: Codable & Sendable>(
    here: @escaping @Sendable (ServerConfiguration, Journal) async throws -> Answer,
    there: (method: String, path: String), body: [UInt8] = []
  ) async throws -> Answer {
    guard port == nil else { return try await access().askServer(there.method, there.path, body) }
    let configuration = try await configuration()
    return try await StoreAccess(configuration).ask(
      here: { try await here(configuration, $0) }, there: there, body: body)
  }

  /// Makes the store that is not there yet: what a server needs may be written before it runs for the first time.
  func makeStore() async throws {
    guard port == nil, let path = try await configuration().store.path, !FileManager.default.fileExists(atPath: path)
    else { return }
    try await FolderOwner.asOwner(besides: path) {
      try PrivateFile.makeFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
      let journal = try await ServerStore.open(.file(path))
      await journal.database.close()
    }
  }

  /// The configuration, with the store that the call names. The key of the secrets lies beside a store that is named
  /// alone.
  func configuration() async throws -> ServerConfiguration {
    if let port {
      throw MistakenCall(
        "--port \(port) names a server that runs, and this needs its configuration: name it by --config")
    }
    var configuration = try await ConfigurationOptions.load(file: config)
    guard let store else { return configuration }
    let (place, configured) = (StorePlace(store), configuration.storeURL ?? configuration.storePath)
    (configuration.storePath, configuration.storeURL) = place.path.map { ($0, nil) } ?? ("", store)
    // The configuration's socket is that of its own store's server.
    if configured != store { configuration.adminSocket = nil }
    if config == nil, place.path != nil {
      let folder = URL(fileURLWithPath: store).deletingLastPathComponent().path
      configuration.storeKeyFile = folder + "/store.key"
      configuration.contactKeyFile = folder + "/contacts.keys"
    }
    return configuration
  }

  /// The store of the server of this user that listens there, of the demo of that port, or of a server that keeps
  /// everything in the usual place.
  static func running(at port: Int) throws -> String {
    let stores = (DemoFolder.all(port) + [".tender"]).map { $0 + "/tender.db" }
      .filter { FileManager.default.fileExists(atPath: $0 + ".sock") }
    guard let store = RunningServers().store(at: port) ?? stores.first else {
      throw CallFailure("no server of this user runs with port \(port): start it, or name its file with --config")
    }
    return store
  }
}

/// The configuration: file (YAML) < environment (`TENDER_…`) < flags.
struct ConfigurationOptions: ParsableArguments {
  @Option(help: "A YAML file. Every key can also be given as TENDER_….") var config: String?
  @Option(help: "Where to listen; 0 takes a free port.") var port: Int?
  @Option(help: "The address to listen on.") var host: String?

  func load() async throws -> ServerConfiguration { try await Self.load(file: config, flags) }

  func report() async throws -> ConfigurationReport {
    do { return try await ConfigurationReport.make(file: config, flags: flags) } catch {
      throw MistakenCall("\(error)")
    }
  }

  private var flags: [String: String] {
    var flags: [String: String] = [:]
    if let port { flags["port"] = String(port) }
    if let host { flags["host"] = host }
    return flags
  }

  static func load(file: String?, _ flags: [String: String] = [:]) async throws -> ServerConfiguration {
    do {
      return try await ServerConfiguration.load(file: file, flags: flags)
    } catch let error as ConfigurationError where error.isMistakenCall {
      throw MistakenCall("\(error)")
    }
  }
}

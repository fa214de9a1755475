import ArgumentParser
import Logging
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import UnixSignals

/// `tender serve`
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "The server: checkout API, platform API and web kit.")

  @OptionGroup var options: ConfigurationOptions
  @Option(help: "Which log lines to write to standard error; health probes are at debug.")
  var logLevel: LogLevel = .info
  @Flag(help: "Print the addresses as a line of JSON.") var json = false

  func run() async throws {
    try ProcessMemory.forbidDumps()
    FileDescriptors.raiseLimit()
    let logger = Terminal.logger("tender", level: logLevel.level)
    let configuration = try await options.load()
    try Port.require([configuration.port], on: configuration.host, advice: "Choose another with --port.")
    if let port = configuration.metricsPort {
      try Port.require([port], on: configuration.metricsHost, advice: "Choose another metrics.port.")
    }
    if let port = configuration.office.port {
      try Port.require([port], on: configuration.office.host, advice: "Choose another backOffice.port.")
    }
    try configuration.tls?.check()
    if let sandbox = configuration.sandboxURL {
      logger.notice("waiting for the sandbox, at most 10 seconds", metadata: ["url": .string(sandbox)])
    }
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    let server = try await TenderServer(configuration, logger: logger) { port in
      let (environment, address) = (configuration.environment.rawValue, configuration.address(port: port))
      let line = Terminal.jsonLine(["environment": .string(environment), "url": .string(address)])
      Terminal.say(json ? line : "tender serves \(environment) on \(address)")
    }
    let runner = ServiceRunner(first: server, named: "server", logger: logger)
    try await runner.run {
      await runner.join(HangupReload(server: server, hangups: hangups, logger: logger), named: "reload")
    }
  }
}

extension ServerConfiguration {
  /// What the server is reached by on this machine.
  fileprivate func address(port: Int) -> String {
    "\(tls == nil ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
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

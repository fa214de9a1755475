import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import Logging
import Settings
import Storage
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
    // First: until it is trapped, a reload ends the process.
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    try ProcessMemory.forbidDumps()
    FileDescriptors.raiseLimit()
    let logger = Terminal.logger("tender", level: logLevel.level)
    let configuration = try await options.load()
    try configuration.requireOwner()
    let sockets = try InheritedSockets.take()
    try sockets.check(configuration)
    if sockets[.http] == nil {
      try Port.require([configuration.port], on: configuration.host, advice: "Choose another with --port.")
    }
    if let port = configuration.metricsPort, sockets[.metrics] == nil {
      try Port.require([port], on: configuration.metricsHost, advice: "Choose another metrics.port.")
    }
    if let port = configuration.office.port, sockets[.office] == nil {
      try Port.require([port], on: configuration.office.host, advice: "Choose another backOffice.port.")
    }
    try configuration.tls?.check()
    logger.notice(
      "the server starts",
      metadata: [
        "environment": .string(configuration.environment.rawValue), "publicURL": .string(configuration.publicURL),
      ])
    if let sandbox = configuration.sandboxURL {
      logger.notice("waiting for the sandbox, at most 10 seconds", metadata: ["url": .string(sandbox)])
    }
    let server = try await TenderServer(configuration, sockets: sockets, logger: logger) { port in
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
  /// Refuses to serve as root in another user's folder: root would follow links that are put there, and leave files which
  /// the user cannot read.
  fileprivate func requireOwner() throws {
    let folder = URL(fileURLWithPath: store.path ?? fingerprintKeyFile).deletingLastPathComponent().path
    guard let owner = try FolderOwner(of: folder) else { return }
    let name = getpwuid(owner.user).map { String(cString: $0.pointee.pw_name) } ?? "\(owner.user)"
    throw CallFailure(
      "\(folder) is \(name)'s, and root does not serve from it: start the server as \(name), as systemctl start tender "
        + "and setpriv --reuid=\(owner.user) --regid=\(owner.group) --clear-groups tender serve … do")
  }

  /// What the server is reached by on this machine.
  fileprivate func address(port: Int) -> String {
    "\(tls == nil ? "http" : "https")://\(NetworkAddress.authority(host, port))"
  }
}

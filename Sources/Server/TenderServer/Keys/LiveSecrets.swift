import Acquiring
import NIOSSL
import Settings
import Synchronization

/// The secrets that a reload reads again: the credentials of the routes, and the certificate and key of TLS. A call that
/// has begun ends with those that it began with.
///
/// What else is in a route's folder stays as it was at the start, because stored payments and rules depend on it.
final class LiveSecrets: Sendable {
  /// What was read at one time.
  struct Snapshot: Sendable {
    fileprivate let acquirers: [String: Acquirer]
    fileprivate let tls: NIOSSLContextConfigurationOverride
    /// Folders that a restart takes over: they are new or gone, or their settings are not those of the start.
    let needRestart: [String]
  }

  /// The routes. Each asks with the credentials that were read last.
  let routes: RouteTable
  private let newest: Newest
  private let configuration: ServerConfiguration
  /// What each `connector.yaml` said at the start, by route.
  private let settings: [String: [UInt8]]
  private let readRoutes: @Sendable (ServerConfiguration) throws -> RouteTable

  init(
    _ configuration: ServerConfiguration, _ readRoutes: @escaping @Sendable (ServerConfiguration) throws -> RouteTable
  ) throws {
    (self.configuration, self.readRoutes) = (configuration, readRoutes)
    let first = try readRoutes(configuration)
    settings = try configuration.connectorSettings()
    let acquirers = Dictionary(uniqueKeysWithValues: first.routes.map { ($0.name, $0.acquirer) })
    let newest = Newest(Snapshot(acquirers: acquirers, tls: try configuration.tlsOverride(), needRestart: []))
    routes = first.map { acquirer in
      acquirer.asking { newest.snapshot.acquirers[acquirer.capabilities.route] ?? acquirer }
    }
    self.newest = newest
  }

  /// Certificate and key for one more TLS connection.
  var tls: NIOSSLContextConfigurationOverride { newest.snapshot.tls }

  /// Reads every file again. Nothing changes before ``use(_:)``.
  ///
  /// - Throws: ``ConfigurationError`` for a file that is not as it must be.
  func read() throws -> Snapshot {
    var configuration = configuration
    try configuration.readSecrets()
    let (new, found) = (try readRoutes(configuration), try configuration.connectorSettings())
    let former = newest.snapshot.acquirers
    let acquirers = former.merging(
      new.routes.filter { former[$0.name] != nil && found[$0.name] == settings[$0.name] }.map { ($0.name, $0.acquirer) }
    ) { $1 }
    let changed = Set(found.keys).union(settings.keys).filter { found[$0] != settings[$0] }
    return Snapshot(acquirers: acquirers, tls: try configuration.tlsOverride(), needRestart: changed.sorted())
  }

  func use(_ snapshot: Snapshot) { newest.snapshot = snapshot }

  /// The snapshot that calls take.
  private final class Newest: Sendable {
    private let value: Mutex<Snapshot>

    init(_ first: Snapshot) { value = Mutex(first) }

    var snapshot: Snapshot {
      get { value.withLock(\.self) }
      set { value.withLock { $0 = newValue } }
    }
  }
}

extension ServerConfiguration {
  /// Nothing where TLS is not served here.
  fileprivate func tlsOverride() throws -> NIOSSLContextConfigurationOverride {
    guard let tls else { return .noChanges }
    try tls.check()
    let read = try TLSConfiguration.modern(tls)
    var override = NIOSSLContextConfigurationOverride()
    (override.certificateChain, override.privateKey) = (read.certificateChain, read.privateKey)
    return override
  }
}

import Foundation
package import Gateway
package import Storage
package import TenderPayments

/// What `tender serve` needs to know: file (YAML) < environment (`TENDER_…`) < flags.
///
/// The defaults run `simulated` on SQLite below `./.tender`. The environment is set here and never by a caller. How each
/// is named, read and documented is in the table of settings, `SettingsTable.server`.
package struct ServerConfiguration: Sendable {
  package var environment = TenderPayments.Environment.simulated
  /// Where to listen. Port 0 takes a free one.
  package var host = "127.0.0.1"
  package var port = 8400
  /// How browsers reach this server: `scheme://host[:port]`.
  package var publicURL = "http://localhost:8400"
  /// How browsers reach the platform's own payment pages.
  package var hostedCheckoutURL = "http://localhost:8400"
  /// Below it are the files that are not named.
  private(set) var directory = ""
  /// The SQLite file, where there is no ``storeURL``.
  package var storePath = ""
  /// The PostgreSQL database, which any number of nodes share; nil for the SQLite file.
  package var storeURL: String?
  /// A file with the password of ``storeURL``, read at every connect.
  package var storePasswordFile: String?
  /// How many connections to PostgreSQL this node keeps.
  package var storeConnections = 8
  /// The socket of the administration; nil for the usual place.
  package var adminSocket: String?
  /// One folder a merchant: see ``MerchantFolder``.
  package var merchantsDirectory = ""
  /// One folder a route: see ``ConnectorFolder``.
  package var connectorsDirectory = ""
  /// Signs guest tokens; a P-256 key in PEM, made at the first start.
  package var guestTokenKeyFile = ""
  /// Makes the fingerprints of decrypted payment data that merchants' servers hand in, so that none is taken twice; made
  /// at the first start. A copy of the store alone does not say whether it holds a card's.
  package var fingerprintKeyFile = ""
  /// The keys that seal the secrets in the store, a line each; made at the first secret.
  package var storeKeyFile = ""
  /// The keys of the store themselves, in place of the file; nil where the file has them.
  package var storeKey: String?
  /// A command that prints the keys of the store, in place of the file; nil where the file has them.
  package var storeKeyCommand: [String]?
  /// The keys that seal shoppers' contacts in the store, and where a copy of the file is kept; made at the first start.
  package var contactKeyFile = ""
  package var contactKeyCopy: String?
  /// How long what need not be kept for good is kept.
  package var retention = RetentionLimits()
  /// Where the simulated Apple and bank are: only in `simulated`.
  package var sandboxURL: String?
  package var acquirer = AcquirerEndpoint(connector: "sandbox", baseURL: "", apiKey: "")
  /// Whether a simulated server records the steps of payments.
  package var keepsTraces = true
  /// How long a payment may take, how many may be under way at once, and what the page shows while the outcome of one is
  /// unknown.
  package var gatewayPolicy = GatewayPolicy()
  /// How many calls of the platform API an API key may make in a second; 0 for as many as come.
  package var callsPerKey = 500
  /// How many calls of the platform API all keys of a merchant may make in a second; 0 for as many as come.
  package var callsPerMerchant = 1_000
  /// How many connections may be open at once; nil for as many as the limit of open files allows, at most 10,000.
  package var maximumConnections: Int?
  /// How long the caller may take on a connection.
  package var connectionTimes = ConnectionTimes()
  /// For how many seconds the server accepts connections after `/readyz` says that it ends; none in `simulated` by
  /// default.
  package var drainSeconds: Int {
    get { chosenDrainSeconds ?? (environment == .simulated ? 0 : 2) }
    set { chosenDrainSeconds = newValue }
  }
  private var chosenDrainSeconds: Int?
  /// Where `GET /metrics` is served beside the admin socket; nil for nowhere.
  package var metricsPort: Int?
  package var metricsHost = "127.0.0.1"
  /// Where traces and metrics go.
  package var telemetry = TelemetryConfiguration()
  /// The proxies in front whose word for the caller's address is believed.
  package var trustedProxies = TrustedProxies()
  /// The operators' pages.
  package var office = OfficeAddress()
  /// Whether webhooks may go to private and loopback addresses, and over plain HTTP.
  package var allowsPrivateWebhooks = false
  /// How many webhooks are under way to one endpoint at most.
  package var webhookConcurrency = 16
  /// How mail is sent; off by default.
  package var mail = MailConfiguration()
  /// The ways out of the operator's network.
  package var outbound = OutboundConfiguration()
  /// PEM files, to serve TLS here instead of in a proxy.
  package var tls: TLSFiles?
  /// The socket of `tender key-agent`, when it holds the private keys of processing certificates.
  package var keyAgentSocket: String?
  /// The platform's own processing certificates, for merchants that have none: see ``PlatformFolder``.
  package var platformDirectory: String?

  /// Where the operators' pages are served, and how long somebody stays signed in.
  package struct OfficeAddress: Sendable {
    package var host = "127.0.0.1"
    /// Nil for nowhere.
    package var port: Int?
    /// How browsers reach it; nil for `http://localhost:` and the port.
    package var url: String?
    package var idleMinutes = 30
    package var sessionHours = 12
    /// Whether a second administrator has to approve what is erased on the pages.
    package var erasuresNeedTwo = false
    /// The provider at which operators may sign in.
    package var openID = OpenIDConfiguration()
    /// The cost of new passwords' hashes; no setting, because only tests want less.
    package var passwordCost = PasswordCost.standard
  }

  package struct AcquirerEndpoint: Sendable {
    package var connector: String
    /// The operator's name of the account there. Another name is another acquirer to the journal.
    package var account: String?
    package var baseURL: String
    package var apiKey: String
    /// A file with the key, which a reload reads again; nil where the key is in no file.
    package var apiKeyFile: String?

    package init(connector: String, account: String? = nil, baseURL: String, apiKey: String) {
      self.connector = connector
      self.account = account
      self.baseURL = baseURL
      self.apiKey = apiKey
    }
  }

  package struct TLSFiles: Sendable {
    package var certificateFile: String
    package var keyFile: String

    package init(certificateFile: String, keyFile: String) {
      self.certificateFile = certificateFile
      self.keyFile = keyFile
    }
  }

  package var store: StorePlace {
    guard let storeURL else { return .file(storePath) }
    var settings = PostgresSettings(address: storeURL)
    settings.passwordFile = storePasswordFile
    settings.connections = storeConnections
    return .postgres(settings)
  }

  package var contactKeys: RowKeys.Files { RowKeys.Files(contactKeyFile, copy: contactKeyCopy) }

  /// The socket on which the command line reaches a running server: beside the store's file, or in the directory of a
  /// node.
  package var adminSocketPath: String {
    adminSocket ?? (storeURL == nil ? storePath + ".sock" : directory + "/tender.sock")
  }

  package init(
    environment: TenderPayments.Environment, directory: String, host: String, port: Int, sandboxURL: String?,
    acquirer: AcquirerEndpoint
  ) {
    self.environment = environment
    self.host = host
    self.port = port
    self.publicURL = "http://localhost:\(port)"
    self.hostedCheckoutURL = publicURL
    self.sandboxURL = sandboxURL
    self.acquirer = acquirer
    keepEverything(below: directory)
  }

  /// The defaults.
  init() {
    keepEverything(below: ".tender")
    enter(.simulated)
  }

  /// Places the files that are not named.
  mutating func keepEverything(below directory: String) {
    self.directory = directory
    storePath = directory + "/tender.db"
    merchantsDirectory = Self.merchants(below: directory)
    connectorsDirectory = directory + "/connectors"
    guestTokenKeyFile = directory + "/guest-token.key"
    fingerprintKeyFile = directory + "/fingerprint.key"
    storeKeyFile = directory + "/store.key"
    contactKeyFile = directory + "/contacts.keys"
  }

  private static func merchants(below directory: String) -> String { directory + "/merchants" }

  /// Whether no merchant is declared: the folder is not there, and no setting names it.
  package var declaresNone: Bool {
    merchantsDirectory.utf8.elementsEqual(Self.merchants(below: directory).utf8) && !hasMerchantsDirectory
  }

  /// Whether anything stands at the place of the declared merchants' folder.
  package var hasMerchantsDirectory: Bool { MerchantFolder.stands(at: merchantsDirectory) }

  /// Where `tender-sandbox sandbox` listens by default.
  private static let sandboxDefault = "http://localhost:8402"

  /// Reads the secrets again that stand in files of their own.
  ///
  /// - Throws: ``ConfigurationError`` by the setting whose file is not as it must be.
  package mutating func readSecrets() throws {
    guard let file = acquirer.apiKeyFile else { return }
    do throws(UnfitValue) { acquirer.apiKey = try SecretFile(file).secret } catch {
      throw ConfigurationError("acquirer.apiKeyFile", "found \(error.found); write the key into that file")
    }
  }

  /// Only `simulated` has a sandbox, which is its acquirer too.
  mutating func enter(_ environment: TenderPayments.Environment) {
    self.environment = environment
    sandboxURL = environment == .simulated ? Self.sandboxDefault : nil
    acquirer.baseURL = sandboxURL ?? ""
  }
}

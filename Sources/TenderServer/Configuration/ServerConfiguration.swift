import Configuration
public import Foundation
import Gateway
import SystemPackage
public import TenderPayments

/// What `tender serve` needs to know: file (YAML) < environment (`TENDER_…`) < flags.
///
/// The defaults run `simulated` on SQLite below `./.tender`. The environment is set here and never by a caller.
public struct ServerConfiguration: Sendable {
  public var environment: TenderPayments.Environment
  /// Where to listen. Port 0 takes a free one.
  public var host: String
  public var port: Int
  /// How browsers reach this server: `scheme://host[:port]`.
  public var publicURL: String
  /// The SQLite file.
  public var storePath: String
  /// One folder a merchant: see ``MerchantFolder``.
  public var merchantsDirectory: String
  /// Signs guest tokens; a P-256 key in PEM, made at the first start.
  public var guestTokenKeyFile: String
  /// Where the simulated Apple and bank are: only in `simulated`.
  public var sandboxURL: String?
  public var acquirer: AcquirerEndpoint
  /// What a shopper is told while nobody knows the outcome of a payment: `pending`, or `failure` where a shop would
  /// rather have the next card at once. After *failure* an approval that comes late is undone.
  public var tellsUnknownAs: Telling = .pending
  /// How many payments may be under way at once; the next one is refused with 503 before anything happens.
  public var maximumPaymentsInFlight = GatewayPolicy().maximumInFlight
  /// Whether webhooks may go to private and loopback addresses, and over plain HTTP.
  public var allowsPrivateWebhooks = false
  /// PEM files, to serve TLS here instead of in a proxy.
  public var tls: TLSFiles?
  /// The socket of `tender keys agent`, when it holds the private keys of processing certificates.
  public var keyAgentSocket: String?
  /// The platform's own processing certificates, for merchants that have none: see ``PlatformFolder``.
  public var platformDirectory: String?

  public struct AcquirerEndpoint: Sendable {
    public var connector: String
    public var baseURL: String
    public var apiKey: String

    public init(connector: String, baseURL: String, apiKey: String) {
      self.connector = connector
      self.baseURL = baseURL
      self.apiKey = apiKey
    }
  }

  public struct TLSFiles: Sendable {
    public var certificateFile: String
    public var keyFile: String
  }

  /// The socket on which the command line reaches a running server: beside the store.
  public var adminSocketPath: String { storePath + ".sock" }

  public init(
    environment: TenderPayments.Environment, directory: String, host: String, port: Int, sandboxURL: String?,
    acquirer: AcquirerEndpoint
  ) {
    self.environment = environment
    self.host = host
    self.port = port
    self.publicURL = "http://localhost:\(port)"
    self.storePath = directory + "/tender.db"
    self.merchantsDirectory = directory + "/merchants"
    self.guestTokenKeyFile = directory + "/guest-token.key"
    self.sandboxURL = sandboxURL
    self.acquirer = acquirer
  }
}

/// What is wrong with the configuration, and what to write instead.
public struct ConfigurationError: Error, CustomStringConvertible, Sendable {
  public let key: String
  public let reason: String
  public var description: String { "\(key): \(reason)" }

  public init(_ key: String, _ reason: String) {
    self.key = key
    self.reason = reason
  }

  /// Whether the file itself, as it was named, is not there: a mistake in the call, and not in the configuration.
  public var isMistakenCall: Bool { key == Self.call }
  static let call = "--config"
}

extension ServerConfiguration {
  /// Reads and judges the configuration.
  ///
  /// - Parameters:
  ///   - file: YAML; nil for none.
  ///   - flags: keys such as `port` with the values given on the command line.
  public static func load(
    file: String?, flags: [String: String] = [:],
    variables: [String: String] = ProcessInfo.processInfo.environment
  ) async throws -> ServerConfiguration {
    let reader = ConfigReader(providers: try await providers(file, flags, variables))
    var configuration = try defaults(reader)
    configuration.publicURL = try address("publicURL", reader) ?? configuration.publicURL
    configuration.storePath = reader.string(forKey: "store.path") ?? configuration.storePath
    configuration.merchantsDirectory = reader.string(forKey: "merchants.directory") ?? configuration.merchantsDirectory
    configuration.guestTokenKeyFile = reader.string(forKey: "guestTokens.keyFile") ?? configuration.guestTokenKeyFile
    configuration.tls = try tls(reader)
    configuration.keyAgentSocket = reader.string(forKey: "keyAgent.socket")
    configuration.platformDirectory = reader.string(forKey: "platform.directory")
    configuration.tellsUnknownAs = try telling(reader) ?? configuration.tellsUnknownAs
    configuration.maximumPaymentsInFlight =
      try integer("payments.maximumInFlight", reader) ?? configuration.maximumPaymentsInFlight
    configuration.allowsPrivateWebhooks = try yes("webhooks.allowPrivateAddresses", reader)
    return try configuration.judged()
  }

  private static func providers(
    _ file: String?, _ flags: [String: String], _ variables: [String: String]
  ) async throws -> [any ConfigProvider] {
    let given = flags.map {
      (
        AbsoluteConfigKey($0.key.split(separator: ".").map(String.init)),
        ConfigValue(.string($0.value), isSecret: false)
      )
    }
    let ours = variables.filter { $0.key.hasPrefix("TENDER_") }.map { (String($0.key.dropFirst(7)), $0.value) }
    var providers: [any ConfigProvider] = [
      InMemoryProvider(name: "flags", values: Dictionary(uniqueKeysWithValues: given)),
      EnvironmentVariablesProvider(environmentVariables: Dictionary(uniqueKeysWithValues: ours)),
    ]
    if let file {
      guard FileManager.default.contents(atPath: file) != nil else {
        throw ConfigurationError(ConfigurationError.call, "there is no file \(file), or it cannot be read")
      }
      providers.append(try await yaml(file, .server))
    }
    return providers
  }

  static func yaml(_ file: String, _ known: KnownKeys) async throws -> FileProvider<YAMLSnapshot> {
    let provider: FileProvider<YAMLSnapshot>
    do { provider = try await FileProvider<YAMLSnapshot>(filePath: FilePath(file)) } catch {
      throw ConfigurationError(file, "this is no YAML that can be read: \(error)")
    }
    try known.judge(file)
    return provider
  }

  /// Where `tender sandbox` listens when it is not told otherwise.
  private static let sandboxDefault = "http://localhost:8402"

  private static func defaults(_ reader: ConfigReader) throws -> ServerConfiguration {
    let name = reader.string(forKey: "environment") ?? "simulated"
    guard let environment = TenderPayments.Environment(rawValue: name) else {
      throw ConfigurationError("environment", "\(name) is none of simulated, apple-sandbox, production")
    }
    let sandboxURL = try address("sandboxURL", reader) ?? (environment == .simulated ? sandboxDefault : nil)
    return ServerConfiguration(
      environment: environment, directory: reader.string(forKey: "directory") ?? ".tender",
      host: reader.string(forKey: "host") ?? "127.0.0.1", port: try integer("port", reader) ?? 8400,
      sandboxURL: sandboxURL,
      acquirer: AcquirerEndpoint(
        connector: reader.string(forKey: "acquirer.connector") ?? "sandbox",
        baseURL: try address("acquirer.baseURL", reader) ?? sandboxURL ?? "",
        apiKey: try secret("acquirer.apiKey", reader) ?? ""))
  }

  /// `scheme://host[:port]`, to which paths are joined.
  private static func address(_ key: ConfigKey, _ reader: ConfigReader) throws -> String? {
    guard let text = reader.string(forKey: key) else { return nil }
    guard text.hasPrefix("https://") || text.hasPrefix("http://") else {
      throw ConfigurationError("\(key)", "\(text) is no address; write it as http://localhost:8402")
    }
    return text.hasSuffix("/") ? String(text.dropLast()) : text
  }

  /// A number from wherever it stands: the file has numbers, flags and variables have text.
  private static func integer(_ key: ConfigKey, _ reader: ConfigReader) throws -> Int? {
    if let number = reader.int(forKey: key) { return number }
    guard let text = reader.string(forKey: key) else { return nil }
    guard let number = Int(text) else { throw ConfigurationError("\(key)", "\(text) is no number; write one") }
    return number
  }

  private static func telling(_ reader: ConfigReader) throws -> Telling? {
    guard let text = reader.string(forKey: "payments.tellsUnknownAs") else { return nil }
    guard let telling = Telling(rawValue: text), telling != .success else {
      throw ConfigurationError("payments.tellsUnknownAs", "\(text) is neither pending nor failure")
    }
    return telling
  }

  /// The file has true and false, variables have text.
  private static func yes(_ key: ConfigKey, _ reader: ConfigReader) throws -> Bool {
    if let value = reader.bool(forKey: key) { return value }
    guard let text = reader.string(forKey: key) else { return false }
    throw ConfigurationError("\(key)", "\(text) is neither true nor false")
  }

  /// A secret stands in a variable or, better, in a file that `…File` names; never in the configuration file.
  private static func secret(_ key: String, _ reader: ConfigReader) throws -> String? {
    if let path = reader.string(forKey: ConfigKey(key + "File")) {
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
        throw ConfigurationError(key + "File", "cannot read \(path)")
      }
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    return reader.string(forKey: ConfigKey(key), isSecret: true)
  }

  private static func tls(_ reader: ConfigReader) throws -> TLSFiles? {
    switch (reader.string(forKey: "tls.certificateFile"), reader.string(forKey: "tls.keyFile")) {
    case (nil, nil): return nil
    case (let certificate?, let key?): return TLSFiles(certificateFile: certificate, keyFile: key)
    default: throw ConfigurationError("tls", "name both certificateFile and keyFile, or neither")
    }
  }

  /// Refuses what does not fit together, before anything listens.
  private func judged() throws -> ServerConfiguration {
    guard (0...65_535).contains(port) else {
      throw ConfigurationError("port", "\(port) is no port; write a number from 1 to 65535, or 0 for a free one")
    }
    guard maximumPaymentsInFlight > 0 else {
      throw ConfigurationError(
        "payments.maximumInFlight", "with \(maximumPaymentsInFlight) nobody could pay; write 1 or more")
    }
    guard ["sandbox", "sandbox-provider"].contains(acquirer.connector) else {
      throw ConfigurationError(
        "acquirer.connector",
        "\(acquirer.connector) is not built in; this version has: sandbox, sandbox-provider")
    }
    switch environment {
    case .simulated: break
    case .appleSandbox, .production:
      guard sandboxURL == nil else {
        throw ConfigurationError("sandboxURL", "\(environment.rawValue) must not know a simulated Apple; take it out")
      }
      guard publicURL.hasPrefix("https://") else {
        throw ConfigurationError(
          "publicURL",
          "\(environment.rawValue) needs https; write how browsers reach this server: https://pay.example.com")
      }
      guard environment != .production else {
        throw ConfigurationError(
          "acquirer.connector",
          "production needs a real acquirer; this version has only the sandbox's. Write environment: simulated")
      }
    }
    guard !acquirer.baseURL.isEmpty else {
      throw ConfigurationError(
        "acquirer.baseURL", "write the acquirer's address, as http://localhost:8402 of a sandbox")
    }
    return self
  }
}

extension ServerConfiguration {
  var gatewayPolicy: GatewayPolicy {
    var policy = GatewayPolicy()
    policy.tellsUnknownAs = tellsUnknownAs
    policy.maximumInFlight = maximumPaymentsInFlight
    return policy
  }
}

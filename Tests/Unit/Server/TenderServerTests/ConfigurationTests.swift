import Foundation
import HTTPTransport
import Logging
import Settings
import Storage
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// What a server or a merchant is configured with, from the files and variables that an operator writes.
@Suite struct `A configuration` {
  private let place: Place

  init() throws { place = try Place() }

  @Test(arguments: [
    ("environment: [production]", "environment"), ("tls: {certificateFile: [a], keyFile: b}", "tls.certificateFile"),
    ("port: '80 80'", "port"), ("port: 0x1F90", "port"), ("port: 65536", "port"), ("port: -1", "port"),
    ("webhooks: {allowPrivateAddresses: yes}", "webhooks.allowPrivateAddresses"),
    ("payments: {maximumInFlight: 0}", "payments.maximumInFlight"),
    ("payments: {reportUnknownAs: success}", "payments.reportUnknownAs"),
    ("acquirer: {connector: unknown}", "acquirer.connector"), ("publicURL: pay.example.com", "publicURL"),
    ("publicURL: https://user@pay.example.com", "publicURL"), ("store: tender.db", "store"), ("store: {}", "store"),
    ("store:", "store"), ("store: [path]", "store"),
  ])
  func `of another shape than the setting has is refused by the setting's name`(
    _ yaml: String, _ key: String
  ) async throws {
    let error = await place.refusal(of: yaml)
    #expect(error?.key == key, "\(String(describing: error))")
  }

  @Test(
    arguments: [
      ("port: 9001\nbackOffice: {port: 9001}", "backOffice.port"),
      ("port: 9001\nmetrics: {port: 9001, host: 0.0.0.0}", "metrics.port"),
      ("backOffice: {port: 9001}\nmetrics: {port: 9001}", "metrics.port"),
      ("port: 9001\nenvironment: simulated\nhost: 192.0.2.1\nbackOffice: {port: 9001}", nil),
      ("port: 0\nbackOffice: {port: 9001}\nmetrics: {port: 9002}", nil),
    ] as [(String, String?)])
  func `with one port for two listeners of an address is refused by the later setting's name`(
    _ yaml: String, _ key: String?
  ) async throws {
    let error = await place.refusal(of: yaml)
    #expect(error?.key == key, "\(String(describing: error))")
  }

  @Test func `with a former name of a setting is refused with the new one`() async throws {
    let file = await place.refusal(of: "payments: {tellsUnknownAs: failure}")
    #expect(file?.reason.contains("it is payments.reportUnknownAs now") == true, "\(String(describing: file))")
    let variable = await place.refusal(variables: ["TENDER_PAYMENTS_TELLS_UNKNOWN_AS": "failure"])
    #expect(
      variable?.reason.contains("it is TENDER_PAYMENTS_REPORT_UNKNOWN_AS now") == true,
      "\(String(describing: variable))")
  }

  @Test(arguments: SettingsTable.server.settings.map(\.key))
  func `is refused when a setting has a wrong shape, whichever setting it is`(_ key: String) async throws {
    let setting = try #require(SettingsTable.server.settings.first { $0.key == key })
    for value in Shapes.wrong(isList: setting.isList, example: setting.example) {
      let error = await place.refusal(of: Shapes.yaml(key, value))
      #expect(error?.key == key && error?.reason.contains("write") == true, "\(value): \(String(describing: error))")
    }
    let error = await place.refusal(variables: [setting.variable: ""])
    #expect(error?.key == key)
  }

  @Test(arguments: SettingsTable.merchant.settings.map(\.key))
  func `of a merchant is refused when a setting has a wrong shape, whichever setting it is`(_ key: String) throws {
    let setting = try #require(SettingsTable.merchant.settings.first { $0.key == key })
    for value in Shapes.wrong(isList: setting.isList, example: setting.example) {
      let error = #expect(throws: ConfigurationError.self) {
        _ = try MerchantSettings(file: place.write("\(key): \(value)\n"))
      }
      #expect(error?.key == key && error?.reason.contains("write") == true, "\(value): \(String(describing: error))")
    }
  }

  @Test(arguments: SettingsTable.server.settings.map(\.key))
  func `takes the example of each setting, from the file and from its variable`(_ key: String) throws {
    let table = SettingsTable.server
    let setting = try #require(table.settings.first { $0.key == key })
    // The example's file of a secret is not on this machine.
    guard !["apiKeyFile", "passwordFile", "secretFile", "SecretFile"].contains(where: key.hasSuffix) else { return }
    let file = try table.file(place.write(Shapes.yaml(key, setting.example)))
    #expect(try table.read([file]).named == [key])
    let text = setting.isList ? String(setting.example.dropFirst().dropLast()) : setting.example
    let variables = try table.variables([setting.variable: text])
    #expect(try table.read([variables]).named == [key])
  }

  @Test func `takes the examples of a merchant's settings`() throws {
    let lines = SettingsTable.merchant.settings.map { "\($0.key): \($0.example)\n" }
    _ = try MerchantSettings(file: place.write(lines.joined()))
  }

  @Test(arguments: SettingsTable.merchant.settings.filter(\.isRequired).map(\.key))
  func `of a merchant needs every setting without a default`(_ key: String) throws {
    let lines = SettingsTable.merchant.settings.filter { $0.key != key }.map { "\($0.key): \($0.example)\n" }
    let error = #expect(throws: ConfigurationError.self) { _ = try MerchantSettings(file: place.write(lines.joined())) }
    #expect(error?.reason.contains(key) == true)
  }

  @Test(arguments: [
    "webhooks: https://shop.example.com/hooks", "domains: shop.example.com", "supportedNetworks: visa",
    "supportedNetworks: [visa, vi-ssa]", "supportedNetworks: [cartesBancaires, carteBancaire]", "supportedNetworks: []",
    "merchantCapabilities: []", "countryCode: ZZ",
    "callbackHosts: ['https://shop.example.com']", "domains: ['shop.example.com/']", "supportedNetworks: [visa, visa]",
    "countryCode: Ireland", "currencyCode: XAU",
    "encryptTo: everybody", "webhooks: [a, b, c, d, e, f]", "statementDescriptor: Käse", "merchantCategory: '581'",
    "statementDescriptor: ABCDEFGHIJKLMNOPQRSTUVW", "merchantAccounts: [adyen]", "merchantAccounts: [Adyen=Harbour]",
  ])
  func `of a merchant names the setting, what was found and what to write`(_ line: String) throws {
    let error = #expect(throws: ConfigurationError.self) { _ = try MerchantSettings(file: place.write(line)) }
    #expect(error?.key == line.prefix { $0 != ":" }.description)
    let reason = try #require(error?.reason)
    #expect(error?.place?.hasSuffix(".yaml:1") == true)
    #expect(reason.hasPrefix("found ") && reason.contains("; write "), "\(reason)")
  }

  @Test(arguments: [
    ("TENDER_ENVIRONMNT", "TENDER_ENVIRONMENT"), ("TENDER_PUBLICURL", "TENDER_PUBLIC_URL"),
    ("TENDER_STORE_PAHT", "TENDER_STORE_PATH"), ("TENDER_", nil), ("TENDER_SERVICE_HOST", nil),
  ])
  func `refuses a variable that names no setting, with the nearest one`(
    _ name: String, _ nearest: String?
  ) async throws {
    let error = try #require(await place.refusal(variables: [name: "x", "PATH": "/bin", "TENDERLY": "x"]))
    #expect(error.key == name)
    #expect(error.reason.contains(nearest.map { "did you mean \($0)?" } ?? "there is no such setting"))
  }

  /// Another would make every command refuse to start in the shell in which a sample runs.
  @Test(arguments: ["docs", "Examples"]) func `has each variable that a page or a sample names`(_ folder: String) throws
  {
    let variables = Set(SettingsTable.server.settings.map(\.variable))
    let files = FileManager.default.enumerator(at: Repository.url(folder), includingPropertiesForKeys: nil)
    for case let file as URL in try #require(files) where ["md", "mjs", "py"].contains(file.pathExtension) {
      for name in try String(contentsOf: file, encoding: .utf8).matches(of: /\bTENDER_[A-Z_]*[A-Z]/).map(\.output) {
        #expect(variables.contains(String(name)), "\(file.lastPathComponent): \(name)")
      }
    }
  }

  @Test(arguments: [
    ("publicUrl: http://localhost:9000", "did you mean publicURL?"), ("store: {pth: a}", "did you mean store.path?"),
    ("stroe: {path: a}", "did you mean store.path?"), ("store.path: a", "without dots"), ("[a]: b", "one word"),
    ("port: 1\nport: 2", "port"), ("- port", "holds no settings"), ("port", "holds no settings"),
    ("port: 1\n---\nport: 2", "document"),
  ])
  func `refuses a file in which a key is misspelt, repeated or none`(_ yaml: String, _ words: String) async throws {
    let error = try #require(await place.refusal(of: yaml))
    #expect("\(error)".contains(words), "\(error)")
  }

  @Test(arguments: ["", "# nothing yet\n", "---\n", "null"])
  func `of a file without settings is the defaults`(_ yaml: String) async throws {
    let configuration = try await ServerConfiguration.load(file: place.write(yaml), variables: [:])
    #expect(configuration.port == 8400 && configuration.acquirer.baseURL == "http://localhost:8402")
  }

  @Test func `is what the flag says, else the variable, else the file`() async throws {
    let file = try place.write("port: 1\nstore:\n  path: file.db\ndirectory: below\n")
    let variables = ["TENDER_PORT": "2", "TENDER_STORE_PATH": "variable.db"]
    let all = try await ServerConfiguration.load(file: file, flags: ["port": "3"], variables: variables)
    #expect(all.port == 3 && all.publicURL == "http://localhost:3" && all.storePath == "variable.db")
    #expect(all.merchantsDirectory == "below/merchants")
    #expect(try await ServerConfiguration.load(file: file, variables: variables).port == 2)
    #expect(try await ServerConfiguration.load(file: file, variables: [:]).port == 1)
  }

  @Test func `takes words that YAML takes for something else as they are written`() throws {
    let lines = SettingsTable.merchant.settings.map { "\($0.key): \($0.example)\n" }.filter { !$0.hasPrefix("country") }
    _ = try MerchantSettings(file: place.write(lines.joined() + "countryCode: NO\n"))
  }

  @Test(arguments: ["0.0.0.0", "::", "192.0.2.7", "pay.example.com", "127.0.0.1.example.com"])
  func `must name the environment when other machines reach the host`(_ host: String) async throws {
    let error = await place.refusal(of: "host: '\(host)'")
    #expect(error?.key == "environment" && error?.reason.contains("simulated, apple-sandbox, production") == true)
    #expect(await place.refusal(of: "host: '\(host)'\nenvironment: simulated") == nil)
  }

  @Test(arguments: ["127.0.0.1", "127.8.9.10", "::1", "localhost", "shop.localhost"])
  func `need not name the environment on this machine alone`(_ host: String) async throws {
    #expect(await place.refusal(of: "host: '\(host)'") == nil)
  }

  @Test(arguments: [
    ("apple-sandbox", "http://bank.example.com"), ("apple-sandbox", "http://localhost:8402"),
    ("simulated", "http://bank.example.com"), ("simulated", "http://10.0.0.7:8402"),
  ])
  func `with an acquirer over plain HTTP is refused`(_ environment: String, _ url: String) async throws {
    let error = await place.refusal(
      of: "environment: \(environment)\npublicURL: https://pay.example.com\nacquirer: {baseURL: '\(url)'}",
      variables: ["TENDER_ACQUIRER_API_KEY": "0123456789abcdef"])
    #expect(error?.key == "acquirer.baseURL" && error?.reason.contains("needs https") == true)
  }

  @Test(arguments: [
    "acquirer: {baseURL: 'http://127.0.0.1:9'}", "acquirer: {baseURL: 'https://bank.example.com'}",
    "sandboxURL: http://bank:8402", "sandboxURL: http://bank:8402\nacquirer: {baseURL: 'http://bank:9'}",
  ])
  func `may have the sandbox and this machine as an acquirer over plain HTTP`(_ yaml: String) async throws {
    #expect(await place.refusal(of: yaml) == nil)
  }

  @Test func `without the acquirer's key is refused outside simulated`() async throws {
    let yaml =
      "environment: apple-sandbox\npublicURL: https://pay.example.com\nacquirer: {baseURL: 'https://bank.example.com'}"
    let error = await place.refusal(of: yaml)
    #expect(error?.key == "acquirer.apiKey")
    #expect(await place.refusal(of: yaml, variables: ["TENDER_ACQUIRER_API_KEY": "0123456789abcdef"]) == nil)
  }

  @Test func `with a key of the acquirer that is too short is refused, and the key is not shown`() async throws {
    let error = await place.refusal(variables: ["TENDER_ACQUIRER_API_KEY": "0123456789abcde"])
    #expect(error?.key == "acquirer.apiKey" && error?.reason.contains("a secret of 15 bytes") == true)
    #expect(error?.reason.contains("0123456789abcde") == false)
    let file = try place.write("short\n")
    let ofFile = await place.refusal(of: "acquirer: {apiKeyFile: \(file)}")
    #expect(ofFile?.key == "acquirer.apiKeyFile" && ofFile?.reason.contains("a secret of 5 bytes") == true)
  }

  @Test(arguments: [
    ("outbound: {proxy: \"https://proxy.example:3128\"}", "outbound.proxy"),
    ("outbound: {proxy: \"http://proxy.example\"}", "outbound.proxy"),
    ("outbound: {proxy: \"http://a:b@proxy.example:3128\"}", "outbound.proxy"),
    ("outbound: {proxy: direct}", "outbound.proxy"), ("outbound: {apple: {proxy: none}}", "outbound.apple.proxy"),
    ("outbound: {noProxy: [\"http://shop.example\"]}", "outbound.noProxy"),
    ("outbound: {proxy: \"http://proxy.example:3128\", user: tender}", "outbound.user"),
    ("outbound: {user: tender, password: secret}", "outbound.user"),
    ("outbound: {rootsFile: /nowhere.pem}", "outbound.rootsFile"),
    ("outbound: {mail: {rootsFile: /nowhere.pem}}", "outbound.mail.rootsFile"),
    ("trustedProxies: [proxy.example]", "trustedProxies"), ("trustedProxies: [10.0.0.0/33]", "trustedProxies"),
  ])
  func `with a way out or a proxy that means nothing is refused by the setting's name`(
    _ yaml: String, _ key: String
  ) async throws {
    let error = await place.refusal(of: yaml)
    #expect(error?.key == key, "\(String(describing: error))")
  }

  /// What has issuer, client, secret and roles, with these lines in the place of theirs.
  private static func openID(_ changes: [String: String]) -> String {
    let whole = [
      "issuer": "https://login.example", "clientID": "office", "clientSecret": "secret", "roles": "[team = viewer]",
    ].merging(changes) { $1 }
    let lines = whole.filter { !$0.value.isEmpty }.map { "    \($0.key): \($0.value)" }.sorted()
    return "backOffice:\n  openID:\n" + lines.joined(separator: "\n")
  }

  @Test(
    arguments: [
      (["issuer": ""], "issuer"), (["issuer": "http://login.example"], "issuer"),
      (["issuer": "login.example"], "issuer"),
      (["issuer": "https://login.example/?a=b"], "issuer"), (["clientID": ""], "clientID"),
      (["clientSecret": ""], "clientSecretFile"), (["clientSecretFile": "/nowhere"], "clientSecretFile"),
      (["roles": ""], "roles"), (["roles": "[team = owner]"], "roles"), (["roles": "[team = viewer of]"], "roles"),
      (["scopes": "[email]"], "scopes"), (["maximumAgeHours": "0"], "maximumAgeHours"),
    ] as [([String: String], String)])
  func `with a provider of sign-in that cannot be used is refused`(_ changes: [String: String], _ key: String)
    async throws
  {
    let error = await place.refusal(of: Self.openID(changes))
    #expect(error?.key == "backOffice.openID.\(key)", "\(String(describing: error))")
  }

  @Test func `may have a provider of sign-in without https on this machine, where all is simulated`() async throws {
    let local = Self.openID(["issuer": "http://localhost:9400"])
    #expect(await place.refusal(of: local) == nil)
    #expect(await place.refusal(of: Self.openID([:])) == nil)
    let real = "environment: apple-sandbox\npublicURL: https://pay.example.com\n"
    #expect(await place.refusal(of: real + local)?.key == "backOffice.openID.issuer")
  }

  @Test func `gives every destination the proxy of all, its own or none, with the roots of both files`() async throws {
    let roots = [try place.write("-----BEGIN CERTIFICATE-----\n\n"), try place.write("BEGIN CERTIFICATE 2\n")]
    let yaml = """
      outbound:
        proxy: http://proxy.example:3128
        user: tender
        passwordFile: \(try place.write("s:cret\n"))
        noProxy: [.internal.example, 10.0.0.0/8]
        apple: {proxy: "http://[fd00::7]:8080"}
        mail: {proxy: direct}
      """
    let outbound = try await ServerConfiguration.load(file: place.write(yaml), variables: [:]).outbound
    func proxy(_ destination: Egress.Destination, _ host: String = "shop.example") throws -> String? {
      try outbound.egress(to: destination).proxy(to: host, port: 443).map { "\($0) \($0.credentials?.password ?? "")" }
    }
    #expect(try proxy(.providers) == "proxy.example:3128 s:cret" && proxy(.webhooks) == proxy(.merchants))
    #expect(try proxy(.apple) == "[fd00::7]:8080 s:cret" && proxy(.mail) == nil)
    #expect(try proxy(.providers, "db.internal.example") == nil && proxy(.providers, "10.1.2.3") == nil)
    var settings = OutboundConfiguration()
    (settings.rootsFile, settings.rootsFiles) = (roots[0], [.apple: roots[1]])
    #expect(try settings.egress(to: .apple).rootsPEM?.split(separator: "\n").count == 2)
    #expect(try settings.egress(to: .webhooks).rootsPEM?.split(separator: "\n").count == 1)
  }

  @Test func `takes a secret from one place`() async throws {
    let file = try place.write("0123456789abcdef\n")
    let error = await place.refusal(
      of: "acquirer:\n  apiKeyFile: \(file)", variables: ["TENDER_ACQUIRER_API_KEY": "0123456789abcdef"])
    #expect(error?.key == "acquirer.apiKey")
    let read = try await ServerConfiguration.load(
      file: place.write("acquirer:\n  apiKeyFile: \(file)"), variables: [:])
    #expect(read.acquirer.apiKey == "0123456789abcdef")
  }

  @Test func `is documented as it is read`() throws {
    let page = try Place.documentation()
    #expect(page.contains(SettingsTable.server.page), "run: tender config settings")
    #expect(page.contains(SettingsTable.merchant.page), "run: tender config settings --merchant")
  }

  /// Figures of benchmarks.md have dots too.
  @Test func `has every setting that a page of docs names by its group`() throws {
    let keys = Set(SettingsTable.server.settings.map(\.key))
    let groups = Set(keys.filter { $0.contains(".") }.compactMap { $0.split(separator: ".").first })
    let files = try FileManager.default.contentsOfDirectory(atPath: Repository.url("docs").path)
    let pages = files.filter { $0.hasSuffix(".md") && $0 != "benchmarks.md" }
    #expect(pages.contains("postgres.md"))
    for page in pages {
      for word in try Repository.text("docs/\(page)").matches(of: /`([a-z][A-Za-z]*)(\.[A-Za-z.]+)`/) {
        let name = word.output.1 + word.output.2
        #expect(!groups.contains(word.output.1) || keys.contains(String(name)), "\(page): \(name)")
      }
    }
    // What each node limits for itself is named there without an example to try it on.
    for word in try Repository.text("docs/postgres.md").matches(of: /`([a-z]+[A-Z][A-Za-z]*)`/) {
      #expect(keys.contains(String(word.output.1)), "postgres.md: \(word.output.1)")
    }
  }

  @Test func `of the documentation is accepted`() async throws {
    let blocks = try Place.documentation().components(separatedBy: "```yaml\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    try #require(blocks.count == 4)
    _ = try await ServerConfiguration.load(file: place.write(blocks[0]), variables: [:])
    // The second shows a merchant's rules alone.
    _ = try MerchantSettings(file: place.write(blocks[2] + blocks[1]))
  }
}

/// The secrets that merchants' servers sign with.
@Suite struct `A merchant's secret` {
  private let place: Place

  init() throws { place = try Place() }

  @Test(arguments: ["", "\n", "0123456789abcde", "   0123456789abcde  \n"], ["api-keys", "webhook-keys"])
  func `under 16 bytes is refused, with its file and the command that makes one`(
    _ secret: String, _ folder: String
  ) async throws {
    try place.addMerchant("harbour", secrets: [folder: ["k1": secret]], webhooks: "[\"https://a.example/hooks\"]")
    let error = try #require(await place.refusalOfMerchants())
    #expect(error.key.hasSuffix("merchants/harbour/\(folder)/k1.secret"))
    #expect(error.reason.contains("openssl rand -hex 32 > ") && error.reason.contains("needs 16"))
  }

  @Test func `of 0 bytes is refused at the start`() async throws {
    try place.addMerchant("harbour", secrets: ["api-keys": ["k1": ""]])
    var configuration = ServerConfiguration(
      environment: .appleSandbox, directory: place.path, host: "127.0.0.1", port: 0, sandboxURL: nil,
      acquirer: .init(connector: "sandbox", baseURL: "https://bank.example.com", apiKey: "0123456789abcdef"))
    configuration.publicURL = "https://pay.example.com"
    let error = await #expect(throws: ConfigurationError.self) {
      _ = try await TenderServer(configuration, logger: Logger(label: "tender"))
    }
    #expect(error?.key.hasSuffix("api-keys/k1.secret") == true)
  }

  @Test func `that others than its owner can read is refused, with the command that corrects it`() async throws {
    try place.addMerchant("harbour", secrets: ["api-keys": ["k1": "0123456789abcdef"]])
    let file = "\(place.path)/merchants/harbour/api-keys/k1.secret"
    for mode in [0o640, 0o604, 0o620, 0o666] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
      let error = try #require(await place.refusalOfMerchants())
      #expect(error.key == file && error.reason.contains("run: chmod 600 \(file)"))
    }
    for mode in [0o600, 0o400] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
      #expect(await place.refusalOfMerchants() == nil)
    }
  }

  @Test func `under one key id at two merchants is refused`() async throws {
    let secrets = ["api-keys": ["k1": "0123456789abcdef"]]
    try place.addMerchant("harbour", secrets: secrets)
    #expect(await place.refusalOfMerchants() == nil)
    try place.addMerchant("kitsune", secrets: secrets)
    let error = try #require(await place.refusalOfMerchants())
    #expect(error.key.hasSuffix("merchants/kitsune/api-keys/k1.secret") && error.reason.contains("merchant harbour"))
  }
}

/// The shapes that a value may have in YAML.
private enum Shapes {
  static func wrong(isList: Bool, example: String) -> [String] {
    let never = ["", "~", "null", "''", "{a: b}", "[[a]]", "[{a: b}]", "[~]", "['']", "\"a\\nb\"", "\" a\""]
    return never + (isList ? [example.trimmingCharacters(in: ["[", "]"])] : ["[\(example)]", "[]"])
  }

  /// `store.path` and a value as a file: `store: {path: value}`.
  static func yaml(_ key: String, _ value: String) -> String {
    let parts = key.split(separator: ".")
    let lines = parts.enumerated().map { String(repeating: "  ", count: $0) + $1 + ":" }
    return lines.joined(separator: "\n") + " \(value)\n"
  }
}

/// A folder for the files of one test.
private final class Place: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "tender-configuration-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ text: String) throws -> String {
    let file = "\(path)/\(UUID().uuidString).yaml"
    try PrivateFile.write(text, to: file)
    return file
  }

  /// What a server with this configuration is refused with; nil when it is accepted.
  func refusal(of yaml: String = "", variables: [String: String] = [:]) async -> ConfigurationError? {
    do {
      _ = try await ServerConfiguration.load(file: write(yaml), variables: variables)
      return nil
    } catch {
      return error as? ConfigurationError
    }
  }

  /// - Parameter secrets: by folder and key id.
  func addMerchant(_ id: String, secrets: [String: [String: String]], webhooks: String = "[]") throws {
    let folder = "\(path)/merchants/\(id)"
    for (name, keys) in secrets {
      for (id, secret) in keys {
        try PrivateFile.write(secret, to: "\(folder)/\(name)/\(id).secret")
      }
    }
    let yaml = """
      merchantIdentifier: merchant.test.\(id)
      displayName: \(id)
      countryCode: IE
      currencyCode: EUR
      webhooks: \(webhooks)

      """
    try Data(yaml.utf8).write(to: URL(filePath: folder + "/merchant.yaml"))
  }

  /// What the merchants are refused with; nil when they are accepted.
  func refusalOfMerchants() async -> ConfigurationError? {
    var configuration = ServerConfiguration(
      environment: .simulated, directory: path, host: "127.0.0.1", port: 0, sandboxURL: nil,
      acquirer: .init(connector: "sandbox", baseURL: "http://localhost:8402", apiKey: ""))
    configuration.merchantsDirectory = path + "/merchants"
    do {
      _ = try await MerchantFolder.check(configuration)
      return nil
    } catch {
      return error as? ConfigurationError
    }
  }

  static func documentation() throws -> String {
    try Repository.text("docs/configuration.md")
  }
}

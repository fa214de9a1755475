import Acquiring
import Foundation
package import MerchantIdentity
package import Settings
import Storage
import TenderPayments

/// What the doctor examines: a configuration and what its folders hold. Everything is read leniently, so that one broken
/// file does not hide the next.
package struct DoctorSubject: Sendable {
  package let configuration: ServerConfiguration
  /// What is wrong with the settings themselves.
  let problems: [ConfigurationError]
  let merchants: [ExaminedMerchant]
  /// The platform's processing certificates.
  let platform: [ExaminedCertificate]
  /// The routes to payment providers.
  let routes: [String]
  /// Why the routes cannot be read.
  let routesProblem: String?

  package init(
    _ configuration: ServerConfiguration, problems: [ConfigurationError] = [], merchants: [ExaminedMerchant],
    platform: [ExaminedCertificate] = [], routes: [String] = [], routesProblem: String? = nil
  ) {
    (self.configuration, self.problems, self.merchants) = (configuration, problems, merchants)
    (self.platform, self.routes, self.routesProblem) = (platform, routes, routesProblem)
  }

  /// Reads the files that a configuration names.
  ///
  /// - Parameter stored: the merchants of the store, where the caller can open it.
  package init(
    _ configuration: ServerConfiguration, problems: [ConfigurationError] = [], stored: [StoredMerchant] = []
  ) {
    let directory = configuration.merchantsDirectory
    let names = (try? MerchantFolder.merchants(in: directory)) ?? []
    let platform = configuration.platformDirectory.map { ExaminedCertificate.processing(below: $0) } ?? []
    var routes: [String] = []
    var routesProblem: String?
    do {
      routes = try configuration.routeNames()
      var problems = ProblemList()
      RouteTable.check(configuration, &problems)
      try problems.throwFirst()
    } catch { routesProblem = ErrorWords.of(error) }
    self.init(
      configuration, problems: problems,
      merchants: names.map { ExaminedMerchant(id: $0, path: "\(directory)/\($0)") }
        + stored.map { ExaminedMerchant($0) },
      platform: platform, routes: routes, routesProblem: routesProblem)
  }

  /// Reads the configuration as `tender serve` would, and keeps what is wrong instead of stopping at it.
  ///
  /// - Throws: ``ConfigurationError`` when there is no such file.
  package static func read(
    file: String?, flags: [String: String] = [:],
    variables: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> DoctorSubject {
    var problems = ProblemList()
    let configuration = try ServerConfiguration.read(file, flags, variables, &problems)
    return DoctorSubject(configuration, problems: problems.inOrderOfLines)
  }

  /// The subject with the merchants of the store.
  package func with(_ stored: [StoredMerchant]) -> DoctorSubject {
    DoctorSubject(configuration, problems: problems, stored: stored)
  }

  /// The merchants in the store, which no server holds, or why their secrets do not open.
  package func storedMerchants() async throws -> (merchants: [StoredMerchant], problem: String?) {
    try await configuration.storedMerchants()
  }

  /// Whether the platform has a processing certificate, also where only the merchants are examined.
  var platformHasKey: Bool {
    !platform.isEmpty
      || !(configuration.platformDirectory.map { ExaminedCertificate.processing(below: $0) } ?? []).isEmpty
  }

  package var store: StorePlace { configuration.store }
  package var adminSocketPath: String { configuration.adminSocketPath }
}

/// A merchant as the doctor sees it, however it is kept.
package struct ExaminedMerchant: Sendable {
  let id: String
  /// The folder, or another name of the place where the merchant is kept.
  let path: String
  /// Nil where they cannot be read.
  let settings: MerchantSettings?
  /// Why the settings cannot be read.
  let problem: String?
  let certificates: [ExaminedCertificate]
  /// The association file of each domain that has one.
  let associations: [String: [UInt8]]
  let apiKeys: Int
  let webhookKeys: Int
  /// As the settings or the store name them.
  let domainNames: [String]
  /// Files that only their owner may read.
  let privateFiles: [String]
  /// Keys without a certificate beside them.
  let loneKeys: [String]
  /// Whether the merchant is in the store, and not in a folder.
  var isStored = false

  var domains: [Domain] { domainNames.compactMap { try? Domain($0) } }
  var identifier: MerchantIdentifier? { settings.flatMap { try? MerchantIdentifier($0.merchantIdentifier) } }
  var identity: ExaminedCertificate? { certificates.first { $0.kind == .identity } }
  var processing: [ExaminedCertificate] { certificates.filter { $0.kind == .processing } }
}

extension ExaminedMerchant {
  /// Reads a merchant's folder.
  package init(id: String, path: String) {
    let file = path + "/merchant.yaml"
    let read = Result { try MerchantSettings(file: file) }
    let processing = ExaminedCertificate.processing(below: path)
    let secrets = ["api-keys", "webhook-keys", "callback-keys"].map { folder in
      Self.names(path, folder, ".secret").map { "\(path)/\(folder)/\($0).secret" }
    }
    let keys = Self.names(path, "processing", ".key").map { "\(path)/processing/\($0).key" }
    let identity = ExaminedCertificate(.identity, path + "/identity")
    self.init(
      id: id, path: path, settings: try? read.get(), problem: Self.words(read),
      certificates: (identity.isThere ? [identity] : []) + processing,
      associations: Self.associations((try? read.get())?.domains ?? [], path), apiKeys: secrets[0].count,
      webhookKeys: secrets[1].count, domainNames: (try? read.get())?.domains ?? [],
      privateFiles: (secrets.flatMap(\.self) + keys + [path + "/identity.key"]).filter(Self.exists),
      loneKeys: keys.filter { !Self.exists(String($0.dropLast(4)) + ".pem") })
  }

  private static func words(_ read: Result<MerchantSettings, any Error>) -> String? {
    if case .failure(let error) = read { ErrorWords.of(error) } else { nil }
  }

  private static func names(_ path: String, _ folder: String, _ ending: String) -> [String] {
    (try? MerchantFolder.names(in: "\(path)/\(folder)", ending: ending)) ?? []
  }

  private static func associations(_ domains: [String], _ path: String) -> [String: [UInt8]] {
    let files = domains.map { ($0, FileManager.default.contents(ofFile: "\(path)/association/\($0).txt")) }
    return Dictionary(files.compactMap { name, data in data.map { (name, Array($0)) } }) { first, _ in first }
  }

  private static func exists(_ file: String) -> Bool { FileManager.default.fileExists(atPath: file) }
}

extension ExaminedMerchant {
  /// A merchant of the store. Its place is named `store/ID`.
  package init(_ stored: StoredMerchant) {
    let place = "store/\(stored.id)"
    let read = Result { try MerchantSettings(yaml: stored.settings, of: place + "/merchant.yaml") }
    let used: [CertificateState] = [.next, .active, .draining]
    self.init(
      id: stored.id.rawValue, path: place, settings: try? read.get(), problem: Self.words(read),
      certificates: stored.certificates.filter { used.contains($0.state) }.map { ExaminedCertificate($0, of: stored) },
      associations: Dictionary(
        stored.domains.compactMap { row in row.association.map { (row.domain.name, $0.bytes) } },
        uniquingKeysWith: { first, _ in first }),
      apiKeys: stored.secrets(.apiKey).count, webhookKeys: stored.secrets(.webhookKey).count,
      domainNames: stored.domains.map(\.domain.name), privateFiles: [], loneKeys: [], isStored: true)
  }
}

extension ExaminedCertificate {
  fileprivate init(_ row: StoredCertificate, of merchant: StoredMerchant) {
    self.init(
      row.kind == .identity ? .identity : .processing, file: "store/\(merchant.id)/\(row.id)", pem: row.certificate,
      keyPEM: merchant.privateKey(of: row), hasKeyFile: false)
  }
}

import Administration
import ArgumentParser
import CommandSupport
import Connectors
import Foundation
import MerchantIdentity
import Settings
import Storage
import TenderPayments
import TenderServer

/// Makes what is missing of a server. What is there stays.
final class ServerSetup {
  let place: SetupPlace
  private(set) var made: [SetupThing] = []

  init(_ place: SetupPlace) { self.place = place }

  /// What the configuration leads to.
  struct Existing {
    /// Nil where there is no configuration yet.
    var environment: TenderPayments.Environment?
    var publicURL = ""
    var port = 0
    var merchants: [StoredMerchantReport] = []
    var connectors = ""
    /// The names of the routes to providers.
    var routes: [String] = []
  }

  func existing() async throws -> Existing {
    guard FileManager.default.fileExists(atPath: place.config) else { return Existing() }
    let configuration = try await ConfigurationOptions.load(file: place.config)
    return Existing(
      environment: configuration.environment, publicURL: configuration.publicURL, port: configuration.port,
      merchants: try await ask(.list).merchants ?? [], connectors: configuration.connectorsDirectory,
      routes: try configuration.routeNames())
  }

  /// - Parameter environment: the one that is wanted; nil where no option names one.
  func makeConfiguration(_ new: NewConfiguration, for environment: TenderPayments.Environment?) throws {
    let isThere = FileManager.default.fileExists(atPath: place.config)
    if !isThere, !place.isDirectoryNamed, FileManager.default.fileExists(atPath: place.directory + "/tender.db") {
      throw MistakenCall(
        "the store of another configuration is in \(place.directory); name another --directory, or this one if it shall be "
          + "served by both")
    }
    if !isThere { try write(new.text, to: place.config) }
    note("configuration", place.config, isMade: !isThere)
    guard isThere else { return }
    let found = try SettingsTable.server.read([SettingsTable.server.file(place.config)]).settings.environment
    guard found == environment ?? new.environment else {
      throw MistakenCall(
        "\(place.config) is for \(found.rawValue), and stays as it is; name another --config, or change its environment"
      )
    }
  }

  func makeMerchant(_ merchant: MerchantProvisioning.NewMerchant?, isOfPlatform: Bool = false) async throws {
    let keys = try await ConfigurationOptions.load(file: place.config).storeKeyFile
    let areThere = FileManager.default.fileExists(atPath: keys)
    // The first secret makes them.
    defer { if FileManager.default.fileExists(atPath: keys) { note("keys of the store", keys, isMade: !areThere) } }
    let known = try await ask(.list).merchants ?? []
    for other in known where other.id != merchant?.id { note("merchant", other.id, isMade: false) }
    guard let merchant else { return }
    let isThere = known.contains { $0.id == merchant.id }
    if !isThere {
      let bundle = try MerchantBundle(merchant, encryptsToPlatform: isOfPlatform, random: .system)
      _ = try await ask(.add(bundle))
    }
    note("merchant", merchant.id, isMade: !isThere)
  }

  /// A request for each certificate that a merchant of the store lacks, beside the configuration. The keys stay in the
  /// store.
  func makeRequests() async throws {
    for merchant in try await ask(.list).merchants ?? [] where !merchant.isDeclared {
      let rows = try await ask(.listCertificates(merchant: merchant.id)).certificates ?? []
      for kind in CertificateKind.allCases {
        try await makeRequest(kind, of: merchant.id, rows.filter { $0.kind == kind })
      }
    }
  }

  private func makeRequest(_ kind: CertificateKind, of merchant: String, _ rows: [StoredCertificateReport]) async throws
  {
    guard rows.allSatisfy({ $0.state == .requested || $0.state == .retired }) else { return }
    var row = rows.last { $0.state == .requested }
    if row == nil {
      row = try await ask(.requestCertificate(merchant: merchant, kind: kind, isMainlandChina: false)).certificates?
        .first
    }
    guard let request = row?.request else { return }
    let file = place.beside("\(merchant)-\(kind.rawValue).csr")
    let isThere = FileManager.default.fileExists(atPath: file)
    if !isThere { try write(request, to: file) }
    note("certificate request", file, isMade: !isThere)
  }

  func makeRoute(_ provider: ConnectorCatalogue?) async throws {
    let existing = try await existing()
    let new = try provider.map { try ConnectorFolder.make($0, below: existing.connectors) } ?? []
    for file in new { note("route", file, isMade: true) }
    for route in existing.routes { note("route", "\(existing.connectors)/\(route)", isMade: false) }
  }

  func ask(_ call: MerchantCall) async throws -> MerchantAnswer {
    try await MerchantStoreOptions.parse(["--config", place.config]).ask(call)
  }

  func note(_ what: String, _ name: String, isMade: Bool) {
    made.append(SetupThing(what: what, name: name, isMade: isMade))
  }

  /// Everybody may read it.
  private func write(_ text: String, to path: String) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    try FolderOwner.asOwner(of: folder) { _ in
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try MerchantProvisioning.write(text, to: path)
    }
  }
}

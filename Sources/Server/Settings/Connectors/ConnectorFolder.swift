package import Acquiring
import ApplePayToken
import Foundation
import TenderPayments

/// A route as files:
///
///     connectors/<connector>/connector.yaml             one account at this provider, or
///     connectors/<connector>/<account>/connector.yaml   several: the folder's name is the account's in the route
///       *.secret                 credentials, each in a file that only its owner may read
///       fees.yaml                what payments cost there, for the metrics
///       certificates/*.pem       processing certificates of payment tokens that the provider decrypts, any number
package struct ConnectorFolder: Sendable {
  package let route: Route
  let path: String
  /// Files of credentials that a check has found to be wrong already, and in whose place it reads something.
  private var knownProblems: Set<String> = []

  var settingsFile: String { path + "/connector.yaml" }

  /// Every route below `directory`, in the order of their names; none when there is no such folder.
  package static func all(in directory: String) throws -> [ConnectorFolder] {
    try folders(in: directory).flatMap { connector in
      let path = "\(directory)/\(connector)"
      guard !hasSettings(path) else { return [try ConnectorFolder(connector, path)] }
      return try folders(in: path).filter { hasSettings("\(path)/\($0)") }.map {
        try ConnectorFolder("\(connector)/\($0)", "\(path)/\($0)")
      }
    }
  }

  private init(_ name: String, _ path: String) throws {
    guard let route = Route(name) else {
      throw ConfigurationError(path, "name the folder <connector>/<account>; letters, digits and hyphens")
    }
    self.route = route
    self.path = path
  }

  private static func folders(in directory: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { !$0.hasPrefix(".") }.sorted()
  }

  private static func hasSettings(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path + "/connector.yaml")
  }
}

extension ConnectorFolder {
  /// What `connector.yaml` says. A key that is no setting is refused.
  func settings<Target>(_ table: SettingsTable<Target>) throws -> Target { try settings(table, in: settingsFile) }

  private func settings<Target>(_ table: SettingsTable<Target>, in file: String) throws -> Target {
    let (settings, named) = try table.read([table.file(file)])
    if let missing = table.missing(in: named) {
      throw ConfigurationError(
        file, "\(missing.key) is missing: write a line `\(missing.key): \(missing.example)`")
    }
    return settings
  }

  /// Every problem of a reader of this folder that stops at the first: a credential that cannot be read hides no other.
  func problems(checking read: (ConnectorFolder) throws -> Void) -> [any Error] {
    var (folder, problems) = (self, [any Error]())
    while true {
      do {
        try read(folder)
        return problems
      } catch {
        let file = (error as? ConfigurationError)?.key ?? ""
        // What was read in place of a credential may be refused.
        if folder.knownProblems.contains(file) { return problems }
        problems.append(error)
        guard file.hasSuffix(".secret") else { return problems }
        folder.knownProblems.insert(file)
      }
    }
  }

  /// A credential, without the spaces and line ends around it.
  func secret(_ name: String) throws -> String {
    guard !knownProblems.contains("\(path)/\(name).secret") else { return String(repeating: "0", count: 64) }
    let text = try MerchantFolder.secretText("\(path)/\(name).secret").trimmingCharacters(in: .whitespacesAndNewlines)
    guard !text.isEmpty else { throw ConfigurationError("\(path)/\(name).secret", "the file is empty") }
    return text
  }

  /// The credentials of a folder, in the order of their names.
  func secrets(in folder: String) throws -> [String] {
    try MerchantFolder.names(in: "\(path)/\(folder)", ending: ".secret").map { try secret("\(folder)/\($0)") }
  }

  /// What `fees.yaml` says; empty where there is none.
  var fees: [FeeRule] {
    get throws {
      let file = path + "/fees.yaml"
      guard FileManager.default.fileExists(atPath: file) else { return [] }
      return try settings(FeesFile.table, in: file).fees
    }
  }

  /// SHA-256 of the public keys of the certificates whose private keys the provider has.
  var sealedKeys: Set<[UInt8]> {
    get throws {
      Set(
        try MerchantFolder.names(in: path + "/certificates", ending: ".pem").map {
          try PlatformFolder.certificate("\(path)/certificates/\($0).pem").publicKeyHash
        })
    }
  }
}

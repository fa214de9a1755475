import Acquiring
import Foundation
import MerchantIdentity
import Storage
package import TenderPayments

/// All that `tender config check` finds: every problem at once, with the file and line where it is written.
package struct ConfigurationReport: Sendable {
  package let configuration: ServerConfiguration
  package let merchants: [MerchantReport]
  /// In the order of the files: the server's, what it names, the merchants'.
  package let problems: [ConfigurationError]

  package var hasErrors: Bool { problems.contains { !$0.isWarning } }

  /// Reads everything that a server would read, and opens every file. Nothing is made, and nothing is asked.
  ///
  /// - Parameters: as of ``ServerConfiguration/load(file:flags:variables:)``.
  package static func make(
    file: String?, flags: [String: String] = [:],
    variables: [String: String] = ProcessInfo.processInfo.environment, at now: Timestamp = WallClock.system.now()
  ) async throws -> ConfigurationReport {
    var problems = ProblemList()
    let configuration = try ServerConfiguration.read(file, flags, variables, &problems)
    configuration.checkFiles(&problems)
    let folders = try await configuration.examineMerchants(at: now, &problems)
    let reports = folders.map { MerchantReport($0.merchant) }
    return ConfigurationReport(configuration: configuration, merchants: reports, problems: problems.inOrderOfLines)
  }
}

extension ServerConfiguration {
  /// Reads the settings and checks what does not fit together. Follow-up checks of settings that cannot be read are
  /// left out.
  package static func read(
    _ file: String?, _ flags: [String: String], _ variables: [String: String], _ problems: inout ProblemList
  ) throws -> ServerConfiguration {
    let table = SettingsTable.server
    var sources = [SettingsSource.flags(flags), table.variables(variables, &problems)]
    if let file {
      guard FileManager.default.contents(ofFile: file) != nil else {
        let isForbidden = access(file, R_OK) != 0 && errno == EACCES
        let reason =
          isForbidden
          ? "this user may not read \(file): as root, put sudo before the command"
          : "there is no file \(file), or it cannot be read"
        throw ConfigurationError(ConfigurationError.call, reason)
      }
      sources.append(table.file(file, &problems))
    }
    let (configuration, places) = table.read(sources, &problems)
    guard problems.problems.isEmpty else { return configuration }
    for check in configuration.checks(named: Set(places.keys)) {
      do { try check() } catch let error as ConfigurationError { problems.add(error.placed(by: places)) }
    }
    return configuration
  }

  /// The files that the settings name.
  fileprivate func checkFiles(_ problems: inout ProblemList) {
    if let tls, !tls.certificateFile.isEmpty, !tls.keyFile.isEmpty { problems.attempt("tls") { try tls.check() } }
    if let path = store.path {
      problems.attempt("store.path") { try Self.checkCanBeMade(path) { try StoreFile.check(path) } }
    }
    if let storePasswordFile {
      problems.attempt("store.passwordFile") { _ = try MerchantFolder.secretText(storePasswordFile) }
    }
    problems.attempt("administration.socket") { try PrivateSocket(adminSocketPath).check() }
    RouteTable.check(self, &problems)
    problems.attempt("guestTokens.keyFile") {
      try Self.checkCanBeMade(guestTokenKeyFile) { try GuestTokenKey.check(guestTokenKeyFile) }
    }
  }

  /// Checks a file, or the folder in which it will be made.
  private static func checkCanBeMade(_ path: String, _ check: () throws -> Void) throws {
    guard !FileManager.default.fileExists(atPath: path) else { return try check() }
    var folder = folder(of: path)
    while !folder.isEmpty, !FileManager.default.fileExists(atPath: folder) { folder = self.folder(of: folder) }
    var isFolder: ObjCBool = false
    let place = folder.isEmpty ? "." : folder
    _ = FileManager.default.fileExists(atPath: place, isDirectory: &isFolder)
    guard isFolder.boolValue, FileManager.default.isWritableFile(atPath: place) else {
      throw ConfigurationError(path, "cannot be made: \(place) is no folder that this user may write to")
    }
  }

  /// Not Foundation's, which traps on a path of one letter (swift-foundation 6.2 on Linux). Empty for the current folder.
  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return slash == path.startIndex && path.count > 1 ? "/" : String(path[..<slash])
  }

  /// Whether the store has a merchant: then the server starts without a folder of declared ones. Its secrets must open.
  private func holdsMerchants(_ problems: inout ProblemList) async -> Bool {
    do {
      let (merchants, problem) = try await storedMerchants()
      guard let problem else { return !merchants.isEmpty }
      let setting = usesStoreKeyFile ? "secrets.keyFile" : storeKey != nil ? "secrets.key" : "secrets.keyCommand"
      problems.add(ConfigurationError(setting, problem))
      return true
    } catch {
      // A server that runs on the store has started.
      return error as? StorageError == .busy
    }
  }

  fileprivate func examineMerchants(at now: Timestamp, _ problems: inout ProblemList) async throws -> [MerchantFolder] {
    let before = problems.problems.count { !$0.isWarning }
    let isThere = hasMerchantsDirectory
    // Nothing is made, and no database elsewhere is asked without need.
    let isStored = store.path.map { FileManager.default.fileExists(atPath: $0) } ?? !isThere
    if isStored, await holdsMerchants(&problems), !isThere { return [] }
    if declaresNone { return [] }
    let names = problems.attempt("merchants.directory") { try MerchantFolder.merchants(in: merchantsDirectory) } ?? []
    for name in names {
      MerchantExamination(path: "\(merchantsDirectory)/\(name)", configuration: self, now: now).run(&problems)
    }
    guard problems.problems.count(where: { !$0.isWarning }) == before else { return [] }
    do { return try await MerchantFolder.load(self, at: now) } catch {
      problems.attempt("merchants") { throw error }
      return []
    }
  }
}

extension ConfigurationError {
  /// The error with the place where its setting is written.
  fileprivate func placed(by places: [String: String]) -> ConfigurationError {
    ConfigurationError(key, reason, place: place ?? places[key])
  }

  /// As compilers report: place, kind, setting and what is wrong with it.
  package var diagnostic: String {
    let kind = isWarning ? "warning" : "error"
    return place.map { "\($0): \(kind): \(key): \(reason)" } ?? "\(key): \(kind): \(reason)"
  }
}

package import ApplePayToken
import Foundation
package import MerchantIdentity
package import TenderPayments

/// The processing certificates of a platform, which serve every merchant whose `merchant.yaml` says
/// `encryptTo: platform`:
///
///     platform/
///       processing/*.pem *.key     any number; without the key where an agent holds it
///       merchant.yaml              merchantIdentifier, for what follows
///       identity.pem identity.key  with which the platform registers merchants with Apple, and gets their sessions
///
/// Apple's Web Merchant Registration calls this `encryptTo`: merchants without certificates of their own, whose payment
/// tokens are encrypted to the platform that registered them and name their domain in the application data.
package struct PlatformFolder: Sendable {
  package let keys: [ProcessingKey]
  /// Processing certificates that stand here without their keys, which an agent holds.
  package let certificatesOfKeysElsewhere: [ProcessingCertificate]

  /// None, for a server that is no platform.
  static let none = PlatformFolder(keys: [], certificatesOfKeysElsewhere: [])

  private init(keys: [ProcessingKey], certificatesOfKeysElsewhere: [ProcessingCertificate]) {
    self.keys = keys
    self.certificatesOfKeysElsewhere = certificatesOfKeysElsewhere
  }

  /// - Parameter keysMayBeElsewhere: whether a certificate may stand without its key.
  package init(path: String, keysMayBeElsewhere: Bool) throws {
    let names = try MerchantFolder.names(in: path + "/processing", ending: ".pem")
    guard !names.isEmpty else {
      throw ConfigurationError("platform.directory", "there is no certificate in \(path)/processing")
    }
    let here = names.filter { !keysMayBeElsewhere || MerchantFolder.hasKey($0, path) }
    keys = try here.map { try Self.key("\(path)/processing/\($0)") }
    certificatesOfKeysElsewhere = try names.filter { !here.contains($0) }.map {
      try Self.certificate("\(path)/processing/\($0).pem")
    }
  }

  /// - Returns: ``none`` when the configuration names no platform.
  package static func of(_ directory: String?, for folders: [MerchantFolder], keysMayBeElsewhere: Bool) throws
    -> PlatformFolder
  {
    if let directory { return try PlatformFolder(path: directory, keysMayBeElsewhere: keysMayBeElsewhere) }
    if let merchant = folders.first(where: \.profile.encryptsToPlatform)?.merchant.id {
      try require(directory, for: merchant)
    }
    return none
  }

  /// - Throws: ``ConfigurationError`` where the configuration names no platform for a merchant that it serves.
  static func require(_ directory: String?, for merchant: MerchantID) throws {
    guard directory == nil else { return }
    throw ConfigurationError(
      "platform.directory", "\(merchant) says encryptTo: platform; write where the platform's certificates are")
  }

  /// The platform's own identity; nil where its folder has none.
  package static func identity(_ path: String, at now: Timestamp) throws -> MerchantIdentityCertificate? {
    guard FileManager.default.fileExists(atPath: path + "/identity.pem") else { return nil }
    let platform = try MerchantIdentifier(try MerchantFolder.names(at: path).merchantIdentifier)
    return try MerchantFolder.identity(path, platform, now)
  }

  private static func key(_ file: String) throws -> ProcessingKey {
    do {
      return try ProcessingKey(
        privateKeyPEM: MerchantFolder.secretText(file + ".key"), certificatePEM: MerchantFolder.text(file + ".pem"))
    } catch let error as PaymentTokenError {
      throw ConfigurationError(file, "\(error.reason). \(error.advice)")
    }
  }

  static func certificate(_ file: String) throws -> ProcessingCertificate {
    do { return try ProcessingCertificate(pem: try MerchantFolder.text(file)) } catch let error as PaymentTokenError {
      throw ConfigurationError(file, "\(error.reason). \(error.advice)")
    }
  }
}

extension MerchantFolder {
  /// By which domains the platform's key is bound to this merchant; none where the merchant has keys of its own.
  package var platformDomains: [String] { profile.encryptsToPlatform ? merchant.sites.map(\.domain.host) : [] }
}

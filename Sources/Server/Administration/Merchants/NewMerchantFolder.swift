import Foundation
import MerchantIdentity
import Settings
import TenderPayments

/// Whether a merchant can be made: its values, and its place among the merchants that are there.
enum NewMerchantFolder {
  /// - Throws: when the merchant's folder is there, or one of its domains is another merchant's.
  static func requireFree(_ merchant: MerchantProvisioning.NewMerchant, in directory: String) throws {
    let path = "\(directory)/\(merchant.id)"
    guard !FileManager.default.fileExists(atPath: path) else { throw exists(path) }
    for (domain, owner) in OtherMerchants.owners(in: directory) where merchant.domains.contains(domain) {
      throw ConfigurationError("--domain", "\(domain) belongs to the merchant \(owner); a domain has one merchant")
    }
  }

  static func exists(_ path: String) -> ConfigurationError {
    ConfigurationError(
      path, "the merchant is there already, and its keys are kept; change its merchant.yaml, or take another --id")
  }
}

extension MerchantProvisioning.NewMerchant {
  /// - Throws: ``ConfigurationError`` by the option of the first value that does not fit.
  package func check() throws {
    guard Self.isFolderName(id) else {
      throw ConfigurationError("--id", "“\(id)” is no merchant's id; write 1 to 40 letters, digits and hyphens")
    }
    try MerchantFolder.requireFree(MerchantID(id), "--id")
    try Self.check("--merchant-identifier") { _ = try MerchantIdentifier(merchantIdentifier) }
    try Self.check("--name") { _ = try DisplayName(displayName) }
    guard CountryCode.isAssigned(countryCode) else {
      throw ConfigurationError(
        "--country", "“\(countryCode)” is no country of ISO 3166-1; write two capitals such as IE")
    }
    guard Currency(code: currencyCode)?.isMoney == true else {
      throw ConfigurationError(
        "--currency", "“\(currencyCode)” is no currency of ISO 4217; write three capitals such as EUR")
    }
    try checkDomains()
  }

  private func checkDomains() throws {
    for domain in domains { try Self.check("--domain") { _ = try Domain(domain) } }
    guard Set(domains).count == domains.count else {
      throw ConfigurationError("--domain", "a domain is named twice; name each once")
    }
  }

  private static func check(_ option: String, _ read: () throws -> Void) throws {
    do { try read() } catch let error as MerchantIdentityError {
      throw ConfigurationError(option, "\(error.reason) \(error.advice)")
    }
  }

  /// The id is a folder's name and a part of the platform API's paths.
  static func isFolderName(_ id: String) -> Bool {
    (1...40).contains(id.utf8.count) && id.first != "-"
      && id.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
      }
  }
}

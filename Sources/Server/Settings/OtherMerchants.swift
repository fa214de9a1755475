import Ledger
import MerchantIdentity
package import TenderPayments

/// What a merchant cannot name, because it is the server's or another declared merchant's.
package struct OtherMerchants: Sendable {
  private let ownHosts: Set<String>
  /// The declared merchant of a domain and of an API key's id. A folder that cannot be read owns nothing here.
  let domains: [String: MerchantID]
  package let apiKeys: [String: MerchantID]

  package init(_ configuration: ServerConfiguration, but id: MerchantID? = nil) {
    ownHosts = configuration.ownHosts
    domains = Self.owners(in: configuration.merchantsDirectory, but: id)
    apiKeys = Self.ownersOfAPIKeys(in: configuration.merchantsDirectory, but: id)
  }

  package func require(domains new: Set<String>) throws {
    for name in new.sorted() {
      if ownHosts.contains(name) {
        throw MerchantStoreError(.domainTaken, "\(name) is a host of this server, and no merchant's domain.")
      }
      guard let owner = domains[name] else { continue }
      throw MerchantStoreError(.domainTaken, "\(name) belongs to the declared merchant \(owner).")
    }
  }

  /// Merchant by domain. A folder that cannot be read owns nothing here; `tender config check` reports it.
  package static func owners(in directory: String, but id: MerchantID? = nil) -> [String: MerchantID] {
    var owners: [String: MerchantID] = [:]
    for name in names(in: directory, but: id) {
      for domain in (try? MerchantSettings(file: "\(directory)/\(name)/merchant.yaml"))?.domains ?? [] {
        owners[domain] = MerchantID(name)
      }
    }
    return owners
  }

  /// Merchant by the id of an API key.
  static func ownersOfAPIKeys(in directory: String, but id: MerchantID? = nil) -> [String: MerchantID] {
    var owners: [String: MerchantID] = [:]
    for name in names(in: directory, but: id) {
      for key in (try? MerchantFolder.names(in: "\(directory)/\(name)/api-keys", ending: ".secret")) ?? [] {
        owners[key] = MerchantID(name)
      }
    }
    return owners
  }

  private static func names(in directory: String, but id: MerchantID?) -> [String] {
    ((try? MerchantFolder.merchants(in: directory)) ?? []).filter { MerchantID($0) != id }
  }
}

extension MerchantFolder {
  /// Refuses the id that lost payments have: whoever had it would have those of others.
  package static func requireFree(_ id: MerchantID, _ place: String) throws {
    guard id != .unknown else {
      throw ConfigurationError(place, "no merchant can be called unknown: it stands for lost payments; take another id")
    }
  }
}

import HostedCheckout
import Hummingbird
import MerchantIdentity
import Settings
import TenderPayments

/// Where the platform's own pages are.
struct HostedSite: Sendable {
  /// Nil where the address has no name that Apple could know, such as a number.
  let domain: Domain?
  let association: DomainAssociation?

  init(_ configuration: ServerConfiguration) throws {
    let name =
      configuration.hostedCheckoutURL.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first.map(
        String.init) ?? ""
    domain = try? Domain(name.lowercased())
    guard let domain, let folder = configuration.platformDirectory else {
      association = nil
      return
    }
    association = try MerchantFolder.site(domain.name, folder).association
  }

  /// Whether a `Host` header names the pages' host.
  func isAsked(_ host: String?) -> Bool {
    guard let domain, let name = host?.lowercased() else { return false }
    return name.utf8.elementsEqual(domain.name.utf8) || name.utf8.elementsEqual((domain.name + ":443").utf8)
  }
}

/// What a server needs of its platform's folder.
struct ServedPlatform: Sendable {
  let certificates: PlatformFolder
  /// Nil where the platform has none.
  let identity: MerchantIdentityCertificate?
  let site: HostedSite

  /// - Throws: when the folder is not as it must be.
  init(_ configuration: ServerConfiguration, for folders: [MerchantFolder], at now: Timestamp) throws {
    let directory = configuration.platformDirectory
    certificates = try PlatformFolder.of(
      directory, for: folders, keysMayBeElsewhere: configuration.keyAgentSocket != nil)
    identity = try directory.flatMap { try PlatformFolder.identity($0, at: now) }
    site = try HostedSite(configuration)
  }
}

import Foundation
import HTTPTransport
import MerchantIdentity
import Settings
import Storage
import StrictJSON
import TenderPayments

// A platform at the sandbox, and merchants that it serves on its own payment page.
extension MerchantProvisioning {
  /// Makes the platform: identity, processing certificate, and the association file of its page's domain.
  ///
  /// - Parameter page: the domain of the hosted pages, with the port where it is on this machine.
  /// - Returns: the folder's path, for `platform.directory`.
  package func makePlatform(
    _ platform: NewMerchant, page: String, below directory: String
  ) async throws -> String {
    let isThere = FileManager.default.fileExists(atPath: "\(directory)/\(platform.id)/merchant.yaml")
    let path = try await make(platform, below: directory)
    if !isThere { try await activateKey(of: platform, path) }
    let answer = try await portal.require(
      "POST", "/portal/merchants/\(platform.merchantIdentifier)/platform", .object([:]))
    guard let file = answer["associationFile"]?.text else { throw CallFailure("the portal sent no association file") }
    try PrivateFile.makeFolder(path + "/association")
    try Self.write(file, to: "\(path)/association/\(page).txt")
    return path
  }

  /// Has cards sealed to the key that was just made: the sandbox may know an earlier platform of this name, whose key is not
  /// here.
  private func activateKey(of platform: NewMerchant, _ path: String) async throws {
    let merchant = "/portal/merchants/\(platform.merchantIdentifier)"
    let certificate = try MerchantFolder.text(path + "/processing/1.pem")
    let issued = try await portal.require("GET", merchant)["certificates"]?.elements ?? []
    guard let id = issued.first(where: { $0["certificate"]?.text == certificate })?["id"]?.text else { return }
    _ = try await portal.require("POST", "\(merchant)/certificates/\(id)/activate", .object([:]))
  }

  /// Makes a merchant without certificates and without a page, which the platform serves.
  ///
  /// - Parameter looks: files of its folder `hosted`, text by name.
  /// - Returns: the folder's path.
  package func makeServed(
    _ merchant: NewMerchant, looks: [String: String] = [:], below directory: String
  ) throws -> String {
    let path = "\(directory)/\(merchant.id)"
    guard !FileManager.default.fileExists(atPath: path + "/merchant.yaml") else { return path }
    for folder in ["api-keys", "webhook-keys", "hosted"] { try PrivateFile.makeFolder("\(path)/\(folder)") }
    for keys in ["api-keys", "webhook-keys"] {
      let id = SharedSecrets.newID(at: WallClock.system.now(), random)
      try PrivateFile.write(random.hex(32), to: "\(path)/\(keys)/\(id).secret")
    }
    for (name, text) in looks { try Self.write(text, to: "\(path)/hosted/\(name)") }
    try Self.write(Self.yaml(merchant) + "encryptTo: platform\n", to: path + "/merchant.yaml")
    return path
  }
}

extension PlatformRegistration {
  /// Registers the domain of the hosted pages for merchants that the platform serves there, each by its id here.
  package func registerPage(_ domain: String, of merchants: [MerchantProvisioning.NewMerchant]) async throws {
    for merchant in merchants {
      try await register(
        [try Domain(domain)], of: try PartnerMerchant(identifier: merchant.id, name: merchant.displayName))
    }
  }
}

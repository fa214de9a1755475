import Foundation
import MerchantIdentity
import TenderPayments
import Webhooks

/// Looks at every file of a merchant's folder by itself, so that all problems are found and not the first alone.
struct MerchantExamination {
  let path: String
  let configuration: ServerConfiguration
  let now: Timestamp

  private var file: String { path + "/merchant.yaml" }
  private var keysMayBeElsewhere: Bool { configuration.keyAgentSocket != nil }

  func run(_ problems: inout ProblemList) {
    let table = SettingsTable.merchant
    var (settings, places) = table.read([table.file(file, &problems)], &problems)
    for setting in table.settings where setting.isRequired && places[setting.key] == nil {
      problems.add(MerchantSettings.missing(setting, file))
    }
    if settings.merchantIdentifier.isEmpty {
      let read = problems.attempt(file) { try MerchantSettings.certified(beside: file) }
      settings.merchantIdentifier = read ?? ""
    }
    names(settings, places, &problems)
    sheets(settings, places, &problems)
    association(settings.domains, &problems)
    if let identifier = try? MerchantIdentifier(settings.merchantIdentifier) {
      certificates(settings, identifier, &problems)
    }
    secrets(settings, places, &problems)
  }

  private func names(_ settings: MerchantSettings, _ places: [String: String], _ problems: inout ProblemList) {
    func check(_ key: String, _ read: () throws -> Void) {
      if let place = places[key] { problems.attempt(key, at: place, read) }
    }
    if !settings.merchantIdentifier.isEmpty {
      check("merchantIdentifier") { _ = try MerchantIdentifier(settings.merchantIdentifier) }
    }
    if !settings.displayName.isEmpty { check("displayName") { _ = try DisplayName(settings.displayName) } }
    check("teamIdentifier") { if let team = settings.teamIdentifier { _ = try TeamIdentifier(team) } }
    check("merchantCapabilities") { try MerchantProfile.requireCryptograms(settings, file) }
  }

  /// What the server takes and a device may refuse.
  private func sheets(_ settings: MerchantSettings, _ places: [String: String], _ problems: inout ProblemList) {
    for words in settings.networkWarnings {
      problems.add(
        ConfigurationError("supportedNetworks", words, place: places["supportedNetworks"], isWarning: true))
    }
    for origin in settings.ancestors(besides: settings.domains.compactMap { try? Domain($0) }) {
      problems.add(
        ConfigurationError(
          "hostedFrameAncestors",
          "\(origin) is none of the merchant's domains, so that a hosted page in its frame takes no payment; add it to "
            + "domains, and register it with Apple", place: places["hostedFrameAncestors"], isWarning: true))
    }
  }

  private func association(_ domains: [String], _ problems: inout ProblemList) {
    for domain in domains {
      problems.attempt("\(path)/association/\(domain).txt") { _ = try MerchantFolder.site(domain, path) }
    }
  }

  private func certificates(
    _ settings: MerchantSettings, _ merchant: MerchantIdentifier, _ problems: inout ProblemList
  ) {
    if let found = problems.attempt(path + "/identity.pem", { try MerchantFolder.identity(path, merchant, now) }),
      found == nil, !settings.domains.isEmpty
    {
      problems.add(
        ConfigurationError(
          path + "/identity.pem",
          "is missing, so that no page can open a payment sheet; put the merchant identity "
            + "certificate there, and its key into identity.key"))
    }
    let names = problems.attempt(path + "/processing") {
      try MerchantFolder.names(in: path + "/processing", ending: ".pem")
    }
    for name in names ?? [] {
      problems.attempt("\(path)/processing/\(name).pem") { try processing(name, merchant) }
    }
    guard names?.isEmpty == true, settings.encryptTo == .merchant else { return }
    problems.add(
      ConfigurationError(
        path + "/processing",
        "there is no processing certificate, so that only an acquirer that opens payment tokens "
          + "itself can take this merchant's payments; put one there as 1.pem and 1.key", isWarning: true))
  }

  private func processing(_ name: String, _ merchant: MerchantIdentifier) throws {
    if keysMayBeElsewhere, !MerchantFolder.hasKey(name, path) {
      _ = try MerchantFolder.certificateAlone(name, path, merchant)
    } else {
      _ = try MerchantFolder.processing(name, path, merchant)
    }
  }

  private func secrets(_ settings: MerchantSettings, _ places: [String: String], _ problems: inout ProblemList) {
    let before = problems.problems.count
    for folder in ["api-keys", "webhook-keys", "callback-keys"] {
      SharedSecrets.examine("\(path)/\(folder)", &problems)
    }
    guard problems.problems.count == before, let keys = try? SharedSecrets.read(in: path + "/api-keys") else { return }
    problems.attempt(path + "/callback-keys") {
      let folder = path + "/callback-keys"
      _ = try MerchantCallbackKey.signer(
        try SharedSecrets.read(in: folder), in: folder, isNeeded: settings.callsMerchant, apiKeys: keys)
    }
    require(settings.keysRequiringDigest, keys, "requireContentDigest", places, &problems)
    require(settings.apiKeyLimits.map(\.id), keys, "apiKeyLimits", places, &problems)
    let signing = ["webhook-keys", "callback-keys"].compactMap { try? SharedSecrets.read(in: "\(path)/\($0)") }
      .reduce(into: [:]) { $0.merge($1) { $1 } }
    require(settings.signingKeys, signing, "signingKeys", places, &problems, ["webhook-keys", "callback-keys"])
    problems.attempt("apiKeyLimits", at: places["apiKeyLimits"]) {
      _ = try APIKeyLimits.joined(settings.apiKeyLimits, [:], "apiKeyLimits")
    }
    webhooks(settings, places["webhooks"], &problems)
  }

  private func require(
    _ ids: [String], _ keys: [String: String], _ setting: String, _ places: [String: String],
    _ problems: inout ProblemList, _ folders: [String] = ["api-keys"]
  ) {
    for id in ids where keys[id] == nil {
      let files = folders.map { "\($0)/\(id).secret" }.joined(separator: " or ")
      problems.add(ConfigurationError(setting, "there is no \(files)", place: places[setting]))
    }
  }

  private func webhooks(_ settings: MerchantSettings, _ place: String?, _ problems: inout ProblemList) {
    for endpoint in problems.attempt("webhooks", at: place, { try MerchantWebhooks.endpoints(settings, path) })
      ?? []
    {
      do throws(DestinationRefusal) {
        try DestinationGuard.host(of: endpoint.url, allowsPlain: configuration.allowsPrivateWebhooks)
      } catch {
        problems.add(ConfigurationError("webhooks", "\(endpoint.url) \(error.words)", place: place))
      }
    }
  }
}

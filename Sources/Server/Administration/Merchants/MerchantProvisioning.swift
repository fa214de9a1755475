import Foundation
package import HTTPTransport
import MerchantIdentity
import Settings
import Storage
import StrictJSON
package import TenderPayments

/// Makes a merchant at the sandbox's developer portal, as one would at Apple's: identifier, two certificates from
/// requests made here, domains with their association files. What comes back is laid into a merchant folder.
package struct MerchantProvisioning: Sendable {
  package struct NewMerchant: Sendable {
    package let id: String
    package let merchantIdentifier: String
    package let displayName: String
    package let countryCode: String
    package let currencyCode: String
    package let domains: [String]
    /// Where its webhooks go, with the order in each; nil for none.
    package let webhook: String?
    /// Whether shoppers get a message when an order is paid, and when money goes back.
    package let writesToShoppers: Bool
    /// The sites that may show its hosted pages in a frame.
    package let hostedFrameAncestors: [String]

    package init(
      id: String, merchantIdentifier: String, displayName: String, countryCode: String, currencyCode: String,
      domains: [String], webhook: String? = nil, writesToShoppers: Bool = false,
      hostedFrameAncestors: [String] = []
    ) {
      self.id = id
      self.merchantIdentifier = merchantIdentifier
      self.displayName = displayName
      self.countryCode = countryCode
      self.currencyCode = currencyCode
      self.domains = domains.map { (try? Domain(typed: $0))?.name ?? $0 }
      self.webhook = webhook
      self.writesToShoppers = writesToShoppers
      self.hostedFrameAncestors = hostedFrameAncestors
    }
  }

  let portal: JSONClient
  let random: RandomBytes

  /// - Parameter portal: the sandbox.
  package init(portal: JSONClient, random: RandomBytes) {
    self.portal = portal
    self.random = random
  }

  /// The folder's path. An existing folder is left as it is, so that keys are not lost.
  package func make(_ merchant: NewMerchant, below directory: String) async throws -> String {
    let path = "\(directory)/\(merchant.id)"
    guard !FileManager.default.fileExists(atPath: path + "/merchant.yaml") else { return path }
    try merchant.check()
    try NewMerchantFolder.requireFree(merchant, in: directory)
    return try await fill(merchant, below: directory)
  }

  /// Makes a new merchant's folder, whole or not at all: it gets its name when everything is in it.
  ///
  /// - Returns: the folder's path.
  /// - Throws: ``ConfigurationError`` when a value does not fit, the folder is there, another merchant has a domain, the
  ///   sandbox has the merchant already, or the directory's merchants are another sandbox's.
  package func add(_ merchant: NewMerchant, below directory: String) async throws -> String {
    try merchant.check()
    try NewMerchantFolder.requireFree(merchant, in: directory)
    guard try await certificates(of: merchant.merchantIdentifier).isEmpty else {
      throw ConfigurationError(
        "--merchant-identifier",
        "the sandbox has issued certificates to \(merchant.merchantIdentifier) already; take another")
    }
    for name in (try? MerchantFolder.merchants(in: directory)) ?? [] { try await requireIssued("\(directory)/\(name)") }
    return try await fill(merchant, below: directory)
  }

  /// - Throws: ``ConfigurationError`` when the merchant's certificates are not the sandbox's.
  private func requireIssued(_ path: String) async throws {
    let paths =
      ["\(path)/identity.pem"]
      + ((try? MerchantFolder.names(in: path + "/processing", ending: ".pem")) ?? []).map {
        "\(path)/processing/\($0).pem"
      }
    let held = paths.compactMap { try? MerchantFolder.text($0) }
    guard !held.isEmpty, let names = try? MerchantFolder.names(at: path) else { return }
    guard try await certificates(of: names.merchantIdentifier).isDisjoint(with: held) else { return }
    throw ConfigurationError(
      "--directory",
      "the certificates in \(path) are not of \(portal.base): merchants of two sandboxes, or of Apple and a sandbox, do "
        + "not belong together; name another --directory, or the sandbox that issued them")
  }

  /// Those that the sandbox has issued to a merchant, in PEM.
  private func certificates(of merchantIdentifier: String) async throws -> Set<String> {
    let answer = try await portal.call("GET", "/portal/merchants/\(merchantIdentifier)")
    return Set((answer.body["certificates"]?.elements ?? []).compactMap { $0["certificate"]?.text })
  }

  private func fill(_ merchant: NewMerchant, below directory: String) async throws -> String {
    try await register(merchant)
    let path = "\(directory)/\(merchant.id)"
    let draft = "\(directory)/.\(merchant.id).\(random.hex(4)).new"
    do {
      try await fill(draft, with: merchant)
      guard rename(draft, path) == 0 else { throw NewMerchantFolder.exists(path) }
      return path
    } catch {
      try? FileManager.default.removeItem(atPath: draft)
      throw error
    }
  }

  private func fill(_ path: String, with merchant: NewMerchant) async throws {
    for folder in ["processing", "association", "api-keys", "webhook-keys", "callback-keys"] {
      try PrivateFile.makeFolder("\(path)/\(folder)")
    }
    try await certificate("identity", try .identity(), merchant, at: path + "/identity")
    try await certificate("processing", try .processing(), merchant, at: path + "/processing/1")
    for domain in merchant.domains { try await association(domain, merchant, path) }
    for keys in ["api-keys", "webhook-keys", "callback-keys"] {
      let id = SharedSecrets.newID(at: WallClock.system.now(), random)
      try PrivateFile.write(random.hex(32), to: "\(path)/\(keys)/\(id).secret")
    }
    try Self.write(Self.yaml(merchant), to: path + "/merchant.yaml")
  }

  /// Has the sandbox fetch each domain's association file, as Apple does; the shop must be listening.
  package func verify(_ merchant: NewMerchant) async throws {
    for domain in merchant.domains { _ = try await verify(domain, of: merchant.merchantIdentifier) }
  }

  /// Has the sandbox fetch one domain's association file.
  ///
  /// - Returns: the address that served it.
  package func verify(_ domain: String, of merchantIdentifier: String) async throws -> String {
    let answer = try await portal.require(
      "POST", "/portal/merchants/\(merchantIdentifier)/domains/\(domain)/verify", .object([:]))
    return answer["associationURL"]?.text ?? ""
  }

  private func register(_ merchant: NewMerchant) async throws {
    let answer = try await portal.call(
      "POST", "/portal/merchants",
      ["merchantIdentifier": .string(merchant.merchantIdentifier), "displayName": .string(merchant.displayName)])
    guard answer.isSuccess || answer.status == 409 else { throw CallFailure("the portal refused: \(answer.errorText)") }
  }

  private func certificate(_ type: String, _ request: CertificateRequest, _ merchant: NewMerchant, at path: String)
    async throws
  {
    let answer = try await portal.require(
      "POST", "/portal/merchants/\(merchant.merchantIdentifier)/certificates",
      ["type": .string(type), "csr": .string(request.requestPEM)])
    guard let certificate = answer["certificate"]?.text else { throw CallFailure("the portal sent no certificate") }
    try PrivateFile.write(request.privateKeyPEM, to: path + ".key")
    try Self.write(certificate, to: path + ".pem")
  }

  private func association(_ domain: String, _ merchant: NewMerchant, _ path: String) async throws {
    let answer = try await portal.require(
      "POST", "/portal/merchants/\(merchant.merchantIdentifier)/domains", ["domain": .string(domain)])
    guard let file = answer["associationFile"]?.text else { throw CallFailure("the portal sent no association file") }
    try Self.write(file, to: "\(path)/association/\(domain).txt")
  }

  static func yaml(_ merchant: NewMerchant) -> String {
    """
    # A merchant of Tender. Certificates, keys and association files lie beside this file.
    merchantIdentifier: \(merchant.merchantIdentifier)
    displayName: \(quoted(merchant.displayName))
    countryCode: \(merchant.countryCode)
    currencyCode: \(merchant.currencyCode)
    supportedNetworks: [visa, masterCard, amex, discover, jcb]
    merchantCapabilities: [supports3DS]
    domains: [\(merchant.domains.map { "\"\($0)\"" }.joined(separator: ", "))]

    """ + (merchant.hostedFrameAncestors.isEmpty ? "" : framesYAML(merchant.hostedFrameAncestors))
      + (merchant.webhook.map(webhookYAML) ?? "") + (merchant.writesToShoppers ? mailYAML : "")
  }

  private static func framesYAML(_ origins: [String]) -> String {
    "hostedFrameAncestors: [\(origins.map { "\"\($0)\"" }.joined(separator: ", "))]\n"
  }

  private static let mailYAML = """
    orderConfirmation: true
    refundNotice: true

    """

  private static func webhookYAML(_ url: String) -> String {
    """
    webhooks: ["orders=\(url)"]
    webhooksWithOrder: [orders]

    """
  }

  /// A text between quotation marks of YAML.
  private static func quoted(_ text: String) -> String {
    "\"\(text.escaped(["\\": "\\\\", "\"": "\\\""]))\""
  }

  /// Writes a file that everybody may read.
  package static func write(_ text: String, to path: String) throws {
    guard
      FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o644])
    else {
      throw CallFailure("cannot write \(path)")
    }
  }
}

import StrictJSON
import TenderPayments
import TokenIssuer

/// Apple's Web Merchant Registration API: platforms register the domains of their merchants.
struct RegistrationService: Sendable {
  let portal: DeveloperPortal

  /// Registers domains, each of which must serve the platform's file.
  func register(_ call: RegistrationCall, for client: GatewayClient) async throws(GatewayError) {
    let (platform, file) = try await platform(client)
    guard let recipient = call.encryptTo, await portal.merchant(identifierOrHash: recipient) != nil else {
      throw .invalid("encryptTo")
    }
    let known = await portal.partner(call.partner, of: platform.merchantIdentifier)
    var domains = known?.domains ?? []
    for name in call.domains where !domains.contains(where: { $0.host == HostName(name)?.host }) {
      domains.append(try await verify(name, file))
    }
    guard domains.count <= DeveloperPortal.maximumDomains else { throw .invalid("domainNames") }
    let partner = PortalPartner(
      identifier: call.partner, name: call.name ?? call.partner, encryptTo: recipient, domains: domains)
    do { try await portal.keep(partner, of: platform.merchantIdentifier) } catch { throw .unavailable }
  }

  /// Unregisters domains, and the merchant with its last one.
  func unregister(_ call: RegistrationCall, for client: GatewayClient) async throws(GatewayError) {
    let (platform, _) = try await platform(client)
    guard var partner = await portal.partner(call.partner, of: platform.merchantIdentifier) else {
      throw .partnerUnknown
    }
    let hosts = call.domains.compactMap { HostName($0)?.host }
    partner.domains.removeAll { hosts.contains($0.host) }
    do {
      if partner.domains.isEmpty {
        try await portal.removePartner(partner.identifier, of: platform.merchantIdentifier)
      } else {
        try await portal.keep(partner, of: platform.merchantIdentifier)
      }
    } catch {
      throw .unavailable
    }
  }

  func partner(_ name: String, for client: GatewayClient) async throws(GatewayError) -> PortalPartner {
    let (platform, _) = try await platform(client)
    guard let partner = await portal.partner(name, of: platform.merchantIdentifier) else { throw .partnerUnknown }
    return partner
  }

  private func platform(_ client: GatewayClient) async throws(GatewayError) -> (PortalMerchant, file: String) {
    guard let platform = await portal.merchant(identifierOrHash: client.hash.description) else {
      throw .platformUnknown
    }
    guard let file = platform.platformFile else { throw .notAPlatform }
    return (platform, file)
  }

  private func verify(_ name: String, _ file: String) async throws(GatewayError) -> PortalDomain {
    guard let host = HostName(name) else { throw .invalid("domainNames") }
    let now = portal.clock.now().seconds
    let domain = PortalDomain(
      host: host.host, port: host.port, associationFile: file, issuedAt: now, verifiedAt: now)
    do { try await portal.requireFile(of: domain) } catch { throw .fileMissing(name, "\(error)") }
    return domain
  }
}

/// The body of `registerMerchant` and of `unregisterMerchant`.
struct RegistrationCall: Sendable, Hashable {
  let domains: [String]
  /// `partnerInternalMerchantIdentifier`
  let partner: String
  /// Only of a registration.
  let encryptTo: String?
  let name: String?

  init(_ body: [UInt8]) throws(GatewayError) {
    let object = try Self.object(body)
    (domains, partner) = (try Self.domains(object), try Self.partner(object))
    encryptTo = try Self.text("encryptTo", in: object)
    name = try Self.text("partnerMerchantName", in: object)
  }

  init(unregister body: [UInt8]) throws(GatewayError) {
    let object = try Self.object(body)
    (domains, partner) = (try Self.domains(object), try Self.partner(object))
    _ = try Self.text("reason", in: object)
    (encryptTo, name) = (nil, nil)
  }

  private static func object(_ body: [UInt8]) throws(GatewayError) -> JSONObject {
    guard !body.isEmpty else { throw .emptyBody }
    guard case .object(let object)? = try? JSONReader.read(body) else { throw .malformed }
    return object
  }

  private static func domains(_ object: JSONObject) throws(GatewayError) -> [String] {
    guard case .array(let values)? = object["domainNames"] else { throw .missing("domainNames") }
    let names = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    guard names.count == values.count, (1...DeveloperPortal.maximumDomains).contains(names.count),
      Set(names.map { $0.lowercased() }).count == names.count, names.allSatisfy({ HostName($0) != nil })
    else { throw .invalid("domainNames") }
    return names
  }

  /// 3 to 1,024 of Apple's characters.
  private static func partner(_ object: JSONObject) throws(GatewayError) -> String {
    let text = try text("partnerInternalMerchantIdentifier", in: object)
    let marks = Array("~-_+&@$!|,.;".utf8)
    let isAllowed = text.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || marks.contains(byte)
    }
    guard text.utf8.count >= 3, isAllowed else { throw .invalid("partnerInternalMerchantIdentifier") }
    return text
  }

  private static func text(_ name: String, in object: JSONObject) throws(GatewayError) -> String {
    guard case .string(let text)? = object[name], !text.isEmpty else { throw .missing(name) }
    guard text.utf8.count <= 1_024 else { throw .invalid(name) }
    return text
  }
}

extension PortalPartner {
  /// As the API shows it: `encryptTo` is the hash.
  var details: JSONValue {
    [
      "domainNames": .array(domains.map { .string($0.host) }),
      "encryptTo": .string(MerchantHash(merchantIdentifier: encryptTo).description),
      "partnerInternalMerchantIdentifier": .string(identifier), "partnerMerchantName": .string(name),
      "partnerMerchantValidationURI": "/.well-known/apple-developer-merchantid-domain-association",
      "delegatedCommerce": ["enabled": true],
    ]
  }
}

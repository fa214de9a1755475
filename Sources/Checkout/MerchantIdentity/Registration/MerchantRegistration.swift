package import HTTPTransport
import StrictJSON

/// Apple's Web Merchant Registration API, which a platform calls under its own identity certificate for the merchants
/// whose payment tokens are encrypted to its key.
package struct MerchantRegistration: Sendable {
  /// How many domains one call takes, and a merchant has.
  package static let maximumDomains = 99
  static let timeout: Duration = .seconds(30)

  private let sender: HTTPSender
  private let gateway: ApplePayGateway

  /// - Parameter sender: presents the platform's ``MerchantIdentityCertificate``, and follows no redirect.
  package init(sender: HTTPSender, gateway: ApplePayGateway) {
    self.sender = sender
    self.gateway = gateway
  }

  /// Registers domains of a merchant. Those that are registered already stay so.
  ///
  /// - Parameter platform: whose processing certificate the payment tokens are encrypted to.
  package func register(
    _ domains: [Domain], of merchant: PartnerMerchant, encryptTo platform: MerchantIdentifier
  ) async throws(RegistrationError) {
    try Self.requireCount(domains)
    var body: JSONValue = [
      "domainNames": .array(domains.map { .string($0.name) }), "encryptTo": .string(platform.text),
      "partnerInternalMerchantIdentifier": .string(merchant.identifier), "partnerMerchantName": .string(merchant.name),
    ]
    if let url = merchant.url, case .object(var object) = body {
      object["merchantUrl"] = .string(url)
      body = .object(object)
    }
    _ = try await call("POST", "registerMerchant", body)
  }

  /// Unregisters domains. Apple forgets a merchant with its last domain.
  package func unregister(
    _ domains: [Domain], of merchant: PartnerMerchant, reason: String
  ) async throws(RegistrationError) {
    try Self.requireCount(domains)
    _ = try await call(
      "POST", "unregisterMerchant",
      [
        "domainNames": .array(domains.map { .string($0.name) }),
        "partnerInternalMerchantIdentifier": .string(merchant.identifier), "reason": .string(reason),
      ])
  }

  /// What Apple knows of the merchant; nil when it knows none of this name.
  package func details(of merchant: PartnerMerchant) async throws(RegistrationError) -> RegisteredMerchant? {
    do {
      return RegisteredMerchant(try await call("GET", "merchant/\(merchant.identifier)", nil))
    } catch {
      guard error.code == .registrationRefused else { throw error }
      return nil
    }
  }

  private static func requireCount(_ domains: [Domain]) throws(RegistrationError) {
    guard (1...maximumDomains).contains(domains.count), Set(domains.map(\.host)).count == domains.count else {
      throw RegistrationError(.registrationRefused, "A call names 1 to \(maximumDomains) domains, each once.")
    }
  }

  private func call(
    _ method: String, _ name: String, _ body: JSONValue?
  ) async throws(RegistrationError) -> JSONValue {
    let request = OutboundRequest(
      method: method, url: "https://\(gateway.authority)/paymentservices/\(name)",
      headers: body == nil ? [] : [HTTPField("Content-Type", "application/json")], body: body?.serialized() ?? [])
    let answer: InboundResponse
    do throws(TransportError) { answer = try await sender.send(request, Self.timeout) } catch {
      throw RegistrationError(.registrationUnreachable, "Apple's gateway did not answer (\(error)).")
    }
    guard answer.status == 200 else { throw RegistrationError(answer) }
    return (try? JSONReader.read(answer.body)) ?? .null
  }
}

/// What Apple knows of a registered merchant.
package struct RegisteredMerchant: Sendable, Hashable {
  package let domains: [String]
  /// SHA-256 of the merchant identifier whose key payment tokens are encrypted to, in hexadecimal.
  package let encryptTo: String
  package let name: String

  fileprivate init?(_ answer: JSONValue) {
    guard case .array(let domains)? = answer["domainNames"], case .string(let encryptTo)? = answer["encryptTo"],
      case .string(let name)? = answer["partnerMerchantName"]
    else { return nil }
    self.domains = domains.compactMap { if case .string(let text) = $0 { text } else { nil } }
    (self.encryptTo, self.name) = (encryptTo, name)
  }
}

extension RegistrationError {
  /// An answer other than 200; Apple says why in `statusMessage`.
  fileprivate init(_ answer: InboundResponse) {
    var words = ""
    if case .object(let members)? = try? JSONReader.read(answer.body),
      case .string(let text)? = members["statusMessage"]
    {
      words = String(decoding: text.utf8.lazy.filter { (0x20...0x7E).contains($0) }.prefix(300), as: UTF8.self)
    }
    switch answer.status {
    case 400: self.init(.registrationRefused, "Apple refused the call: \(words)")
    case 401: self.init(.registrationNotAllowed, "Apple has not given the platform this API: \(words)")
    case 417: self.init(.registrationPlatformUnknown, "Apple does not know the platform: \(words)")
    default: self.init(.registrationFailed, "Apple's gateway failed (\(answer.status)): \(words)")
    }
  }
}

import Administration
import Connectors
import Foundation
import MerchantIdentity
import Settings
import TenderPayments

/// What is left to do after a set-up: at Apple, at the provider, and here.
struct SetupSteps {
  private let place: SetupPlace
  private let server: ServerSetup.Existing
  private let isTLSHere: Bool
  private let merchants: [(id: String, identifier: String, domains: [String])]

  /// - Parameter merchant: the one that this set-up was for; nil for those that are there.
  init(
    _ place: SetupPlace, _ server: ServerSetup.Existing, tls isTLSHere: Bool,
    of merchant: MerchantProvisioning.NewMerchant?
  ) {
    (self.place, self.server, self.isTLSHere) = (place, server, isTLSHere)
    merchants = server.merchants.filter { merchant == nil || $0.id == merchant?.id }.map {
      ($0.id, $0.merchantIdentifier, $0.domains)
    }
  }

  func lines() throws -> [String] {
    merchants.flatMap { certificates(of: $0.id, $0.identifier) } + providers.flatMap(atProvider)
      + [route, inFront, start] + merchants.flatMap { merchant in merchant.domains.map { verify($0, of: merchant.id) } }
      + [look]
  }

  private var isProduction: Bool { server.environment == .production }

  private var providers: [ConnectorCatalogue] {
    let names = Set(server.routes.map { String($0.prefix { $0 != "/" }) })
    return ConnectorCatalogue.allCases.filter { names.contains($0.rawValue) }
  }

  private func certificates(of id: String, _ identifier: String) -> [String] {
    func upload(_ kind: CertificateKind, _ section: String, _ file: String) -> String? {
      let request = place.beside("\(id)-\(kind.rawValue).csr")
      guard FileManager.default.fileExists(atPath: request) else { return nil }
      return """
        Apple, on that Merchant ID's page: \(section), Create Certificate.
        Upload \(request), download \(file), then:
        tender certificate import \(file) --merchant \(id)\(place.words)
        """
    }
    let page = """
      Apple, https://developer.apple.com/account: Certificates, Identifiers & Profiles, Identifiers, Merchant IDs.
      Add \(identifier) with +, or open it if it is there.
      """
    let identity = upload(.identity, "Apple Pay Merchant Identity Certificate", "merchant_id.cer")
    let sealing = providers.filter { $0 != .worldlineAcquiring }.map(\.title)
    let processing = upload(.processing, "Apple Pay Payment Processing Certificate", "apple_pay.cer").map { text in
      guard let name = sealing.first else { return text }
      return text
        + "\nIf \(name) shall decrypt the payment tokens, upload its request in place of this one, as the next step says."
    }
    return [page, identity, processing].compactMap(\.self)
  }

  private func atProvider(_ connector: ConnectorCatalogue) -> [String] {
    let folder = "\(server.connectors)/\(connector.rawValue)"
    let events = "\(server.publicURL)/acquirers/\(connector.rawValue)/events"
    let system = isProduction ? "the live account" : "a test account"
    let lines = connector.steps(events: events).joined(separator: "\n")
    return [
      """
      \(connector.title), \(system); docs/providers/\(connector.rawValue).md has every step:
      \(lines)
      Then complete \(folder)/connector.yaml,
      which says what goes into which file beside it.
      """
    ]
  }

  private var route: String { "Check that everything can be read: tender config check\(place.words)" }

  private var inFront: String {
    guard !isTLSHere else {
      let port =
        server.port < 1_024
        ? "\nA port below 1024 needs a privilege: in a unit of systemd AmbientCapabilities=CAP_NET_BIND_SERVICE." : ""
      return "Point \(host) to this machine, and let port \(server.port) through the firewall.\(port)"
    }
    return """
      Point \(host) to this machine, and put a proxy with TLS in front of the server. Three lines of a Caddyfile do it:
      \(host) {
        reverse_proxy 127.0.0.1:\(server.port)
      }
      """
  }

  private var host: String { URLComponents(string: server.publicURL)?.host ?? "" }

  private var start: String {
    "Start the server: \(place.startCommand)"
  }

  private func verify(_ domain: String, of merchant: String) -> String {
    """
    Apple, on the Merchant ID's page: Merchant Domains, Add Domain, \(domain). Download the file, then:
    tender domain add \(domain) --merchant \(merchant) --association FILE\(place.words)
    Let the site pass \(DomainAssociation.paths.joined(separator: " and "))
    on to \(server.publicURL), with the Host header unchanged. Then press Verify.
    """
  }

  private var look: String {
    let tester = isProduction ? "" : "\nPay with a device that is signed in to an account of an Apple sandbox tester."
    return "See what is still missing: tender doctor\(place.words)\(tester)"
  }
}

extension ConnectorCatalogue {
  fileprivate var title: String {
    switch self {
    case .adyen: "Adyen"
    case .braintree: "Braintree"
    case .checkoutCom: "Checkout.com"
    case .stripe: "Stripe"
    case .worldlineAcquiring: "Worldline Acquiring"
    case .worldlineDirect: "Worldline Direct"
    }
  }

  /// What is done at the provider.
  ///
  /// - Parameter events: where its events arrive.
  fileprivate func steps(events: String) -> [String] {
    switch self {
    case .adyen:
      [
        "- Customer Area: the merchant account, and a web service user with an API key.",
        "- Apple Pay, added to the merchant account with your own certificate.",
        "- A standard webhook (JSON) to \(events), with an HMAC key.",
      ]
    case .braintree:
      [
        "- Control Panel, API: a key; the merchant id, and the merchant account id of every currency.",
        "- A webhook to \(events).",
      ]
    case .checkoutCom:
      [
        "- Dashboard: the prefix of the API's address, the processing channel, a secret key and a public key.",
        "- A workflow with a webhook to \(events), with a signature key.",
      ]
    case .stripe:
      [
        "- Dashboard, API keys: a restricted key.",
        "- Dashboard, Apple Pay: Stripe's certificate signing request, if Stripe decrypts the payment tokens.",
        "- A webhook to \(events), and its signing secret.",
      ]
    case .worldlineAcquiring:
      [
        "- From Worldline: the acquirer's number, the merchant's numbers, a client id and a client secret.",
        "- There is no webhook.",
      ]
    case .worldlineDirect:
      [
        "- Merchant Portal: the PSPID, and an API key with its id.",
        "- Apple Pay (payment product 302), with your own certificate.",
        "- A webhook key, and the webhook address \(events).",
      ]
    }
  }
}

import Administration
import CommandSupport
import Connectors
import Foundation
import HTTPTransport
import Settings
import TenderPayments

/// Asks at a terminal for what no option names, and elsewhere says all that is missing.
struct SetupQuestions {
  let canAsk: Bool
  private var missing: [String] = []

  init(canAsk: Bool) { self.canAsk = canAsk }

  /// - Throws: ``MistakenCall`` with every option that is missing and cannot be asked for.
  func requireAll() throws {
    guard missing.isEmpty else {
      let words = "standard input is no terminal, so nobody can be asked"
      throw MistakenCall("name also \(missing.joined(separator: ", ")): \(words). Nothing was made")
    }
  }

  /// - Returns: the merchant as it will be made, checked; without a terminal with gaps, which ``requireAll()`` reports.
  mutating func merchant(_ options: NewMerchantOptions) throws -> MerchantProvisioning.NewMerchant {
    var domains = options.domain
    if domains.isEmpty {
      let typed = try answer(
        "--domain", "The domain of the page with the button, such as shop.example.com:"
      ) { try Self.sample(domains: [$0]).check() }
      domains = typed.map { [$0] } ?? []
    }
    // As a domain is written, without the scheme that was typed before it.
    let domain = Self.sample(domains: domains).domains.first ?? ""
    let usual = "merchant." + domain.split(separator: ".").reversed().joined(separator: ".")
    let identifier =
      try options.merchantIdentifier
      ?? answer(
        "--merchant-identifier", "Apple's merchant identifier, as the developer account has it or will have it:",
        usual: usual
      ) { try Self.sample(identifier: $0).check() }
    let country =
      try options.country
      ?? answer(
        "--country", "The country in which payments are processed, two letters such as IE:"
      ) { try Self.sample(country: $0).check() }
    let currency =
      try options.currency
      ?? answer(
        "--currency", "The currency of the baskets, three letters such as EUR:"
      ) { try Self.sample(currency: $0).check() }
    let merchant = MerchantProvisioning.NewMerchant(
      id: options.id ?? NewMerchantOptions.folderName(domain), merchantIdentifier: identifier ?? "",
      displayName: options.name ?? domain, countryCode: country ?? "", currencyCode: currency ?? "", domains: domains)
    guard missing.isEmpty else { return merchant }
    do { try merchant.check() } catch { throw MistakenCall("\(error)") }
    return merchant
  }

  /// - Returns: nil where it is missing.
  mutating func provider(_ given: ConnectorCatalogue?) throws -> ConnectorCatalogue? {
    let names = ConnectorCatalogue.allCases.map(\.rawValue).sorted().joined(separator: ", ")
    let name =
      try given?.rawValue
      ?? answer("--provider", "The payment provider, one of \(names):") {
        guard ConnectorCatalogue(rawValue: $0) != nil else {
          throw ConfigurationError("--provider", "“\($0)” is no provider; write one of \(names)")
        }
      }
    return name.flatMap { ConnectorCatalogue(rawValue: $0) }
  }

  /// - Parameter usual: what an empty line stands for.
  /// - Returns: nil where nobody can be asked.
  private mutating func answer(
    _ option: String, _ question: String, usual: String? = nil, check: (String) throws -> Void
  ) throws -> String? {
    guard canAsk else {
      missing.append(option)
      return nil
    }
    while true {
      Terminal.sayError(question + (usual.map { " [\($0)]" } ?? ""))
      guard let line = readLine() else { throw CallFailure("the input has ended; nothing was made") }
      let typed = line.trimmingCharacters(in: .whitespaces)
      let text = typed.isEmpty ? usual ?? "" : typed
      do {
        try check(text)
        return text
      } catch { Terminal.sayError("  \((error as? ConfigurationError)?.reason ?? "\(error)")") }
    }
  }

  /// A merchant with one value to check.
  private static func sample(
    identifier: String = "merchant.x", country: String = "IE", currency: String = "EUR", domains: [String] = []
  ) -> MerchantProvisioning.NewMerchant {
    .init(
      id: "x", merchantIdentifier: identifier, displayName: "x", countryCode: country, currencyCode: currency,
      domains: domains)
  }
}

/// How browsers reach the server, and where it listens.
struct PublicAddress {
  let url: String
  let host: String
  let port: Int

  /// - Parameter domain: the page's, from which the address follows where it is not given.
  init(_ given: String?, domain: String?, port: Int?, isTLS: Bool) throws {
    self.port = port ?? (isTLS ? 443 : 8_400)
    let start = ["www.", "shop."].first { domain?.hasPrefix($0) == true } ?? ""
    let usual = "https://pay." + (domain ?? "example.com").dropFirst(start.count)
    let url = given ?? (isTLS && self.port != 443 ? "\(usual):\(self.port)" : usual)
    guard let parts = URLComponents(string: url), parts.scheme == "https", let host = parts.host, parts.path.isEmpty
    else { throw MistakenCall("--public-url: “\(url)” is no address; write https://pay.example.com") }
    (self.url, self.host) = (url, host)
  }

  /// - Throws: ``MistakenCall`` where the page's domain is the server's: the shop and Tender are two sites.
  func check(_ merchant: MerchantProvisioning.NewMerchant?) throws {
    guard merchant?.domains.contains(host) == true else { return }
    throw MistakenCall(
      "--domain: \(host) is the server's own host. Name the domain of the shop's page, or another --public-url")
  }
}
